/* Waiting for any of several counters, or for words in the FIFO: one look sees all of them. */
#include "card/vic.h"
#include "timed/timed.h"

struct any {
    uint64_t ready;
    size_t fifo_min;
};

static bool sees_any(struct member *me, void *what)
{
    struct any *any = what;
    const struct view *view = &me->own->shared->view;
    any->ready = 0;
    for (uint64_t left = me->any; left != 0; left &= left - 1) {
        unsigned counter = (unsigned)__builtin_ctzll(left);
        any->ready |= (uint64_t)(view->counter[counter] == 0) << counter;
    }
    if (any->fifo_min > 0 && view->fifo_in - view->fifo_out >= any->fifo_min) {
        any->ready |= UINT64_C(1) << VIC_READY_FIFO;
    }
    return any->ready != 0;
}

int timed_wait_any(struct vic *card, uint64_t counters, size_t fifo_min, uint64_t *ready, uint64_t timeout_ns)
{
    ENTER(me, card, false);
    struct any any = {.fifo_min = fifo_min};
    uint64_t least = fifo_min > 0 ? me->own->shared->view.fifo_out + fifo_min : UINT64_MAX;
    me->any = counters;
    int status = timed_wait(me, (struct watched){WATCH_ANY, 0, least}, sees_any, &any, timeout_ns);
    *ready = status == VIC_OK ? any.ready : 0;
    timed_leave(me);
    return status;
}
