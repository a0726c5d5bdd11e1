/* wire.h: what stands in SRAM: the layout, frames, states. docs/message.md explains it. Whoever reads one of
 * these may find anything there; each carries what is needed to tell.
 */
#ifndef MESSAGE_WIRE_H
#define MESSAGE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/random.h"

enum {
    UNIT = 4,              /* words: positions in a ring are counted in these, modulo 2^32 */
    HEADER = 3,            /* words before the bytes of a piece, */
    LARGE = 1024,          /* but if these are as many or more, */
    LARGE_HEADER = 8,      /* so many, and an even number of units: cache lines are read and written as a whole */
    RECORD = 16,           /* words of a card's record for each other card */
    PIECE_MOST = 64 << 10, /* bytes */
    WINDOW_LEAST = 512,
    WINDOW_MOST = 16 << 20
};

/* Words of the record that a card has for each other card, its peer. Each is a state of two words: see state_make. */
enum {
    RECORD_TAKEN = 0,        /* what this card has taken of the peer's messages; the peer queries it */
    RECORD_CONFIG = 2,       /* the config of this card; the peer queries it if it cannot read the above */
    RECORD_REPLY = 4,        /* the answer to the query of the peer's RECORD_TAKEN */
    RECORD_CONFIG_REPLY = 6, /* the answer to the query of the peer's RECORD_CONFIG */
    RECORD_HELLO = 8,        /* where the stream of the peer begins, which writes it when it finds this card open */
    RECORD_SENT = 12,        /* the position of this card in the peer's ring when it closed, */
    RECORD_BEGUN = 14        /* and the hello that it had written there */
};

/* The addresses of records and rings. They are the same on all cards that exchange messages. */
struct layout {
    uint32_t base, cards;
    uint32_t units; /* of a ring, a power of two */
    uint64_t key;   /* of all of the above and the config */
};

/* From the rest of the layout, the config and the counters. */
void layout_set_key(struct layout *layout, size_t max_bytes, unsigned flags, uint32_t counters, unsigned first);

static inline uint32_t record_at(const struct layout *layout, uint32_t peer)
{
    return layout->base + peer * RECORD;
}

/* The address of a position in the ring for what `from` sends. */
static inline uint32_t ring_at(const struct layout *layout, uint32_t from, uint32_t position)
{
    return layout->base + layout->cards * RECORD + (from * layout->units + (position & (layout->units - 1))) * UNIT;
}

/* Positions from this one to the end of the ring, beyond which no frame goes. */
static inline uint32_t rest_of(const struct layout *layout, uint32_t position)
{
    return layout->units - (position & (layout->units - 1));
}

/* The most bytes that fit a piece of this ring: a multiple of 8. */
static inline size_t piece_most(const struct layout *layout)
{
    size_t bytes = ((size_t)layout->units - UNIT) * 8; /* a quarter of the ring, without a header */
    bytes = bytes < LARGE ? bytes : ((size_t)layout->units - LARGE_HEADER) * 8;
    return bytes < PIECE_MOST ? bytes : PIECE_MOST;
}

/* ---- hash.c */

/* Before the first hash of the process. */
void hash_prepare(void);

/* Of bytes, which are copied on the way unless `to` is NULL. */
uint64_t wire_hash(uint64_t seed, const void *data, size_t bytes, void *to);

/* ---- frames: header, bytes, words that mean nothing up to a whole unit
 *
 *     word 0   tag << 32 | sender << 20 | kind << 18 | bytes of the piece
 *     word 1   hash of all of this, the position, both cards and the incarnation of the receiver
 *     word 2   bytes of the message << 32 | offset of the piece in it
 */
enum frame_kind {
    FRAME_PIECE = 0,
    FRAME_SKIP = 1 /* go to the start of the ring */
};

struct frame {
    enum frame_kind kind;
    uint32_t bytes, total, offset;
    uint64_t hash;
    uint32_t sender; /* sender_tag of its opening: another one may be open there with other rings */
};

static inline uint32_t sender_tag(uint32_t epoch)
{
    return epoch >> 2 & 0xfff;
}

/* What all frames of a stream have in common: those from one card to another while the receiver is open and the
 * sender lives. `name`: of the stream, see below. */
uint64_t stream_key(const struct layout *layout, uint32_t from, uint32_t to, uint32_t epoch, uint32_t name);

/* Write a frame: frame_words(frame->bytes) words. */
void frame_make(uint64_t stream, uint32_t position, const struct frame *frame, const void *data, uint64_t *words);

/* True if the words are the header of a frame. Its numbers are valid then; its bytes may not have come yet. */
bool frame_read(const struct layout *layout, uint64_t stream, uint32_t position, const uint64_t header[HEADER],
                struct frame *frame);

/* True if `data` is what the header's hash says. */
bool frame_is_whole(uint64_t stream, uint32_t position, const uint64_t header[HEADER], const struct frame *frame,
                    const void *data);

/* The bytes of a frame. */
static inline uint32_t frame_header(uint32_t bytes)
{
    return bytes < LARGE ? HEADER : LARGE_HEADER;
}

static inline uint32_t frame_words(uint32_t bytes)
{
    return frame_header(bytes) + (bytes + 7) / 8;
}

static inline uint32_t frame_units(uint32_t bytes)
{
    uint32_t units = (frame_words(bytes) + UNIT - 1) / UNIT;
    return bytes < LARGE ? units : (units + 1) / 2 * 2;
}

/* ---- states: how far a card is with a ring
 *
 *     word 0   position << 32 | messages
 *     word 1   epoch << 32 | check
 *
 * The epoch names one opening of the receiver; its lowest bit says that it is open. A hello has the position where
 * a stream begins, and in the position of `messages` its name. */
enum { EPOCH_OPEN = 1 };

struct state {
    uint32_t position, messages, epoch;
};

/* `purpose` is RECORD_TAKEN, _HELLO, _SENT or _BEGUN: one is not taken for another. `of` is the card whose
 * messages are in the ring. */
void state_make(const struct layout *layout, int purpose, uint32_t of, uint32_t to, const struct state *state,
                uint64_t word[2]);

/* ---- configs: what the cards have to agree on, in a form that a card with another config can read
 *
 *     word 0   max_bytes << 32 | window_bytes / 32 << 12 | flags << 8 | the first counter
 *     word 1   epoch << 32 | check
 */
struct peer_config {
    size_t max_bytes;
    uint32_t window_bytes;
    unsigned flags, counter;
};

void config_make(const struct peer_config *peer_config, uint32_t epoch, uint64_t word[2]);

/* False if the words are no config, or that of a card whose messages are closed. */
bool config_read(const uint64_t word[2], struct peer_config *peer_config);

/* False if the words are no such state. */
bool state_read(const struct layout *layout, int purpose, uint32_t of, uint32_t to, const uint64_t word[2],
                struct state *state);

#endif
