/* Threads that wait for each other by locks, conditions, semaphores, and that sleep: all in model time. Prints
 * name=nanoseconds. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

static vic_t *card;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int full, turns, flag;
static uint64_t start;

static void print(const char *name)
{
    printf("%s=%llu\n", name, (unsigned long long)(vic_time_ns(card) - start));
}

static void *holder(void *what)
{
    (void)what;
    pthread_mutex_lock(&lock);
    OK(vic_compute_ns(card, 10000));
    turns++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *consumer(void *what)
{
    (void)what;
    pthread_mutex_lock(&lock);
    while (!full) {
        pthread_cond_wait(&cond, &lock);
    }
    print("cond");
    full = 0;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *poster(void *what)
{
    (void)what;
    usleep(30);
    sem_post(&sem);
    return NULL;
}

static void *sleeper(void *what)
{
    (void)what;
    nanosleep(&(struct timespec){0, 400 * 1000}, NULL);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0); /* takes no second here */
    flag = 1;
    sem_post(&sem);
    return NULL;
}

static void timed_out(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    pthread_mutex_lock(&lock);
    int error = pthread_cond_timedwait(&cond, &lock, &until);
    CHECK(error == ETIMEDOUT);
    pthread_mutex_unlock(&lock);
    print("timeout");
}

static pthread_t make(void *(*what)(void *))
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, what, NULL) == 0);
    return thread;
}

int main(void)
{
    OK(vic_open(&card));
    sem_init(&sem, 0, 0);
    start = vic_time_ns(card);
    pthread_t thread[3];
    for (int i = 0; i < 3; i++) {
        thread[i] = make(holder);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], NULL);
    }
    CHECK(turns == 3);
    print("locks");

    start = vic_time_ns(card);
    thread[0] = make(consumer);
    OK(vic_compute_ns(card, 5000));
    pthread_mutex_lock(&lock);
    full = 1;
    pthread_cond_broadcast(&cond);
    while (full) {
        pthread_cond_wait(&cond, &lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread[0], NULL);

    start = vic_time_ns(card);
    pthread_detach(make(poster));
    CHECK(sem_wait(&sem) == 0);
    print("sem");

    start = vic_time_ns(card);
    thread[0] = make(sleeper);
    timed_out();
    while (!flag) {
        sched_yield();
    }
    CHECK(sem_trywait(&sem) == 0);
    pthread_join(thread[0], NULL);
    start = vic_time_ns(card);
    sleep(1);
    print("sleep");
    OK(vic_barrier(card, LONG));
    OK(vic_close(card));
    return 0;
}
