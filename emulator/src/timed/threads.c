/* Threads of a process: one at a time is in the program, the one whose clock is least, then whose id is.
 *
 * Members wait on conditions of their own. Whoever finds that nobody has the turn gives it: to the least of
 * those that wait, after the news up to its time have been applied, which may wake another one earlier. If the
 * coordinator has to say more first, the giver waits for it.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "card/vic.h"
#include "clock.h"
#include "timed/timed.h"

enum { LOOK_AROUND_NS = 10 * 1000 * 1000 };

static bool is_before(const struct member *a, const struct member *b)
{
    return a->key_ps != b->key_ps ? a->key_ps < b->key_ps : a->id < b->id;
}

static struct member *least(const struct timed *own)
{
    struct member *best = NULL;
    for (struct member *m = own->members; m != NULL; m = m->next) {
        bool waits = m->state == MEMBER_READY || m->state == MEMBER_PARKED;
        if (waits && (best == NULL || is_before(m, best))) {
            best = m;
        }
    }
    return best;
}

/* NULL: nobody has it. */
static void turn_to(struct timed *own, struct member *to)
{
    if (own->user != NULL) {
        atomic_store_explicit(&own->user->has_turn, false, memory_order_relaxed);
    }
    own->user = to;
    if (to != NULL) {
        atomic_store_explicit(&to->has_turn, true, memory_order_relaxed);
    }
}

static void grant(struct timed *own, struct member *to)
{
    turn_to(own, to);
    own->now_ps = to->key_ps > own->now_ps && to->key_ps != NEVER ? to->key_ps : own->now_ps;
    to->clock_ps = to->key_ps != NEVER ? to->key_ps : to->clock_ps;
    to->state = MEMBER_RUNS;
    to->granted = true;
    pthread_cond_signal(&to->turn);
}

/* Waits end then, whatever they wait for. */
static void hint_ends(struct timed *own)
{
    int64_t stop = own->shared->stop_ps;
    stop = own->closing && own->closed_ps < stop ? own->closed_ps : stop;
    for (struct member *m = own->members; m != NULL && stop != NEVER; m = m->next) {
        int64_t look = m->state == MEMBER_PARKED && !wait_goes_on(m) ? wait_look_from(m, stop) : NEVER;
        m->key_ps = look < m->key_ps ? look : m->key_ps;
    }
}

/* Give the turn to one of the members that wait. There is at least one. */
static void choose(struct timed *own)
{
    own->driving = true;
    for (;;) {
        hint_ends(own);
        news_hint(own);
        struct member *next = least(own);
        if (next == NULL) { /* GCOVR_EXCL_BR_LINE it was announced, and was not made just while others waited */
            break; /* GCOVR_EXCL_LINE likewise */
        }
        if (news_until(own, next->key_ps)) {
            continue;
        }
        if (next->key_ps < own->shared->until_ps || own->orphaned) {
            grant(own, next);
            break;
        }
        token_pass(own, CARD_STOPPED, next->key_ps, false);
    }
    own->driving = false;
}

/* The thread that has the turn is out of model time until its next call. */
static void drop(struct timed *own)
{
    own->user->state = MEMBER_OUT;
    own->user->lost = true;
    turn_to(own, NULL);
    own->inside--;
    own->shared->lost_threads++;
}

/* It sleeps outside of the library. */
static void drop_sleeper(struct timed *own)
{
    if (own->user != NULL && !own->driving && cpu_time_sleeps(own->user)) {
        drop(own);
    }
}

/* Nobody has the turn: a thread that waits gets it. If none does, the process is away. */
static void pass_on(struct timed *own, int64_t at_ps)
{
    struct member *waits = least(own);
    if (waits != NULL) {
        pthread_cond_signal(&waits->turn);
    } else if (own->inside == 0 && !own->closing) {
        token_leave(own, CARD_AWAY, own->now_ps > at_ps ? own->now_ps : at_ps);
    }
}

void timed_lose(struct member *me)
{
    struct timed *own = me->own;
    atomic_store_explicit(&me->calls, true, memory_order_relaxed);
    own_lock(own);
    atomic_store_explicit(&me->calls, false, memory_order_relaxed);
    if (own->user == me && !own->driving) {
        drop(own);
        pass_on(own, me->clock_ps);
    }
    own_unlock(own);
}

void turn_wait(struct member *me)
{
    struct timed *own = me->own;
    while (!me->granted) {
        if (timed_deferred && timed_depth == 1) { /* it may be what this thread or another one waits for */
            own_unlock(own);
            own_lock(own);
            continue;
        }
        if (own->user == NULL && !own->driving) {
            choose(own);
            cpu_time_read(me);
            continue;
        }
        struct timespec until = timespec_in(LOOK_AROUND_NS);
        if (pthread_cond_clockwait(&me->turn, &own->lock, CLOCK_MONOTONIC, &until) == ETIMEDOUT) {
            drop_sleeper(own);
        }
    }
    me->granted = false;
}

void turn_give_up(struct timed *own, struct member *me)
{
    if (own->user == me) {
        turn_to(own, NULL);
    }
    me->granted = false;
}

