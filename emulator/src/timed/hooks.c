/* What timed mode does when threads are made and joined: see threads/hooks.h. */
#define _GNU_SOURCE
#include "threads/hooks.h"
#include "timed/timed.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "fork.h"

static pthread_mutex_t records = PTHREAD_MUTEX_INITIALIZER; /* ended, detached: own may be gone */

static void lock_records(void)
{
    timed_come();
    pthread_mutex_lock(&records);
}

static void unlock_records(void)
{
    pthread_mutex_unlock(&records);
    timed_go();
}

const struct fork_part fork_records = {lock_records, unlock_records, unlock_records};

/* A hook finds the card of its thread by itself: as long as it goes on none is freed. It may be in a call that is in no
 * provider, as that uses locks, too; those of providers, and of the marks themselves, are no hook's. */
static const void *hook_begin(void)
{
    const void *before = atomic_load_explicit(&call_mark.in, memory_order_relaxed);
    call_of(CALL_ANY);
    return before;
}

static void hook_end(const void *const *before)
{
    call_mark_write(*before);
}

#define IN_HOOK(result)                                                                                     \
    if (timed_depth > 0) {                                                                                  \
        return result;                                                                                      \
    }                                                                                                       \
    __attribute__((cleanup(hook_end), unused)) const void *const before_ = hook_begin()

/* Both happen, in any order: whoever is the second frees it. */
static void settle(struct record *record, bool *mine, const bool *other)
{
    lock_records();
    *mine = true;
    bool last = *other;
    unlock_records();
    if (last) {
        free(record);
    }
}

void record_end(struct record *record)
{
    settle(record, &record->ended, &record->detached);
}

/* The member of this thread if it has the turn; not in a child made by fork(). */
static struct member *user(void)
{
    struct member *me = timed_me();
    return me != NULL && me->own->card->process == getpid() ? me : NULL;
}

static bool begins(void **what)
{
    *what = NULL;
    IN_HOOK(true);
    struct member *maker = user();
    if (maker == NULL) {
        return true;
    }
    struct record *record = malloc(sizeof *record);
    struct member *member = record != NULL ? timed_announce(maker->own, maker) : NULL;
    if (member == NULL) {
        free(record);
        return false;
    }
    *record = (struct record){.member = member, .own = maker->own, .id = member->id};
    member->record = record;
    *what = record;
    return true;
}

static void runs(void *what)
{
    IN_HOOK();
    timed_begin(((struct record *)what)->member);
}

static void failed(void *what)
{
    IN_HOOK();
    timed_unannounce(((struct record *)what)->member);
    free(what);
}

static void detaches(void *what)
{
    struct record *record = what;
    settle(record, &record->detached, &record->ended);
}

static bool has_ended(struct member *me, void *what)
{
    (void)me;
    return ((struct record *)what)->ended;
}

/* This thread as a member of the card that made another one, in a call; NULL: it is none. If it lost its turn, sleeping
 * elsewhere, it comes back: who is away for ever keeps the ends of all waits from the others. */
static struct member *joiner(const struct timed *own)
{
    struct member *me = user();
    if (me == NULL && member_find(own) != NULL) {
        return timed_enter(own->card, false);
    }
    if (me == NULL || me->own != own) {
        return NULL;
    }
    own_lock(me->own);
    return me;
}

static void wait_for_end(struct record *record)
{
    IN_HOOK();
    struct member *me = joiner(record->own);
    if (me != NULL) {
        if (!record->ended) {
            timed_wait(me, (struct watched){WATCH_THREAD, record->id, 0}, has_ended, record, VIC_FOREVER);
        }
        timed_leave(me);
    }
}

static void joins(void *what)
{
    wait_for_end(what);
    detaches(what); /* its thread may still come to it */
}

