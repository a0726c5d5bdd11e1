/* Threads of a process: one at a time is in the program, the one whose clock is least, then whose id is.
 *
 * Members wait on conditions of their own. Whoever finds that nobody has the turn gives it: to the least of
 * those that wait, after the news up to its time have been applied, which may wake another one earlier. If the
 * coordinator has to say more first, the giver waits for it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "card/vic.h"
#include "timed/timed.h"

enum { LOOK_AROUND_NS = 10 * 1000 * 1000 };

static _Thread_local struct member *mine; /* of this thread, on all its cards */
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t chains = PTHREAD_MUTEX_INITIALIZER; /* of member.own against the end of a thread */

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

static void grant(struct timed *own, struct member *to)
{
    own->user = to;
    own->now_ps = to->key_ps > own->now_ps && to->key_ps != NEVER ? to->key_ps : own->now_ps;
    to->clock_ps = to->key_ps != NEVER ? to->key_ps : to->clock_ps;
    to->state = MEMBER_RUNS;
    to->granted = true;
    pthread_cond_signal(&to->turn);
}

static int64_t look_from(const struct member *m, int64_t at_ps)
{
    dvsim_pcie pcie = m->own->pcie;
    pcie.look_ps = m->look_ps;
    return dvsim_pcie_look_from(&pcie, m->begin_ps, at_ps);
}

/* The card answers loads whatever became of the others. */
static bool goes_on(const struct member *m)
{
    return m->watched.what == DVSIM_TOLD_LOADED && !m->own->closing;
}

/* Waits end then, whatever they wait for. */
static void hint_ends(struct timed *own)
{
    int64_t stop = own->shared->stop_ps;
    stop = own->closing && own->closed_ps < stop ? own->closed_ps : stop;
    for (struct member *m = own->members; m != NULL && stop != NEVER; m = m->next) {
        int64_t look = m->state == MEMBER_PARKED && !goes_on(m) ? look_from(m, stop) : NEVER;
        m->key_ps = look < m->key_ps ? look : m->key_ps;
    }
}

/* Give the turn to somebody. At least one member waits. */
static void choose(struct timed *own)
{
    own->driving = true;
    for (;;) {
        hint_ends(own);
        news_hint(own);
        struct member *next = least(own);
        if (next == NULL) {
            break;
        }
        if (news_until(own, next->key_ps)) {
            continue;
        }
        if (next->key_ps < own->shared->until_ps || own->gone) {
            grant(own, next);
            break;
        }
        token_pass(own, CARD_STOPPED, next->key_ps, false);
    }
    own->driving = false;
}

/* The one who has the turn sleeps somewhere else: it is out of time until its next call. */
static void drop_sleeper(struct timed *own)
{
    struct member *user = own->user;
    if (user != NULL && !own->driving && unsaid_sleeps(user)) {
        user->state = MEMBER_OUT;
        own->user = NULL;
        own->inside--;
        own->shared->lost_threads++;
    }
}

static void wait_turn(struct member *me)
{
    struct timed *own = me->own;
    me->granted = false;
    while (!me->granted) {
        if (own->user == NULL && !own->driving) {
            choose(own);
            unsaid_read(me);
            continue;
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_AROUND_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_clockwait(&me->turn, &own->lock, CLOCK_MONOTONIC, &until) == ETIMEDOUT) {
            drop_sleeper(own);
        }
    }
}

static void give_up_turn(struct timed *own, struct member *me)
{
    if (own->user == me) {
        own->user = NULL;
    }
}

/* A thread ends. Somebody who waits takes over; if nobody does, the process is away. */
static void leave_for_good(struct timed *own, struct member *me)
{
    pthread_mutex_lock(&own->lock);
    struct member **at = &own->members;
    while (*at != NULL && *at != me) {
        at = &(*at)->next;
    }
    *at = *at != NULL ? me->next : NULL;
    bool was_inside = me->state != MEMBER_OUT, had_turn = own->user == me;
    give_up_turn(own, me);
    own->inside -= was_inside;
    struct member *waits = least(own);
    if (waits != NULL && had_turn) {
        pthread_cond_signal(&waits->turn);
    } else if (own->inside == 0 && was_inside && !own->closing) {
        token_leave(own, CARD_AWAY, NEVER);
    }
    pthread_mutex_unlock(&own->lock);
}

