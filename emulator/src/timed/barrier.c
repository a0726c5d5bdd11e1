/* The barrier: the coordinator counts the cards that are in it, and decides when each hears of its end. A card that
 * gives up asks whether it still can: another one may have come at an earlier time. */
#include "timed/timed.h"

static bool is_free(struct member *me, void *what)
{
    (void)what;
    bool free = me->own->in_barrier == 0;
    me->own->in_barrier = 1;
    return free;
}

static int take_turn(struct member *me, uint64_t *timeout_ns)
{
    int64_t from = me->clock_ps;
    if (is_free(me, NULL)) {
        return VIC_OK;
    }
    int status = timed_wait(me, (struct watched){WATCH_BARRIER, 0, 0}, is_free, NULL, *timeout_ns);
    uint64_t spent = (uint64_t)(me->clock_ps - from) / 1000;
    if (*timeout_ns != VIC_FOREVER) {
        *timeout_ns = spent < *timeout_ns ? *timeout_ns - spent : 0;
    }
    return status;
}

static int cross(struct member *me, uint64_t timeout_ns)
{
    struct timed *own = me->own;
    uint32_t tag = tag_new(own);
    int64_t shift = own->pcie.crossing_ps;
    post_one(me, POST_BARRIER, me->clock_ps + shift, 0, tag, 0);
    int status = timed_wait_event(me, NEWS_RELEASED, tag, 1, NULL, timeout_ns);
    if (status != VIC_OK && !own->orphaned) {
        post_one(me, POST_BARRIER_LEFT, me->clock_ps + shift, 0, tag, 0);
        timed_drain(me, true);
        if (own->shared->answer != VIC_OK && !own->orphaned) { /* too late: all are in */
            status = timed_wait_event(me, NEWS_RELEASED, tag, 1, NULL, VIC_FOREVER);
        }
    }
    return status == VIC_OK ? fail_as(sound_status(me->event_value)) : status;
}

int timed_barrier(struct vic *card, uint64_t timeout_ns)
{
    ENTER(me, card, false);
    int status = take_turn(me, &timeout_ns);
    if (status == VIC_OK) {
        status = cross(me, timeout_ns);
        me->own->in_barrier = 0;
        timed_hint(me->own, WATCH_BARRIER, 0, UINT64_MAX, me->clock_ps);
    }
    timed_leave(me);
    return status;
}
