/* libvic-threads.so, see hooks.h: threads wait for each other, or sleep.
 *
 * A thread in model time that would have to wait gives the turn to others and tries again when something has
 * changed. So whoever changes something tells it. Signals of conditions are counted at their places: a wait
 * is over when the count has changed, and so sometimes for nothing, as POSIX allows. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "threads/hooks.h"
#include "threads/real.h"

enum { PLACES = 256, SECOND = 1000 * 1000 * 1000, PATIENCE_NS = 10 * 1000 * 1000 };
static _Atomic uint32_t waiting[PLACES], signals[PLACES];

static uint32_t place_of(const void *object)
{
    return (uint32_t)((uint64_t)(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

static enum thread_wait wait_at(uint32_t place, thread_try *attempt, void *what, uint64_t ns)
{
    atomic_fetch_add(&waiting[place], 1);
    enum thread_wait end = vic_thread_hooks.waits(place, attempt, what, ns);
    atomic_fetch_sub(&waiting[place], 1);
    return end;
}

static void changed(const void *object)
{
    uint32_t place = place_of(object);
    atomic_thread_fence(memory_order_seq_cst); /* the change, before the look at who waits for it */
    if (__builtin_expect(atomic_load(&waiting[place]) != 0, 0)) {
        vic_thread_hooks.changed(place);
    }
}

static bool may_wait(void)
{
    return vic_thread_hooks.may_wait != NULL && vic_thread_hooks.may_wait();
}

static uint64_t ns_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * SECOND + (uint64_t)time->tv_nsec;
}

static bool is_time(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < SECOND;
}

/* From now until a time of the wall clock, rounded up to two digits: so what the machine took since that time
 * was made up does not count. */
static uint64_t ns_until(clockid_t clock, const struct timespec *end)
{
    struct timespec now;
    clock_gettime(clock, &now);
    uint64_t left = ns_of(end) > ns_of(&now) ? ns_of(end) - ns_of(&now) : 0, unit = 1;
    while (left / unit >= 100) {
        unit *= 10;
    }
    return (left + unit - 1) / unit * unit;
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

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    REAL(int, pthread_mutex_lock, pthread_mutex_t *)
    struct attempt attempt = {mutex, EBUSY};
    if (vic_thread_hooks.waits == NULL) {
        return real_pthread_mutex_lock(mutex);
    }
    if (try_lock(&attempt) ||
        (may_wait() && wait_at(place_of(mutex), try_lock, &attempt, UINT64_MAX) == THREAD_DONE)) {
        return attempt.error;
    }
    return real_pthread_mutex_lock(mutex);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    REAL(int, pthread_mutex_unlock, pthread_mutex_t *)
    int error = real_pthread_mutex_unlock(mutex);
    changed(mutex);
    return error;
}

/* ---- semaphores */

static bool try_sem(void *what)
{
    struct attempt *attempt = what;
    attempt->error = sem_trywait(attempt->object) == 0 ? 0 : errno;
    return attempt->error != EAGAIN;
}

static enum thread_wait wait_sem(sem_t *sem, uint64_t ns, struct attempt *attempt)
{
    *attempt = (struct attempt){sem, EAGAIN};
    if (!may_wait()) {
        return THREAD_OUTSIDE;
    }
    return try_sem(attempt) ? THREAD_DONE : wait_at(place_of(sem), try_sem, attempt, ns);
}

static int result_of(enum thread_wait end, const struct attempt *attempt)
{
    errno = end == THREAD_TIMED_OUT ? ETIMEDOUT : attempt->error != 0 ? attempt->error : errno;
    return end == THREAD_TIMED_OUT || attempt->error != 0 ? -1 : 0;
}

EXPORT int sem_wait(sem_t *sem)
{
    REAL(int, sem_wait, sem_t *)
    struct attempt attempt;
    enum thread_wait end = wait_sem(sem, UINT64_MAX, &attempt);
    return end == THREAD_OUTSIDE ? real_sem_wait(sem) : result_of(end, &attempt);
}

