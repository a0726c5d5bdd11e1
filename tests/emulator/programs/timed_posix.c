/* The calls of POSIX that libvic-threads.so stands in for: each gives what POSIX says, whoever makes it: before the card
 * is open, alone in model time, beside others in it, outside of it, in a child. Only beside others do waits move
 * the clock. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

enum { SEMS = 1500 };
#define HERE_NS UINT64_C(200000)
#define THERE_NS (20 * (uint64_t)SECOND) /* in model time: far beyond what the machine may need for anything */

static vic_t *card;
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, checked;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER, up;
static sem_t sem, go, end, several[SEMS], answer;

static uint64_t now(void)
{
    return card != NULL ? vic_time_ns(card) : 0;
}

static struct timespec later(clockid_t clock, bool in_time)
{
    struct timespec time;
    clock_gettime(clock, &time);
    uint64_t ns = (uint64_t)time.tv_nsec + (in_time ? THERE_NS : HERE_NS);
    return (struct timespec){time.tv_sec + (time_t)(ns / SECOND), (long)(ns % SECOND)};
}

/* A wait that times out; whether model time has passed. */
#define TIMES_OUT(call, in_time)                                                                            \
    do {                                                                                                    \
        uint64_t before_ = now();                                                                           \
        CHECK(call);                                                                                        \
        CHECK((now() - before_ >= THERE_NS / 2) == (in_time));                                               \
    } while (0)
#define FAILS(call, error) ((call) == -1 && errno == (error))

static const struct timespec never[] = {{0, -1}, {0, SECOND}}, past = {-1, 0};

static void locks(void)
{
    CHECK(pthread_mutex_lock(&plain) == 0 && pthread_mutex_unlock(&plain) == 0);
    CHECK(pthread_mutex_lock(&checked) == 0);
    CHECK(pthread_mutex_lock(&checked) == EDEADLK);
    CHECK(pthread_mutex_unlock(&checked) == 0);
    CHECK(pthread_mutex_unlock(&checked) == EPERM);
    CHECK(pthread_cond_wait(&cond, &checked) == EPERM);
}

static void semaphores(bool in_time)
{
    struct timespec until;
    CHECK(sem_post(&sem) == 0 && sem_wait(&sem) == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(FAILS(sem_timedwait(&sem, &never[i]), EINVAL));
        CHECK(FAILS(sem_clockwait(&sem, CLOCK_MONOTONIC, &never[i]), EINVAL));
    }
    until = later(CLOCK_MONOTONIC, in_time);
    CHECK(FAILS(sem_clockwait(&sem, 77, &until), EINVAL));
    CHECK(FAILS(sem_timedwait(&sem, &past), ETIMEDOUT));
    until = later(CLOCK_REALTIME, in_time);
    TIMES_OUT(FAILS(sem_timedwait(&sem, &until), ETIMEDOUT), in_time);
    until = later(CLOCK_MONOTONIC, in_time);
    TIMES_OUT(FAILS(sem_clockwait(&sem, CLOCK_MONOTONIC, &until), ETIMEDOUT), in_time);
    CHECK(sem_post(&sem) == 0 && sem_timedwait(&sem, &until) == 0);
    CHECK(sem_post(&sem) == 0 && sem_clockwait(&sem, CLOCK_MONOTONIC, &until) == 0);
    CHECK(FAILS(sem_trywait(&sem), EAGAIN));
}

static void conditions(bool in_time)
{
    struct timespec until;
    CHECK(pthread_mutex_lock(&plain) == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_cond_timedwait(&cond, &plain, &never[i]) == EINVAL);
        CHECK(pthread_cond_clockwait(&cond, &plain, CLOCK_MONOTONIC, &never[i]) == EINVAL);
    }
    until = later(CLOCK_REALTIME, in_time);
    TIMES_OUT(pthread_cond_timedwait(&cond, &plain, &until) == ETIMEDOUT, in_time);
    until = later(CLOCK_MONOTONIC, in_time);
    TIMES_OUT(pthread_cond_timedwait(&up, &plain, &until) == ETIMEDOUT, in_time);
    until = later(CLOCK_MONOTONIC, in_time);
    TIMES_OUT(pthread_cond_clockwait(&cond, &plain, CLOCK_MONOTONIC, &until) == ETIMEDOUT, in_time);
    CHECK(pthread_cond_clockwait(&cond, &plain, 77, &until) == EINVAL);
    CHECK(pthread_cond_signal(&cond) == 0 && pthread_cond_broadcast(&cond) == 0);
    CHECK(pthread_mutex_unlock(&plain) == 0);
}

