/* frame.h: where a height of a cylinder is stored at a given time.
 *
 * Cylinder c has K = 2^(n-c) values of R = u >> c. A packet that stays goes from R to next(R); it keeps
 * its storage row s, so the row of an R changes with time:
 *
 *   brc     next(R) = R + 1 mod K     s = R - t mod K
 *   xor     next(R) = R ^ 1           s = R ^ (t & 1)
 *   random  next(R) = pi(R)           s = place of R in its cycle, moved back by t
 *
 * The ring of cylinder n (K = 1) keeps the height.
 */
#ifndef DVSIM_VORTEX_FRAME_H
#define DVSIM_VORTEX_FRAME_H

#include <stdint.h>

/* One place of a cycle of pi; only for `random`. */
typedef struct {
    uint32_t value;         /* the R that stands here at t = 0 */
    uint32_t place;         /* where R = this index stands at t = 0 */
    uint32_t start, length; /* the cycle that this place belongs to */
} dvsim_cycle;

typedef struct {
    int32_t crossing;
    int n;
    dvsim_cycle *cycles; /* cylinder 0, 1, .. n-1 one after the other, or NULL */
} dvsim_frame;

/* Entries of cylinders 0 .. n-1: H + H/2 + .. + 2. */
static inline int64_t dvsim_frame_entries(int n)
{
    return (INT64_C(2) << n) - 2;
}

static inline const dvsim_cycle *dvsim_frame_cycles(const dvsim_frame *f, int c)
{
    return f->cycles + dvsim_frame_entries(f->n) - dvsim_frame_entries(f->n - c);
}

/* The R that is stored in row s at time t. */
static inline int64_t dvsim_frame_value(const dvsim_frame *f, int c, int64_t s, int64_t t)
{
    if (c == f->n) {
        return 0;
    }
    if (f->crossing == 0) {
        return (s + t) & ((INT64_C(1) << (f->n - c)) - 1);
    }
    if (f->crossing == 1) {
        return s ^ (t & 1);
    }
    const dvsim_cycle *cycles = dvsim_frame_cycles(f, c), *own = &cycles[s];
    return cycles[own->start + (uint32_t)((s - own->start + t) % own->length)].value;
}

/* The row in which R is stored at time t. */
static inline int64_t dvsim_frame_row(const dvsim_frame *f, int c, int64_t value, int64_t t)
{
    if (c == f->n) {
        return 0;
    }
    if (f->crossing == 0) {
        return (value - t) & ((INT64_C(1) << (f->n - c)) - 1);
    }
    if (f->crossing == 1) {
        return value ^ (t & 1);
    }
    const dvsim_cycle *cycles = dvsim_frame_cycles(f, c);
    int64_t place = cycles[value].place;
    const dvsim_cycle *own = &cycles[place];
    int64_t back = t % own->length;
    return own->start + (place - own->start + own->length - back) % own->length;
}

/* Where row s of cylinder c at time t descends to at t + 1, as 2 * row + bit 0 of its R. */
static inline int64_t dvsim_frame_descent(const dvsim_frame *f, int c, int64_t s, int64_t t)
{
    const int64_t value = dvsim_frame_value(f, c, s, t);
    return 2 * dvsim_frame_row(f, c + 1, value >> 1, t + 1) + (value & 1);
}

/* For each row of cylinder c: the R that is stored there at time t. */
void dvsim_frame_values(const dvsim_frame *f, int c, int64_t t, int64_t *values);

/* dvsim_frame_descent of each row. */
void dvsim_frame_descents(const dvsim_frame *f, int c, int64_t t, int64_t *into);

/* Find the cycles of the permutations in `next` (cylinder 0 first); 0 if one is none, or does not flip bit 0. */
int dvsim_frame_init(dvsim_frame *frame, int32_t crossing, int n, const uint32_t *next,
                     dvsim_cycle *storage);

#endif
