/* GUPS: random updates of a table that is spread over all cards, by the rules of HPCC RandomAccess.
 *
 *     vicrun -n 4 -- ./gups [LOG2_WORDS]
 *
 * The table has 2^LOG2_WORDS words, in equal parts on the cards. There are four updates per word:
 * T[r mod 2^m] ^= r, for r of a given sequence, each card its own stretch of it. No card looks ahead by more
 * than 1,024 updates. An update is one word to the surprise FIFO of the card that has the place; its program
 * applies it. At the end every card goes through the whole sequence alone and compares its part, every word;
 * HPCC would forgive 1 % of errors.
 */
#include "stream.h"

#define POLY UINT64_C(7)

static uint64_t next_random(uint64_t r)
{
    return r << 1 ^ (r >> 63 != 0 ? POLY : 0);
}

/* Element n of the sequence: the HPCC routine `starts`, multiplication by x^n in
 * GF(2)[x] / (x^64 + x^2 + x + 1). */
static uint64_t random_at(uint64_t n)
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
    uint64_t *word, first, mask; /* words first ... of the table */
};

static void apply(void *what, const uint64_t *randoms, size_t n)
{
    struct part *part = what;
    for (size_t i = 0; i < n; i++) {
        part->word[(randoms[i] & part->mask) - part->first] ^= randoms[i];
    }
    worked(part->card, (double)n, UPDATE_NS);
}

/* All updates again, without the network; only those of this part. */
static void compare(const struct part *part, uint64_t words, uint64_t updates)
{
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

int main(int argc, char **argv)
{
    struct vic_attr attr;
    struct sum sum;
    struct stream stream;
    vic_t *card = open_card(&attr);
    uint64_t table = UINT64_C(1) << argument(argc, argv, 1, 16, 10, 34);
    uint64_t each = (table + attr.cards - 1) / attr.cards, updates = 4 * table;
    uint64_t first = attr.card * each < table ? attr.card * each : table;
    uint64_t words = table - first < each ? table - first : each;
    struct part part = {card, allocate(words, sizeof *part.word), first, table - 1};
    for (uint64_t i = 0; i < words; i++) {
        part.word[i] = first + i;
    }
    worked(card, (double)words, COPY_NS);
    sum_open(card, &attr, &sum);
    stream_open(&stream, card, &attr, apply, &part);
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = vic_time_ns(card);
    uint64_t from = updates / attr.cards * attr.card;
    uint64_t until = attr.card + 1 == attr.cards ? updates : from + updates / attr.cards;
    uint64_t r = random_at(from);
    for (uint64_t i = from; i < until; i++) {
        r = next_random(r);
        stream_push(&stream, (uint32_t)((r & part.mask) / each), r);
        if (i % 64 == 0) {
            worked(card, 64, COPY_NS);
        }
    }
    stream_end(&stream);
    MUST(vic_barrier(card, VIC_FOREVER));
    double seconds = (double)(vic_time_ns(card) - start) / 1e9, gups = (double)updates / seconds / 1e9;
    compare(&part, words, updates);
    uint64_t result = 0;
    for (uint64_t i = 0; i < words; i++) {
        result = scramble(result ^ part.word[i]);
    }
    worked(card, (double)words, MAKE_NS);
    if (attr.card == 0) {
        printf("%10s %12s %12s %14s\n%10u %12" PRIu64 " %12.6f %14.6f\n", "cards", "updates", "GUPS",
               "GUPS per card", attr.cards, updates, gups, gups / attr.cards);
    }
    stream_close(&stream);
    free(part.word);
    report(card, &attr, &sum, "gups", result);
    return 0;
}
