/* libvic-threads.so, see hooks.h: threads are made, joined, detached. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "threads/hooks.h"
#include "threads/real.h"

EXPORT thread_hooks_ptr vic_thread_hooks;

struct start { /* of a thread: its own */
    void *record;
    void *(*function)(void *);
    void *argument;
};

struct thread {
    pthread_t id;
    void *record;
    struct thread *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *threads; /* that can be joined */

static void *run(void *what)
{
    struct start start = *(struct start *)what;
    free(what);
    vic_thread_hooks->runs(start.record);
    return start.function(start.argument);
}

static bool is_joinable(const pthread_attr_t *attr)
{
    int state = PTHREAD_CREATE_JOINABLE;
    if (attr != NULL) {
        pthread_attr_getdetachstate(attr, &state);
    }
    return state == PTHREAD_CREATE_JOINABLE;
}

/* It may run, and even end, before its maker goes on: it is in the list before anybody can know its id. */
static int make(pthread_t *id, const pthread_attr_t *attr, struct start *start, struct thread *thread)
{
    REAL(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)
    void *record = start->record;
    pthread_mutex_lock(&lock);
    int error = real_pthread_create(id, attr, run, start);
    if (error == 0 && is_joinable(attr)) {
        *thread = (struct thread){*id, record, threads};
        threads = thread;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*function)(void *), void *argument)
{
    REAL(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)
    void *record = NULL;
    if (vic_thread_hooks != NULL && !vic_thread_hooks->begins(&record)) {
        return EAGAIN;
    }
    if (record == NULL) {
        return real_pthread_create(id, attr, function, argument);
    }
    struct start *start = malloc(sizeof *start);
    struct thread *thread = malloc(sizeof *thread);
    int error = EAGAIN;
    if (start != NULL && thread != NULL) {
        *start = (struct start){record, function, argument};
        error = make(id, attr, start, thread);
    }
    if (error != 0) {
        vic_thread_hooks->failed(record);
        free(start);
    } else if (!is_joinable(attr)) {
        vic_thread_hooks->detaches(record);
    }
    if (error != 0 || !is_joinable(attr)) {
        free(thread);
    }
    return error;
}

/* Out of the list. */
static struct thread *take(pthread_t id)
{
    pthread_mutex_lock(&lock);
    struct thread **at = &threads;
    while (*at != NULL && !pthread_equal((*at)->id, id)) {
        at = &(*at)->next;
    }
    struct thread *found = *at;
    if (found != NULL) {
        *at = found->next;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

EXPORT int pthread_join(pthread_t id, void **result)
{
    REAL(int, pthread_join, pthread_t, void **)
    struct thread *thread = take(id);
    if (thread != NULL) {
        vic_thread_hooks->joins(thread->record);
        free(thread);
    }
    return real_pthread_join(id, result);
}

EXPORT int pthread_detach(pthread_t id)
{
    REAL(int, pthread_detach, pthread_t)
    struct thread *thread = take(id);
    int error = real_pthread_detach(id);
    if (thread != NULL) {
        vic_thread_hooks->detaches(thread->record);
        free(thread);
    }
    return error;
}

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* The child has none of them. */
static void in_child(void)
{
    threads = NULL;
    slots_forget();
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}
