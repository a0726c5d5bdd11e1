/* What bench/emulator.py measures: the same exchanges as in emulator_raw.c, by the calls of vic.h.
 *
 *     vicrun -n CARDS -- emulator_vic TEST COUNT [shared]      one figure on stdout
 *
 * shared: the cores are left to the system, as others need them too: the agents of a job over hosts.
 */
#include "emulator_pair.h"

#include <signal.h>
#include <string.h>

#include <vic.h>

#define MUST(call)                                                                                          \
    do {                                                                                                    \
        int status_ = (call);                                                                               \
        if (status_ != VIC_OK) {                                                                            \
            fprintf(stderr, "emulator_vic: %s: %s\n", #call, vic_strerror(status_));                        \
            exit(1);                                                                                        \
        }                                                                                                   \
    } while (0)

static vic_t *card;
static struct vic_attr attr;

/* Every page of the card's memory is there. */
static void warm_up(void)
{
    static const uint64_t zeros[512];
    for (vic_addr_t at = 0; attr.mode == 0 && at < attr.sram_words; at += 512) {
        MUST(vic_write(card, at, zeros, 512));
    }
}

/* One counter, the one that is counted, or sixteen of which it is one. */
static int wait_for_put(unsigned counters)
{
    uint64_t ready;
    return counters == 1 ? vic_counter_wait(card, 0, VIC_FOREVER)
                         : vic_wait(card, (UINT64_C(1) << counters) - 1, 0, &ready, VIC_FOREVER);
}

/* ns one way. */
static double put(uint64_t count, unsigned counters)
{
    uint32_t me = attr.card;
    for (unsigned i = 0; i < counters; i++) {
        MUST(vic_counter_set(card, i, 1));
    }
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = now_ns();
    for (uint64_t i = 1; i <= count && me < 2; i++) {
        for (uint32_t turn = 0; turn < 2; turn++) {
            if (turn == me) {
                MUST(vic_put(card, 1 - me, 0, &i, 1, 0));
            } else {
                uint64_t word;
                MUST(wait_for_put(counters));
                MUST(vic_counter_set(card, 0, 1));
                MUST(vic_read(card, 0, &word, 1));
                if (word != i) {
                    abort();
                }
            }
        }
    }
    return (double)(now_ns() - start) / 2 / (double)count;
}

/* Puts of one word to random places, each counted. M puts/s. */
static double single(uint64_t count)
{
    MUST(vic_counter_set(card, 0, (int64_t)count));
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < count && attr.card == 0; i++) {
        MUST(vic_put(card, 1, (vic_addr_t)(place_of(i % PLACES) % attr.sram_words), &i, 1, 0));
    }
    if (attr.card == 1) {
        MUST(vic_counter_wait(card, 0, VIC_FOREVER));
    }
    return (double)count * 1e3 / (double)(now_ns() - start);
}

/* Packets to random places. M words/s. */
static double scatter(uint64_t count)
{
    static uint64_t headers[PLACES], payloads[VECTOR];
    for (uint64_t i = 0; i < PLACES; i++) {
        headers[i] = vic_header(1, VIC_WRITE, (vic_addr_t)(place_of(i) % attr.sram_words), 0);
    }
    count = count / VECTOR * VECTOR;
    MUST(vic_counter_set(card, 0, (int64_t)count));
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < count && attr.card == 0; i += VECTOR) {
        MUST(vic_send(card, headers + i % PLACES, payloads, VECTOR));
    }
    if (attr.card == 1) {
        MUST(vic_counter_wait(card, 0, VIC_FOREVER));
    }
    return (double)count * 1e3 / (double)(now_ns() - start);
}

/* Blocks by put, read out by the other side. Counter i: block i % BLOCKS is there, or may be sent. GB/s. */
static double copy(uint64_t count)
{
    uint64_t *mine = malloc(BLOCK * sizeof *mine), word = 0;
    memset(mine, attr.card == 0, BLOCK * sizeof *mine);
    for (unsigned i = 0; i < BLOCKS; i++) {
        MUST(vic_counter_set(card, i, attr.card == 0 ? 0 : BLOCK));
    }
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < count && attr.card < 2; i++) {
        unsigned at = i % BLOCKS;
        MUST(vic_counter_wait(card, at, VIC_FOREVER));
        MUST(vic_counter_set(card, at, attr.card == 0 ? 1 : BLOCK));
        if (attr.card == 0) {
            MUST(vic_put(card, 1, at * BLOCK, mine, BLOCK, at));
        } else {
            MUST(vic_read(card, at * BLOCK, mine, BLOCK));
            MUST(vic_put(card, 0, at, &word, 1, at));
        }
    }
    double rate = (double)count * BLOCK * 8 / (double)(now_ns() - start);
    if (attr.card < 2 && mine[BLOCK - 1] != UINT64_C(0x0101010101010101)) {
        abort();
    }
    free(mine);
    return rate;
}

/* Words through the surprise FIFO, `each` at a time. M words/s. */
static double fifo(uint64_t count, size_t each)
{
    uint64_t headers[BATCH], words[BATCH], sum = 0;
    for (size_t i = 0; i < BATCH; i++) {
        headers[i] = vic_header(1, VIC_FIFO, 0, VIC_NO_COUNTER);
    }
    count = count / BATCH * BATCH;
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < count && attr.card == 0; i += each) {
        for (size_t k = 0; k < each; k++) {
            words[k] = i + k;
        }
        MUST(vic_send(card, headers, words, each));
    }
    for (uint64_t i = 0; i < count && attr.card == 1;) {
        size_t n;
        MUST(vic_fifo_wait(card, words, 1, BATCH, &n, VIC_FOREVER));
        for (size_t k = 0; k < n; k++) {
            sum += words[k];
        }
        i += n;
    }
    double rate = (double)count * 1e3 / (double)(now_ns() - start);
    if (attr.card == 1 && sum != count * (count - 1) / 2) {
        abort();
    }
    return rate;
}

