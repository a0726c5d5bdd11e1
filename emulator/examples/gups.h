/* gups.h: what gups.c and gups_dma.c share: the sequence of HPCC RandomAccess, the table, and the check.
 *
 * The table has 2^LOG2_WORDS words, in equal parts on the cards. There are four updates per word:
 * T[r mod 2^m] ^= r, for r of a given sequence, each card its own stretch of it. No card looks ahead by more
 * than 1,024 updates. At the end every card goes through the whole sequence alone and compares its part, every
 * word; HPCC would forgive 1 % of errors.
 */
#ifndef GUPS_H
#define GUPS_H

#include "stream.h"

#define POLY UINT64_C(7)

static inline uint64_t next_random(uint64_t r)
{
    return r << 1 ^ (r >> 63 != 0 ? POLY : 0);
}

/* Element n of the sequence: the HPCC routine `starts`, multiplication by x^n in
 * GF(2)[x] / (x^64 + x^2 + x + 1). */
static inline uint64_t random_at(uint64_t n)
{
    uint64_t square[64], r = 1;
    for (int i = 0; i < 64; i++) {
        square[i] = r;
        r = next_random(next_random(r));
    }
    if (n == 0) {
        return 1;
    }
    int bit = 62;
    while (bit >= 0 && !(n >> bit & 1)) {
        bit--;
    }
    r = 2;
    while (bit > 0) {
        uint64_t sum = 0;
        for (int i = 0; i < 64; i++) {
            sum ^= r >> i & 1 ? square[i] : 0;
        }
        r = sum;
        bit--;
        r = n >> bit & 1 ? next_random(r) : r;
    }
    return r;
}

struct part {
    vic_t *card;
    const struct vic_attr *attr;
    uint64_t table, each, updates; /* words of all cards and of one, updates of all */
    uint64_t *word, first, words, mask; /* words first ... of the table */
};

static inline struct part part_open(vic_t *card, const struct vic_attr *attr, uint64_t table)
{
    uint64_t each = (table + attr->cards - 1) / attr->cards;
    uint64_t first = attr->card * each < table ? attr->card * each : table;
    struct part part = {card, attr, table, each, 4 * table, NULL, first, table - first < each ? table - first : each, table - 1};
    part.word = allocate(part.words, sizeof *part.word);
    for (uint64_t i = 0; i < part.words; i++) {
        part.word[i] = first + i;
    }
    worked(card, (double)part.words, COPY_NS);
    return part;
}

static inline void apply(void *what, const uint64_t *randoms, size_t n)
{
    struct part *part = what;
    for (size_t i = 0; i < n; i++) {
        part->word[(randoms[i] & part->mask) - part->first] ^= randoms[i];
    }
    worked(part->card, (double)n, UPDATE_NS);
}

/* All updates again, without the network; only those of this part. */
static inline void compare(const struct part *part)
{
    uint64_t words = part->words, updates = part->updates;
    uint64_t *expected = allocate(words, sizeof *expected), r = random_at(0);
    for (uint64_t i = 0; i < words; i++) {
        expected[i] = part->first + i;
    }
    for (uint64_t i = 0; i < updates; i++) {
        r = next_random(r);
        uint64_t at = (r & part->mask) - part->first; /* wraps round for what lies before */
        if (at < words) {
            expected[at] ^= r;
        }
    }
    for (uint64_t i = 0; i < words; i++) {
        if (part->word[i] != expected[i]) {
            fail("gups: word %" PRIu64 " of the table is wrong", part->first + i);
        }
    }
    free(expected);
    worked(part->card, (double)updates, COPY_NS);
}

/* Make this card's updates: `push` takes each with the card that it is for. */
static inline void make_updates(const struct part *part, void (*push)(void *, uint32_t, uint64_t), void *to)
{
    uint32_t cards = part->attr->cards, me = part->attr->card;
    uint64_t from = part->updates / cards * me;
    uint64_t until = me + 1 == cards ? part->updates : from + part->updates / cards;
    uint64_t r = random_at(from);
    for (uint64_t i = from; i < until; i++) {
        r = next_random(r);
        push(to, (uint32_t)((r & part->mask) / part->each), r);
        if (i % 64 == 0) {
            worked(part->card, 64, COPY_NS);
        }
    }
}

/* Updates of the card that has most, over their mean: the sequence begins far from even. */
static inline double busiest(const struct part *part)
{
    uint64_t *taken = allocate(part->attr->cards, sizeof *taken), r = random_at(0), most = 0;
    for (uint64_t i = 0; i < part->updates; i++) {
        r = next_random(r);
        uint64_t n = ++taken[(r & part->mask) / part->each];
        most = n > most ? n : most;
    }
    free(taken);
    return (double)most * part->attr->cards / (double)part->updates;
}

/* Check the table, say how fast it was, and return bits of it. */
static inline uint64_t part_end(struct part *part, uint64_t start)
{
    double seconds = (double)(vic_time_ns(part->card) - start) / 1e9, gups = (double)part->updates / seconds / 1e9;
    compare(part);
    uint64_t result = 0;
    for (uint64_t i = 0; i < part->words; i++) {
        result = scramble(result ^ part->word[i]);
    }
    worked(part->card, (double)part->words, MAKE_NS);
    if (part->attr->card == 0) {
        printf("%10s %12s %12s %14s %8s\n%10u %12" PRIu64 " %12.6f %14.6f %8.3f\n", "cards", "updates", "GUPS",
               "GUPS per card", "busiest", part->attr->cards, part->updates, gups, gups / part->attr->cards,
               busiest(part));
    }
    free(part->word);
    return result;
}

#endif
