/* stream.h: words to other cards' surprise FIFOs, until all have said that this was all. gups.c and bfs.c
 * work with it: many small words, each for another card, nobody knows how many will come.
 *
 * Words are gathered per destination. When SEND_WORDS are gathered the fullest bucket goes out by DMA: its
 * headers, all alike, wait in SRAM. With many cards even that one holds few words, and a transfer takes about
 * as long to set up as MANY headers to write; then all buckets go in one transfer, with headers made for it.
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

enum { MANY = 64, SEND_WORDS = 512 }; /* 512 gathered, 512 on their way: HPCC allows 1,024 */

/* Words that are taken before a card looks at its own transfer again. A card that took all would send late, be sent
 * more meanwhile, and fall further behind; with 256 a full FIFO slows down the senders instead. */
enum { TAKE_WORDS = 256 };

#define TOKEN (INT64_C(1) << 40)

struct stream {
    vic_t *card;
    const struct vic_attr *attr;
    void (*take)(void *what, const uint64_t *words, size_t n); /* words for this card */
    void *what;
    vic_addr_t headers; /* SEND_WORDS for each card and turn, and for a transfer to all */
    unsigned counter[2], turn;
    uint64_t *bucket;     /* SEND_WORDS for each card */
    size_t *filled, stored;
    int64_t *sent;        /* in this turn, to each card */
    uint64_t moving[SEND_WORDS];
    vic_dma_t *dma; /* of `moving`, or NULL */
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
    MUST(vic_alloc(card, ((size_t)2 * cards + 1) * SEND_WORDS, &stream->headers));
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

/* Take what has come; how many words. */
static inline size_t stream_drain(struct stream *stream)
{
    uint64_t words[TAKE_WORDS];
    size_t n;
    MUST(vic_fifo_poll(stream->card, words, TAKE_WORDS, &n));
    if (n != 0) {
        stream->take(stream->what, words, n);
    }
    return n;
}

/* The last transfer has ended; meanwhile words are taken. */
static inline void stream_settle(struct stream *stream)
{
    while (stream->dma != NULL) {
        int status = vic_dma_wait(stream->card, &stream->dma, 0);
        if (status != VIC_OK && status != VIC_ETIMEDOUT) {
            MUST(status);
        }
        if (stream_drain(stream) == 0 && stream->dma != NULL) {
            vic_relax(stream->card);
        }
    }
}

/* The bucket of a card, behind n words that are about to go; how many then. */
static inline size_t stream_empty(struct stream *stream, uint32_t to, size_t n)
{
    size_t filled = stream->filled[to];
    memcpy(stream->moving + n, stream->bucket + (size_t)to * SEND_WORDS, filled * sizeof *stream->moving);
    stream->sent[to] += (int64_t)filled;
    stream->stored -= filled;
    stream->filled[to] = 0;
    return n + filled;
}

static inline void stream_flush(struct stream *stream, uint32_t to)
{
    uint32_t cards = stream->attr->cards;
    vic_addr_t headers = stream->headers + (stream->turn % 2 * cards + to) * SEND_WORDS;
    size_t n = 0;
    stream_settle(stream);
    if (stream->filled[to] >= MANY || stream->filled[to] == stream->stored) {
        n = stream_empty(stream, to, 0);
    } else {
        uint64_t made[SEND_WORDS];
        headers = stream->headers + 2 * cards * SEND_WORDS;
        for (uint32_t other = 0; other < cards; other++) {
            size_t from = n;
            n = stream_empty(stream, other, n);
            for (size_t i = from; i < n; i++) {
                made[i] = vic_header(other, VIC_FIFO, 0, stream->counter[stream->turn % 2]);
            }
        }
        MUST(vic_write(stream->card, headers, made, n));
    }
    MUST(vic_dma_send(stream->card, headers, stream->moving, n, &stream->dma));
    stream_drain(stream);
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
    stream_settle(stream);
    for (uint32_t to = 0; to < cards; to++) {
        uint64_t header = vic_header(to, VIC_COUNTER_ADD, 0, counter);
        uint64_t rest = (uint64_t)(stream->sent[to] - TOKEN);
        MUST(vic_send(stream->card, &header, &rest, 1));
        stream->sent[to] = 0;
    }
    uint64_t ready;
    do { /* sleeps until there are words, or until these were all; it also says if a card died */
        MUST(vic_wait(stream->card, UINT64_C(1) << counter, 1, &ready, VIC_FOREVER));
        stream_drain(stream);
    } while ((ready >> counter & 1) == 0);
    while (stream_drain(stream) != 0) {
    }
    MUST(vic_counter_set(stream->card, counter, cards * TOKEN));
    stream->turn++;
}

#endif
