/* bell.h: waking threads of any process that sleep until something changes (a futex in the job's memory).
 *
 * Who sleeps says so before its last look; who wakes takes that back first: a process that is killed in its
 * sleep costs the others one wake-up too many, and no more.
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

/* Say that somebody is going to sleep; then look once more, and sleep with what this returns. */
static inline uint32_t bell_enter(struct bell *bell)
{
    uint32_t seen = atomic_load(&bell->rung);
    atomic_exchange(&bell->sleepers, 1); /* in order with the look that follows */
    return seen;
}

/* Sleep under a bell, unless it was rung since `seen`, but not longer than ns. */
void bell_sleep(struct bell *bell, uint32_t seen, uint64_t ns);

#endif
