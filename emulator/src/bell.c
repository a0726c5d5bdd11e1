/* A futex on which the threads of all processes of a job sleep. */
#define _GNU_SOURCE
#include "bell.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

void bell_wake(struct bell *bell)
{
    atomic_store(&bell->sleepers, 0); /* first: whoever says it again has then not seen what follows */
    atomic_fetch_add(&bell->rung, 1);
    syscall(SYS_futex, &bell->rung, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void bell_wake_all(const struct job *job)
{
    bell_wake(&job->shared->released);
    bell_wake(&job->shared->agent);
    for (uint32_t i = 0; i < job->config.cards; i++) {
        bell_wake(&job->card[i].arrival);
        bell_wake(&job->card[i].space);
    }
}

void bell_sleep(struct bell *bell, uint32_t seen, uint64_t ns)
{
    struct timespec time = timespec_of(ns);
    syscall(SYS_futex, &bell->rung, FUTEX_WAIT, seen, &time, NULL, 0);
}
