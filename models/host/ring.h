/* ring.h: the DRAM ring of a receiving node, word by word: a few buffers with a finite number of word slots.
 *
 *     card's engine --put--> | buffer that is open | --threads, word by word--> | released |
 *
 * The engine fills one buffer. The threads come to it when they have emptied those before it, and take words
 * out at a constant pace while others come in. When all its slots are full it takes no more: the card's engine
 * is held back until a word has left (dvsim_vic_allow). What is in it when the burst has ended leaves when it
 * is released; the buffers are released in the order in which they were opened. Nothing is ever lost:
 *
 *     filled == drained + held, in words and in the sum of what the words say        (dvsim_ring_check)
 *
 * host.h has the same ring in units of messages, without their contents, and says how many messages of a burst
 * a buffer takes before the sender is stopped.
 */
#ifndef DVSIM_HOST_RING_H
#define DVSIM_HOST_RING_H

#include "engine/law.h"

/* How a buffer is used for one burst. */
typedef struct {
    int64_t room;       /* word slots, 1 .. 2^40 */
    int64_t begin_ps;   /* the threads come to it */
    int64_t drain_ps;   /* and take so long for each unit, 0: no time */
    int64_t unit_words; /* words of a unit, at least 1 */
} dvsim_window;

typedef struct dvsim_ring dvsim_ring;

typedef struct {
    int64_t filled, drained, held; /* words since creation */
    int64_t windows, in_use;       /* buffers opened so far; in use now */
    int64_t peak;                  /* most words that a buffer held */
} dvsim_ring_counts;

/* NULL: fewer than 1 buffer or more than 2^20, or no memory. */
dvsim_ring *dvsim_ring_create(int64_t buffers);
void dvsim_ring_free(dvsim_ring *ring);

/* Open a buffer for a burst of so many words. DVSIM_EINVAL: a value out of range. DVSIM_ESTATE: no buffer is
 * free. DVSIM_ENOMEM: no memory for the slots that the burst can use. */
int dvsim_ring_open(dvsim_ring *ring, const dvsim_window *window, int64_t words);

/* A word comes into the open buffer. DVSIM_ESTATE: it is full. */
int dvsim_ring_put(dvsim_ring *ring, uint64_t word);

/* Words that have left the open buffer by then; times do not descend. */
int64_t dvsim_ring_left(dvsim_ring *ring, int64_t at_ps);

/* When the next word leaves the open buffer if there is one. */
int64_t dvsim_ring_next_ps(const dvsim_ring *ring);

/* The threads have emptied the oldest buffer; returns its words in all, DVSIM_ESTATE: none is in use. */
int64_t dvsim_ring_release(dvsim_ring *ring);

dvsim_ring_counts dvsim_ring_counts_now(const dvsim_ring *ring);
int dvsim_ring_check(const dvsim_ring *ring); /* 1 when the books balance */

#endif
