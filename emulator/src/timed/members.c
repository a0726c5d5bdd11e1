/* Which thread is which member, from its first call, or from before it was made, until it ends. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "timed/timed.h"

static _Thread_local struct member *mine; /* of this thread, on all its cards */
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t chains = PTHREAD_MUTEX_INITIALIZER; /* of member.own against the end of a thread */

static void end_thread(void *chain)
{
    pthread_mutex_lock(&chains);
    for (struct member *m = chain, *next; m != NULL; m = next) {
        next = m->next_of_thread;
        if (m->own != NULL) {
            timed_gone(m->own, m);
        }
        pthread_cond_destroy(&m->turn);
        free(m);
    }
    pthread_mutex_unlock(&chains);
    mine = NULL;
}

static void make_key(void)
{
    pthread_key_create(&at_exit, end_thread);
}

struct member *member_find(const struct timed *own)
{
    struct member *m = mine;
    while (m != NULL && m->own != own) {
        m = m->next_of_thread;
    }
    return m;
}

static struct member *new_member(struct timed *own)
{
    struct member *me = calloc(1, sizeof *me);
    if (me == NULL) {
        abort(); /* there is no status for it in the middle of a call */
    }
    pthread_cond_init(&me->turn, NULL);
    me->own = own;
    me->id = own->ids++;
    me->state = MEMBER_OUT;
    me->next = own->members;
    own->members = me;
    return me;
}

/* This thread is it. */
void member_be(struct member *me)
{
    pthread_once(&once, make_key);
    me->tid = gettid();
    me->next_of_thread = mine;
    mine = me;
    pthread_setspecific(at_exit, mine);
}

struct member *member_new(struct timed *own)
{
    struct member *me = new_member(own);
    member_be(me);
    return me;
}

struct member *timed_me(void)
{
    struct member *m = mine;
    while (m != NULL && (m->own == NULL || m->own->user != m)) {
        m = m->next_of_thread;
    }
    return m;
}

/* It waits from its maker's present time on, though its thread does not exist yet. */
struct member *timed_announce(struct timed *own, struct member *maker)
{
    pthread_mutex_lock(&own->lock);
    struct member *member = new_member(own);
    member->clock_ps = member->key_ps = maker->clock_ps;
    member->state = MEMBER_READY;
    own->inside++;
    pthread_mutex_unlock(&own->lock);
    return member;
}

void timed_unannounce(struct member *member)
{
    timed_gone(member->own, member);
    pthread_cond_destroy(&member->turn);
    free(member);
}

void timed_forget(struct timed *own)
{
    pthread_mutex_lock(&chains);
    for (struct member *m = own->members; m != NULL; m = m->next) {
        m->own = NULL; /* its thread frees it */
    }
    pthread_mutex_unlock(&chains);
}

int64_t timed_clock_ps(const struct vic *card)
{
    struct timed *own = timed_of(card);
    const struct member *me = member_find(own);
    if (me != NULL) {
        return me->clock_ps;
    }
    pthread_mutex_lock(&own->lock);
    int64_t now = own->now_ps;
    pthread_mutex_unlock(&own->lock);
    return now;
}
