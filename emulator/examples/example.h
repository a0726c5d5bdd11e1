/* example.h: what the examples share. Nothing of it is needed to use vic.h. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vic.h>

/* What the programs' own work costs in timed mode: assumed, one core of a 2017 server. Functional mode
 * ignores it. */
#define UPDATE_NS 4.0 /* a word read, changed and written at a random place of memory */
#define FLOP_NS 0.25  /* a floating-point operation in a loop that the cache feeds */
#define COPY_NS 0.5   /* a word made or moved */
#define MAKE_NS 4.0   /* a word scrambled, or compared with one */

static inline void fail(const char *format, ...)
{
    va_list more;
    va_start(more, format);
    vfprintf(stderr, format, more);
    va_end(more);
    fputc('\n', stderr);
    exit(1);
}

/* A call that has to succeed. */
#define MUST(call)                                                                                          \
    do {                                                                                                    \
        int status_ = (call);                                                                               \
        if (status_ != VIC_OK) {                                                                            \
            fail("%s:%d: %s: %s", __FILE__, __LINE__, #call, vic_strerror(status_));                        \
        }                                                                                                   \
    } while (0)

static inline vic_t *open_card(struct vic_attr *attr)
{
    vic_t *card;
    if (vic_open(&card) != VIC_OK) {
        fail("vic_open: %s", vic_open_reason());
    }
    MUST(vic_query_attr(card, attr));
    return card;
}

/* Argument number `at` of the program, or a usual value. Exit code 2 if it is no number in range. */
static inline uint64_t argument(int argc, char **argv, int at, uint64_t usual, uint64_t least, uint64_t most)
{
    if (argc <= at) {
        return usual;
    }
    char *end;
    uint64_t value = strtoull(argv[at], &end, 10);
    if (argv[at][0] < '0' || argv[at][0] > '9' || *end != 0 || value < least || value > most) {
        fprintf(stderr, "%s: argument %d is '%s'; it takes %" PRIu64 " .. %" PRIu64 "\n", argv[0], at, argv[at],
                least, most);
        exit(2);
    }
    return value;
}

static inline void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count != 0 ? count : 1, size);
    if (memory == NULL) {
        fail("no memory for %zu x %zu bytes", count, size);
    }
    return memory;
}

/* Words of this card's SRAM into memory, by an engine. */
static inline void fetch(vic_t *card, uint64_t *to, vic_addr_t addr, size_t n)
{
    vic_dma_t *dma;
    MUST(vic_dma_read(card, to, addr, n, &dma));
    MUST(vic_dma_wait(card, &dma, VIC_FOREVER));
}

/* The program worked: `steps` of `each` nanoseconds. */
static inline void worked(vic_t *card, double steps, double each)
{
    MUST(vic_compute_ns(card, (uint64_t)(steps * each)));
}

/* A number that looks random and is the same everywhere (splitmix64). */
static inline uint64_t scramble(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The sum over all cards of a value of each: every card puts its own into a slot of every other. Call it on
 * every card; `sum` is set up once by sum_open, at the same place of the program on every card. */
struct sum {
    vic_addr_t slots; /* a word per card, twice: a fast card may be one sum ahead of a slow one */
    unsigned counter[2];
    uint64_t turn;
};

static inline void sum_open(vic_t *card, const struct vic_attr *attr, struct sum *sum)
{
    *sum = (struct sum){0};
    MUST(vic_alloc(card, 2 * (size_t)attr->cards, &sum->slots));
    for (int i = 0; i < 2; i++) {
        MUST(vic_counter_alloc(card, &sum->counter[i]));
        MUST(vic_counter_set(card, sum->counter[i], attr->cards));
    }
    MUST(vic_barrier(card, VIC_FOREVER)); /* everybody has preset */
}

static inline uint64_t sum_of(vic_t *card, const struct vic_attr *attr, struct sum *sum, uint64_t mine)
{
    unsigned turn = sum->turn++ % 2, counter = sum->counter[turn];
    vic_addr_t slots = sum->slots + turn * attr->cards;
    for (uint32_t to = 0; to < attr->cards; to++) {
        MUST(vic_put(card, to, slots + attr->card, &mine, 1, counter));
    }
    MUST(vic_counter_wait(card, counter, VIC_FOREVER));
    /* preset for the turn after the next: nobody can be there before this card has sent its next */
    MUST(vic_counter_set(card, counter, attr->cards));
    uint64_t total = 0;
    for (uint32_t from = 0; from < attr->cards; from++) {
        uint64_t word;
        MUST(vic_read(card, slots + from, &word, 1));
        total += word;
    }
    return total;
}

/* The last line of an example: what was computed is the same in every mode. `mine` are bits of this card. */
static inline void report(vic_t *card, const struct vic_attr *attr, struct sum *sum, const char *name,
                          uint64_t mine)
{
    uint64_t all = sum_of(card, attr, sum, scramble(mine ^ scramble(attr->card)));
    if (attr->card == 0) {
        printf("%s: ok, result %016" PRIx64 "\n", name, all);
    }
    MUST(vic_barrier(card, VIC_FOREVER)); /* nobody leaves while others still count on it */
    MUST(vic_close(card));
}

#endif