static void sleeps(bool in_time)
{
    struct timespec until = later(CLOCK_MONOTONIC, in_time), moment = {0, 1000};
    for (int i = 0; i < 2; i++) {
        CHECK(FAILS(nanosleep(&never[i], NULL), EINVAL));
        CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &never[i], NULL) == EINVAL);
    }
    CHECK(FAILS(nanosleep(&past, NULL), EINVAL));
    CHECK(clock_nanosleep(77, TIMER_ABSTIME, &until, NULL) == EINVAL);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0);
    CHECK(clock_nanosleep(CLOCK_REALTIME, 0, &moment, NULL) == 0);
    CHECK(nanosleep(&moment, NULL) == 0 && usleep(1) == 0 && sleep(0) == 0 && sched_yield() == 0);
}

static void *post(void *what)
{
    CHECK(sem_post(&answer) == 0);
    return what;
}

static void threads(void)
{
    pthread_t id, other;
    pthread_attr_t attr;
    void *result;
    pthread_attr_init(&attr);
    CHECK(pthread_create(&id, NULL, post, &attr) == 0 && pthread_create(&other, &attr, post, &id) == 0);
    CHECK(pthread_join(id, &result) == 0 && result == &attr);
    CHECK(pthread_join(other, &result) == 0 && result == &id);
    CHECK(pthread_create(&id, NULL, post, NULL) == 0 && pthread_detach(id) == 0);
    CHECK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
    CHECK(pthread_create(&id, &attr, post, NULL) == 0);
    for (int i = 0; i < 4; i++) {
        CHECK(sem_wait(&answer) == 0);
    }
    CHECK(pthread_attr_setstacksize(&attr, (size_t)1 << 47) == 0); /* more than there is */
    CHECK(pthread_create(&id, &attr, post, NULL) == EAGAIN);
    pthread_attr_destroy(&attr);
}

/* All of them, twice. */
static void calls(bool in_time)
{
    for (int i = 0; i < 2; i++) {
        locks();
        semaphores(in_time);
        conditions(in_time);
        sleeps(in_time);
        threads();
    }
}

static void *from_outside(void *what)
{
    CHECK(sem_wait(&go) == 0);
    calls(false);
    CHECK(now() > 0); /* the present time, of those who are in it */
    return what;
}

static void *wait_for_the_end(void *what)
{
    CHECK(sem_wait(&end) == 0);
    return what;
}

/* Places are few, so some of these share theirs with each lock of the library. */
static void *answer_each(void *what)
{
    for (int i = 0; i < SEMS; i++) {
        CHECK(sem_wait(&several[i]) == 0 && sem_post(&answer) == 0);
    }
    return what;
}

static void in_a_child(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        calls(false);
        exit(0); /* which leaves the card to its parent */
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    OK(vic_counter_set(card, 0, 1));
}

int main(void)
{
    pthread_t outsider, other;
    pthread_mutexattr_t checks;
    pthread_condattr_t monotonic;
    pthread_mutexattr_init(&checks);
    pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &checks);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&up, &monotonic);
    for (int i = 0; i < SEMS; i++) {
        sem_init(&several[i], 0, 0);
    }
    calls(false);
    CHECK(pthread_create(&outsider, NULL, from_outside, NULL) == 0);
    OK(vic_open(&card));
    OK(vic_compute_ns(card, 1000));
    calls(false); /* nobody else is there who could end a wait */
    in_a_child();
    CHECK(sem_post(&go) == 0 && pthread_join(outsider, NULL) == 0);
    CHECK(pthread_create(&other, NULL, wait_for_the_end, NULL) == 0);
    calls(true);
    CHECK(sem_post(&end) == 0 && pthread_join(other, NULL) == 0);
    CHECK(pthread_create(&other, NULL, answer_each, NULL) == 0);
    for (int i = 0; i < SEMS; i++) {
        OK(vic_compute_ns(card, 1));
        CHECK(sem_post(&several[i]) == 0 && sem_wait(&answer) == 0);
    }
    CHECK(pthread_join(other, NULL) == 0);
    printf("%llu\n", (unsigned long long)vic_time_ns(card));
    OK(vic_close(card));
    return 0;
}
