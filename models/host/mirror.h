/* mirror.h: what a host sees of its card, in its own memory: a copy of the group counters and of the words of
 * the surprise FIFO, one crossing of PCIe behind the card.
 *
 * The card tells its news in the order of time (dvsim_mirror_observe is a dvsim_vic_observer); the host looks at some
 * time, and what was told for then or before is in the mirror. Not thread-safe.
 */
#ifndef DVSIM_HOST_MIRROR_H
#define DVSIM_HOST_MIRROR_H

#include "card/vic.h"

typedef struct {
    int64_t at_ps;
    uint32_t is_fifo, counter;
    uint64_t value;
} dvsim_news;

/* Made of zeros. */
typedef struct {
    int64_t counter[DVSIM_COUNTERS]; /* as the host reads them */
    uint64_t fifo_words;             /* that have come so far */
    uint64_t fifo_last;
    dvsim_news *news; /* told, not yet looked at */
    int64_t room, put, taken, searched; /* a power of two; counts since creation */
    int failed; /* no memory: news was lost */
} dvsim_mirror;

void dvsim_mirror_free(dvsim_mirror *mirror);

/* Counters and FIFO; of anything else the host has other news. */
void dvsim_mirror_observe(void *mirror, int64_t at_ps, dvsim_vic_event what, uint32_t index, uint64_t value);

/* When the next counter can be seen at zero that was counted down to it; INT64_MAX: none is. */
int64_t dvsim_mirror_zero_ps(dvsim_mirror *mirror);

/* Look: take the news until then, but no more than up to the next counter at zero, which is returned, or -1. */
int dvsim_mirror_look(dvsim_mirror *mirror, int64_t at_ps);

#endif
