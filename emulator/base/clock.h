/* clock.h: clocks of the machine in nanoseconds, and times as the system wants them. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t ns_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static inline struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return ns_of(&now);
}

/* The time of CLOCK_MONOTONIC in so many nanoseconds. */
static inline struct timespec timespec_in(uint64_t ns)
{
    return timespec_of(clock_ns(CLOCK_MONOTONIC) + ns);
}

#endif
