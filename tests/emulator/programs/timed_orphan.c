/* In timed mode the launcher, whose process is the argument, is killed while threads wait for all that can be waited
 * for. Says how each wait and each call ended. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include "harness.h"

enum { MANY = 300 };

static vic_t *card;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static bool over;

static void say(const char *what, int status)
{
    printf("%s: %s\n", what, vic_strerror(status));
    fflush(stdout);
}

static void *counter(void *what)
{
    say(what, vic_counter_wait(card, 3, VIC_FOREVER));
    return NULL;
}

static void *fifo(void *what)
{
    uint64_t word;
    size_t n;
    say(what, vic_fifo_wait(card, &word, 1, 1, &n, VIC_FOREVER));
    return NULL;
}

static void *barrier(void *what)
{
    say(what, vic_barrier(card, VIC_FOREVER));
    return NULL;
}

/* Threads wait for each other all the same. */
static void *semaphore(void *what)
{
    CHECK(sem_wait(&sem) == 0);
    say(what, VIC_OK);
    return NULL;
}

static void *condition(void *what)
{
    pthread_mutex_lock(&lock);
    while (!over) {
        CHECK(pthread_cond_wait(&cond, &lock) == 0);
    }
    pthread_mutex_unlock(&lock);
    say(what, VIC_OK);
    return NULL;
}

/* Every other call, when nobody carries it out any more. */
static void all_calls(void)
{
    uint64_t word[MANY] = {0}, header[MANY];
    int64_t value;
    size_t n;
    vic_dma_t *dma;
    int done = 0;
    for (int i = 0; i < MANY; i++) {
        header[i] = vic_header(1, VIC_WRITE, 0, VIC_NO_COUNTER);
    }
    say("write", vic_write(card, 0, header, MANY));
    say("read", vic_read(card, 0, word, 2));
    say("send", vic_send(card, header, word, MANY));
    say("send_cached", vic_send_cached(card, 0, word, MANY));
    say("put", vic_put(card, 1, 0, word, 2, 0));
    say("long put", vic_put(card, 1, 0, word, MANY, 0));
    say("dma_send", vic_dma_send(card, 0, word, 1, &dma));
    OK(vic_dma_read(card, word, 0, 1, &dma));
    say("dma_test", vic_dma_test(card, dma, &done));
    CHECK(!done);
    say("dma_wait", vic_dma_wait(card, &dma, VIC_FOREVER));
    say("counter_get", vic_counter_get(card, 3, &value));
    say("fifo_poll", vic_fifo_poll(card, word, 1, &n));
    OK(vic_compute_ns(card, 100));
    vic_relax(card);
    say("barrier again", vic_barrier(card, 1000));
}

int main(int argc, char **argv)
{
    static void *(*const what[])(void *) = {counter, fifo, barrier, semaphore, condition};
    static char names[][12] = {"counter", "fifo", "barrier", "semaphore", "condition"};
    enum { THREADS = sizeof names / sizeof *names };
    pthread_t thread[THREADS];
    CHECK(argc > 1 && sem_init(&sem, 0, 0) == 0);
    OK(vic_open(&card));
    OK(vic_counter_set(card, 3, 1));
    if (self_of(card).me != 0) {
        say("other", vic_counter_wait(card, 3, VIC_FOREVER));
        return 0;
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&thread[i], NULL, what[i], names[i]) == 0);
    }
    OK(vic_compute_ns(card, 10000)); /* they wait */
    CHECK(kill(atoi(argv[1]), SIGKILL) == 0);
    say("own", vic_counter_wait(card, 3, VIC_FOREVER));
    pthread_mutex_lock(&lock);
    over = true;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&lock);
    CHECK(sem_post(&sem) == 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
    }
    all_calls();
    say("close", vic_close(card));
    say("open", vic_open(&card));
    printf("%s\nend\n", vic_open_reason());
    return 0;
}
