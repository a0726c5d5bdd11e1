/* CPU time of a thread between calls, which model time does not include unless vic_compute_ns states it. Its clock is
 * slow to read, so it is read after waits, and before calls that come late by the wall clock. */
#define _GNU_SOURCE
#include <stdio.h>

#include "clock.h"
#include "timed/timed.h"

enum { LATE_NS = 50 * 1000 };
static const uint64_t SPIN_MOST_NS = 2000000000;

void cpu_time_read(struct member *me)
{
    me->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    me->came_ns = clock_ns(CLOCK_MONOTONIC);
    me->inside_ns = 0;
}

void cpu_time_leave(struct member *me)
{
    me->left_ns = clock_ns(CLOCK_MONOTONIC);
    me->inside_ns += me->left_ns - me->came_ns;
    me->switches = UINT64_MAX;
}

void cpu_time_enter(struct member *me)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC), away = me->left_ns != 0 ? now - me->left_ns : 0;
    me->came_ns = now;
    if (away < LATE_NS) {
        me->inside_ns += away; /* too short to measure: later calls are not charged with it */
        return;
    }
    uint64_t before = me->cpu_ns + me->inside_ns; /* calls that did not wait may have taken so much */
    bool known = me->cpu_ns != 0;
    cpu_time_read(me);
    uint64_t used = known && me->cpu_ns > before ? me->cpu_ns - before : 0;
    used = used < away ? used : away;
    if (used >= LATE_NS) {
        me->unstated_ns += used;
        me->own->shared->unstated_ns += used;
    }
}

void cpu_time_stated(struct member *me)
{
    me->own->shared->unstated_ns -= me->unstated_ns;
    me->unstated_ns = 0;
}

/* A loop that waits for another thread without vic_relax would never end. Time in which the thread has no
 * core does not count: the machine may be crowded. */
static bool computes_for_ever(const struct member *user)
{
    clockid_t cpu = (clockid_t)(~(unsigned)user->tid << 3 | 6); /* as Linux names the CPU time of a thread */
    return clock_ns(CLOCK_MONOTONIC) - user->left_ns > SPIN_MOST_NS &&
           clock_ns(cpu) - user->cpu_ns > SPIN_MOST_NS / 2;
}

bool cpu_time_sleeps(struct member *user)
{
    if (user->granted || atomic_load_explicit(&user->calls, memory_order_relaxed)) {
        return false; /* it sleeps for the lock that the caller has */
    }
    if (computes_for_ever(user)) {
        return true;
    }
    char path[64], line[512];
    char state = 'R';
    unsigned long long switches = 0, more = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", user->tid);
    FILE *file = fopen(path, "r");
    if (file == NULL) { /* GCOVR_EXCL_BR_LINE no descriptor is left */
        return false; /* GCOVR_EXCL_LINE likewise */
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "State: %c", &state) == 1) {
            continue;
        }
        if (sscanf(line, "voluntary_ctxt_switches: %llu", &more) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %llu", &more) == 1) {
            switches += more;
        }
    }
    fclose(file);
    bool same = switches == user->switches;
    user->switches = switches;
    return same && (state == 'S' || state == 'D');
}
