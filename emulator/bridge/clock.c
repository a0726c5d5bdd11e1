/* Time, and a draw for back-off. */
#define _GNU_SOURCE
#include <sys/random.h>
#include <time.h>

#include "bridge.h"

uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t chance(void)
{
    uint64_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits) {
        bits = now_ns(); /* apart from those of others it is all the same */
    }
    return bits;
}
