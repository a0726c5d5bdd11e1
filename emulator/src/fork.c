/* Forks: one set of handlers for all locks of the process, in the order in which they are taken. */
#include "fork.h"

#include <pthread.h>
#include <stddef.h>

static const struct fork_part *const parts[] = {&fork_layers, &fork_handles, &fork_jobs, &fork_members, &fork_records};
enum { PARTS = sizeof parts / sizeof *parts };

static void before(void)
{
    for (size_t i = 0; i < PARTS; i++) {
        parts[i]->before();
    }
}

static void parent(void)
{
    for (size_t i = PARTS; i-- > 0;) {
        parts[i]->parent();
    }
}

static void child(void)
{
    for (size_t i = PARTS; i-- > 0;) {
        parts[i]->child();
    }
}

static void watch(void)
{
    pthread_atfork(before, parent, child); /* without memory for it a child is where it was without us */
}

void fork_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}
