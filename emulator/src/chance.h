/* chance.h: chances of faults, the same for the same draw of the same card. */
#ifndef VIC_CHANCE_H
#define VIC_CHANCE_H

#include "handle.h"

static inline bool chance(const struct vic *card, uint64_t draw, double probability)
{
    uint64_t x = (card->job->config.seed * MOST_CARDS + card->number) * UINT64_C(0xd1342543de82ef95) + draw;
    x = (x ^ x >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 29) * UINT64_C(0x94d049bb133111eb);
    return (double)(x >> 11) * 0x1p-53 < probability;
}

#endif
