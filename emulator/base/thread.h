/* thread.h: threads of the library beside those of a program. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

/* Start a thread that takes none of the process' signals: they are for the program. False: there is none. */
static inline bool thread_start(pthread_t *thread, void *(*run)(void *), void *what)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(thread, NULL, run, what) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

/* A condition that is waited for until a time of CLOCK_MONOTONIC, see timespec_in. */
static inline void condition_make(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

#endif
