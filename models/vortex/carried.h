/* carried.h: switches that belong to a network, injection `carried`.
 *
 * The caller's packets are words
 *
 *   DVSIM_PRESENT | tag << (n + angle bits) | angle << n | u
 *
 * with a tag of the caller's, and a slot is two calls, so that what leaves one switch can enter another
 * in the same slot. The switches of a level of a network are replications of one dvsim_vortex, so
 * that they fill whole registers. It has one thread, no faults, no traffic, and no counts but those of
 * dvsim_vortex_carried: hops and latency are the caller's. dvsim_vortex_run and _counts_now refuse it.
 */
#ifndef DVSIM_VORTEX_CARRIED_H
#define DVSIM_VORTEX_CARRIED_H

#include "vortex/kernel.h"
#include "vortex/vortex.h"

/* Limits of vortex.h. */
enum { DVSIM_MOST_HEIGHT = 1 << 20, DVSIM_MOST_ANGLES = 4096, DVSIM_MOST_LANES = 65536 };
static inline int dvsim_is_size(int64_t height, int64_t angles)
{
    return height >= 2 && height <= DVSIM_MOST_HEIGHT && (height & (height - 1)) == 0 && angles >= 1 &&
           angles <= DVSIM_MOST_ANGLES;
}

/* Whether so many slots more can be counted; all sums of slots then stay within 64 bits. */
static inline int dvsim_has_time(int64_t now, int64_t slots)
{
    return slots >= 0 && slots <= (INT64_C(1) << 62) - now;
}

typedef struct {
    uint64_t word;
    int32_t replication;
    uint32_t node; /* of the innermost cylinder where it stood: angle * H + u */
} dvsim_left;

/* Packets that left, a part of those of a slot; of one output of one replication they come in the order
 * of (angle + 1 - slot) mod A. */
typedef void dvsim_left_fn(void *context, const dvsim_left *left, int64_t count);

/* First half of a slot: packets leave, all others move. DVSIM_ESTATE: not `carried`. DVSIM_ENOMEM, of both halves:
 * the switches cannot go on. */
int dvsim_vortex_advance(dvsim_vortex *vortex, dvsim_left_fn *take, void *context);

/* Second half. offers[(k * H + u) * replications + r] is the packet that waits at height u of the k-th
 * injecting angle of replication r, with DVSIM_PRESENT, 0 for none; where it finds a free node it enters and is set to 0.
 * `stamp` is added to a word that enters, a carry into bit 63 is lost. entered[k * H + u] is set to
 * the packets that entered there, all replications together. */
int dvsim_vortex_enter(dvsim_vortex *vortex, uint64_t *offers, uint64_t stamp, int64_t *entered);

/* Let slots pass in which no packet is in the switch and none enters. DVSIM_EINVAL: as dvsim_vortex_run. */
int dvsim_vortex_skip(dvsim_vortex *vortex, int64_t slots);

/* Since the last dvsim_vortex_reset_counts, [C]; and the packets that are in the switches now. */
int dvsim_vortex_carried(const dvsim_vortex *vortex, const dvsim_descents **cylinders, int64_t *in_flight);

#endif
