/* libvic-threads.so, see hooks.h: threads wait for each other, or sleep.
 *
 * A thread in model time that would have to wait gives the turn to others, and tries again when its slot has changed. So
 * each call here that changes a slot notifies the threads that wait there. Signals of conditions are counted at their slots:
 * a wait ends when the count has changed, and so sometimes for nothing, as POSIX allows. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

#include "clock.h"
#include "threads/hooks.h"
#include "threads/real.h"

enum { SECOND = 1000 * 1000 * 1000, RETRY_NS = 10 * 1000 * 1000 };
static _Atomic uint32_t waiting[THREAD_SLOTS], signals[THREAD_SLOTS];

static uint32_t slot_of(const void *object)
{
    return (uint32_t)((uint64_t)(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

static enum thread_wait wait_at(uint32_t slot, thread_try *attempt, void *what, uint64_t ns)
{
    if (vic_thread_hooks == NULL) {
        return THREAD_OUTSIDE;
    }
    atomic_fetch_add(&waiting[slot], 1);
    enum thread_wait end = vic_thread_hooks->waits(slot, attempt, what, ns);
    atomic_fetch_sub(&waiting[slot], 1);
    return end;
}

void slots_forget(void)
{
    for (uint32_t slot = 0; slot < THREAD_SLOTS; slot++) {
        atomic_store(&waiting[slot], 0);
    }
}

static bool is_awaited(const void *object)
{
    atomic_thread_fence(memory_order_seq_cst); /* the change, before the look at who waits for it */
    return __builtin_expect(atomic_load(&waiting[slot_of(object)]) != 0, 0);
}

static void changed(const void *object)
{
    if (is_awaited(object)) {
        vic_thread_hooks->changed(slot_of(object));
    }
}

/* True in a call of libvic, whose own locks and conditions may share slots with those of the program. */
static bool is_own(void)
{
    return vic_thread_hooks != NULL && vic_thread_hooks->is_own();
}

static bool may_wait(void)
{
    return vic_thread_hooks != NULL && vic_thread_hooks->may_wait();
}

static bool is_time(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < SECOND;
}

/* From now until a time of a clock, rounded up to two digits: so what the machine took since that time was made up
 * does not count. False: there is no such time, which the real call is to say. */
static bool ns_until(clockid_t clock, const struct timespec *end, uint64_t *ns)
{
    struct timespec now;
    if (!is_time(end) || clock_gettime(clock, &now) != 0) {
        return false;
    }
    uint64_t left = ns_of(end) > ns_of(&now) ? ns_of(end) - ns_of(&now) : 0, unit = 1;
    while (left / unit >= 100) {
        unit *= 10;
    }
    *ns = (left + unit - 1) / unit * unit;
    return true;
}

/* ---- what processes share: nobody here can know when another one changes it, so it is waited for by the real call, out of
 * model time. glibc notes in each object whether it is shared */

static bool is_shared_mutex(const pthread_mutex_t *mutex)
{
    return (mutex->__data.__kind & 128) != 0; /* PTHREAD_MUTEX_PSHARED_BIT */
}

static bool is_shared_cond(const pthread_cond_t *cond)
{
    return (cond->__data.__wrefs & 1) != 0;
}

/* struct new_sem of glibc: a value, of 64 bits where there are atomics of 64, then this. */
static bool is_shared_sem(const sem_t *sem)
{
    return ((const int *)(const void *)sem)[sizeof(void *) == 8 ? 2 : 1] != 0;
}

/* struct pthread_barrier: in, current_round, count, shared, out. */
static bool is_shared_barrier(const pthread_barrier_t *barrier)
{
    return ((const int *)(const void *)barrier)[3] != 0;
}

/* This thread waits outside of model time. */
static void leave(void)
{
    if (vic_thread_hooks != NULL) {
        vic_thread_hooks->leaves();
    }
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    REAL(int, pthread_barrier_wait, pthread_barrier_t *)
    if (is_shared_barrier(barrier)) {
        leave();
    }
    return real_pthread_barrier_wait(barrier);
}

/* A wait for a lock of readers and writers, with a time or without. */
#define RWLOCK(name, attempt, parameters, arguments)                                                        \
    EXPORT int name parameters                                                                              \
    {                                                                                                       \
        int (*real) parameters;                                                                             \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                          \
        int error = lock->__data.__shared != 0 ? attempt(lock) : EBUSY;                                     \
        if (error != EBUSY) {                                                                               \
            return error;                                                                                   \
        }                                                                                                   \
        if (lock->__data.__shared != 0) {                                                                   \
            leave();                                                                                        \
        }                                                                                                   \
        return real arguments;                                                                              \
    }

RWLOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t *lock), (lock))
RWLOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, (pthread_rwlock_t *lock), (lock))
RWLOCK(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, (pthread_rwlock_t *lock, const struct timespec *until), (lock, until))
RWLOCK(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, (pthread_rwlock_t *lock, const struct timespec *until), (lock, until))

/* Whoever has a spin lock may be a thread that waits for its turn, or a card that waits for model time: looks give the turn
 * away, and are ever further apart. */
EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
    enum { LEAST_NS = 50, MOST_NS = 1000 * 1000 };
    int error;
    for (uint64_t ns = LEAST_NS; (error = pthread_spin_trylock(lock)) == EBUSY; ns = ns < MOST_NS ? 2 * ns : MOST_NS) {
        if (vic_thread_hooks == NULL || !vic_thread_hooks->sleeps(ns)) {
            sched_yield();
        }
    }
    return error;
}

/* ---- locks */

struct attempt {
    void *object;
    int error;
};

static bool try_lock(void *what)
{
    REAL(int, pthread_mutex_trylock, pthread_mutex_t *)
    struct attempt *attempt = what;
    attempt->error = real_pthread_mutex_trylock(attempt->object);
    return attempt->error != EBUSY;
}

/* A thread that has the lock itself is told so at once, if it is of the kind that says it. */
static bool try_in_no_time(struct attempt *attempt)
{
    REAL(int, pthread_mutex_timedlock, pthread_mutex_t *, const struct timespec *)
    static const struct timespec past;
    attempt->error = real_pthread_mutex_timedlock(attempt->object, &past);
    return attempt->error != ETIMEDOUT;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    REAL(int, pthread_mutex_lock, pthread_mutex_t *)
    struct attempt attempt = {mutex, EBUSY};
    bool done = try_lock(&attempt) || try_in_no_time(&attempt);
    if (!done && is_shared_mutex(mutex)) {
        leave();
    } else if (done || wait_at(slot_of(mutex), try_lock, &attempt, UINT64_MAX) == THREAD_DONE) {
        return attempt.error;
    }
    return real_pthread_mutex_lock(mutex);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    REAL(int, pthread_mutex_timedlock, pthread_mutex_t *, const struct timespec *)
    struct attempt attempt = {mutex, EBUSY};
    if (is_shared_mutex(mutex)) {
        if (try_lock(&attempt)) {
            return attempt.error;
        }
        leave();
    }
    return real_pthread_mutex_timedlock(mutex, until);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    REAL(int, pthread_mutex_unlock, pthread_mutex_t *)
    int error = real_pthread_mutex_unlock(mutex);
    if (is_awaited(mutex) && !is_own()) {
        vic_thread_hooks->changed(slot_of(mutex));
    }
    return error;
}

/* ---- semaphores */

static bool try_sem(void *sem)
{
    return sem_trywait(sem) == 0;
}

static enum thread_wait wait_sem(sem_t *sem, uint64_t ns)
{
    if (try_sem(sem)) {
        return THREAD_DONE;
    }
    if (is_shared_sem(sem)) {
        leave();
        return THREAD_OUTSIDE;
    }
    return wait_at(slot_of(sem), try_sem, sem, ns);
}

static int too_late(void)
{
    errno = ETIMEDOUT;
    return -1;
}

EXPORT int sem_wait(sem_t *sem)
{
    REAL(int, sem_wait, sem_t *)
    return wait_sem(sem, UINT64_MAX) == THREAD_DONE ? 0 : real_sem_wait(sem);
}

EXPORT int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until)
{
    REAL(int, sem_clockwait, sem_t *, clockid_t, const struct timespec *)
    uint64_t ns;
    enum thread_wait end = ns_until(clock, until, &ns) ? wait_sem(sem, ns) : THREAD_OUTSIDE;
    return end == THREAD_DONE ? 0 : end == THREAD_TIMED_OUT ? too_late() : real_sem_clockwait(sem, clock, until);
}

EXPORT int sem_timedwait(sem_t *sem, const struct timespec *until)
{
    return sem_clockwait(sem, CLOCK_REALTIME, until);
}

/* The only one of these calls that POSIX allows in signal handlers, so it counts even if it is made while this
 * thread is in the library. */
EXPORT int sem_post(sem_t *sem)
{
    REAL(int, sem_post, sem_t *)
    int result = real_sem_post(sem);
    changed(sem);
    return result;
}

