/* draws.h: uniform Bernoulli arrivals that are dropped when refused, drawn for 64 inputs at a time.
 *
 * In a slot, the input of angle a and (bit-reversed) height u stands on lane i = (a - slot) mod A. Its block and its
 * place there are
 *
 *   H >= 64      floor(u / 64) * A + i     u mod 64
 *   H < 64       floor(m / 64)             m mod 64, where m = u * A + i
 *
 * Each block of each slot has numbers of its own, dvsim_draw(K, 0), dvsim_draw(K, 1), .. with the key
 * K = dvsim_draw(dvsim_mix(seed), slot * blocks + block). An input takes a bit of each; that of place 8 * k + i is bit
 * 8 * i + k. The numbers are
 *
 *   n            the height of the address, lowest bit first
 *   p            with exit `angle`: its phase (slices.h), lowest bit first; p = ceil(log2 A), else 0
 *   32           a number, highest bit first: a packet arrives if it is below the threshold
 *   p, p, ..     the phase once more, as long as it is not below A
 *
 * So slices of 64 neighbours are drawn as they are, and after some of the 32 numbers all 64 are known to arrive or not.
 */
#ifndef DVSIM_VORTEX_DRAWS_H
#define DVSIM_VORTEX_DRAWS_H

#include <stdint.h>

#include "vortex/vortex.h"

enum { DVSIM_BLOCK = 64, DVSIM_ARRIVAL_BITS = 32 };

/* How words of blocks become rows of slices. */
enum {
    DVSIM_FORM_STRAIGHT = 0, /* rows of one lane */
    DVSIM_FORM_EIGHTS = 1,   /* of up to 8 lanes, which follow each other: eight words together */
    DVSIM_FORM_SQUARES = 2,  /* up to 64 words together */
};

/* The blocks of a strip, for each group of 64 places. Those of H < 64 are in the order of replications, others in that
 * of lanes. */
typedef struct {
    int form;
    int64_t groups, blocks; /* blocks of each group */
    int64_t apart;          /* places in `start` from group to group: blocks, and some that are not used */
    uint64_t *start;        /* of each: dvsim_mix(seed) + block * DVSIM_DRAW_STEP */
    uint64_t turn;          /* what a slot adds to that */
    int64_t places;         /* in all groups */
    int64_t wide;           /* nodes from place to place, if that is the same everywhere; else 0, and */
    int64_t lanes, own;     /*   a row has so many lanes, and of them so many are used, */
    int64_t first;          /*   of which this is the first one in the switch */
    int64_t around;         /* places of a height then */
    uint8_t *narrow;        /* slices whose rows have only the lanes that are used, if others are longer; else NULL */
    int64_t narrow_stride;
    uint64_t used;          /* bits of a word of whole rows that are used; 0: rows do not fill words */
    int height_bits, phase_bits;
    uint64_t angles, threshold;
    int64_t stride;
} dvsim_draws;

/* The bit of a place in its block. In this order eight blocks become rows of eight lanes in three steps. */
static inline int dvsim_draws_bit(int64_t place)
{
    return (int)(8 * (place % 8) + place / 8);
}

/* Writes a slice of arrivals and, from the next slice on, heights and phases of addresses; node x is
 * u * lanes + lane. What it says of lanes that are not used means nothing. */
typedef void dvsim_draw_fn(const dvsim_draws *draws, int64_t slot, uint8_t *slices);

/* For `own` lanes from `first` on; dvsim_draws_bytes is what they take. 0: no memory. */
int64_t dvsim_draws_bytes(const dvsim_vortex_params *p, int64_t own, int64_t lanes);
int dvsim_draws_create(const dvsim_vortex_params *p, int64_t first, int64_t own, int64_t lanes, dvsim_draws *draws);
void dvsim_draws_free(dvsim_draws *draws);

/* The same for one input: whether a packet arrives, and its address angle * H + u. */
int dvsim_draws_arrival(const dvsim_vortex_params *p, uint64_t seed, int64_t angle, int64_t u, int64_t slot,
                        uint64_t *to);

#endif
