/* slices.h: a shard as slices of bits, for packets that are dropped when refused and crossings `brc` and `xor`.
 *
 * Bit x of a slice belongs to node x = row * lanes + lane of a cylinder, in the rows of frame.h. Cylinder c is,
 * one slice behind the other,
 *
 *   present   1 slice
 *   height    bits c .. n-1 of the addressed height; those below are the node's own
 *   phase     the packet leaves in slots t with t = phase + 1 (mod A); none with exit `any`
 *   stamp     slot of injection, modulo 2^stamp_bits
 *
 * What a slice says of a node without a packet means nothing. To descend is to take, where a mask says so, the
 * bits of the outer cylinder's slices instead of the inner one's; rows that are stored elsewhere on both
 * cylinders are words that begin at another bit. Stamps get longer when a packet is so old that they must.
 *
 * Lanes never meet inside of a switch. So a tall switch is cut into strips of one lane or eight, and a strip does many
 * slots while it is in the caches before the next strip does the same ones.
 */
#ifndef DVSIM_VORTEX_SLICES_H
#define DVSIM_VORTEX_SLICES_H

#include <stdint.h>

#include "vortex/draws.h"

/* Where bits are read that belong to bit x: at x + at[0], and at x + at[1] where `select` is 1, round the end. */
typedef struct {
    int64_t at[2];
    const uint8_t *select; /* NULL: at[0] everywhere */
} dvsim_turned;

/* Packets descend from the outer slices to the inner ones. */
typedef struct {
    int64_t size, stride;
    const uint8_t *present, *bit, *outer; /* slices; bit NULL: all want to descend */
    dvsim_turned turned;
    const uint8_t *value; /* a packet wants to descend where `bit` is this */
    uint8_t *inner_present, *inner;
    const uint8_t *gone; /* those that have left the inner cylinder */
    dvsim_turned gone_turned;
    int64_t slices; /* slices of `outer` that go to those of `inner`; then `stamps` of `inner` get those of `stamp` */
    int64_t stamps;
    uint64_t stamp;
    uint8_t *wants, *open; /* who wanted, and who did */
} dvsim_slide;
typedef struct {
    int64_t wants, open;
} dvsim_slid;
typedef dvsim_slid dvsim_slide_fn(const dvsim_slide *slide);

/* Packets by their age below 256, in four tables that are added up later: no packet is counted in two of them. */
typedef struct {
    uint32_t of[4][256];
} dvsim_ages;

/* Which packets of the ring leave: all, or those of a phase; returns how many. */
typedef struct {
    int64_t size, stride;
    const uint8_t *present, *phases, *stamps;
    int64_t phase_bits, stamp_bits;
    uint64_t phase;
    uint8_t *left;
    uint64_t now;
    dvsim_ages *ages; /* where those that leave are counted; NULL: nowhere */
    int64_t *latency; /* histogram, where older ones are */
    int young;        /* whether most are younger than 48 slots */
} dvsim_leave;
typedef int64_t dvsim_leave_fn(const dvsim_leave *leave);

/* Add each bit of rows of `lanes` bits, `apart` bits from row to row, to a byte; rows of the tally are tally_row bytes
 * apart. Row r counts in row (r + turn) ^ flip, modulo `rows`. */
typedef struct {
    const uint8_t *bits;
    int64_t rows, lanes, apart, turn, flip;
    int ring; /* behind the bits all of them stand again */
    uint8_t *tally;
    int64_t tally_row;
} dvsim_tally;
enum { DVSIM_TALLY_SLOTS = 255 };
typedef void dvsim_tally_fn(const dvsim_tally *tally);

/* 64 nodes as numbers of so many bits, and back where `mask` says so. */
typedef void dvsim_read_fn(const uint8_t *slices, int64_t stride, int64_t bits, uint32_t *values);
typedef void dvsim_write_fn(uint8_t *slices, int64_t stride, int64_t bits, const uint32_t *values, uint64_t mask);

/* One strip. */
typedef struct {
    int64_t first, own; /* its lanes in the shard */
    int64_t lanes;      /* of a row: its own and some that stay empty */
    int64_t size;       /* bytes of a slice: a multiple of the width of `slide`, which may be another kernel's */
    dvsim_slide_fn *slide;
    int64_t width;
    int64_t stride; /* from slice to slice: behind a slice its first bytes stand again, to be read across its end */
    int phase_bits, stamp_bits;
    uint8_t *cylinders;  /* of cylinder 0, 1, .. n */
    int64_t *population; /* [C] packets */
    int64_t apart;       /* of `carried`, see pools.c; `first` and `own` are switches then */
    /* of others: */
    int64_t check_at; /* before this slot no stamp is too short */
    dvsim_draws draws;
    int64_t pattern;  /* bits of `inputs`, which then repeat: */
    uint64_t *inputs; /* the nodes of `arrivals` that are at angles with inputs */
    int all_open;     /* all are */
    /* all strips of a shard have those of the first one: */
    uint8_t *arrivals; /* [1 + n + phase_bits] in the order of heights, not of rows: as a cylinder without stamps */
    uint8_t *value;    /* [n] bit c of x / lanes */
    uint8_t *open[2];  /* what descended from a cylinder to the next, in the rows of that one */
    uint8_t *wants;
    int64_t tally_bytes;
    uint8_t *tally[3];                 /* offered, accepted, delivered in the last slots: */
    int64_t tally_row, tally_place;    /* apart are heights, and the 2 * columns places of a height; or, if that is */
    int64_t tally_turn;                /*   not 0, the angles that the first lane has gone on, with nodes as in slices */
} dvsim_slices;

#endif
