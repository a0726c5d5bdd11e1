/* Ping-pong: how long does a put take until the other side has counted it, and until it has the words in its
 * own memory?
 *
 *     vicrun -n 2 -- ./pingpong [ROUNDS [MOST_WORDS]]
 *
 * Cards 0 and 1 play, others look on. After each measurement a few rounds are played whose words carry the
 * round and their place, and all are checked.
 */
#include "example.h"

enum { CHECKED_ROUNDS = 3, READ_DIRECTLY = 1 }; /* more words are fetched by DMA */

enum game { COUNT, READ, CHECK };

struct table {
    vic_t *card;
    struct vic_attr attr;
    vic_addr_t buffer;
    unsigned counter;
    uint64_t *words;
};

static uint64_t word_of(uint64_t ball, uint64_t at)
{
    return scramble(ball << 32 | at);
}

static void throw(struct table *table, enum game game, uint64_t ball, size_t n)
{
    for (size_t i = 0; i < n && game == CHECK; i++) {
        table->words[i] = word_of(ball, i);
    }
    MUST(vic_put(table->card, 1 - table->attr.card, table->buffer, table->words, n, table->counter));
}

/* Wait for the ball and preset for the next one: only then is it thrown back, so nobody can be early. */
static void catch(struct table *table, enum game game, uint64_t ball, size_t n)
{
    MUST(vic_counter_wait(table->card, table->counter, VIC_FOREVER));
    MUST(vic_counter_set(table->card, table->counter, (int64_t)n));
    if (game == COUNT) {
        return;
    }
    if (n <= READ_DIRECTLY) {
        MUST(vic_read(table->card, table->buffer, table->words, n));
    } else {
        fetch(table->card, table->words, table->buffer, n);
    }
    for (size_t i = 0; i < n && game == CHECK; i++) {
        if (table->words[i] != word_of(ball, i)) {
            fail("pingpong: ball %" PRIu64 ", word %zu is wrong", ball, i);
        }
    }
}

/* Returns ns one way. */
static double play(struct table *table, enum game game, uint64_t rounds, size_t n)
{
    MUST(vic_counter_set(table->card, table->counter, (int64_t)n));
    MUST(vic_barrier(table->card, VIC_FOREVER));
    uint64_t start = vic_time_ns(table->card);
    for (uint64_t ball = 0; ball < 2 * rounds && table->attr.card < 2; ball++) {
        if (ball % 2 == table->attr.card) {
            throw(table, game, ball, n);
        } else {
            catch(table, game, ball, n);
        }
    }
    double each = (double)(vic_time_ns(table->card) - start) / 2 / (double)rounds;
    MUST(vic_barrier(table->card, VIC_FOREVER));
    return each;
}

int main(int argc, char **argv)
{
    struct table table;
    struct sum sum;
    table.card = open_card(&table.attr);
    uint64_t rounds = argument(argc, argv, 1, 1000, 1, UINT32_MAX);
    uint64_t most = argument(argc, argv, 2, 4096, 1, table.attr.sram_words / 2);
    if (table.attr.cards < 2) {
        fail("pingpong: needs two cards: vicrun -n 2 -- %s", argv[0]);
    }
    table.words = allocate(most, sizeof *table.words);
    MUST(vic_alloc(table.card, most, &table.buffer));
    MUST(vic_counter_alloc(table.card, &table.counter));
    sum_open(table.card, &table.attr, &sum);
    if (table.attr.card == 0) {
        printf("%10s %14s %14s %12s\n", "words", "counted us", "read us", "GB/s read");
    }
    for (size_t n = 1; n <= most; n *= 4) {
        double counted = play(&table, COUNT, rounds, n), read = play(&table, READ, rounds, n);
        play(&table, CHECK, CHECKED_ROUNDS, n);
        worked(table.card, 4.0 * CHECKED_ROUNDS * (double)n, MAKE_NS);
        if (table.attr.card == 0) {
            printf("%10zu %14.3f %14.3f %12.3f\n", n, counted / 1e3, read / 1e3, (double)n * 8 / read);
        }
    }
    uint64_t result = 0;
    MUST(vic_read(table.card, table.buffer, &result, 1));
    free(table.words);
    report(table.card, &table.attr, &sum, "pingpong", result);
    return 0;
}
