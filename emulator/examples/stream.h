/* stream.h: words to other cards' surprise FIFOs, until all have said that this was all. gups.c and bfs.c
 * work with it: many small words, each for another card, nobody knows how many will come.
 *
 * Words are gathered per destination. When SEND_WORDS are gathered the fullest bucket goes out by DMA: its
 * headers, all alike, wait in SRAM. With many cards even that one holds few words, and a transfer takes about
 * as long to set up as MANY headers to write; then all buckets go in one transfer, with headers made for it.
 * Transfers follow each other without a gap: up to TRANSFERS, of SEND_WORDS in all, are on their way at a time.
 * The FIFO of this card is emptied all the while, for a full FIFO stops those who send to it: a card that only
 * sends, and waits for room, can wait for ever.
 *
 * The end of a turn. Every card presets its counter to cards * TOKEN. Each word counts it down by one. A card
 * that has sent n words to another, and its last, adds n - TOKEN there. As a TOKEN is more than anybody
 * sends, the counter reads 0 exactly when all cards have said so and all words are in the FIFO. Turns use
 * two counters in turn: nobody can be two turns ahead of a card that has not ended this one.
 */
#ifndef STREAM_H
#define STREAM_H

#include "example.h"

enum { MANY = 32, SEND_WORDS = 512, TRANSFERS = 4 }; /* 512 gathered, 512 on their way: HPCC allows 1,024 */

/* Words that are taken before a card looks at its own transfers again. After each transfer it takes as many as
 * that had: a card that took all would send late, be sent more meanwhile, and fall further behind, until the
 * others wait for it alone; now a full FIFO slows down the senders instead. */
enum { TAKE_WORDS = 64 };

#define TOKEN (INT64_C(1) << 40)

struct transfer {
    vic_dma_t *dma;
    size_t words;
    uint64_t payload[SEND_WORDS];
};

struct stream {
    vic_t *card;
    const struct vic_attr *attr;
    void (*take)(void *what, const uint64_t *words, size_t n); /* words for this card */
    void *what;
    vic_addr_t headers; /* SEND_WORDS for each card and turn, and for each transfer to all */
    unsigned counter[2], turn;
    uint64_t *bucket;     /* SEND_WORDS for each card */
    size_t *filled, stored;
    int64_t *sent;        /* in this turn, to each card */
    struct transfer moving[TRANSFERS]; /* number i is moving[i % TRANSFERS]; done .. begun - 1 are on their way */
    unsigned begun, done;
    size_t away; /* words of these */
};

static inline void stream_open(struct stream *stream, vic_t *card, const struct vic_attr *attr,
                               void (*take)(void *, const uint64_t *, size_t), void *what)
{
    uint64_t block[SEND_WORDS];
    uint32_t cards = attr->cards;
    *stream = (struct stream){.card = card, .attr = attr, .take = take, .what = what};
    stream->bucket = allocate((size_t)cards * SEND_WORDS, sizeof *stream->bucket);
    stream->filled = allocate(cards, sizeof *stream->filled);
    stream->sent = allocate(cards, sizeof *stream->sent);
    MUST(vic_alloc(card, ((size_t)2 * cards + TRANSFERS) * SEND_WORDS, &stream->headers));
    for (unsigned turn = 0; turn < 2; turn++) {
        MUST(vic_counter_alloc(card, &stream->counter[turn]));
        MUST(vic_counter_set(card, stream->counter[turn], cards * TOKEN));
        for (uint32_t to = 0; to < cards; to++) {
            for (size_t i = 0; i < SEND_WORDS; i++) {
                block[i] = vic_header(to, VIC_FIFO, 0, stream->counter[turn]);
            }
            MUST(vic_write(card, stream->headers + (turn * cards + to) * SEND_WORDS, block, SEND_WORDS));
        }
    }
    MUST(vic_barrier(card, VIC_FOREVER)); /* everybody has preset */
}

static inline void stream_close(struct stream *stream)
{
    free(stream->bucket);
    free(stream->filled);
    free(stream->sent);
}

/* Take what has come, `most` words of it, SEND_WORDS or fewer; how many. */
static inline size_t stream_drain(struct stream *stream, size_t most)
{
    uint64_t words[SEND_WORDS];
    size_t n;
    MUST(vic_fifo_poll(stream->card, words, most, &n));
    if (n != 0) {
        stream->take(stream->what, words, n);
    }
    return n;
}

