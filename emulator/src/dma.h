/* dma.h: the table of transfers in flight. The handle of a program is no address: it holds the index of an entry and
 * the number of its uses, so the handle of a freed transfer is never taken for that of a later one. */
#ifndef VIC_DMA_H
#define VIC_DMA_H

#include <stdatomic.h>
#include <stdint.h>

#include "vic.h"

struct transfer {
    _Atomic uint64_t left;   /* packets that have not left */
    _Atomic uint64_t due_ns; /* not done before */
    uint32_t uses;           /* odd: in flight */
    uint32_t next;           /* free entries */
};

struct dma_table {
    struct transfer *entry; /* NULL until the first transfer */
    uint32_t entries, first_free;
    uint32_t opening; /* of the card: handles of another one are not found */
};

/* An entry and its handle. VIC_ENOSPC: all are in flight. VIC_ESYS: no memory. Not thread-safe,
 * like the rest. */
int dma_take(struct dma_table *table, uint32_t entries, struct transfer **transfer, vic_dma_t **handle);

/* The entry of a handle, or NULL: it was never given, or was freed. */
struct transfer *dma_find(const struct dma_table *table, const vic_dma_t *handle);

void dma_give(struct dma_table *table, struct transfer *transfer);

#endif
