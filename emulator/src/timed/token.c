/* The process and the coordinator take turns. */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "card/vic.h"
#include "race.h"
#include "timed/timed.h"

enum { LOOK_AROUND_MS = 100 };

static void ring(struct timed_shared *shared)
{
    atomic_fetch_add(&shared->bell, 1);
    syscall(SYS_futex, &shared->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void write_one(struct timed_card *shared, uint32_t *watches, struct watched watched)
{
    if ((*watches)++ < WATCHED_MOST) {
        shared->watched[*watches - 1] = watched;
    }
}

/* One entry for each thing that the thread waits for. */
static void write_wait(struct timed_card *shared, uint32_t *watches, const struct member *m)
{
    if (m->watched.what != WATCH_ANY) {
        write_one(shared, watches, m->watched);
        return;
    }
    for (uint64_t left = m->any; left != 0; left &= left - 1) {
        write_one(shared, watches, (struct watched){DVSIM_VIC_COUNTER, (uint32_t)__builtin_ctzll(left), 0});
    }
    if (m->watched.least != UINT64_MAX) {
        write_one(shared, watches, (struct watched){DVSIM_VIC_FIFO, 0, m->watched.least});
    }
}

/* What the threads wait for. */
static void write_waits(struct timed *own)
{
    struct timed_card *shared = own->shared;
    uint32_t watches = 0, lost = 0; /* not counted where others may write */
    int64_t endless_ps = 0;
    int64_t now_ps = own->applied_ps; /* no wait ends before that, or it would see news too early */
    for (const struct member *m = own->members; m != NULL; m = m->next) {
        lost += m->lost;
        now_ps = m->clock_ps > now_ps ? m->clock_ps : now_ps;
        if (m->state == MEMBER_PARKED) {
            write_wait(shared, &watches, m);
        }
        int64_t since_ps = m->state == MEMBER_PARKED ? m->endless_ps : m->state == MEMBER_OUT ? 0 : NEVER;
        endless_ps = since_ps > endless_ps ? since_ps : endless_ps;
    }
    shared->endless_ps = endless_ps;
    shared->watches = watches;
    shared->lost = lost;
    shared->now_ps = now_ps;
}

static void hand_over(struct timed *own, enum card_state state, int64_t next_ps, bool urgent)
{
    struct timed_card *shared = own->shared;
    struct timed_shared *all = timed_shared_of(own->card->job);
    if (state != CARD_COMING) { /* a card that is coming may not write */
        write_waits(own);
        shared->next_ps = next_ps;
        shared->urgent = urgent;
    }
    STEP();
    bool ran = atomic_exchange(&shared->state, state) == CARD_RUNNING;
    STEP();
    if (!ran || atomic_fetch_sub(&all->running, 1) == 1) {
        ring(all);
    }
}

static bool coordinator_gone(const struct timed *own)
{
    const struct job *job = own->card->job;
    return job_launcher_has_ended(job) || atomic_load(&timed_shared_of(job)->coordinated) == 2;
}

void token_pass(struct timed *own, enum card_state state, int64_t next_ps, bool urgent)
{
    struct timed_card *shared = own->shared;
    if (own->orphaned) {
        return;
    }
    uint32_t seen = atomic_load(&shared->go);
    hand_over(own, state, next_ps, urgent);
    own_unlock(own);
    bool orphaned = false;
    while (atomic_load(&shared->go) == seen && !orphaned) {
        struct timespec slice = {0, LOOK_AROUND_MS * 1000000};
        long slept = syscall(SYS_futex, &shared->go, FUTEX_WAIT, seen, &slice, NULL, 0);
        orphaned = slept != 0 && atomic_load(&shared->go) == seen && coordinator_gone(own);
    }
    STEP();
    own_lock(own);
    own->orphaned |= orphaned;
    int64_t floor_ps = sound_ps(shared->floor_ps);
    for (struct member *m = own->members; m != NULL; m = m->next) {
        if (m->late && m->clock_ps < floor_ps) { /* not into what is past */
            m->clock_ps = floor_ps;
            m->key_ps = m->clock_ps;
        }
        m->late = false;
    }
}

void token_kick(struct timed *own)
{
    uint32_t stopped = CARD_STOPPED;
    if (atomic_compare_exchange_strong(&own->shared->state, &stopped, CARD_LATE)) {
        ring(timed_shared_of(own->card->job));
    }
}

void token_leave(struct timed *own, enum card_state state, int64_t next_ps)
{
    if (!own->orphaned) {
        hand_over(own, state, next_ps, false);
    }
}

/* ---- the number of openings and closings of a card, as other cards may know it: as of two crossings of PCIe before. No
 * clock in the same window has passed a time by so much, so the answer does not depend on which process ran first */

static int64_t delay_ps(const struct timed *own)
{
    return 2 * own->pcie.crossing_ps;
}

void opens_first(struct timed *own)
{
    if (atomic_load(&own->shared->moves) == 0) { /* before time begins */
        timed_move(own->shared, -delay_ps(own));
    }
}

void opens_again(struct timed *own, int64_t at_ps)
{
    bool open = atomic_load(&own->shared->moves) % 2 == 1;
    if (!open && !own->shared->move_skipped) {
        timed_move(own->shared, at_ps);
    }
    own->shared->move_skipped = false;
}

void opens_close(struct timed *own, int64_t at_ps)
{
    timed_move_closed(own->shared, at_ps, delay_ps(own));
}

uint64_t timed_peer_opens(const struct vic *card, uint32_t peer)
{
    struct member *me = timed_enter(timed_of(card)->card, false);
    const struct timed_card *shared = timed_card_of(card->job, peer);
    if (me == NULL) { /* the call has no status: the number of this moment */
        return atomic_load(&shared->moves);
    }
    timed_look(me);
    uint32_t moves = atomic_load(&shared->moves), kept = 0;
    while (kept < MOVES_KEPT && kept < moves) {
        int64_t at_ps = atomic_load(&shared->move_ps[(moves - 1 - kept) % MOVES_KEPT]);
        if (at_ps <= me->clock_ps - delay_ps(me->own)) {
            break;
        }
        kept++;
    }
    timed_leave(me);
    return moves - kept;
}
