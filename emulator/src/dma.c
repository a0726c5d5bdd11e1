/* Handles of transfers: taken, found, given back. */
#include "dma.h"

#include <stdlib.h>

/* handle = uses << 24 | 1 + entry: never 0. An entry is taken for another one after 2^31 uses,
 * or for one of a later opening after 2^15. */
enum { ENTRY_BITS = 24 };

static int make(struct dma_table *table, uint32_t entries)
{
    table->entry = calloc(entries, sizeof *table->entry);
    if (table->entry == NULL) {
        return VIC_ESYS;
    }
    table->entries = entries;
    for (uint32_t i = 0; i < entries; i++) {
        table->entry[i].next = i + 1;
        table->entry[i].uses = table->opening << 16;
    }
    return VIC_OK;
}

int dma_take(struct dma_table *table, uint32_t entries, struct transfer **transfer, vic_dma_t **handle)
{
    if (table->entry == NULL) {
        int status = make(table, entries);
        if (status != VIC_OK) {
            return status;
        }
    }
    uint32_t at = table->first_free;
    if (at == table->entries) {
        return VIC_ENOSPC;
    }
    struct transfer *entry = &table->entry[at];
    table->first_free = entry->next;
    entry->uses++;
    atomic_store(&entry->left, 0);
    atomic_store(&entry->due_ns, 0);
    *transfer = entry;
    uintptr_t name = (uintptr_t)entry->uses << ENTRY_BITS | (at + 1);
    *handle = (vic_dma_t *)name; /* opaque: never followed */
    return VIC_OK;
}

struct transfer *dma_find(const struct dma_table *table, const vic_dma_t *handle)
{
    uintptr_t name = (uintptr_t)handle;
    uintptr_t at = (name & ((UINT32_C(1) << ENTRY_BITS) - 1)) - 1;
    if (at >= table->entries) {
        return NULL;
    }
    struct transfer *entry = &table->entry[at];
    return entry->uses % 2 == 1 && (uintptr_t)entry->uses == name >> ENTRY_BITS ? entry : NULL;
}

void dma_give(struct dma_table *table, struct transfer *transfer)
{
    transfer->uses++;
    transfer->next = table->first_free;
    table->first_free = (uint32_t)(transfer - table->entry);
}
