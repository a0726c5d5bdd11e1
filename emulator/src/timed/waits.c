/* Waiting: looks at fixed distances, of which only those are made that may see something. */
#include "card/vic.h"

#include "timed/timed.h"
#include "wait.h"

int64_t wait_look_from(const struct member *m, int64_t at_ps)
{
    dvsim_pcie pcie = m->own->pcie;
    pcie.look_ps = m->look_ps;
    return at_ps <= LATEST_PS ? dvsim_pcie_look_from(&pcie, m->begin_ps, sound_ps(at_ps)) : NEVER;
}

/* The card answers loads, an engine fills the memory of the program that it began to fill, and threads end the waits of
 * each other, whatever became of other programs. */
bool wait_goes_on(const struct member *m)
{
    uint32_t what = m->watched.what;
    const struct move *move = what == DVSIM_VIC_DONE ? news_move(m->own, m->watched.index) : NULL;
    bool fills = move != NULL && move->host != NULL;
    return (fills || what == DVSIM_VIC_LOADED || what >= WATCH_BARRIER) && !m->own->closing;
}

/* VIC_EPEER: a death, or a deadlock, which is none. */
static int fail_wait(const struct member *me, int status)
{
    const struct job *job = me->own->card->job;
    if (status == VIC_ECLOSED) {
        bool counts = me->watched.what == DVSIM_VIC_COUNTER && cancel_layers == 0;
        int64_t counter = counts ? (int64_t)me->watched.index : -1;
        return fail_ended(me->own->card, counter, counts ? me->own->shared->view.counter[counter] : 0);
    }
    uint32_t dead = status == VIC_EPEER ? atomic_load(&job->shared->poison) : 0;
    return status != VIC_EPEER ? fail_as(status)
           : dead != 0         ? fail_dead(dead - 1)
                               : fail(status, "deadlock: every program waits, and nothing is on its way");
}

/* The status of a wait whose look saw nothing; 0: it goes on. */
static int reason_to_stop(const struct member *me, int64_t deadline_ps)
{
    struct timed *own = me->own;
    if (own->closing || own->orphaned) {
        return VIC_ECLOSED;
    }
    if (own->shared->stop_ps <= me->clock_ps && !wait_goes_on(me)) {
        if (own->shared->stop_status != VIC_ECLOSED) {
            return VIC_EPEER;
        }
        own->shared->stop_ps = NEVER; /* that was this wait: the card still works, a program can send to itself */
        return VIC_ECLOSED;
    }
    if (me->clock_ps < deadline_ps) {
        return 0;
    }
    own->orphaned |= job_orphaned(own->card->job); /* a program that polls learns of it in no other way */
    return own->orphaned ? VIC_ECLOSED : VIC_ETIMEDOUT;
}

/* Since when the wait without timeout goes on that this one is, or is a part of; NEVER: there is none. */
static int64_t endless_since(struct member *me, uint64_t timeout_ns)
{
    if (wait_slices_ns != me->slices_ns) {
        me->slices_ns = wait_slices_ns;
        me->slices_ps = me->clock_ps;
    }
    bool whole = wait_whole.kind != WAIT_NOTHING && wait_whole.endless;
    return wait_slices_ns != 0          ? me->slices_ps
           : whole                      ? sound_ps((int64_t)wait_whole.since_ns * 1000)
           : timeout_ns == VIC_FOREVER ? me->clock_ps
                                       : NEVER;
}

/* So that the launcher can say it. */
static struct card_wait *note(const struct member *me)
{
    static const uint8_t kinds[] = {[DVSIM_VIC_COUNTER] = WAIT_COUNTERS, [DVSIM_VIC_FIFO] = WAIT_COUNTERS,
                                    [DVSIM_VIC_TAKEN] = WAIT_LEAVE, [DVSIM_VIC_LOADED] = WAIT_READ,
                                    [DVSIM_VIC_DONE] = WAIT_TRANSFER, [NEWS_RELEASED] = WAIT_BARRIER,
                                    [WATCH_ANY] = WAIT_COUNTERS, [WATCH_BARRIER] = WAIT_BARRIER,
                                    [WATCH_THREAD] = WAIT_THREAD, [WATCH_SLOT] = WAIT_THREAD};
    const struct watched *w = &me->watched;
    struct wait wait = {.kind = kinds[w->what]};
    bool any = w->what == WATCH_ANY;
    if (w->what == DVSIM_VIC_FIFO || (any && w->least != UINT64_MAX)) {
        wait.words = w->least - me->own->shared->view.fifo_out;
    }
    wait.counters = any ? me->any : w->what == DVSIM_VIC_COUNTER ? UINT64_C(1) << w->index : 0;
    return wait_note(me->own->card, &wait, (uint64_t)me->clock_ps / 1000);
}