void timed_thread_ends(struct timed *own, struct member *me)
{
    own_lock(own);
    struct member **at = &own->members;
    while (*at != me) {
        at = &(*at)->next;
    }
    *at = me->next;
    bool was_inside = me->state != MEMBER_OUT, had_turn = own->user == me;
    turn_give_up(own, me);
    own->inside -= was_inside;
    if (me->record != NULL) {
        record_end(me->record);
        timed_notify(own, WATCH_THREAD, me->id, had_turn ? me : NULL);
    }
    if (had_turn || (was_inside && own->inside == 0)) {
        pass_on(own, me->clock_ps);
    }
    own_unlock(own);
}

void timed_begin(struct member *me)
{
    struct timed *own = me->own;
    own_lock(own);
    member_be(me);
    turn_wait(me);
    cpu_time_read(me);
    timed_leave(me);
}

/* From outside of time into it: never into what is past. */
static void come_in(struct timed *own, struct member *me)
{
    me->state = MEMBER_READY;
    me->lost = false;
    me->clock_ps = me->clock_ps > own->now_ps ? me->clock_ps : own->now_ps;
    if (own->inside++ == 0 && atomic_load(&own->shared->state) == CARD_AWAY) {
        own->driving = me->late = true;
        token_pass(own, CARD_COMING, me->clock_ps, false);
        own->driving = false;
    } else if (own->driving) {
        me->late = true;
        me->key_ps = me->clock_ps;
        token_kick(own);
    }
}

struct member *timed_enter(struct vic *card, bool looks)
{
    struct timed *own = timed_of(card);
    struct member *me = member_find(own);
    if (me != NULL) {
        atomic_store_explicit(&me->calls, true, memory_order_relaxed);
    }
    own_lock(own);
    if (me == NULL) {
        me = member_new(own);
    }
    if (me == NULL) {
        own_unlock(own);
        fail_as(VIC_ESYS);
        return NULL;
    }
    atomic_store_explicit(&me->calls, false, memory_order_relaxed);
    cpu_time_enter(me);
    turn_give_up(own, me);
    if (me->state == MEMBER_OUT) {
        come_in(own, me);
    }
    me->state = MEMBER_READY;
    me->key_ps = me->clock_ps;
    if (!looks && own->inside == 1 && own->user == NULL && !own->driving) { /* it may run ahead */
        grant(own, me);
        me->granted = false; /* it has it: if it sleeps elsewhere now, it does not sleep for the lock */
    } else {
        turn_wait(me);
    }
    return me;
}

void timed_leave(struct member *me)
{
    struct timed *own = me->own;
    cpu_time_leave(me);
    own_unlock(own);
}

void timed_observe(struct member *me)
{
    turn_give_up(me->own, me);
    me->state = MEMBER_READY;
    me->key_ps = me->clock_ps;
    turn_wait(me);
}

void timed_look(struct member *me)
{
    me->clock_ps += me->own->pcie.look_ps;
    timed_observe(me);
    me->own->shared->looks++;
}

/* Threads with a lesser clock may do something that this one shall see, or the other way round. */
void timed_pass(struct member *me, uint64_t ns)
{
    int64_t most = me->clock_ps < NEVER / 2 ? (NEVER / 2 - me->clock_ps) / 1000 : 0;
    me->clock_ps += (ns < (uint64_t)most ? (int64_t)ns : most) * 1000;
    if (me->own->inside > 1) {
        timed_observe(me);
    }
}

int timed_join(struct timed *own)
{
    own_lock(own);
    struct member *me = member_new(own);
    if (me == NULL) {
        own_unlock(own);
        return VIC_ESYS;
    }
    opens_first(own);
    token_pass(own, CARD_COMING, 0, false);
    own->shared->epoch++;
    me->clock_ps = sound_ps(own->shared->floor_ps);
    own->now_ps = me->clock_ps;
    opens_again(own, me->clock_ps);
    own->inside = 1;
    turn_to(own, me);
    me->state = MEMBER_RUNS;
    cpu_time_read(me);
    timed_leave(me);
    return own->orphaned ? VIC_ECLOSED : VIC_OK;
}

void timed_leave_job(struct timed *own)
{
    own_lock(own);
    struct member *user = own->user;
    if (user != NULL && user != member_find(own)) { /* it may never call again: programs end like this */
        user->state = MEMBER_OUT;
        turn_to(own, NULL);
        own->inside--;
    }
    own_unlock(own);
    struct member *me = timed_enter(own->card, true);
    own->closing = true;
    own->closed_ps = me->clock_ps;
    me->state = MEMBER_OUT;
    turn_to(own, NULL);
    while (least(own) != NULL) { /* their waits end now */
        choose(own);
        own_unlock(own);
        nanosleep(&(struct timespec){0, 100000}, NULL);
        own_lock(own);
        turn_to(own, NULL);
    }
    int64_t end_ps = own->now_ps > me->clock_ps ? own->now_ps : me->clock_ps;
    opens_close(own, end_ps);
    token_leave(own, CARD_CLOSED, end_ps);
    own->orphaned = true; /* no wait goes on */
    own_unlock(own);
}
