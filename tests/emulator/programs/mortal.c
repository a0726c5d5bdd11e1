/* Programs that are killed at any moment and started again: do the others ever wait for what a dead one left
 * half done? Card 0 lives; the others are killed LIVES times each, at times drawn by the seed, and then once
 * not.
 *
 *     mortal fifo | barrier SEED LIVES */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

enum { MOST_NS = 1500 * 1000, BATCH = 300, ROUNDS = 5 };

static vic_t *card;
static struct self self;
static uint64_t lives, life, seed;

static void *killer(void *unused)
{
    (void)unused;
    uint64_t random = seed * 1000003 + self.me * 1009 + life;
    nanosleep(&(struct timespec){0, (long)(draw(&random) % MOST_NS)}, NULL);
    kill(getpid(), SIGKILL);
    return NULL;
}

/* A word that says whose it is and that it is whole. */
static uint64_t word_of(uint32_t from, uint64_t number)
{
    uint64_t random = (uint64_t)from << 32 | number;
    return (uint64_t)from << 56 | (number & 0xffffff) << 32 | (draw(&random) & 0xffffffff);
}

static void send_words(bool to_the_end)
{
    uint64_t random = seed + self.me + life, header[BATCH], word[BATCH];
    for (uint64_t number = 1; number < (to_the_end ? 1000 : 1 << 24);) {
        size_t n = 1 + draw(&random) % (draw(&random) % 2 == 0 ? 3 : BATCH);
        for (size_t i = 0; i < n; i++) {
            header[i] = vic_header(0, VIC_FIFO, 0, VIC_NO_COUNTER);
            word[i] = word_of(self.me, number++);
        }
        OK(vic_send(card, header, word, n));
    }
    uint64_t last = word_of(self.me, 0);
    OK(vic_send(card, header, &last, to_the_end));
}

static void take_words(void)
{
    uint64_t word[64], random = seed, all = 0;
    for (uint32_t ended = 0; ended + 1 < self.cards;) {
        size_t n, least = draw(&random) % 8 == 0 ? self.attr.fifo_words : 1;
        int status = vic_fifo_wait(card, word, least < 64 ? least : 64, 64, &n, least == 1 ? LONG : 100 * 1000);
        bool few = status == VIC_ETIMEDOUT || status == VIC_ECLOSED; /* and no more may come */
        CHECK(status == VIC_OK || (few && least != 1));
        for (size_t i = 0; i < n; i++) {
            uint32_t from = (uint32_t)(word[i] >> 56);
            uint64_t number = word[i] >> 32 & 0xffffff;
            CHECK(from > 0 && from < self.cards && word[i] == word_of(from, number));
            ended += number == 0;
        }
        all += n;
    }
    printf("%llu words\n", (unsigned long long)all);
}

static void cross(uint64_t least_ns)
{
    uint64_t random = seed + self.me + life;
    for (uint64_t start = vic_time_ns(card); vic_time_ns(card) - start < least_ns;) {
        int status = vic_barrier(card, draw(&random) % 3 == 0 ? draw(&random) % 300000 : 0);
        CHECK(status == VIC_OK || status == VIC_ETIMEDOUT);
    }
}

/* All have come to their last life and left the barrier; from here on it is as if nobody had died. */
static void count_rounds(void)
{
    uint64_t one = 1, word;
    OK(vic_put(card, 0, self.me, &one, 1, 0));
    if (self.me == 0) {
        OK(vic_counter_wait(card, 0, LONG));
        for (uint32_t to = 0; to < self.cards; to++) {
            OK(vic_put(card, to, 100, &one, 1, 1));
        }
    }
    OK(vic_counter_wait(card, 1, LONG));
    for (uint64_t round = 2; round < ROUNDS; round++) {
        for (uint32_t to = 0; to < self.cards; to++) {
            OK(vic_put(card, to, self.me, &round, 1, VIC_NO_COUNTER));
        }
        OK(vic_barrier(card, LONG));
        for (uint32_t from = 0; from < self.cards; from++) {
            OK(vic_read(card, from, &word, 1));
            CHECK(word >= round);
        }
        OK(vic_barrier(card, LONG));
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 4 && vic_open(&card) == VIC_OK);
    self = self_of(card);
    seed = strtoull(argv[2], NULL, 10);
    lives = strtoull(argv[3], NULL, 10);
    bool crosses = strcmp(argv[1], "barrier") == 0;
    OK(vic_peer_opens(card, self.me, &life));
    CHECK(life % 2 == 1);
    life /= 2;
    if (crosses && life == 0) { /* of all lives: SRAM and counters stay */
        OK(vic_counter_set(card, 0, self.cards));
        OK(vic_counter_set(card, 1, 1));
    }
    pthread_t thread;
    bool dies = self.me != 0 && life < lives;
    if (dies) {
        CHECK(pthread_create(&thread, NULL, killer, NULL) == 0);
    }
    if (crosses) {
        cross(dies ? LONG : 20 * 1000 * 1000);
        count_rounds();
    } else if (self.me == 0) {
        take_words();
    } else {
        send_words(!dies);
    }
    OK(vic_close(card));
    return 0;
}
