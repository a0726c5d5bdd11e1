/* A bridge: card 0 takes messages of all other cards and hands them on, here to standard output. */
#include <stdio.h>
#include <stdlib.h>
#include <vic.h>

enum { WORDS = 8, MESSAGES = 20, BLOCKS = 8 }; /* 64-byte messages, 20 in a block, 8 blocks from each card */
enum { BLOCK = WORDS * MESSAGES };

#define MUST(call) must(call, #call)

static void must(int status, const char *call)
{
    if (status != VIC_OK) {
        fprintf(stderr, "%s: %s\n", call, vic_strerror(status));
        exit(1);
    }
}

/* Each source has two blocks in the SRAM of the bridge, and two counters: one block is filled while the other
 * is emptied. On the bridge counter 2 * source + b reads 0 when block b is full; on the source the counter of
 * the same number reads 0 when block b is free. */
static void source(vic_t *card, uint32_t me)
{
    for (uint32_t k = 0; k < BLOCKS; k++) {
        uint32_t at = 2 * me + k % 2;
        uint64_t block[BLOCK] = {0};
        for (uint32_t i = 0; i < MESSAGES; i++) {
            snprintf((char *)&block[i * WORDS], 8 * WORDS, "card %u: message %03u", me, k * MESSAGES + i);
        }
        MUST(vic_counter_wait(card, at, VIC_FOREVER)); /* the block is free ... */
        MUST(vic_counter_set(card, at, 1));            /* ... and is not until one packet says so */
        MUST(vic_put(card, 0, at * BLOCK, block, BLOCK, at));
    }
}

static void bridge(vic_t *card, uint32_t cards)
{
    uint64_t block[BLOCK], free_again = 0;
    uint32_t *taken = calloc(cards, sizeof *taken);
    for (uint32_t left = (cards - 1) * BLOCKS; taken != NULL && left > 0;) {
        uint64_t awaited = 0, full; /* counters, one bit each */
        for (uint32_t from = 1; from < cards; from++) {
            awaited |= (uint64_t)(taken[from] < BLOCKS) << (2 * from + taken[from] % 2);
        }
        MUST(vic_wait(card, awaited, 0, &full, VIC_FOREVER)); /* any of them; it also says if a card died */
        for (uint32_t from = 1; from < cards; from++) {
            uint32_t at = 2 * from + taken[from] % 2;
            if ((full >> at & 1) == 0) {
                continue;
            }
            vic_dma_t *dma;
            MUST(vic_dma_read(card, block, at * BLOCK, BLOCK, &dma));
            MUST(vic_dma_wait(card, &dma, VIC_FOREVER));
            MUST(vic_counter_set(card, at, BLOCK)); /* first preset, then let the next block come */
            MUST(vic_put(card, from, at * BLOCK, &free_again, 1, at));
            for (uint32_t i = 0; i < MESSAGES; i++) {
                puts((const char *)&block[i * WORDS]); /* a broker, in earnest */
            }
            taken[from]++;
            left--;
        }
    }
    free(taken);
}

int main(void)
{
    vic_t *card;
    struct vic_attr attr;
    if (vic_open(&card) != VIC_OK) {
        fprintf(stderr, "vic_open: %s\n", vic_open_reason());
        return 1;
    }
    MUST(vic_query_attr(card, &attr));
    for (uint32_t at = 2; at < 2 * attr.cards; at++) {
        MUST(vic_counter_set(card, at, attr.card == 0 ? BLOCK : 0));
    }
    MUST(vic_barrier(card, VIC_FOREVER)); /* nobody sends before everybody has preset */
    uint64_t start = vic_time_ns(card);
    if (attr.card == 0) {
        bridge(card, attr.cards);
        fprintf(stderr, "%u messages in %.1f us\n", (attr.cards - 1) * BLOCKS * MESSAGES,
                (double)(vic_time_ns(card) - start) / 1e3);
    } else {
        source(card, attr.card);
    }
    MUST(vic_barrier(card, VIC_FOREVER));
    MUST(vic_close(card));
    return 0;
}
