/* GUPS with all headers in the card: only payloads leave node memory, by DMA (the rules are in gups.h).
 *
 *     vicrun -n 4 -- ./gups_dma [LOG2_WORDS]
 *
 * Every transfer has one layout: SLOTS / (cards - 1) words for each other card, one card after the other. So the
 * headers of it are made once. A card for which fewer updates wait gets zeros, which change nothing; one for
 * which more wait gets the rest with the next transfer. gups.c sends no zeros, and makes headers of mixed transfers anew.
 */
#include "gups.h"

enum { SLOTS = 512 }; /* gathered, and as many on their way */

struct layout {
    struct part *part;
    uint32_t others;
    size_t each, words; /* of a transfer, for one card and in all */
    vic_addr_t headers;
    unsigned counter;
    uint64_t *bucket, stored, transfers, padding; /* bucket: SLOTS for each other card */
    size_t *filled;
    uint64_t moving[SLOTS];
    vic_dma_t *dma; /* of `moving`, or NULL */
};

/* Number of another card among the others, and back. */
static uint32_t other_of(const struct layout *layout, uint32_t card)
{
    return card < layout->part->attr->card ? card : card - 1;
}

static uint32_t card_of(const struct layout *layout, uint32_t other)
{
    return other < layout->part->attr->card ? other : other + 1;
}

static void layout_open(struct layout *layout, struct part *part)
{
    uint64_t headers[SLOTS];
    uint32_t cards = part->attr->cards;
    *layout = (struct layout){.part = part, .others = cards - 1};
    if (layout->others > SLOTS) {
        fail("gups_dma: %u cards; a transfer has words for %d others at most", cards, SLOTS);
    }
    layout->each = layout->others != 0 ? SLOTS / layout->others : 0;
    layout->words = layout->each * layout->others;
    layout->bucket = allocate((size_t)layout->others * SLOTS, sizeof *layout->bucket);
    layout->filled = allocate(layout->others, sizeof *layout->filled);
    MUST(vic_counter_alloc(part->card, &layout->counter));
    MUST(vic_counter_set(part->card, layout->counter, layout->others * TOKEN));
    MUST(vic_alloc(part->card, SLOTS, &layout->headers));
    for (size_t i = 0; i < layout->words; i++) {
        headers[i] = vic_header(card_of(layout, (uint32_t)(i / layout->each)), VIC_FIFO, 0, layout->counter);
    }
    MUST(vic_write(part->card, layout->headers, headers, layout->words));
    MUST(vic_barrier(part->card, VIC_FOREVER)); /* everybody has preset */
}

static void layout_close(struct layout *layout)
{
    free(layout->bucket);
    free(layout->filled);
}

/* Apply what has come, at most as many words as a transfer has; zeros are padding. */
static size_t take(struct layout *layout)
{
    uint64_t words[SLOTS];
    size_t n, updates = 0;
    MUST(vic_fifo_poll(layout->part->card, words, SLOTS, &n));
    for (size_t i = 0; i < n; i++) {
        words[updates] = words[i];
        updates += words[i] != 0;
    }
    if (updates != 0) {
        apply(layout->part, words, updates);
    }
    return n;
}

/* The last transfer has ended. Words are taken only while it has not: a card that took all that comes would fall behind
 * with its own updates, and the others would wait for it at the end. */
static void settle(struct layout *layout)
{
    while (layout->dma != NULL) {
        int status = vic_dma_wait(layout->part->card, &layout->dma, 0);
        if (status != VIC_OK && status != VIC_ETIMEDOUT) {
            MUST(status);
        }
        if (layout->dma != NULL && take(layout) == 0) {
            vic_relax(layout->part->card);
        }
    }
}

static void flush(struct layout *layout)
{
    settle(layout);
    uint64_t *moving = layout->moving;
    for (uint32_t other = 0; other < layout->others; other++, moving += layout->each) {
        uint64_t *bucket = layout->bucket + (size_t)other * SLOTS;
        size_t filled = layout->filled[other], n = filled < layout->each ? filled : layout->each;
        memcpy(moving, bucket, n * sizeof *moving);
        memset(moving + n, 0, (layout->each - n) * sizeof *moving);
        memmove(bucket, bucket + n, (filled - n) * sizeof *bucket);
        layout->filled[other] -= n;
        layout->stored -= n;
        layout->padding += layout->each - n;
    }
    layout->transfers++;
    MUST(vic_dma_send(layout->part->card, layout->headers, layout->moving, layout->words, &layout->dma));
    take(layout);
}

static void push(void *to, uint32_t card, uint64_t word)
{
    struct layout *layout = to;
    if (card == layout->part->attr->card) {
        apply(layout->part, &word, 1);
        return;
    }
    uint32_t other = other_of(layout, card);
    layout->bucket[(size_t)other * SLOTS + layout->filled[other]++] = word;
    if (++layout->stored == SLOTS) {
        flush(layout);
    }
}

/* Send the rest, say how many words there were, and take words until all cards have said so (stream.h). */
static void end(struct layout *layout)
{
    vic_t *card = layout->part->card;
    while (layout->stored != 0) {
        flush(layout);
    }
    settle(layout);
    for (uint32_t other = 0; other < layout->others; other++) {
        uint64_t header = vic_header(card_of(layout, other), VIC_COUNTER_ADD, 0, layout->counter);
        uint64_t rest = layout->transfers * layout->each - (uint64_t)TOKEN;
        MUST(vic_send(card, &header, &rest, 1));
    }
    uint64_t ready = 0;
    while (layout->others != 0 && (ready >> layout->counter & 1) == 0) {
        MUST(vic_wait(card, UINT64_C(1) << layout->counter, 1, &ready, VIC_FOREVER));
        take(layout);
    }
    while (take(layout) != 0) {
    }
}

int main(int argc, char **argv)
{
    struct vic_attr attr;
    struct sum sum;
    struct layout layout;
    vic_t *card = open_card(&attr);
    struct part part = part_open(card, &attr, UINT64_C(1) << argument(argc, argv, 1, 16, 10, 34));
    sum_open(card, &attr, &sum);
    layout_open(&layout, &part);
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = vic_time_ns(card);
    make_updates(&part, push, &layout);
    end(&layout);
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t result = part_end(&part, start);
    if (attr.card == 0 && layout.transfers != 0) {
        double sent = (double)(layout.transfers * layout.words);
        printf("of %.0f words that card 0 sent %.1f %% were padding\n", sent, 100 * (double)layout.padding / sent);
    }
    layout_close(&layout);
    report(card, &attr, &sum, "gups_dma", result);
    return 0;
}
