/* Threads of a timed job that come from outside of model time, leave it, or outlive what they used. The first argument
 * says which. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

static vic_t *card;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem, ready, several[40];
static int ends[2];
static const char *pipe_name;
static uint64_t clock_ns;
static volatile bool flag;

static void print_time(const char *name)
{
    printf("%s=%llu\n", name, (unsigned long long)vic_time_ns(card));
}

/* ---- outside: who was made before the card was open posts what one in model time waits for */

static void *poster(void *what)
{
    CHECK(sem_wait(&ready) == 0);
    nanosleep(&(struct timespec){0, 5000000}, NULL); /* the others wait by now, or this is easier */
    clock_ns = vic_time_ns(card);
    CHECK(sem_post(&sem) == 0);
    CHECK(close(open(pipe_name, O_WRONLY)) == 0);
    return what;
}

static void *waiter(void *what)
{
    CHECK(sem_wait(&sem) == 0);
    CHECK(vic_time_ns(card) >= clock_ns);
    OK(vic_counter_set(card, 3, 0));
    return what;
}

static void outside(uint32_t me)
{
    pthread_t other;
    OK(vic_barrier(card, LONG));
    if (me == 0) {
        OK(vic_counter_set(card, 3, 1));
        CHECK(pthread_create(&other, NULL, waiter, NULL) == 0 && sem_post(&ready) == 0);
        OK(vic_counter_wait(card, 3, LONG)); /* LONG in model time: as long as the other card stands still */
        CHECK(pthread_join(other, NULL) == 0);
        OK(vic_put(card, 1, 0, &(uint64_t){1}, 1, 4));
    } else {
        OK(vic_counter_set(card, 4, 1));
        CHECK(close(open(pipe_name, O_RDONLY)) == 0); /* time stands still: this card has the turn */
        OK(vic_counter_wait(card, 4, LONG));
    }
    OK(vic_barrier(card, LONG));
}

/* ---- crowd: more threads wait than the launcher is told of */

static void *stand(void *what)
{
    CHECK(sem_wait(what) == 0);
    return what;
}

static void crowd(void)
{
    enum { THREADS = sizeof several / sizeof *several };
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        sem_init(&several[i], 0, 0);
        CHECK(pthread_create(&thread[i], NULL, stand, &several[i]) == 0);
    }
    OK(vic_counter_set(card, 3, 1));
    OK(vic_compute_ns(card, 1000));
    OK(vic_put(card, 0, 0, &(uint64_t){1}, 1, 3));
    OK(vic_counter_wait(card, 3, LONG));
    print_time("told");
    for (int i = 0; i < THREADS; i++) {
        CHECK(sem_post(&several[i]) == 0 && pthread_join(thread[i], NULL) == 0);
    }
}

/* ---- sleeper: a thread sleeps where nobody sees it, and is waited for */

static void *reader(void *what)
{
    char byte;
    CHECK(read(ends[0], &byte, 1) == 1);
    return what;
}

static void *writer(void *what)
{
    nanosleep(&(struct timespec){0, 150000000}, NULL);
    CHECK(write(ends[1], "x", 1) == 1);
    return what;
}

static void sleeper(void)
{
    pthread_t other;
    CHECK(pthread_create(&other, NULL, reader, NULL) == 0);
    CHECK(sem_post(&ready) == 0);
    CHECK(pthread_join(other, NULL) == 0);
    OK(vic_compute_ns(card, 1000));
}

/* ---- spinner: a thread computes for ever, without a call, until another one lets it go */

static void *spinner(void *what)
{
    while (!flag) {
    }
    vic_relax(card);
    return what;
}

static void spin(void)
{
    pthread_t other;
    CHECK(pthread_create(&other, NULL, spinner, NULL) == 0);
    OK(vic_compute_ns(card, 1000)); /* its turn, first for ever, then not any more */
    flag = true;
    CHECK(pthread_join(other, NULL) == 0);
}

/* ---- lasting: a thread that lives while the card is closed and opened, until all of it was used again */

static void *lasting(void *what)
{
    for (int i = 0; i < 4; i++) {
        CHECK(sem_wait(&sem) == 0);
        OK(vic_counter_set(card, 5, i));
        CHECK(sem_post(&ready) == 0);
    }
    return what;
}

static void reopen(int times)
{
    for (int i = 0; i < times; i++) {
        OK(vic_close(card));
        OK(vic_open(&card));
    }
}

static void last(void)
{
    static const int times[] = {0, 1, 30, 40};
    pthread_t other;
    int64_t value;
    CHECK(pthread_create(&other, NULL, lasting, NULL) == 0);
    for (int i = 0; i < 4; i++) {
        reopen(times[i]);
        CHECK(sem_post(&sem) == 0 && sem_wait(&ready) == 0);
        OK(vic_counter_get(card, 5, &value));
        CHECK(value == i);
    }
    CHECK(pthread_join(other, NULL) == 0);
}

