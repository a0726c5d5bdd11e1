/* A signal handler posts a semaphore while it interrupts a thread that is in the library: in a call ("busy"), or
 * asleep there until another one comes ("asleep"). Timed mode. The calls that libvic makes of the C library come
 * through here, so that the signal is there at such a moment each time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

enum { LOOKS = 20000 }; /* of model time; what is lost is not waited for longer */

static vic_t *card;
static sem_t posted;
static _Atomic int armed_clock, armed_sleep, handled, done;
static _Thread_local bool victim;

static void handler(int signal)
{
    (void)signal;
    atomic_fetch_add(&handled, 1);
    sem_post(&posted);
}

static void strike(_Atomic int *armed)
{
    int one = 1;
    if (victim && atomic_compare_exchange_strong(armed, &one, 0)) {
        raise(SIGUSR1);
    }
}

/* libvic looks at the clock at the end of each call, with its lock. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    strike(&armed_clock);
    return (int)syscall(SYS_clock_gettime, clock, now);
}

/* It sleeps by this while another thread has the turn. */
int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *lock, clockid_t clock,
                           const struct timespec *until)
{
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_cond_clockwait");
    }
    strike(&armed_sleep);
    return real(cond, lock, clock, until);
}

/* Waits for the handler, then ends the wait of the thread that it interrupted. */
static void *wait_for_post(void *what)
{
    CHECK(sem_wait(&posted) == 0);
    atomic_store(&done, 1);
    uint64_t word = 1;
    OK(vic_put(card, 0, 0, &word, 1, 0));
    return what;
}

/* So that a wait that nobody ends is no deadlock. */
static void *look_on(void *what)
{
    for (int i = 0; i < LOOKS && !atomic_load(&done); i++) {
        vic_relax(card);
    }
    CHECK(atomic_load(&done));
    return what;
}

int main(int count, char **argument)
{
    pthread_t waits, looks;
    bool asleep = count > 1 && strcmp(argument[1], "asleep") == 0;
    struct sigaction action = {.sa_handler = handler};
    sem_init(&posted, 0, 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    OK(vic_open(&card));
    OK(vic_counter_set(card, 0, 1));
    CHECK(pthread_create(&waits, NULL, wait_for_post, NULL) == 0);
    OK(vic_compute_ns(card, 1000)); /* it waits now */
    victim = true;
    if (asleep) {
        CHECK(pthread_create(&looks, NULL, look_on, NULL) == 0);
        atomic_store(&armed_sleep, 1);
        OK(vic_counter_wait(card, 0, VIC_FOREVER));
        CHECK(pthread_join(looks, NULL) == 0);
    } else {
        atomic_store(&armed_clock, 1);
        look_on(NULL);
    }
    CHECK(atomic_load(&handled) == 1);
    CHECK(pthread_join(waits, NULL) == 0);
    OK(vic_close(card));
    return 0;
}