/* This thread, if other threads may end its wait. */
static struct member *waiter(void)
{
    struct member *me = user();
    bool others = false;
    if (me != NULL) {
        atomic_store_explicit(&me->calls, true, memory_order_relaxed);
        own_lock(me->own);
        atomic_store_explicit(&me->calls, false, memory_order_relaxed);
        others = me->own->inside > 1 && !me->own->orphaned;
        own_unlock(me->own);
    }
    return others ? me : NULL;
}

static bool is_own(void)
{
    return timed_depth > 0;
}

static bool may_wait(void)
{
    IN_HOOK(false);
    return waiter() != NULL;
}

struct attempt {
    thread_try *attempt;
    void *what;
};

static bool succeeds(struct member *me, void *what)
{
    (void)me;
    const struct attempt *attempt = what;
    return attempt->attempt(attempt->what);
}

static enum thread_wait waits(uint32_t slot, thread_try *attempt, void *what, uint64_t ns)
{
    IN_HOOK(THREAD_OUTSIDE);
    struct member *me = waiter();
    if (me == NULL) {
        return THREAD_OUTSIDE;
    }
    struct attempt it = {attempt, what};
    timed_enter(me->own->card, false);
    int status = timed_wait(me, (struct watched){WATCH_SLOT, slot, 0}, succeeds, &it, ns);
    timed_leave(me);
    return status == VIC_OK ? THREAD_DONE : status == VIC_ETIMEDOUT ? THREAD_TIMED_OUT : THREAD_OUTSIDE;
}

static void notify(uint32_t slot)
{
    IN_HOOK();
    struct member *me = user();
    if (me != NULL) {
        atomic_store_explicit(&me->calls, true, memory_order_relaxed);
    }
    timed_changed(slot);
    if (me != NULL) {
        atomic_store_explicit(&me->calls, false, memory_order_relaxed);
    }
}

/* Slots that signal handlers of this thread have changed: a bit for each. */
enum { DEFERRED_WORDS = THREAD_SLOTS / 64 };
static _Thread_local _Atomic uint64_t deferred[DEFERRED_WORDS];
_Thread_local volatile bool timed_deferred;

static void changed(uint32_t slot)
{
    if (timed_depth == 0) {
        notify(slot);
    } else {
        atomic_fetch_or(&deferred[slot / 64], UINT64_C(1) << slot % 64);
        timed_deferred = true;
    }
}

void timed_notify_deferred(void)
{
    timed_deferred = false; /* before the bits are read: a handler that sets one later sets this again */
    atomic_signal_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < DEFERRED_WORDS; i++) {
        for (uint64_t bits = atomic_exchange(&deferred[i], 0); bits != 0; bits &= bits - 1) {
            notify(i * 64 + (uint32_t)__builtin_ctzll(bits));
        }
    }
}

static void leaves(void)
{
    IN_HOOK();
    struct member *me = user();
    if (me != NULL) {
        timed_lose(me);
    }
}

static bool sleeps(uint64_t ns)
{
    IN_HOOK(false);
    struct member *me = user();
    if (me != NULL) {
        timed_enter(me->own->card, false);
        timed_pass(me, ns);
        timed_leave(me);
    }
    return me != NULL;
}

static bool yields(void)
{
    IN_HOOK(false);
    struct member *me = user();
    if (me != NULL) {
        me->own->card->ops->relax(me->own->card);
    }
    return me != NULL;
}

void timed_hook(struct timed *own)
{
    static const struct thread_hooks ours = {.begins = begins, .runs = runs, .failed = failed, .joins = joins,
                                             .detaches = detaches, .is_own = is_own, .may_wait = may_wait, .waits = waits,
                                             .changed = changed, .leaves = leaves, .sleeps = sleeps, .yields = yields};
    thread_hooks_ptr *hooks = dlsym(RTLD_DEFAULT, VIC_THREAD_HOOKS);
    if (hooks != NULL) {
        *hooks = &ours;
    } else {
        own->shared->unhooked = 1;
    }
}
