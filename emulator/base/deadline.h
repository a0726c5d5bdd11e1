/* deadline.h: until when a call of a layer on vic.h may take, in the time of its card.
 *
 * A timeout becomes a deadline where the call begins, and every wait inside it gets what is left. VIC_FOREVER is no
 * end in both.
 */
#ifndef BASE_DEADLINE_H
#define BASE_DEADLINE_H

#include "vic.h"

static inline uint64_t deadline_after(vic_t *card, uint64_t timeout_ns)
{
    if (timeout_ns == VIC_FOREVER) {
        return VIC_FOREVER;
    }
    uint64_t now = vic_time_ns(card);
    return timeout_ns < VIC_FOREVER - 1 - now ? now + timeout_ns : VIC_FOREVER - 1;
}

/* What is left until then; 0: it is past. */
static inline uint64_t deadline_left(vic_t *card, uint64_t deadline_ns)
{
    if (deadline_ns == VIC_FOREVER) {
        return VIC_FOREVER;
    }
    uint64_t now = vic_time_ns(card);
    return deadline_ns > now ? deadline_ns - now : 0;
}

/* What is left, but not more than `most_ns`. */
static inline uint64_t deadline_slice(vic_t *card, uint64_t most_ns, uint64_t deadline_ns)
{
    uint64_t left = deadline_left(card, deadline_ns);
    return left < most_ns ? left : most_ns;
}

#endif
