/* random.h: SplitMix64 (Steele, Lea, Flood 2014): numbers that look random and are the same everywhere.
 *
 * Number i of the sequence of a key is dvsim_draw(key, i), so that numbers can be drawn in any order and by any number
 * of threads. dvsim_mix alone serves as a hash of 64 bits: it maps different words to different words.
 */
#ifndef DVSIM_ENGINE_RANDOM_H
#define DVSIM_ENGINE_RANDOM_H

#include <stdint.h>

#define DVSIM_DRAW_STEP UINT64_C(0x9e3779b97f4a7c15)

/* The output function, of one word. */
static inline uint64_t dvsim_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Number `index` of the sequence of a key. */
static inline uint64_t dvsim_draw(uint64_t key, uint64_t index)
{
    return dvsim_mix(key + index * DVSIM_DRAW_STEP);
}

/* The next number of a sequence that is drawn in order. */
static inline uint64_t dvsim_next(uint64_t *state)
{
    return dvsim_mix(*state += DVSIM_DRAW_STEP);
}

#endif