/* ---- conditions */

struct signalled {
    uint32_t slot, seen;
};

static bool is_signalled(void *what)
{
    const struct signalled *signalled = what;
    return atomic_load(&signals[signalled->slot]) != signalled->seen;
}

static int wait_cond(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t ns)
{
    struct signalled signalled = {slot_of(cond), 0};
    signalled.seen = atomic_load(&signals[signalled.slot]);
    int error = pthread_mutex_unlock(mutex);
    if (error != 0) {
        return error;
    }
    enum thread_wait end = wait_at(signalled.slot, is_signalled, &signalled, ns);
    error = pthread_mutex_lock(mutex);
    if (error != 0 || end == THREAD_DONE) {
        return error;
    }
    if (end == THREAD_TIMED_OUT) {
        return ETIMEDOUT;
    }
    /* nobody in model time will signal: no reason to spin */
    REAL(int, pthread_cond_clockwait, pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *)
    struct timespec until = timespec_in(RETRY_NS);
    error = real_pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &until);
    return error == ETIMEDOUT ? 0 : error;
}

static bool may_wait_for(const pthread_cond_t *cond)
{
    if (is_shared_cond(cond)) {
        leave();
        return false;
    }
    return may_wait();
}

EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    REAL(int, pthread_cond_wait, pthread_cond_t *, pthread_mutex_t *)
    return may_wait_for(cond) ? wait_cond(cond, mutex, UINT64_MAX) : real_pthread_cond_wait(cond, mutex);
}

/* Of which clock the time is nobody can ask a condition for: of that which is nearer to it. They are
 * years apart. */
static clockid_t clock_of(const struct timespec *until)
{
    struct timespec wall, up;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_MONOTONIC, &up);
    return until->tv_sec > up.tv_sec + (wall.tv_sec - up.tv_sec) / 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
    REAL(int, pthread_cond_timedwait, pthread_cond_t *, pthread_mutex_t *, const struct timespec *)
    uint64_t ns;
    if (!ns_until(clock_of(until), until, &ns) || !may_wait_for(cond)) {
        return real_pthread_cond_timedwait(cond, mutex, until);
    }
    return wait_cond(cond, mutex, ns);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                                  const struct timespec *until)
{
    REAL(int, pthread_cond_clockwait, pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *)
    uint64_t ns;
    if (!ns_until(clock, until, &ns) || !may_wait_for(cond)) {
        return real_pthread_cond_clockwait(cond, mutex, clock, until);
    }
    return wait_cond(cond, mutex, ns);
}

static void signalled(const void *cond)
{
    if (!is_own()) { /* that would end waits at its slot */
        atomic_fetch_add(&signals[slot_of(cond)], 1);
        changed(cond);
    }
}

EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
    REAL(int, pthread_cond_signal, pthread_cond_t *)
    signalled(cond);
    return real_pthread_cond_signal(cond); /* for those outside of model time */
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
    REAL(int, pthread_cond_broadcast, pthread_cond_t *)
    signalled(cond);
    return real_pthread_cond_broadcast(cond);
}

/* ---- sleep */

static bool slept(uint64_t ns)
{
    return vic_thread_hooks != NULL && vic_thread_hooks->sleeps(ns);
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    REAL(int, clock_nanosleep, clockid_t, int, const struct timespec *, struct timespec *)
    uint64_t ns;
    if (!ns_until(clock, time, &ns) || !slept((flags & TIMER_ABSTIME) != 0 ? ns : ns_of(time))) {
        return real_clock_nanosleep(clock, flags, time, left);
    }
    return 0;
}

EXPORT int nanosleep(const struct timespec *time, struct timespec *left)
{
    REAL(int, nanosleep, const struct timespec *, struct timespec *)
    return is_time(time) && slept(ns_of(time)) ? 0 : real_nanosleep(time, left);
}

EXPORT int usleep(useconds_t us)
{
    REAL(int, usleep, useconds_t)
    return slept((uint64_t)us * 1000) ? 0 : real_usleep(us);
}

EXPORT unsigned sleep(unsigned seconds)
{
    REAL(unsigned, sleep, unsigned)
    return slept((uint64_t)seconds * SECOND) ? 0 : real_sleep(seconds);
}

EXPORT int sched_yield(void)
{
    REAL(int, sched_yield, void)
    return vic_thread_hooks != NULL && vic_thread_hooks->yields() ? 0 : real_sched_yield();
}
