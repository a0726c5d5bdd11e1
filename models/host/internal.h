/* internal.h: the parts of a receiving node, shared by receiver.c and landing.c only. */
#ifndef DVSIM_HOST_INTERNAL_H
#define DVSIM_HOST_INTERNAL_H

#include "card/vic.h"
#include "host/mirror.h"
#include "host/receiver.h"

/* A counter that the host has set again; the store is on its way. */
typedef struct {
    int64_t at_ps, piece;
} dvsim_preset;

struct dvsim_receiver {
    dvsim_card_params params;
    dvsim_card flow; /* messages, pieces and their laws: the same as at flow fidelity */
    int64_t message_words, message_pieces;
    int64_t zone_words; /* of the SRAM */
    int64_t counters;   /* without the scratch counter */
    uint64_t *sram;
    uint64_t nothing; /* the SRAM of the sender's card: only its FIFO is of interest */
    dvsim_vic *vic, *sender;
    dvsim_mirror mirror;
    dvsim_ring *ring;
    dvsim_receiver_counts counts;
    uint32_t *order; /* [scratch_words] the words as they come out of the fabric */
    uint8_t *landed; /* [scratch_words] 1: it is in the SRAM, or was */
    int64_t scratch_words;
    int64_t wrong; /* words that are not what was sent, or not where they should be */

    /* the burst */
    int64_t words, pieces;
    int64_t first_slot, last_slot;
    int64_t place;               /* next in order */
    int64_t lowest;              /* all words below have landed */
    int64_t landed_words, moved; /* into the SRAM, out of it */
    int64_t late_ps;             /* for which words have been held back so far */
    int64_t held_sram_ps;
    int is_full;                 /* the SRAM is what holds the next word back, else a counter */
    int64_t near, near_first, near_end; /* the piece that was last asked for, and its words */
    int64_t near_counter, near_place;   /* its counter; where word 0 would be if the SRAM began there */
    int64_t watched[DVSIM_COUNTERS]; /* piece that a counter is preset for */
    dvsim_preset presets[DVSIM_COUNTERS];
    int64_t preset_put, preset_taken;
    int64_t *pieces_ps; /* of the caller: seen complete, then in the ring; -1: neither */
    int64_t handed, handed_words; /* entries of the DMA table, and their words */
    int64_t law_ps, law_next_ps;  /* vic_to_dram for the messages before this one, and with it */
    int64_t host_free_ps;
    int64_t done, done_ps;                /* entries, and when the host knew it */
    int64_t moving, moving_end, moved_ps; /* piece, its last word + 1, and when the last one was in the ring */
    int64_t room, allowed; /* of the ring; words of the burst that it has had room for */
    int64_t stopped_ps;  /* since when the engine is held back, -1: it is not */
};

/* landing.c */
int dvsim_receiver_land(dvsim_receiver *r, const dvsim_arrival_words *arrival, dvsim_burst *burst);
dvsim_vic_observer dvsim_receiver_observe; /* context: a receiver */

#endif
