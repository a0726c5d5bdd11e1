/* Which thread is which member, from its first call, or from before it was made, until it ends. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "fork.h"
#include "timed/timed.h"

static _Thread_local struct member *mine; /* of this thread, on all its cards */
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t chains = PTHREAD_MUTEX_INITIALIZER; /* of member.own, and of */
static struct timed *owns;
_Thread_local uint32_t timed_depth;
_Thread_local int timed_cancel;

static void lock_chains(void)
{
    timed_come();
    pthread_mutex_lock(&chains);
}

static void unlock_chains(void)
{
    pthread_mutex_unlock(&chains);
    timed_go();
}

static void end_thread(void *chain)
{
    lock_chains();
    for (struct member *m = chain, *next; m != NULL; m = next) {
        next = m->next_of_thread;
        if (m->own != NULL) {
            timed_thread_ends(m->own, m);
        }
        pthread_cond_destroy(&m->turn);
        free(m);
    }
    unlock_chains();
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

static struct member *add_member(struct timed *own, struct member *me)
{
    if (me == NULL) {
        return NULL;
    }
    pthread_cond_init(&me->turn, NULL);
    me->own = own;
    me->id = own->ids++;
    me->state = MEMBER_OUT;
    me->next = own->members;
    own->members = me;
    return me;
}

static struct member *new_member(struct timed *own)
{
    return add_member(own, calloc(1, sizeof(struct member)));
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
    if (me != NULL) {
        member_be(me);
    }
    return me;
}

void timed_closer(struct timed *own)
{
    own_lock(own);
    if (member_find(own) == NULL) {
        member_be(add_member(own, own->closer));
        own->closer = NULL;
    }
    own_unlock(own);
}

struct member *timed_me(void)
{
    struct member *m = mine;
    while (m != NULL && !atomic_load_explicit(&m->has_turn, memory_order_relaxed)) {
        m = m->next_of_thread;
    }
    return m;
}

/* It waits from its maker's present time on, though its thread does not exist yet. */
struct member *timed_announce(struct timed *own, struct member *maker)
{
    own_lock(own);
    struct member *member = new_member(own);
    if (member != NULL) {
        member->clock_ps = member->key_ps = maker->clock_ps;
        member->state = MEMBER_READY;
        own->inside++;
    }
    own_unlock(own);
    return member;
}

void timed_unannounce(struct member *member)
{
    timed_thread_ends(member->own, member);
    pthread_cond_destroy(&member->turn);
    free(member);
}

void timed_known(struct timed *own)
{
    lock_chains();
    own->next = owns;
    owns = own;
    unlock_chains();
}

void timed_forget(struct timed *own)
{
    lock_chains();
    struct timed **at = &owns;
    while (*at != own) {
        at = &(*at)->next;
    }
    *at = own->next;
    for (struct member *m = own->members; m != NULL; m = m->next) {
        m->own = NULL; /* its thread frees it */
        atomic_store(&m->has_turn, false);
    }
    unlock_chains();
}

void timed_notify(struct timed *own, uint32_t what, uint32_t index, const struct member *by)
{
    timed_hint(own, what, index, UINT64_MAX, by != NULL ? by->clock_ps : own->now_ps);
    for (struct member *m = own->members; m != NULL && by == NULL; m = m->next) {
        if (m->state == MEMBER_PARKED && m->watched.what == what && m->watched.index == index) {
            m->late = own->driving;
            pthread_cond_signal(&m->turn);
        }
    }
    if (by == NULL && own->driving) {
        token_kick(own);
    }
}

void timed_changed(uint32_t slot)
{
    lock_chains();
    for (struct timed *own = owns; own != NULL; own = own->next) {
        own_lock(own);
        const struct member *me = member_find(own);
        timed_notify(own, WATCH_SLOT, slot, me == own->user ? me : NULL);
        own_unlock(own);
    }
    unlock_chains();
}

int64_t timed_clock_ps(const struct vic *card)
{
    struct timed *own = timed_of(card);
    const struct member *me = member_find(own);
    if (me != NULL) {
        return me->clock_ps;
    }
    own_lock(own);
    int64_t now = own->now_ps;
    own_unlock(own);
    return now;
}

/* The one thread of the child is a member of nothing. */
static void in_child(void)
{
    mine = NULL;
    owns = NULL;
    pthread_once(&once, make_key);
    pthread_setspecific(at_exit, NULL);
    unlock_chains();
}

const struct fork_part fork_members = {lock_chains, unlock_chains, in_child};
