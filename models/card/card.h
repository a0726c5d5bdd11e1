/* card.h: the Vortex Interface Card (VIC) at flow fidelity.
 *
 * A message is cut into pieces of at most piece_words 64-bit words. Each piece is watched by one group
 * counter that reaches zero when its last word has arrived; one counter is the scratch counter, so a
 * round covers at most group_counters - 1 pieces. Words land in the card's SRAM and a DMA engine moves
 * them over PCIe into a ring in the host's DRAM (host/host.h).
 *
 *     port --(link)--> SRAM --(DMA engine, PCIe)--> DRAM ring --> the receiver's threads
 *
 * Flow fidelity: a burst of messages of one size is a linear flow through these stages, so a call costs
 * the same for one message and for a million. Every quantity is an integer and the card draws no
 * random numbers: disturbances come from the caller. Not thread-safe: one simulation owns a card.
 */
#ifndef DVSIM_CARD_CARD_H
#define DVSIM_CARD_CARD_H

#include "host/pcie.h"

typedef struct {
    int64_t sram_bytes;        /* size of the card's SRAM */
    int64_t group_counters;    /* at least 2: one of them is the scratch counter */
    int64_t fifo_words;        /* depth of the surprise FIFO, 64-bit words */
    int64_t dma_entries;       /* pieces that one loading of the DMA table describes */
    int64_t piece_words;       /* longest piece, 64-bit words */
    dvsim_pcie pcie;           /* at flow fidelity only setup_ps, to load the DMA table, and engine_fs */
    dvsim_law vic_to_dram;     /* SRAM to node memory, per message, as measured by software */
} dvsim_card_params;

typedef struct {
    dvsim_card_params params;
    int64_t message_bytes;
    dvsim_law software;      /* vic_to_dram at the pace of the present burst */
    int64_t fifo_used;       /* words waiting in the surprise FIFO */
    int64_t sram_peak_bytes; /* most that the SRAM ever held */
    int64_t messages;        /* moved into node memory since init */
    int64_t dma_busy_ps;     /* time the DMA engine moved words */
    int64_t port_busy_ps;    /* time in which words came in */
} dvsim_card;

/* What the fabric says of a burst: when it left, and when its first and last word are in the SRAM if
 * nothing there holds it up; linear in between. */
typedef struct {
    int64_t sent_ps, first_ps, last_ps;
} dvsim_arrival_flow;

/* A burst on its way through the card: from SRAM to node memory, linear between the two times. */
typedef struct {
    int64_t first_ps; /* the DMA engine starts on the first message */
    int64_t last_ps;  /* the last message is in node memory */
    int64_t sent_ps;  /* the sender's port has let go of the last word */
    int64_t held_ps;  /* part of that for which a full SRAM held the sender back */
} dvsim_burst;

/* Set up a card for messages of one size.
 * DVSIM_EINVAL: NULL, message_bytes outside 0 .. 2^40, a parameter below its least value, a size or count
 * above 2^50, a cost above 10^18. */
int dvsim_card_init(dvsim_card *card, const dvsim_card_params *params, int64_t message_bytes);

/* Payload words of a message, at least 1: an empty message still sends one word. */
int64_t dvsim_words(int64_t message_bytes);
int64_t dvsim_card_words(const dvsim_card *card);

/* Pieces of a message: ceil(words / piece_words). */
int64_t dvsim_card_pieces(const dvsim_card *card);

/* Pieces of `moved` (0 .. any) that the counters show as complete: a message with at least as many
 * pieces as a round is counted round by round, a smaller one piece by piece. */
int64_t dvsim_card_counted(const dvsim_card *card, int64_t moved);

/* The same for an array of n, in place. */
void dvsim_card_counted_many(const dvsim_card *card, int64_t *moved, int64_t n);

/* From the next burst on the software's fixed cost of a message is so many millionths of that of vic_to_dram; what
 * a byte costs stays, and none is above 10^18 ps. The initial pace is 1,000,000. DVSIM_EINVAL: NULL, below zero. */
int dvsim_card_pace(dvsim_card *card, int64_t ppm);

/* Messages, at least 1, that go from SRAM to node memory in a time at the present pace. */
int64_t dvsim_card_moved_in(const dvsim_card *card, int64_t ps);

/* Time for `messages` from SRAM to node memory: the measured law at the present pace or PCIe, whichever is slower, and the
 * loadings of the DMA table. */
int64_t dvsim_card_move_ps(const dvsim_card *card, int64_t messages);

/* A burst of `messages` comes out of the fabric. Arrival and DMA engine overlap; when the SRAM is full the
 * fabric holds the sender back to the speed of the DMA engine.
 * DVSIM_EINVAL: NULL, messages outside 1 .. 2^40, times that do not ascend from 0 on, or a message larger
 * than the SRAM. */
int dvsim_card_receive(dvsim_card *card, dvsim_arrival_flow flow, int64_t messages, dvsim_burst *burst);

/* Surprise FIFO: one control word in or out. DVSIM_ESTATE: full or empty. */
int dvsim_card_fifo_push(dvsim_card *card);
int dvsim_card_fifo_pop(dvsim_card *card);

#endif
