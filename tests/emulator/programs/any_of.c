/* Does vic_wait say what is there, of several counters and the FIFO, and end as other waits do? */
#include <pthread.h>

#include "harness.h"

enum { COUNTERS = 16, ROUNDS = 40, FIRST = 20 };
#define FIFO_BIT (UINT64_C(1) << VIC_READY_FIFO)
#define MASK (((UINT64_C(1) << COUNTERS) - 1) << FIRST)

static void refuses(const struct self *self)
{
    uint64_t ready = 7;
    IS(vic_wait(self->card, 0, 0, &ready, 0), VIC_EINVAL);
    IS(vic_wait(self->card, 1, 0, NULL, 0), VIC_EINVAL);
    IS(vic_wait(NULL, 1, 0, &ready, 0), VIC_EINVAL);
    IS(vic_wait(self->card, FIFO_BIT, 0, &ready, 0), VIC_EINVAL);
    IS(vic_wait(self->card, FIFO_BIT, 1, &ready, 0), VIC_EINVAL);
    IS(vic_wait(self->card, 0, (size_t)self->attr.fifo_words + 1, &ready, 0), VIC_EINVAL);
    if (self->attr.counters < 64) {
        IS(vic_wait(self->card, UINT64_C(1) << (self->attr.counters - 3), 0, &ready, 0), VIC_ERANGE);
    }
    CHECK(ready == 7);
}

/* What this card does to itself. */
static void alone(const struct self *self)
{
    vic_t *card = self->card;
    uint64_t ready = 7, words[3] = {1, 2, 3}, headers[3];
    size_t n;
    for (unsigned i = 0; i < 3; i++) {
        OK(vic_counter_set(card, i, i + 1));
        headers[i] = vic_header(self->me, VIC_FIFO, 0, VIC_NO_COUNTER);
    }
    IS(vic_wait(card, 7, 0, &ready, 100000), VIC_ETIMEDOUT);
    CHECK(ready == 0);
    ready = 7;
    IS(vic_wait(card, 0, 1, &ready, 0), VIC_ETIMEDOUT);
    CHECK(ready == 0);
    OK(vic_counter_set(card, 1, 0));
    OK(vic_wait(card, 7, 1, &ready, LONG));
    CHECK(ready == 2);
    OK(vic_counter_set(card, 2, 0));
    do { /* one look that sees both */
        OK(vic_wait(card, 7, 0, &ready, LONG));
    } while (ready == 2);
    CHECK(ready == 6);
    OK(vic_send(card, headers, words, 2));
    do {
        OK(vic_wait(card, 4, 2, &ready, LONG));
    } while (ready == 4);
    CHECK(ready == (FIFO_BIT | 4));
    IS(vic_wait(card, 0, 3, &ready, 1000), VIC_ETIMEDOUT); /* two are there */
    OK(vic_send(card, headers, words, 1));
    OK(vic_wait(card, 1, 3, &ready, LONG));
    CHECK(ready == FIFO_BIT);
    OK(vic_fifo_wait(card, words, 3, 3, &n, LONG)); /* nothing was taken */
    CHECK(n == 3);
}

/* The left neighbour counts one of sixteen counters, or sends a word into the FIFO; each says which by a word. */
static void ring(const struct self *self)
{
    vic_t *card = self->card;
    uint32_t right = (self->me + 1) % self->cards;
    uint64_t mine = self->me, left = (self->me + self->cards - 1) % self->cards;
    for (unsigned i = 0; i < COUNTERS; i++) {
        OK(vic_counter_set(card, FIRST + i, 1));
    }
    OK(vic_barrier(card, LONG));
    for (uint64_t round = 0; round < ROUNDS; round++) {
        unsigned to = (unsigned)(draw(&mine) % (COUNTERS + 1)), from = (unsigned)(draw(&left) % (COUNTERS + 1));
        uint64_t header = vic_header(right, VIC_FIFO, 0, VIC_NO_COUNTER), ready, word;
        if (to == COUNTERS) {
            OK(vic_send(card, &header, &round, 1));
        } else {
            OK(vic_put(card, right, to, &round, 1, FIRST + to));
        }
        OK(vic_wait(card, MASK, 1, &ready, LONG));
        if (from == COUNTERS) {
            size_t n;
            CHECK(ready == FIFO_BIT);
            OK(vic_fifo_poll(card, &word, 1, &n)); /* a look that the fault extra-polls may blind */
            while (n == 0) {
                OK(vic_fifo_poll(card, &word, 1, &n));
            }
        } else {
            CHECK(ready == UINT64_C(1) << (FIRST + from));
            OK(vic_counter_set(card, FIRST + from, 1));
            OK(vic_read(card, from, &word, 1));
        }
        CHECK(word == round);
        OK(vic_barrier(card, LONG));
    }
}

struct waiter {
    vic_t *card;
    size_t fifo_min;
};

static void *wait_for_ever(void *what)
{
    const struct waiter *waiter = what;
    uint64_t ready = 0;
    IS(vic_wait(waiter->card, 1, waiter->fifo_min, &ready, VIC_FOREVER), VIC_ECLOSED);
    CHECK(ready == 0);
    IS(vic_wait(waiter->card, 1, waiter->fifo_min, &ready, VIC_FOREVER), VIC_ECLOSED);
    return NULL;
}

/* A thread that waits is waked by another one of its card, and by the closing. */
static void close_under(const struct self *self)
{
    struct waiter waiter[2] = {{self->card, 0}, {self->card, 1}};
    pthread_t thread[2];
    for (unsigned i = 0; i < 2; i++) {
        CHECK(pthread_create(&thread[i], NULL, wait_for_ever, &waiter[i]) == 0);
    }
    uint64_t start = vic_time_ns(self->card);
    while (vic_time_ns(self->card) - start < 2 * 1000 * 1000) {
        vic_relax(self->card);
    }
    OK(vic_close(self->card));
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
}

void run(const struct self *self)
{
    refuses(self);
    alone(self);
    if (self->attr.counters == 64) {
        ring(self);
    }
    OK(vic_barrier(self->card, LONG)); /* the end of card 0 ends the waits of others */
    if (self->me == 0) {
        close_under(self);
#ifdef IN_PROCESS
        pthread_exit(NULL);
#else
        exit(0);
#endif
    }
}