/* ---- closed: others wait, or have the turn, when the card is closed */

static void *in_a_wait(void *what)
{
    uint64_t word;
    size_t n;
    IS(vic_fifo_wait(card, &word, 1, 1, &n, VIC_FOREVER), VIC_ECLOSED);
    return what;
}

static void *in_a_read(void *what)
{
    uint64_t words[100];
    IS(vic_read(card, 0, words, 100), VIC_ECLOSED);
    return what;
}

static void *in_a_lock(void *what)
{
    CHECK(sem_wait(&sem) == 0);
    return what;
}

static void *in_a_condition(void *what)
{
    pthread_mutex_lock(&lock);
    while (!flag) {
        CHECK(pthread_cond_wait(&cond, &lock) == 0);
    }
    pthread_mutex_unlock(&lock);
    return what;
}

static void closed(void)
{
    pthread_t thread[4];
    uint64_t word = 1, other = 1;
    vic_dma_t *dma;
    int done = 0;
    OK(vic_dma_read(card, &other, 0, 1, &dma));
    while (!done) {
        OK(vic_dma_test(card, dma, &done));
    }
    CHECK(pthread_create(&thread[0], NULL, in_a_wait, NULL) == 0);
    CHECK(pthread_create(&thread[1], NULL, in_a_lock, NULL) == 0);
    CHECK(pthread_create(&thread[3], NULL, in_a_condition, NULL) == 0);
    OK(vic_compute_ns(card, 1000));
    OK(vic_dma_read(card, &word, 0, 1, &dma)); /* it ends before the card is closed */
    CHECK(pthread_create(&thread[2], NULL, in_a_read, NULL) == 0);
    OK(vic_compute_ns(card, 1000));
    OK(vic_close(card));
    CHECK(word == 0 && other == 0);
    CHECK(sem_post(&sem) == 0);
    pthread_mutex_lock(&lock);
    flag = true;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
    }
    OK(vic_open(&card));
}

/* ---- under: closed by a thread that is not in model time, while one that is does something else */

static void *closer(void *what)
{
    CHECK(sem_wait(&ready) == 0);
    OK(vic_close(card));
    CHECK(write(ends[1], "x", 1) == 1);
    return what;
}

static void under(void)
{
    CHECK(sem_post(&ready) == 0);
    reader(NULL);
    IS(vic_counter_set(card, 3, 1), VIC_ECLOSED);
    OK(vic_open(&card));
}

/* ---- two: of a card in the barrier */

static void *behind(void *what)
{
    IS(vic_barrier(card, *(uint64_t *)what), VIC_ETIMEDOUT);
    print_time("behind");
    return NULL;
}

static void *patient(void *what)
{
    OK(vic_barrier(card, VIC_FOREVER));
    return what;
}

static void two(uint32_t me)
{
    pthread_t other[2];
    uint64_t least = 3000, just = 6010; /* its time is over with the look that sees the barrier free */
    if (me == 0) {
        CHECK(pthread_create(&other[0], NULL, behind, &least) == 0);
        CHECK(pthread_create(&other[1], NULL, behind, &just) == 0);
        IS(vic_barrier(card, 6000), VIC_ETIMEDOUT);
        print_time("first");
        CHECK(pthread_join(other[0], NULL) == 0 && pthread_join(other[1], NULL) == 0);
    } else {
        OK(vic_compute_ns(card, 50000));
    }
    CHECK(pthread_create(&other[0], NULL, patient, NULL) == 0);
    OK(vic_barrier(card, VIC_FOREVER));
    CHECK(pthread_join(other[0], NULL) == 0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    pthread_t other;
    const char *number = getenv("VIC_CARD");
    void *(*made_before)(void *) = strcmp(how, "sleeper") == 0                      ? writer
                                   : strcmp(how, "under") == 0                     ? closer
                                   : strcmp(how, "outside") == 0 && *number == '0' ? poster
                                                                                   : NULL;
    pipe_name = argc > 2 ? argv[2] : NULL;
    sem_init(&sem, 0, 0);
    sem_init(&ready, 0, 0);
    CHECK(pipe(ends) == 0);
    CHECK(made_before == NULL || pthread_create(&other, NULL, made_before, NULL) == 0);
    OK(vic_open(&card));
    struct self self = self_of(card);
    if (strcmp(how, "outside") == 0) {
        outside(self.me);
    } else if (strcmp(how, "crowd") == 0) {
        crowd();
    } else if (strcmp(how, "sleeper") == 0) {
        sleeper();
    } else if (strcmp(how, "spinner") == 0) {
        spin();
    } else if (strcmp(how, "lasting") == 0) {
        last();
    } else if (strcmp(how, "closed") == 0) {
        closed();
    } else if (strcmp(how, "under") == 0) {
        under();
    } else if (strcmp(how, "two") == 0) {
        two(self.me);
    }
    OK(vic_close(card));
    CHECK(made_before == NULL || pthread_join(other, NULL) == 0);
    return 0;
}
