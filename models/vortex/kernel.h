/* kernel.h: the two inner loops of the switch, compiled once for each instruction set. */
#ifndef DVSIM_VORTEX_KERNEL_H
#define DVSIM_VORTEX_KERNEL_H

#include <stdint.h>

typedef struct {
    int64_t wanted, blocked, present;
} dvsim_descents;

/* Let packets of the run `outer` whose bit `bit` equals `want` (that bit, or 0) descend to the free
 * words of the run `inner`; count[0..2] of it. */
typedef void dvsim_descend_fn(uint64_t *outer, uint64_t *inner, int64_t words, uint64_t bit, uint64_t want,
                              dvsim_descents *count);

/* Indices of the words w of the run with (w & mask) == key[i mod lanes], in order; returns how many. */
typedef int64_t dvsim_match_fn(const uint64_t *run, int64_t words, uint64_t mask, const uint64_t *key,
                               int64_t lanes, int32_t *found);

typedef struct {
    const char *name;
    dvsim_descend_fn *descend;
    dvsim_match_fn *match;
} dvsim_kernel;

/* The best one of this machine, or the one that DVSIM_SIMD names. */
const dvsim_kernel *dvsim_kernel_choose(void);

#endif
