/* race.h: places where two things race, or a program may be killed. A test that is built with VIC_RACES holds them apart for a moment
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

/* Behind each change of shared memory that a program may be killed after. A library that is built with VIC_STEPS, for a
 * test, ends the process at the one that VIC_STEP names, as SIGKILL does. */
#ifdef VIC_STEPS
void step_taken(void); /* wait.c */
#define STEP() step_taken()
#else
#define STEP() ((void)0)
#endif

#endif