/* A token round all cards. us per hop. */
static double token(uint64_t count)
{
    uint32_t next = (attr.card + 1) % attr.cards;
    MUST(vic_counter_set(card, 0, 1));
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        if (attr.card == 0) {
            MUST(vic_put(card, next, 0, &i, 1, 0));
        }
        MUST(vic_counter_wait(card, 0, VIC_FOREVER));
        MUST(vic_counter_set(card, 0, 1));
        if (attr.card != 0) {
            MUST(vic_put(card, next, 0, &i, 1, 0));
        }
    }
    return (double)(now_ns() - start) / 1e3 / (double)count / attr.cards;
}

/* Every card sends vectors of packets to random places of the others. M packets/s of the wall clock, in all. */
static double storm(uint64_t count)
{
    static uint64_t headers[VECTOR], payloads[VECTOR];
    const uint64_t vector = count < VECTOR ? count : VECTOR;
    count = count / vector * vector;
    for (uint64_t i = 0; i < vector; i++) { /* as many from each card to each other */
        uint32_t to = (uint32_t)((attr.card + 1 + i % (attr.cards - 1)) % attr.cards);
        headers[i] = vic_header(to, VIC_WRITE, (vic_addr_t)(place_of(i) % attr.sram_words), 0);
    }
    int64_t expected = 0;
    for (uint32_t from = 0; from < attr.cards; from++) {
        for (uint64_t i = 0; i < vector; i++) {
            expected += from != attr.card && (from + 1 + i % (attr.cards - 1)) % attr.cards == attr.card;
        }
    }
    MUST(vic_counter_set(card, 0, expected * (int64_t)(count / vector)));
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < count; i += vector) {
        MUST(vic_send(card, headers, payloads, vector));
    }
    MUST(vic_counter_wait(card, 0, VIC_FOREVER));
    MUST(vic_barrier(card, VIC_FOREVER));
    return (double)count * attr.cards * 1e3 / (double)(now_ns() - start);
}

/* Waits until another card has died; returns when this one was told, in ns of CLOCK_MONOTONIC. */
static uint64_t death_told(void)
{
    int status = vic_counter_wait(card, 0, VIC_FOREVER);
    uint64_t told = now_ns();
    if (status != VIC_EPEER) {
        fprintf(stderr, "emulator_vic: %s instead of VIC_EPEER\n", vic_strerror(status));
        exit(1);
    }
    return told;
}

/* A host of the job is lost while all cards wait. Prints when the wait begins, and when it has ended. */
static void lost(void)
{
    MUST(vic_counter_set(card, 0, 1));
    MUST(vic_barrier(card, VIC_FOREVER));
    puts("waits");
    fflush(stdout);
    printf("%llu\n", (unsigned long long)death_told());
}

/* The last card is killed while all others wait. ms until this card is told. */
static double killed(void)
{
    MUST(vic_counter_set(card, 0, 1));
    MUST(vic_counter_set(card, 1, 1));
    MUST(vic_barrier(card, VIC_FOREVER));
    if (attr.card == attr.cards - 1) {
        struct timespec a_moment = {0, 50 * 1000 * 1000}; /* the others sleep by then */
        nanosleep(&a_moment, NULL);
        uint64_t now = now_ns();
        for (uint32_t to = 0; to + 1 < attr.cards; to++) {
            MUST(vic_put(card, to, 0, &now, 1, 1));
        }
        raise(SIGKILL);
    }
    uint64_t told = death_told(), died = 0;
    MUST(vic_read(card, 0, &died, 1));
    return (double)(told - died) / 1e6;
}

int main(int argc, char **argv)
{
    uint64_t count = argc == 3 || argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
    if (count == 0 || vic_open(&card) != VIC_OK || vic_query_attr(card, &attr) != VIC_OK) {
        fprintf(stderr, "emulator_vic TEST COUNT [shared], under vicrun: %s\n", vic_open_reason());
        return 2;
    }
    const char *test = argv[1];
    double figure;
    if (strcmp(test, "killed") == 0) {
        printf("%.6g\n", killed());
        return 0;
    }
    if (strcmp(test, "lost") == 0) {
        lost();
        return 0;
    }
    if (strcmp(test, "ring-of-8") == 0) {
        figure = token(count);
    } else if (strcmp(test, "storm") == 0) {
        figure = storm(count);
    } else {
        warm_up();
        if (attr.mode == 0 && argc == 3) {
            take_core(attr.card);
        }
        figure = strcmp(test, "put") == 0       ? put(count, 1)
                 : strcmp(test, "any") == 0     ? put(count, 16)
                 : strcmp(test, "single") == 0  ? single(count)
                 : strcmp(test, "scatter") == 0 ? scatter(count)
                 : strcmp(test, "copy") == 0    ? copy(count)
                                                : fifo(count, strcmp(test, "ring-single") == 0 ? 1 : BATCH);
    }
    if (attr.card == (attr.cards > 1)) {
        printf("%.6g\n", figure); /* the side that receives has seen the end */
    }
    MUST(vic_barrier(card, VIC_FOREVER));
    MUST(vic_close(card));
    return 0;
}