int timed_wait(struct member *me, struct watched watched, timed_sees *sees, void *what, uint64_t timeout_ns)
{
    struct timed *own = me->own;
    int64_t deadline = NEVER;
    if (timeout_ns < UINT64_C(4000000000000000) && me->clock_ps < NEVER / 2) { /* 46 days */
        deadline = dvsim_pcie_look_from(&own->pcie, me->clock_ps, me->clock_ps + (int64_t)timeout_ns * 1000);
    }
    if (own->shared->stop_status == VIC_ECLOSED) { /* that was for the waits of then */
        own->shared->stop_ps = NEVER;
    }
    bool stopped = watched.what == DVSIM_VIC_LOADED || watched.what == DVSIM_VIC_TAKEN;
    me->watched = watched;
    me->endless_ps = endless_since(me, timeout_ns);
    struct card_wait *noted = NULL;
    me->look_ps = stopped ? 1 : own->pcie.look_ps;
    me->begin_ps = me->clock_ps;
    me->key_ps = me->begin_ps + me->look_ps; /* the first look */
    for (;;) {
        turn_give_up(own, me);
        me->state = MEMBER_PARKED;
        turn_wait(me);
        own->shared->looks += stopped ? 0 : (uint64_t)((me->clock_ps - me->begin_ps) / me->look_ps);
        bool blind = !stopped && timed_overlooks(me);
        int status = blind && me->clock_ps < deadline ? 0
                     : !blind && sees(me, what)       ? 1
                                                      : reason_to_stop(me, deadline);
        if (status != 0) {
            wait_forget(own->card, noted, VIC_OK);
            return status == 1 ? VIC_OK : fail_wait(me, status);
        }
        noted = noted == NULL ? note(me) : noted;
        me->begin_ps = me->clock_ps;
        me->key_ps = blind ? me->clock_ps + me->look_ps : deadline;
    }
}

static bool has_come(struct member *me, void *what)
{
    return me->events_seen >= *(size_t *)what;
}

int timed_wait_event(struct member *me, uint32_t what, uint32_t tag, size_t n, uint64_t *into,
                    uint64_t timeout_ns)
{
    me->events_seen = 0;
    me->into = into;
    me->into_words = into != NULL ? n : 0;
    int status = timed_wait(me, (struct watched){what, tag, 0}, has_come, &n, timeout_ns);
    me->into_words = 0;
    return status;
}

/* Can what became of a counter, a FIFO or something with a tag end the wait of a member? */
static bool ends_wait(const struct member *m, uint32_t what, uint32_t index, uint64_t value)
{
    const struct watched *w = &m->watched;
    bool zero = what == DVSIM_VIC_COUNTER || what == DVSIM_VIC_PRESET;
    if (w->what == WATCH_ANY) {
        return zero ? value == 0 && (m->any >> index % COUNTERS & 1) != 0
                    : what == DVSIM_VIC_FIFO && value >= w->least;
    }
    bool kind = w->what == what || (zero && w->what == DVSIM_VIC_COUNTER);
    return kind && w->index == index && (zero ? value == 0 : value >= w->least);
}

void timed_hint(struct timed *own, uint32_t what, uint32_t index, uint64_t value, int64_t at_ps)
{
    for (struct member *m = own->members; m != NULL; m = m->next) {
        if (m->state != MEMBER_PARKED || !ends_wait(m, what, index, value)) {
            continue;
        }
        int64_t look = wait_look_from(m, at_ps);
        m->key_ps = look < m->key_ps ? look : m->key_ps;
    }
}

/* ---- for any of several counters, or for words in the FIFO: one look sees all of them */

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

/* ---- for the barrier: the coordinator counts the cards that are in it, and decides when each hears of its end. A card
 * that gives up asks whether it still can: another one may have come at an earlier time */

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
