/* internal.h: the parts of a card, shared by the files of this folder only. */
#ifndef DVSIM_CARD_INTERNAL_H
#define DVSIM_CARD_INTERNAL_H

#include "card/queue.h"

/* A transfer that an engine works on, or that waits for it. */
typedef struct dvsim_transfer {
    struct dvsim_transfer *next;
    int64_t from_ps;    /* the engine was told */
    uint64_t header;    /* of a put; it counts up */
    uint64_t *payloads; /* of what is sent */
    uint32_t tag, addr; /* headers, or words that are read */
    uint32_t words, moved;
    int is_put, is_loaded;
} dvsim_transfer;

typedef struct {
    dvsim_transfer *first, **last;
    int64_t base_ps;  /* the words of the first are due at base + k * word */
    uint32_t counted; /* of these k, before the engine was last stopped */
    int64_t free_ps;  /* it ended the last transfer */
} dvsim_engine;

enum { DVSIM_STORED, DVSIM_FETCHED, DVSIM_QUEUES };

struct dvsim_vic {
    dvsim_vic_params params;
    int64_t counter[DVSIM_COUNTERS];
    dvsim_packets queue[DVSIM_QUEUES], replies;
    dvsim_packets *offered; /* the queue of the packet that dvsim_vic_offer gave */
    int turn;               /* the queue that comes first */
    uint64_t taken;
    uint32_t fifo_used; /* places that are filled or kept */
    uint32_t fifo_held; /* of these filled */
    dvsim_engine sender, reader;
    dvsim_transfer *spare; /* used ones */
    int64_t words_read, words_allowed;
    dvsim_vic_counts counts;
};

static inline int dvsim_vic_range(const dvsim_vic *vic, uint32_t addr, uint32_t words)
{
    return addr <= vic->params.sram_words && words <= vic->params.sram_words - addr;
}

static inline void dvsim_vic_notify(const dvsim_vic *vic, int64_t at_ps, dvsim_vic_event what, uint32_t index, uint64_t value)
{
    if (vic->params.observe != NULL) {
        vic->params.observe(vic->params.context, at_ps, what, index, value);
    }
}

#endif
