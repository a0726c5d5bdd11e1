/* libvic-threads.so, see hooks.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "threads/hooks.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT struct thread_hooks vic_thread_hooks;

struct thread {
    pthread_t id;
    void *record;
    void *(*start)(void *);
    void *argument;
    struct thread *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *threads; /* that can be joined */

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int join_function(pthread_t, void **);

/* ISO C has no cast from an object to a function. */
static void find(const char *name, void *function)
{
    *(void **)function = dlsym(RTLD_NEXT, name);
}

static void *run(void *what)
{
    struct thread thread = *(struct thread *)what;
    if (thread.next == NULL) { /* detached: nobody else knows it */
        free(what);
    }
    vic_thread_hooks.runs(thread.record);
    return thread.start(thread.argument);
}

EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*start)(void *), void *argument)
{
    static create_function *real;
    if (real == NULL) {
        find("pthread_create", &real);
    }
    void *record = vic_thread_hooks.begins != NULL ? vic_thread_hooks.begins() : NULL;
    struct thread *thread = record != NULL ? malloc(sizeof *thread) : NULL;
    if (record != NULL && thread == NULL) {
        vic_thread_hooks.failed(record);
        return EAGAIN;
    }
    if (thread == NULL) {
        return real(id, attr, start, argument);
    }
    int detached = PTHREAD_CREATE_JOINABLE;
    if (attr != NULL) {
        pthread_attr_getdetachstate(attr, &detached);
    }
    static struct thread last; /* of the list: next is never NULL there */
    *thread = (struct thread){.record = record, .start = start, .argument = argument};
    pthread_mutex_lock(&lock);
    if (detached == PTHREAD_CREATE_JOINABLE) {
        thread->next = threads != NULL ? threads : &last;
    }
    int error = real(id, attr, run, thread);
    if (error == 0 && detached == PTHREAD_CREATE_JOINABLE) {
        thread->id = *id;
        threads = thread;
    }
    pthread_mutex_unlock(&lock);
    if (error != 0) {
        vic_thread_hooks.failed(record);
        free(thread);
    }
    return error;
}

/* Out of the list. */
static struct thread *take(pthread_t id)
{
    pthread_mutex_lock(&lock);
    struct thread **at = &threads, *found = NULL;
    while (*at != NULL && (*at)->next != NULL && found == NULL) {
        if (pthread_equal((*at)->id, id)) {
            found = *at;
            *at = found->next;
        } else {
            at = &(*at)->next;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

EXPORT int pthread_join(pthread_t id, void **result)
{
    static join_function *real;
    if (real == NULL) {
        find("pthread_join", &real);
    }
    struct thread *thread = take(id);
    if (thread != NULL) {
        vic_thread_hooks.joins(thread->record);
        free(thread);
    }
    return real(id, result);
}
