/* cycle.h: a Data Vortex as the fabric of a replay: every word of every message, slot by slot.
 *
 *     host --PIO or DMA--> card --port, planes, switches (network/network.h)--> card --FIFO or DMA--> host
 *
 * Out: a message goes by stores of header and payload, or by one DMA transfer whose headers wait in the card,
 * whichever is sooner (dvsim_pcie_engine_is_faster). A port has one path for stores and one engine; both
 * take messages in the order in which they were sent. A word can leave in the first slot that begins when
 * it is in the card.
 *
 * In: by the surprise FIFO, which the host mirrors, or by a DMA transfer out of the SRAM, whichever is
 * sooner for a message alone. The host hands the engine each piece as it sees its group counter at zero,
 * so that all but the last piece is moved while words still come. A card has one engine that reads.
 *
 * Or a message stays in the SRAM (`lands_in_sram`), as words of vic_put do: it is there when the host can see its group
 * counter at zero, and a program that reads it does so itself, in its own time.
 *
 * SRAM, counters and FIFO are taken to be large enough: what they hold back is in host/receiver.h. Slots in which
 * nothing is under way are not run.
 */
#ifndef DVSIM_WORKLOAD_CYCLE_H
#define DVSIM_WORKLOAD_CYCLE_H

#include "host/pcie.h"
#include "network/network.h"
#include "workload/fabric.h"

typedef struct {
    dvsim_network_params network; /* `injection` is taken as DVSIM_INJECT_GIVEN */
    int64_t slot_ps;              /* at least 1 */
    dvsim_pcie pcie;
    int64_t piece_words;          /* at least 1 */
    int lands_in_sram;            /* 1: nothing moves messages on into the host's memory */
    int64_t cut_count;            /* cables that are dead, see dvsim_network_cut */
    const dvsim_cable *cuts;
    int64_t link_count;           /* cables between switches that are dead, see dvsim_network_break */
    const dvsim_dead_link *links;
    const double *slow;           /* [ports] how many times as long PIO and DMA of a card take, 1 to 1000; NULL: 1 */
} dvsim_cycle_params;

typedef struct {
    int64_t slots, skipped; /* that were run, and that nothing was under way in */
    int64_t messages, words;
} dvsim_cycle_counts;

typedef struct dvsim_cycle dvsim_cycle;

/* NULL: out of range, or no memory. */
dvsim_cycle *dvsim_cycle_create(const dvsim_cycle_params *params);
void dvsim_cycle_free(dvsim_cycle *cycle); /* NULL is fine */

/* The table of functions; it lives as long as `cycle`. */
const dvsim_fabric *dvsim_cycle_fabric(const dvsim_cycle *cycle);

dvsim_cycle_counts dvsim_cycle_counts_now(const dvsim_cycle *cycle);

/* Planes by which words go from one port to another, both of which there are. */
int64_t dvsim_cycle_ways(const dvsim_cycle *cycle, int64_t from, int64_t to);

/* A message of so many words in an empty fabric: from the time at which it is sent, just in time for a slot, to
 * the time at which the host has it. `way_slots`: from the slot in which a word leaves to that in which it comes
 * out. */
int64_t dvsim_cycle_alone_ps(const dvsim_cycle *cycle, int64_t words, int64_t way_slots);

#endif
