/* kernel.h: the inner loops of the switch, compiled once for each instruction set. */
#ifndef DVSIM_VORTEX_KERNEL_H
#define DVSIM_VORTEX_KERNEL_H

#include <stdint.h>

#include "vortex/draws.h"
#include "vortex/slices.h"

typedef struct {
    int64_t wanted, blocked, present;
} dvsim_descents;

/* Let packets of each run of `words` words of `outer` descend to the free words of run into[run] of
 * `inner`: those whose bit `bit` is that of the height they stand at, which is bit 0 of into[run]. */
typedef void dvsim_descend_fn(uint64_t *outer, uint64_t *inner, int64_t runs, int64_t words,
                              const int64_t *into, uint64_t bit, dvsim_descents *count);

/* The same where runs follow each other on both cylinders, as they do with crossing `brc`: word
 * outer_at + i descends to word inner_at + i, and behind its last word a cylinder begins again. */
typedef struct {
    uint64_t *outer, *inner;
    int64_t size; /* words of a cylinder */
    int64_t outer_at, inner_at, words;
    int64_t run;   /* words with the same value of the bit, then as many with the other value */
    int64_t phase; /* of the first word, in 0 .. 2 * run - 1: below `run` the bit is 0 */
    /* for short runs, else NULL: for words 0 .. around + 7 DVSIM_PRESENT and the bit, in words that want
     * it; `around` is a multiple of 8 and of 2 * run, and `phase` below it */
    const uint64_t *wanted;
    int64_t around;
    uint64_t bit;
} dvsim_stretch;
typedef void dvsim_sweep_fn(const dvsim_stretch *stretch, dvsim_descents *count);

/* Indices of the words w of the run with (w & mask) == key[i mod lanes], in order; returns how many.
 * There must be room for 8 indices more. Adds the words that are not 0 to `present`. */
enum { DVSIM_MATCH_ROOM = 8 };
typedef int64_t dvsim_match_fn(const uint64_t *run, int64_t words, uint64_t mask, const uint64_t *key,
                               int64_t lanes, int32_t *found, int64_t *present);

/* What arrives at the inputs of a shard of words enters cells that are free. */
typedef struct {
    int64_t rows, lanes;
    uint64_t *cells;
    const int64_t *heights;            /* of each row, bit-reversed */
    const uint32_t *arrives, *address; /* [height][lane] as drawn, */
    const uint64_t *allowed;           /* [lane] 1 if it injects, */
    const uint64_t *ahead;             /* [lane] added to its addresses, which begin again behind `outputs`: */
    uint64_t outputs, around;          /*   `around` is subtracted */
    uint64_t packet;                   /* without its address */
    int64_t *offered, *accepted;       /* of height 0; a height further by counters_apart */
    int64_t counters_apart;
} dvsim_entrance;
typedef void dvsim_enter_fn(const dvsim_entrance *entrance);

typedef struct {
    const char *name;
    dvsim_descend_fn *descend;
    dvsim_sweep_fn *sweep;
    dvsim_match_fn *match;
    dvsim_enter_fn *enter;
    /* of slices; `slide` wants their size to be a multiple of `width` bytes, the others write less than 64 bytes
     * behind them */
    int64_t width;
    dvsim_slide_fn *slide;
    dvsim_leave_fn *leave;
    dvsim_draw_fn *draw;
    dvsim_tally_fn *tallies;
    dvsim_read_fn *read;
    dvsim_write_fn *write;
} dvsim_kernel;

/* The one that DVSIM_SIMD names if this machine has it, else the best that it has. */
const dvsim_kernel *dvsim_kernel_choose(void);

/* The next one, with shorter registers, of which the last has only `slide`; NULL: it was that one. */
const dvsim_kernel *dvsim_kernel_narrower(const dvsim_kernel *kernel);

#endif
