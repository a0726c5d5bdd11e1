/* What timed mode does when threads are made and joined: see threads/hooks.h. */
#define _GNU_SOURCE
#include "threads/hooks.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "timed/record.h"

static void *begins(void)
{
    struct member *maker = timed_me();
    struct record *record = maker != NULL ? malloc(sizeof *record) : NULL;
    if (record != NULL) {
        struct member *member = timed_announce(maker->own, maker);
        *record = (struct record){member, maker->own, member->id, false};
        member->record = record;
    }
    return record;
}

static void runs(void *what)
{
    timed_begin(((struct record *)what)->member);
}

static void failed(void *what)
{
    timed_unannounce(((struct record *)what)->member);
    free(what);
}

static bool has_ended(struct member *me, void *what)
{
    (void)me;
    return ((struct record *)what)->ended;
}

static void joins(void *what)
{
    struct record *record = what;
    struct member *me = timed_me();
    bool ended = false;
    if (me != NULL && me->own == record->own) {
        struct timed *own = me->own;
        pthread_mutex_lock(&own->lock);
        if (!record->ended) {
            timed_wait(me, (struct watched){WATCH_THREAD, record->id, 0}, has_ended, record, VIC_FOREVER);
        }
        ended = record->ended;
        timed_leave(me);
    }
    if (ended) { /* else its thread may still come to it */
        free(record);
    }
}

void timed_hook(void)
{
    struct thread_hooks *hooks = dlsym(RTLD_DEFAULT, VIC_THREAD_HOOKS);
    if (hooks != NULL) {
        *hooks = (struct thread_hooks){begins, runs, failed, joins};
    }
}