static void end_thread(void *chain)
{
    pthread_mutex_lock(&chains);
    for (struct member *m = chain, *next; m != NULL; m = next) {
        next = m->next_of_thread;
        if (m->own != NULL) {
            leave_for_good(m->own, m);
        }
        pthread_cond_destroy(&m->turn);
        free(m);
    }
    pthread_mutex_unlock(&chains);
    mine = NULL;
}

static void make_key(void)
{
    pthread_key_create(&at_exit, end_thread);
}

static struct member *find_me(const struct timed *own)
{
    struct member *m = mine;
    while (m != NULL && m->own != own) {
        m = m->next_of_thread;
    }
    return m;
}

static struct member *new_me(struct timed *own)
{
    struct member *me = calloc(1, sizeof *me);
    if (me == NULL) {
        abort(); /* there is no status for it in the middle of a call */
    }
    pthread_once(&once, make_key);
    pthread_cond_init(&me->turn, NULL);
    me->own = own;
    me->id = own->ids++;
    me->tid = gettid();
    me->state = MEMBER_OUT;
    me->next = own->members;
    own->members = me;
    me->next_of_thread = mine;
    mine = me;
    pthread_setspecific(at_exit, mine);
    return me;
}

/* From outside of time into it: never into what is past. */
static void come_in(struct timed *own, struct member *me)
{
    me->state = MEMBER_READY;
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
    pthread_mutex_lock(&own->lock);
    struct member *me = find_me(own);
    if (me == NULL) {
        me = new_me(own);
    }
    unsaid_back(me);
    give_up_turn(own, me);
    if (me->state == MEMBER_OUT) {
        come_in(own, me);
    }
    me->state = MEMBER_READY;
    me->key_ps = me->clock_ps;
    if (!looks && own->inside == 1 && own->user == NULL && !own->driving) { /* it may run ahead */
        grant(own, me);
    } else {
        wait_turn(me);
    }
    return me;
}

void timed_leave(struct member *me)
{
    struct timed *own = me->own;
    unsaid_leaves(me);
    pthread_mutex_unlock(&own->lock);
}

void timed_observe(struct member *me)
{
    give_up_turn(me->own, me);
    me->state = MEMBER_READY;
    me->key_ps = me->clock_ps;
    wait_turn(me);
}

/* What a look that sees nothing says, 0: go on. */
static int reason_to_stop(const struct member *me, int64_t deadline_ps)
{
    const struct timed *own = me->own;
    if (own->closing || own->gone) {
        return VIC_ECLOSED;
    }
    if (own->shared->stop_ps <= me->clock_ps && !goes_on(me)) {
        return own->shared->stop_status;
    }
    return me->clock_ps >= deadline_ps ? VIC_ETIMEDOUT : 0;
}

int timed_wait(struct member *me, struct watched watched, timed_sees *sees, void *what, uint64_t timeout_ns)
{
    struct timed *own = me->own;
    int64_t deadline = NEVER;
    if (timeout_ns < UINT64_C(4000000000000000) && me->clock_ps < NEVER / 2) { /* 46 days */
        deadline = dvsim_pcie_look_from(&own->pcie, me->clock_ps, me->clock_ps + (int64_t)timeout_ns * 1000);
    }
    bool stopped = watched.what == DVSIM_TOLD_LOADED || watched.what == DVSIM_TOLD_TAKEN;
    me->watched = watched;
    me->look_ps = stopped ? 1 : own->pcie.look_ps;
    me->begin_ps = me->clock_ps;
    me->key_ps = me->begin_ps + me->look_ps; /* the first look */
    for (;;) {
        give_up_turn(own, me);
        me->state = MEMBER_PARKED;
        wait_turn(me);
        own->shared->looks += stopped ? 0 : (uint64_t)((me->clock_ps - me->begin_ps) / me->look_ps);
        bool blind = !stopped && timed_chance(own, own->card->job->config.extra_polls);
        int status = !blind && sees(me, what) ? 1 : reason_to_stop(me, deadline);
        if (status != 0) {
            return status == 1 ? VIC_OK : status;
        }
        me->begin_ps = me->clock_ps;
        me->key_ps = blind ? me->clock_ps + me->look_ps : deadline;
    }
}

