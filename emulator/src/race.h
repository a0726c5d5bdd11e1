/* race.h: places where two things race. A test that is built with VIC_RACES holds them apart for a moment
 * there, so that what is rare happens all the time. */
#ifndef VIC_RACE_H
#define VIC_RACE_H

#ifdef VIC_RACES
#include <stdint.h>
#include <time.h>

/* One time in `odds`, for so long. */
static inline void race_point(uint32_t odds, long ns)
{
    static _Thread_local uint32_t times;
    if (++times % odds == 0) {
        nanosleep(&(struct timespec){0, ns}, NULL);
    }
}
#else
#define race_point(odds, ns) ((void)0)
#endif

#endif
