/* What a program that has ended has half done in the job's memory: see claims.h. */
#include "claims.h"

#include <sched.h>

#include "bell.h"
#include "race.h"

enum { ROOM_NS = 200 * 1000 * 1000 };

static uint64_t ticket_at(const struct job *job, uint32_t dest, uint64_t position)
{
    return atomic_load(&job_slots(job, dest)[position & (job->ring - 1)].ticket);
}

/* Is there room for so many more places that are never filled? The reader passes those before, when it looks. */
static bool has_room(const struct job *job, uint32_t dest, uint64_t count)
{
    uint64_t end_ns = job_clock_ns() + ROOM_NS;
    for (;;) {
        if (atomic_load(&job->card[dest].fifo_voids) + count <= job->ring - job->config.fifo_words) {
            return true;
        }
        if (job_clock_ns() > end_ns || seat_owner(atomic_load(&job->card[dest].seat)) == 0) {
            return false;
        }
        bell_ring(&job->card[dest].arrival);
        sched_yield();
    }
}

/* Places that the dead took and did not fill. False: there is no room for more of these, as the reader waits
 * for many words. */
static bool void_places(const struct job *job, uint32_t dest, uint64_t first, uint64_t last)
{
    _Atomic uint64_t *voids = &job->card[dest].fifo_voids;
    if (!has_room(job, dest, last - first + 1)) {
        return false;
    }
    for (uint64_t at = first; at <= last; at++) { /* one by one: who is killed in here leaves one too many, at most */
        atomic_fetch_add(voids, 1);
        STEP();
        atomic_store(&job_slots(job, dest)[at & (job->ring - 1)].ticket, ticket_void(at));
    }
    return true;
}

/* The positions that a dead card has claimed end with the slot that names it. If there is none, a living card has
 * filled it meanwhile. */
static bool repair_fifo(const struct job *job, uint32_t dest, uint32_t dead)
{
    uint64_t tail = atomic_load(&job->card[dest].fifo_tail), at = atomic_load(&job->card[dest].fifo_head);
    if (positions(at, tail) == 0) {
        return true;
    }
    claim_note(job, job_slots(job, dest), tail);
    while (positions(at, tail) - 1 < job->ring) {
        uint64_t last = at;
        while (ticket_is_old(ticket_at(job, dest, last), last) && last - at < job->ring) {
            last++;
        }
        bool left = ticket_card(ticket_at(job, dest, last), last) == (int64_t)dead;
        if (left && !void_places(job, dest, at, last)) {
            return false;
        }
        at = last + 1;
    }
    return true;
}

static void give_back(const struct job *job, uint32_t dest)
{
    struct card_shared *shared = &job->card[dest];
    uint64_t head = atomic_load(&shared->fifo_head);
    while (positions(head, atomic_load(&shared->fifo_tail)) > 0 &&
           !atomic_compare_exchange_weak(&shared->fifo_head, &head, (head + 1) & POSITION)) {
    }
    bell_ring(&shared->space);
}

/* Room in FIFOs of other hosts for words that were never written. */
static void repair_rooms(const struct job *job, uint32_t dead)
{
    struct ring *ring = job_ring(job, dead);
    uint32_t claims = atomic_load(&ring->claims);
    bool written = atomic_load(&ring->tail) != atomic_load(&ring->claimed_at);
    for (uint32_t i = 0; i < claims && i < RING_BATCH && !written; i++) {
        uint64_t claim = atomic_load(&ring->claim[i]);
        uint32_t dest = (uint32_t)(claim >> 40) - 1;
        if (dest >= job->config.cards || job_is_here(job, dest)) {
            continue; /* no program of this library has written that */
        }
        uint64_t tail = atomic_load(&job->card[dest].fifo_tail);
        if (i + 1 < claims || tail == claim_by(claim + 1, dead) || atomic_load(&ring->noted) == claim) {
            atomic_store(&ring->claim[i], 0); /* never twice, though this may be killed, too */
            STEP();
            give_back(job, dest);
        }
    }
    atomic_store(&ring->claims, 0);
}

bool claims_undo(const struct job *job, uint32_t dead)
{
    bool good = true;
    for (int i = 0; i < WAITS; i++) {
        atomic_store(&job->card[dead].wait[i].since_ns, UINT64_MAX);
        atomic_store(&job->card[dead].wait[i].kind, WAIT_NOTHING);
    }
    if (job->config.mode != 0) {
        return true; /* its calls are the coordinator's */
    }
    if (job->config.hosts <= 1) {
        barrier_go(job, dead);
    } else { /* agents count the barrier */
        repair_rooms(job, dead);
    }
    for (uint32_t i = job->first; i < job->first + job->here; i++) {
        good = repair_fifo(job, i, dead) && good;
    }
    return good;
}
