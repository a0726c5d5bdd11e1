/* bell.h: waking threads of any process that sleep until something changes (a futex in the job's memory).
 *
 * Who sleeps says so before its last look; who wakes takes that back first: a process that is killed in its
 * sleep costs the others one wake-up too many, and no more.
 *
 * Who waits for a counter, or for words in the FIFO, says so beside it as well, in the line that whoever changes it has
 * anyway: as long as nobody has slept for it, no other line is read.
 */
#ifndef VIC_BELL_H
#define VIC_BELL_H

#include "job.h"

void bell_wake(struct bell *bell);

/* Wake those that sleep under a bell. To be called after an atomic change (sequentially consistent) of what
 * they wait for. */
static inline void bell_ring(struct bell *bell)
{
    if (atomic_load(&bell->sleepers) != 0) {
        bell_wake(bell);
    }
}

/* The same after a change of what has this mark beside it. The mark is taken back before the wake-up, and only then: who
 * sets it has been to the bell before (bell_enter), and does not sleep if it was rung since. */
static inline void bell_ring_for(struct bell *bell, _Atomic uint32_t *awaited)
{
    if (atomic_load(awaited) != 0 && atomic_load(&bell->sleepers) != 0) {
        atomic_store(awaited, 0);
        bell_wake(bell);
    }
}

/* Say that somebody is going to sleep; then look once more, and sleep with what this returns. */
static inline uint32_t bell_enter(struct bell *bell)
{
    uint32_t seen = atomic_load(&bell->rung);
    atomic_exchange(&bell->sleepers, 1); /* in order with the look that follows */
    return seen;
}

/* Between that and the look: it is for one of these counters, or for words in the FIFO. */
static inline void bell_await(struct card_shared *card, uint64_t counters, bool fifo)
{
    for (; counters != 0; counters &= counters - 1) {
        atomic_store(&card->counter[__builtin_ctzll(counters)].awaited, 1);
    }
    if (fifo) {
        atomic_store(&card->fifo_awaited, 1);
    }
}
/* Everybody in the memory of a job looks again at what became of the others. */
void bell_wake_all(const struct job *job);

/* Sleep under a bell, unless it was rung since `seen`, but not longer than ns. */
void bell_sleep(struct bell *bell, uint32_t seen, uint64_t ns);

#endif
