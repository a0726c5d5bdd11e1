/* receiver.h: a node that receives messages, word by word: its card (card/vic.h), the mirror of the card in its
 * memory, the software that sets counters and loads the card's DMA table, and the DRAM ring that fills.
 *
 *     fabric --words, in their slots--> SRAM --engine that reads, PCIe--> ring --threads-->
 *                                        | group counter at zero --> mirror --> software: next entry
 *
 * The sender numbers the words of a burst through. Word i goes to place i modulo the landing zone (the whole
 * messages that fit in the SRAM); piece k is counted down from its words by counter k modulo those that are not
 * the scratch counter. A word leaves its sender only if its place is empty and its counter is preset for its
 * piece, which the sender is assumed to know at once; until then it and those after it are held back. The host
 * sees a counter at zero one crossing and one look later, and presets it for the piece that comes next on it;
 * the store is in the card one crossing after.
 *
 * The software takes the pieces in order, as soon as it sees them complete: it hands an entry of the DMA table
 * to the engine and is busy for the piece's share of vic_to_dram. That law was measured with all that the
 * software does for a message, looks, stores and waits for PCIe included, so that none of them is charged
 * again; engine and crossings go on meanwhile, and set the pace where they take longer. A table of dma_entries
 * is loaded anew (dma_setup) when it is used up and the engine is done with it.
 *
 * A burst begins with nothing of the one before in the SRAM. All times are integer picoseconds, and there are
 * no random numbers. Not thread-safe.
 */
#ifndef DVSIM_HOST_RECEIVER_H
#define DVSIM_HOST_RECEIVER_H

#include "card/card.h"
#include "host/ring.h"

typedef struct dvsim_receiver dvsim_receiver;

/* What the fabric says of a burst: word k comes out at the end of the slot slots[k], slot s ends at
 * (s + ahead) * slot_ps. Its first word was sent at sent_ps. */
typedef struct {
    const int64_t *slots;
    int64_t ahead, slot_ps, sent_ps;
} dvsim_arrival_words;

/* Since creation. */
typedef struct {
    int64_t messages, words;   /* moved into the ring */
    int64_t sram_peak_words;   /* most that the SRAM held */
    int64_t dma_busy_ps;       /* from the first entry of a burst to its last word */
    int64_t port_busy_ps;      /* in which words came in, had nothing held them back */
    int64_t held_counters_ps;  /* words were held back because of a counter */
    int64_t held_ring_ps;      /* the engine was held back by a full ring */
    int64_t loadings;          /* of the DMA table */
    int64_t credits;           /* words that were in the sender's FIFO */
    int64_t unexpected;        /* packets that found their counter at or below zero: none */
} dvsim_receiver_counts;

/* A node for messages of one size. NULL: no memory, or what dvsim_card_init, dvsim_vic_create or
 * dvsim_ring_create refuse; a message larger than the SRAM; more counters than a header names or more SRAM than
 * it addresses. */
dvsim_receiver *dvsim_receiver_create(const dvsim_card_params *params, int64_t message_bytes, int64_t buffers);
void dvsim_receiver_free(dvsim_receiver *receiver);

/* The pace of the software from the next burst on, as dvsim_card_pace. */
int dvsim_receiver_pace(dvsim_receiver *receiver, int64_t ppm);

/* A burst comes out of the fabric and goes to a buffer of the ring that is opened for it. pieces_ps[k] is when
 * the last word of piece k is in the ring, ascending. burst->first_ps: the software takes up the first piece;
 * last_ps: it is done with the last one, and all words are in the ring; held_ps is that by a full SRAM.
 * DVSIM_EINVAL: NULL, messages outside 1 .. 2^40, more than 2^31 words, times below zero or above 2^61 ps, a
 * window out of range; nothing was changed. DVSIM_ESTATE: no buffer is free, and nothing was changed; or the
 * ring is full for ever, or a word is not what was sent. DVSIM_ENOMEM: no memory. After these the receiver is of
 * no more use. */
int dvsim_receiver_take(dvsim_receiver *receiver, const dvsim_arrival_words *arrival, int64_t messages,
                        const dvsim_window *window, int64_t *pieces_ps, dvsim_burst *burst);

/* The threads have emptied the buffer that has been in use longest; returns its messages, or DVSIM_ESTATE. */
int64_t dvsim_receiver_release(dvsim_receiver *receiver);

/* A credit is a packet for the sender's surprise FIFO. DVSIM_ESTATE: full or empty. */
int dvsim_receiver_push(dvsim_receiver *receiver, int64_t now_ps);
int dvsim_receiver_pop(dvsim_receiver *receiver);

dvsim_receiver_counts dvsim_receiver_counts_now(const dvsim_receiver *receiver);
dvsim_ring_counts dvsim_receiver_ring(const dvsim_receiver *receiver);

/* 1 if every word that came is in the ring or has left it, in order and unchanged, and no counter was wrong. */
int dvsim_receiver_check(const dvsim_receiver *receiver);

#endif
