/* Time, and a draw for pauses and sessions. */
#define _GNU_SOURCE

#include "bridge.h"
#include "clock.h"
#include "entropy.h"

uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t chance(void)
{
    uint64_t bits = 0;
    if (!entropy_draw(&bits, sizeof bits)) {
        bits = now_ns(); /* apart from those of others it is all the same */
    }
    return bits;
}
