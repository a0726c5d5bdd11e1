/* kernel.h: the inner loops of the switch, compiled once for each instruction set. */
#ifndef DVSIM_VORTEX_KERNEL_H
#define DVSIM_VORTEX_KERNEL_H

#include <stdint.h>

typedef struct {
    int64_t wanted, blocked, present;
} dvsim_descents;

/* Let packets of each run of `words` words of `outer` descend to the free words of run into[run] of
 * `inner`: those whose bit `bit` is that of the height they stand at, which is bit 0 of into[run]. */
typedef void dvsim_descend_fn(uint64_t *outer, uint64_t *inner, int64_t runs, int64_t words,
                              const int64_t *into, uint64_t bit, dvsim_descents *count);

/* Indices of the words w of the run with (w & mask) == key[i mod lanes], in order; returns how many. */
typedef int64_t dvsim_match_fn(const uint64_t *run, int64_t words, uint64_t mask, const uint64_t *key,
                               int64_t lanes, int32_t *found);

/* Plain Bernoulli arrivals at all inputs of a shard. Each input whose draw is below the threshold
 * has a packet for an output that the draw's low half chooses; it enters if the cell is free and is gone
 * otherwise. */
typedef struct {
    uint64_t first;     /* index of the draw of height 0, angle 0 */
    uint64_t threshold; /* of the draw's high half */
    uint64_t outputs;   /* addresses 0 .. outputs - 1 */
    uint64_t packet;    /* a packet without its address */
} dvsim_arrivals;
typedef struct {
    uint64_t *cells; /* of row 0 */
    int64_t rows, lanes;
    const int64_t *heights;                 /* of each row, bit-reversed */
    const uint64_t *place, *allowed, *keys; /* of each lane: angle << n, all ones if it injects, seed */
    int64_t *offered, *accepted;            /* of height 0; a height further by counters_apart */
    int64_t counters_apart;
} dvsim_inputs;
typedef void dvsim_enter_fn(const dvsim_inputs *inputs, const dvsim_arrivals *arrivals);

typedef struct {
    const char *name;
    dvsim_descend_fn *descend;
    dvsim_match_fn *match;
    dvsim_enter_fn *enter;
} dvsim_kernel;

/* The best one of this machine, or the one that DVSIM_SIMD names. */
const dvsim_kernel *dvsim_kernel_choose(void);

#endif
