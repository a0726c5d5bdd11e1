/* CPU time that a thread spends between calls: model time does not know of it, unless vic_compute_ns says it. The
 * clock of CPU time is slow to read, so it is read after waits, and before calls that come late by the wall
 * clock. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "timed/timed.h"

enum { LATE_NS = 50 * 1000, PATIENCE_S = 2 };

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void unsaid_read(struct member *me)
{
    me->cpu_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
}

void unsaid_leaves(struct member *me)
{
    me->left_ns = read_ns(CLOCK_MONOTONIC);
    me->switches = UINT64_MAX;
}

void unsaid_back(struct member *me)
{
    uint64_t away = me->left_ns != 0 ? read_ns(CLOCK_MONOTONIC) - me->left_ns : 0;
    if (away < LATE_NS) {
        return;
    }
    uint64_t before = me->cpu_ns;
    unsaid_read(me);
    uint64_t used = before != 0 ? me->cpu_ns - before : 0; /* calls that did not wait are in it, too */
    used = used < away ? used : away;
    me->own->shared->unsaid_ns += used >= LATE_NS ? used : 0;
}

bool unsaid_sleeps(struct member *user)
{
    if (atomic_load_explicit(&user->calls, memory_order_relaxed)) {
        return false; /* it sleeps for the lock that the caller has */
    }
    if (read_ns(CLOCK_MONOTONIC) - user->left_ns > PATIENCE_S * UINT64_C(1000000000)) {
        return true; /* a loop that waits for another thread without vic_relax would never end */
    }
    char path[64], line[512];
    char state = 'R';
    unsigned long long switches = 0, more = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", user->tid);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "State: %c", &state) == 1) {
            continue;
        }
        if (sscanf(line, "voluntary_ctxt_switches: %llu", &more) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %llu", &more) == 1) {
            switches += more;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    bool same = switches == user->switches;
    user->switches = switches;
    return same && (state == 'S' || state == 'D');
}
