/* pshared KIND FILE (helper | card): card 0 waits for an object that processes share, in FILE, while its second thread waits
 * for a counter. A process without a card ends that wait after a while, or card 1, after model time has passed there. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

struct objects {
    sem_t sem;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_barrier_t barrier;
    pthread_rwlock_t rwlock;
    pthread_spinlock_t spin;
    _Atomic int set, locked;
};

static struct objects *all;
static const struct self *self;
static const char *kind;

static bool is(const char *name)
{
    return strcmp(kind, name) == 0;
}

static void make(void)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t cond;
    pthread_barrierattr_t barrier;
    pthread_rwlockattr_t rwlock;
    pthread_mutexattr_init(&mutex);
    pthread_condattr_init(&cond);
    pthread_barrierattr_init(&barrier);
    pthread_rwlockattr_init(&rwlock);
    CHECK(pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(sem_init(&all->sem, 1, 0) == 0 && pthread_mutex_init(&all->mutex, &mutex) == 0);
    CHECK(pthread_cond_init(&all->cond, &cond) == 0 && pthread_barrier_init(&all->barrier, &barrier, 2) == 0);
    CHECK(pthread_rwlock_init(&all->rwlock, &rwlock) == 0 && pthread_spin_init(&all->spin, PTHREAD_PROCESS_SHARED) == 0);
}

static void wait_it(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    if (is("sem")) {
        CHECK(sem_wait(&all->sem) == 0);
    } else if (is("sem_timed")) {
        CHECK(sem_timedwait(&all->sem, &until) == 0);
    } else if (is("mutex")) {
        CHECK(pthread_mutex_lock(&all->mutex) == 0 && pthread_mutex_unlock(&all->mutex) == 0);
    } else if (is("mutex_timed")) {
        CHECK(pthread_mutex_timedlock(&all->mutex, &until) == 0 && pthread_mutex_unlock(&all->mutex) == 0);
    } else if (is("cond") || is("cond_timed")) {
        CHECK(pthread_mutex_lock(&all->mutex) == 0);
        while (all->set == 0) {
            CHECK((is("cond") ? pthread_cond_wait(&all->cond, &all->mutex)
                              : pthread_cond_timedwait(&all->cond, &all->mutex, &until)) == 0);
        }
        CHECK(pthread_mutex_unlock(&all->mutex) == 0);
    } else if (is("barrier")) {
        pthread_barrier_wait(&all->barrier);
    } else if (is("rwlock")) {
        CHECK(pthread_rwlock_rdlock(&all->rwlock) == 0 && pthread_rwlock_unlock(&all->rwlock) == 0);
    } else {
        CHECK(pthread_spin_lock(&all->spin) == 0 && pthread_spin_unlock(&all->spin) == 0);
    }
}

static void lock_it(void)
{
    bool mutex = is("mutex") || is("mutex_timed");
    CHECK((mutex          ? pthread_mutex_lock(&all->mutex)
           : is("rwlock") ? pthread_rwlock_wrlock(&all->rwlock)
           : is("spin")   ? pthread_spin_lock(&all->spin)
                          : 0) == 0);
    all->locked = 1;
}

static void end_it(void)
{
    if (is("sem") || is("sem_timed")) {
        sem_post(&all->sem);
    } else if (is("cond") || is("cond_timed")) {
        pthread_mutex_lock(&all->mutex);
        all->set = 1;
        pthread_cond_broadcast(&all->cond);
        pthread_mutex_unlock(&all->mutex);
    } else if (is("barrier")) {
        pthread_barrier_wait(&all->barrier);
    } else if (is("rwlock")) {
        pthread_rwlock_unlock(&all->rwlock);
    } else if (is("spin")) {
        pthread_spin_unlock(&all->spin);
    } else {
        pthread_mutex_unlock(&all->mutex);
    }
}

static void *counts(void *what)
{
    OK(vic_counter_wait(self->card, 0, VIC_FOREVER));
    return what;
}

static void help(void)
{
    for (lock_it(); all->set != 2 && !(is("cond") || is("cond_timed")); pause_ns(1000000)) { /* card 0 is about to wait */
    }
    pause_ns(700000000);
    end_it();
}

int main(int argc, char **argv)
{
    struct self mine = {0};
    CHECK(argc == 4);
    kind = argv[1];
    self = &mine;
    bool helped = strcmp(argv[3], "helper") == 0;
    int card = atoi(getenv("VIC_CARD")), fd = open(argv[2], O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && ftruncate(fd, sizeof *all) == 0);
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(all != MAP_FAILED);
    if (card == 0) {
        make();
        if (helped && fork() == 0) {
            help();
            _exit(0);
        }
        while (helped && all->locked == 0) {
            pause_ns(1000000);
        }
    }
    OK(vic_open(&mine.card));
    OK(vic_counter_set(mine.card, 0, 1));
    OK(vic_barrier(mine.card, VIC_FOREVER));
    if (card == 1) {
        if (!helped) {
            lock_it();
        }
        OK(vic_barrier(mine.card, VIC_FOREVER));
        for (int i = 0; i < 3 && !helped; i++) { /* model time has to pass, though card 0 is elsewhere */
            OK(vic_compute_ns(mine.card, 1000000000));
            IS(vic_counter_wait(mine.card, 0, 1000), VIC_ETIMEDOUT);
        }
        if (!helped) {
            end_it();
        }
        OK(vic_counter_wait(mine.card, 0, VIC_FOREVER));
        return vic_close(mine.card) != VIC_OK;
    }
    OK(vic_barrier(mine.card, VIC_FOREVER));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, counts, NULL) == 0);
    all->set = is("cond") || is("cond_timed") ? all->set : 2;
    wait_it();
    uint64_t one = 1;
    OK(vic_put(mine.card, 0, 8, &one, 1, 0));
    OK(vic_put(mine.card, 1, 8, &one, 1, 0));
    CHECK(pthread_join(thread, NULL) == 0);
    if (helped) {
        wait(NULL);
    }
    return vic_close(mine.card) != VIC_OK;
}