EXPORT int sem_timedwait(sem_t *sem, const struct timespec *until)
{
    REAL(int, sem_timedwait, sem_t *, const struct timespec *)
    struct attempt attempt;
    enum thread_wait end = THREAD_OUTSIDE;
    if (is_time(until) && may_wait()) {
        end = wait_sem(sem, ns_until(CLOCK_REALTIME, until), &attempt);
    }
    return end == THREAD_OUTSIDE ? real_sem_timedwait(sem, until) : result_of(end, &attempt);
}

EXPORT int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until)
{
    REAL(int, sem_clockwait, sem_t *, clockid_t, const struct timespec *)
    struct attempt attempt;
    enum thread_wait end = THREAD_OUTSIDE;
    if (is_time(until) && may_wait()) {
        end = wait_sem(sem, ns_until(clock, until), &attempt);
    }
    return end == THREAD_OUTSIDE ? real_sem_clockwait(sem, clock, until) : result_of(end, &attempt);
}

EXPORT int sem_post(sem_t *sem)
{
    REAL(int, sem_post, sem_t *)
    int result = real_sem_post(sem);
    changed(sem);
    return result;
}

/* ---- conditions */

struct signalled {
    uint32_t place, seen;
};

static bool is_signalled(void *what)
{
    const struct signalled *signalled = what;
    return atomic_load(&signals[signalled->place]) != signalled->seen;
}

static int wait_cond(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t ns)
{
    struct signalled signalled = {place_of(cond), 0};
    signalled.seen = atomic_load(&signals[signalled.place]);
    int error = pthread_mutex_unlock(mutex);
    if (error != 0) {
        return error;
    }
    enum thread_wait end = wait_at(signalled.place, is_signalled, &signalled, ns);
    error = pthread_mutex_lock(mutex);
    if (end == THREAD_OUTSIDE && error == 0) { /* nobody in model time will signal: no reason to spin */
        REAL(int, pthread_cond_clockwait, pthread_cond_t *, pthread_mutex_t *, clockid_t,
             const struct timespec *)
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        uint64_t at = ns_of(&until) + PATIENCE_NS;
        until = (struct timespec){(time_t)(at / SECOND), (long)(at % SECOND)};
        error = real_pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &until);
        error = error == ETIMEDOUT ? 0 : error;
    }
    return error == 0 && end == THREAD_TIMED_OUT ? ETIMEDOUT : error;
}

EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    REAL(int, pthread_cond_wait, pthread_cond_t *, pthread_mutex_t *)
    return may_wait() ? wait_cond(cond, mutex, UINT64_MAX) : real_pthread_cond_wait(cond, mutex);
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
    if (!is_time(until) || !may_wait()) {
        return real_pthread_cond_timedwait(cond, mutex, until);
    }
    return wait_cond(cond, mutex, ns_until(clock_of(until), until));
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                                  const struct timespec *until)
{
    REAL(int, pthread_cond_clockwait, pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *)
    if (!is_time(until) || !may_wait()) {
        return real_pthread_cond_clockwait(cond, mutex, clock, until);
    }
    return wait_cond(cond, mutex, ns_until(clock, until));
}

EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
    REAL(int, pthread_cond_signal, pthread_cond_t *)
    atomic_fetch_add(&signals[place_of(cond)], 1);
    changed(cond);
    return real_pthread_cond_signal(cond); /* for those outside of model time */
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
    REAL(int, pthread_cond_broadcast, pthread_cond_t *)
    atomic_fetch_add(&signals[place_of(cond)], 1);
    changed(cond);
    return real_pthread_cond_broadcast(cond);
}

/* ---- sleep */

static bool slept(uint64_t ns)
{
    return vic_thread_hooks.sleeps != NULL && vic_thread_hooks.sleeps(ns);
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    REAL(int, clock_nanosleep, clockid_t, int, const struct timespec *, struct timespec *)
    if (vic_thread_hooks.sleeps == NULL || !is_time(time)) {
        return real_clock_nanosleep(clock, flags, time, left);
    }
    bool until = (flags & TIMER_ABSTIME) != 0;
    return slept(until ? ns_until(clock, time) : ns_of(time)) ? 0
                                                              : real_clock_nanosleep(clock, flags, time, left);
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
    return vic_thread_hooks.yields != NULL && vic_thread_hooks.yields() ? 0 : real_sched_yield();
}