/* Wait until `words` more may be on their way, all of which arrive in order; meanwhile words are taken. */
static inline void stream_settle(struct stream *stream, size_t words)
{
    while (stream->away + words > SEND_WORDS || stream->begun - stream->done == TRANSFERS) {
        struct transfer *oldest = &stream->moving[stream->done % TRANSFERS];
        int status = vic_dma_wait(stream->card, &oldest->dma, 0);
        if (status != VIC_OK && status != VIC_ETIMEDOUT) {
            MUST(status);
        }
        if (oldest->dma == NULL) {
            stream->away -= oldest->words;
            stream->done++;
        } else if (stream_drain(stream, TAKE_WORDS) == 0) {
            vic_relax(stream->card);
        }
    }
}

/* The bucket of a card, behind the words of a transfer that is about to begin. */
static inline void stream_empty(struct stream *stream, uint32_t to, struct transfer *transfer)
{
    size_t filled = stream->filled[to];
    memcpy(transfer->payload + transfer->words, stream->bucket + (size_t)to * SEND_WORDS,
           filled * sizeof *transfer->payload);
    transfer->words += filled;
    stream->sent[to] += (int64_t)filled;
    stream->stored -= filled;
    stream->filled[to] = 0;
}

static inline void stream_flush(struct stream *stream, uint32_t to)
{
    uint32_t cards = stream->attr->cards;
    bool alone = stream->filled[to] >= MANY || stream->filled[to] == stream->stored;
    stream_settle(stream, alone ? stream->filled[to] : stream->stored);
    unsigned slot = stream->begun++ % TRANSFERS;
    struct transfer *transfer = &stream->moving[slot];
    vic_addr_t headers = stream->headers + (stream->turn % 2 * cards + to) * SEND_WORDS;
    transfer->words = 0;
    if (alone) {
        stream_empty(stream, to, transfer);
    } else {
        uint64_t made[SEND_WORDS];
        headers = stream->headers + (2 * cards + slot) * SEND_WORDS;
        for (uint32_t other = 0; other < cards; other++) {
            size_t from = transfer->words;
            stream_empty(stream, other, transfer);
            for (size_t i = from; i < transfer->words; i++) {
                made[i] = vic_header(other, VIC_FIFO, 0, stream->counter[stream->turn % 2]);
            }
        }
        MUST(vic_write(stream->card, headers, made, transfer->words));
    }
    stream->away += transfer->words;
    MUST(vic_dma_send(stream->card, headers, transfer->payload, transfer->words, &transfer->dma));
    stream_drain(stream, transfer->words);
}

static inline uint32_t stream_fullest(const struct stream *stream)
{
    uint32_t most = 0;
    for (uint32_t to = 1; to < stream->attr->cards; to++) {
        most = stream->filled[to] > stream->filled[most] ? to : most;
    }
    return most;
}

/* A word for a card. */
static inline void stream_push(struct stream *stream, uint32_t to, uint64_t word)
{
    if (to == stream->attr->card) {
        stream->take(stream->what, &word, 1);
        return;
    }
    stream->bucket[(size_t)to * SEND_WORDS + stream->filled[to]++] = word;
    if (++stream->stored == SEND_WORDS) {
        stream_flush(stream, stream_fullest(stream));
    }
}

/* Send the rest, say so, and take words until all cards have said so. Those of the next turn may already be
 * among them if nothing else keeps the cards together. */
static inline void stream_end(struct stream *stream)
{
    uint32_t cards = stream->attr->cards;
    unsigned counter = stream->counter[stream->turn % 2];
    while (stream->stored != 0) {
        stream_flush(stream, stream_fullest(stream));
    }
    stream_settle(stream, SEND_WORDS); /* all are done */
    for (uint32_t to = 0; to < cards; to++) {
        uint64_t header = vic_header(to, VIC_COUNTER_ADD, 0, counter);
        uint64_t rest = (uint64_t)(stream->sent[to] - TOKEN);
        MUST(vic_send(stream->card, &header, &rest, 1));
        stream->sent[to] = 0;
    }
    uint64_t ready;
    do { /* sleeps until there are words, or until these were all; it also says if a card died */
        MUST(vic_wait(stream->card, UINT64_C(1) << counter, 1, &ready, VIC_FOREVER));
        stream_drain(stream, SEND_WORDS);
    } while ((ready >> counter & 1) == 0);
    while (stream_drain(stream, SEND_WORDS) != 0) {
    }
    MUST(vic_counter_set(stream->card, counter, cards * TOKEN));
    stream->turn++;
}

#endif