static bool is_told(struct member *me, void *what)
{
    return me->told >= *(size_t *)what;
}

int timed_wait_told(struct member *me, uint32_t what, uint32_t tag, size_t n, uint64_t *into, uint64_t timeout_ns)
{
    me->told = 0;
    me->into = into;
    int status = timed_wait(me, (struct watched){what, tag, 0}, is_told, &n, timeout_ns);
    me->into = NULL;
    return status;
}

void timed_hint(struct timed *own, uint32_t what, uint32_t index, uint64_t value, int64_t at_ps)
{
    for (struct member *m = own->members; m != NULL; m = m->next) {
        const struct watched *w = &m->watched;
        bool zero = what == 0 || what == 1; /* a counter */
        bool kind = w->what == what || (zero && w->what == 0);
        if (m->state != MEMBER_PARKED || !kind || w->index != index || (zero ? value != 0 : value < w->least)) {
            continue;
        }
        int64_t look = look_from(m, at_ps);
        m->key_ps = look < m->key_ps ? look : m->key_ps;
    }
}

int timed_join(struct timed *own)
{
    pthread_mutex_lock(&own->lock);
    struct member *me = new_me(own);
    token_pass(own, CARD_COMING, 0, false);
    own->shared->epoch++;
    me->clock_ps = own->shared->floor_ps;
    own->now_ps = me->clock_ps;
    own->inside = 1;
    own->user = me;
    me->state = MEMBER_RUNS;
    unsaid_read(me);
    timed_leave(me);
    return own->gone ? VIC_ECLOSED : VIC_OK;
}

void timed_part(struct timed *own)
{
    pthread_mutex_lock(&own->lock);
    struct member *user = own->user;
    if (user != NULL && user != find_me(own)) { /* it may never call again: programs end like this */
        user->state = MEMBER_OUT;
        own->user = NULL;
        own->inside--;
    }
    pthread_mutex_unlock(&own->lock);
    struct member *me = timed_enter(own->card, true);
    own->closing = true;
    own->closed_ps = me->clock_ps;
    me->state = MEMBER_OUT;
    own->user = NULL;
    while (least(own) != NULL) { /* their waits end now */
        choose(own);
        pthread_mutex_unlock(&own->lock);
        nanosleep(&(struct timespec){0, 100000}, NULL);
        pthread_mutex_lock(&own->lock);
        own->user = NULL;
    }
    token_leave(own, CARD_CLOSED, own->now_ps > me->clock_ps ? own->now_ps : me->clock_ps);
    own->gone = true; /* nobody is kept waiting any more */
    pthread_mutex_unlock(&own->lock);
}

void timed_forget(struct timed *own)
{
    pthread_mutex_lock(&chains);
    for (struct member *m = own->members; m != NULL; m = m->next) {
        m->own = NULL; /* its thread frees it */
    }
    pthread_mutex_unlock(&chains);
}

int64_t timed_clock_ps(const struct vic *card)
{
    struct timed *own = timed_of(card);
    const struct member *me = find_me(own);
    if (me != NULL) {
        return me->clock_ps;
    }
    pthread_mutex_lock(&own->lock);
    int64_t now = own->now_ps;
    pthread_mutex_unlock(&own->lock);
    return now;
}
