/* pools.h: what pools.c and pools_slot.c share: names of packets, and packets in slices. */
#ifndef DVSIM_VORTEX_POOLS_H
#define DVSIM_VORTEX_POOLS_H

#include <string.h>

#include "vortex/switch.h"

/* pools.c. Returns a free name of a replication, from wherever there is one, or from new room; -1: no memory. */
int64_t dvsim_pools_find_name(dvsim_shard *s, int64_t replication);

/* Up to 64 packets, of those in `mask`, to nodes of cylinder c from `at` on: heights, phases and names are in
 * `values`. Then what has been written is mirrored. */
void dvsim_pools_write(const dvsim_shard *s, dvsim_slices *k, int c, int64_t at, uint64_t mask);
void dvsim_pools_mirror(const dvsim_vortex *v, dvsim_slices *k, int c);

/* A new name; -1 without memory. */
static inline int64_t dvsim_pools_new_name(dvsim_shard *s, int64_t replication)
{
    uint64_t *vacant = s->vacant + replication * s->vacant_words;
    int64_t name;
    if (__builtin_expect(vacant[vacant[0]] != 0, 1)) {
        name = 64 * ((int64_t)vacant[0] - 1) + __builtin_ctzll(vacant[vacant[0]]);
    } else if ((name = dvsim_pools_find_name(s, replication)) < 0) {
        return -1;
    }
    vacant = s->vacant + replication * s->vacant_words; /* there may be more room */
    vacant[vacant[0]] &= vacant[vacant[0]] - 1;
    return name;
}

static inline uint64_t dvsim_pools_low_bits(int64_t count)
{
    return count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

/* 64 bits from bit `at` on, which begins a byte. */
static inline uint64_t dvsim_pools_load(const uint8_t *bits, int64_t at)
{
    uint64_t word;
    memcpy(&word, bits + at / 8, sizeof word);
    return word;
}

/* Where the names of a cylinder are. */
static inline uint8_t *dvsim_pools_names_of(const dvsim_vortex *v, const dvsim_slices *k, int c)
{
    return dvsim_slices_of(v, k, c) + (1 + v->n - c + k->phase_bits) * k->stride;
}

/* See slices.h; of a packet that stands at this place of the moving frame. */
static inline uint32_t dvsim_pools_phase_of(const dvsim_vortex *v, uint64_t word, int64_t place)
{
    const int64_t angles = v->params.angles;
    const int64_t angle = (int64_t)(word >> v->n & ((UINT64_C(1) << v->layout.angle_bits) - 1));
    return v->params.exit_rule == DVSIM_EXIT_ANY ? 0 : (uint32_t)((angle + angles - place) % angles);
}

#endif
