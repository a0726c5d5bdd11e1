/* bell.h: waking threads of any process that sleep until something changes (a futex in the job's memory). */
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

/* Sleep under a bell, unless it was rung since `seen`. The caller has counted itself in `sleepers` and
 * looked once more before. */
void bell_sleep(struct bell *bell, uint32_t seen, uint64_t ns);

#endif
