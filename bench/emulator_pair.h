/* emulator_pair.h: what the two sides of a measurement need: a core each, without others in between. */
#ifndef EMULATOR_PAIR_H
#define EMULATOR_PAIR_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Core `side` of those that this process may use, and real-time priority if that is allowed: the bursts are
 * short. Call it after vic_open, which counts the cores. */
static inline void take_core(unsigned side)
{
    cpu_set_t all, one;
    struct sched_param priority = {.sched_priority = 1};
    sched_getaffinity(0, sizeof all, &all);
    unsigned at = side % (unsigned)CPU_COUNT(&all);
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET(core, &all) && at-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(core, &one);
            sched_setaffinity(0, sizeof one, &one);
            break;
        }
    }
    sched_setscheduler(0, SCHED_RR, &priority);
}

static inline void pause_core(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

/* Random places, the same on both sides. */
static inline uint64_t place_of(uint64_t i)
{
    i = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (i ^ i >> 32) * UINT64_C(0xbf58476d1ce4e5b9) >> 20;
}

enum {
    SRAM = 1 << 22,      /* words: a card of 32 MiB */
    VECTOR = 1024,       /* packets of a vector send */
    PLACES = 1 << 16,    /* that are written again and again: 4 MiB of cache lines */
    BLOCK = 1 << 15,     /* words of a contiguous put: 256 KiB */
    BLOCKS = 8,          /* that one side may be ahead of the other */
    FIFO = 4096,
    BATCH = 64           /* FIFO words at a time */
};

#endif
