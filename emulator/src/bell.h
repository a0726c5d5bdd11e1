/* bell.h: waking threads of any process that sleep until something changes (a futex in the job's memory).
 *
 * Who sleeps says so before its last look; who wakes takes that back first: a process that is killed in its
 * sleep costs the others one wake-up too many, and no more.
 *
 * A thread that waits for a counter, or for words in the FIFO, also sets a mark beside it. The mark shares the cache line
 * of what is changed, so a sender reads no other line as long as nobody has slept.
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

/* The same, after a change of a counter or FIFO with this mark. The mark is cleared before the wake-up. A thread that sets
 * it has called bell_enter before, so it does not sleep if the bell was rung in between. */
static inline void bell_ring_for(struct bell *bell, _Atomic uint32_t *awaited)
{
    if (atomic_load(awaited) != 0 && atomic_load(&bell->sleepers) != 0) {
        atomic_store(awaited, 0);
        bell_wake(bell);
    }
}

/* Note that a thread is about to sleep. It looks once more then, and sleeps with the result of this call. */
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
