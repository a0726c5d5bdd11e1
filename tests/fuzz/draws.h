/* draws.h: addresses, counters and cards out of an input: most of them good, some not. */
#ifndef FUZZ_DRAWS_H
#define FUZZ_DRAWS_H

#include "fuzz.h"
#include "model.h"

static inline vic_addr_t take_addr(struct input *in)
{
    unsigned kind = take_byte(in);
    return kind < 240 ? (kind * 3u) % WORDS : kind < 250 ? WORDS - (kind - 240) : (vic_addr_t)take(in, 4);
}

static inline unsigned take_counter(struct input *in)
{
    static const unsigned odd[] = {9, 60, 61, 62, 63, 64, UINT32_MAX};
    unsigned kind = take_byte(in);
    return kind < 220 ? kind % 9 : odd[kind % 7];
}

static inline uint32_t take_dest(struct input *in)
{
    unsigned kind = take_byte(in);
    return kind < 250 ? kind % CARDS : kind * 300u;
}

/* With an address below `words`. */
static inline uint64_t take_header(struct input *in, vic_addr_t words)
{
    unsigned op = take_byte(in);
    uint32_t dest = take_dest(in);
    vic_addr_t addr = take_addr(in);
    return vic_header(dest, (enum vic_op)(op < 250 ? op % 5 : op), addr % words, take_counter(in));
}

static inline bool is_inside(vic_addr_t addr, size_t n)
{
    return addr <= WORDS && n <= WORDS - addr;
}

#endif
