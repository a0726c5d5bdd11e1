/* counted.h: a kernel as it is counted by valgrind, and as it is timed. */
#ifndef BENCH_COUNTED_H
#define BENCH_COUNTED_H

#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <time.h>

typedef int run_fn(int64_t times);

/* Not inlined, and by its name: valgrind counts what happens inside. */
__attribute__((noinline)) int counted(run_fn *run, int64_t times)
{
    return run(times);
}

/* The processor's time of this program: what others run meanwhile is not in it. */
static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Nanoseconds of a turn: the best of several rounds that last a tenth of a second together. */
static double best_ns(run_fn *run, int64_t times, int good)
{
    const double end = now_ns() + 1e8;
    double best = 1e18;
    for (int i = 0; i < 3 || now_ns() < end; i++) {
        const double started = now_ns();
        if (run(times) != good)
            break;
        const double took = now_ns() - started;
        best = took < best ? took : best;
    }
    return best / (double)times;
}

#endif
