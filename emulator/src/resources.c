/* The resources of a card: SRAM and counters that are allocated, transfers that have a handle. What packets count:
 * functional/deliver.c, and models/card/vic.c in timed mode. */
#include "handle.h"

#include <stdlib.h>

#include "grow.h"
#include "vic.h"
#include "watch.h"

/* ---- words of the SRAM: first fit from address 0, starts at multiples of 8, so the same calls give the same addresses */

enum { STEP = 8 };

static int by_addr(const void *addr, const void *block)
{
    uint32_t a = *(const uint32_t *)addr, b = ((const struct sram_block *)block)->addr;
    return a < b ? -1 : a > b;
}

static int insert(struct sram_table *table, size_t at, uint32_t addr, uint32_t words)
{
    if (!grow(&table->block, &table->capacity, table->count + 1, sizeof *table->block)) {
        return VIC_ESYS;
    }
    memmove(table->block + at + 1, table->block + at, (table->count - at) * sizeof *table->block);
    table->block[at] = (struct sram_block){addr, words};
    table->count++;
    return VIC_OK;
}

/* The free words before block i, or behind the last one; where they begin. */
static uint64_t gap(const struct sram_table *table, size_t i, uint32_t sram_words, uint64_t *start)
{
    const struct sram_block *before = i > 0 ? &table->block[i - 1] : NULL;
    uint64_t end = i < table->count ? table->block[i].addr : sram_words;
    *start = before != NULL ? ((uint64_t)before->addr + before->words + STEP - 1) / STEP * STEP : 0;
    return *start < end ? end - *start : 0;
}

/* VIC_OK, VIC_ENOSPC, VIC_ESYS. */
static int sram_alloc(struct sram_table *table, uint32_t sram_words, size_t words, uint32_t *addr)
{
    for (size_t i = 0; i <= table->count; i++) {
        uint64_t start, free = gap(table, i, sram_words, &start);
        if (free > 0 && words <= free) {
            int status = insert(table, i, (uint32_t)start, (uint32_t)words);
            *addr = status == VIC_OK ? (uint32_t)start : *addr;
            return status;
        }
    }
    return VIC_ENOSPC;
}

static size_t sram_longest(const struct sram_table *table, uint32_t sram_words)
{
    uint64_t start, longest = 0;
    for (size_t i = 0; i <= table->count; i++) {
        uint64_t free = gap(table, i, sram_words, &start);
        longest = free > longest ? free : longest;
    }
    return (size_t)longest;
}

/* VIC_OK, or VIC_EINVAL: no block starts there. */
static int sram_free(struct sram_table *table, uint32_t addr)
{
    struct sram_block *at = table->count > 0 ? bsearch(&addr, table->block, table->count, sizeof *at, by_addr) : NULL;
    if (at == NULL) {
        return VIC_EINVAL;
    }
    table->count--;
    memmove(at, at + 1, (size_t)(table->block + table->count - at) * sizeof *at);
    return VIC_OK;
}

/* ---- transfers in flight: handles taken, found, given back */

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

/* An entry and its handle. VIC_ENOSPC: all are in flight. VIC_ESYS: no memory. */
static int dma_take(struct dma_table *table, uint32_t entries, struct transfer **transfer, vic_dma_t **handle)
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

/* The entry of a handle, or NULL: it was never given, or was freed. */
static struct transfer *dma_find(const struct dma_table *table, const vic_dma_t *handle)
{
    uintptr_t name = (uintptr_t)handle;
    uintptr_t at = (name & ((UINT32_C(1) << ENTRY_BITS) - 1)) - 1;
    if (at >= table->entries) {
        return NULL;
    }
    struct transfer *entry = &table->entry[at];
    return entry->uses % 2 == 1 && (uintptr_t)entry->uses == name >> ENTRY_BITS ? entry : NULL;
}

static void dma_give(struct dma_table *table, struct transfer *transfer)
{
    transfer->uses++;
    transfer->next = table->first_free;
    table->first_free = (uint32_t)(transfer - table->entry);
}

/* ---- the calls */

int vic_alloc(vic_t *card, size_t words, vic_addr_t *addr)
{
    NEED(card, addr != NULL);
    if (words == 0) {
        return fail(VIC_EINVAL, "words is 0; 1 is the least");
    }
    pthread_mutex_lock(&card->lock);
    int status = sram_alloc(&card->table, card->sram_words, words, addr);
    size_t longest = status == VIC_ENOSPC ? sram_longest(&card->table, card->sram_words) : 0;
    pthread_mutex_unlock(&card->lock);
    if (status == VIC_ENOSPC) {
        return fail(status, "%zu words side by side are not free in SRAM; at most %zu are", words, longest);
    }
    return fail_as(status);
}

int vic_free(vic_t *card, vic_addr_t addr)
{
    NEED(card, 1);
    pthread_mutex_lock(&card->lock);
    int status = sram_free(&card->table, addr);
    pthread_mutex_unlock(&card->lock);
    return status == VIC_OK ? status : fail(status, "addr %u is not what a vic_alloc gave, or was freed", addr);
}

int vic_counter_alloc(vic_t *card, unsigned *counter)
{
    NEED(card, counter != NULL);
    pthread_mutex_lock(&card->lock);
    uint64_t free = ~card->allocated;
    if (free != 0) {
        *counter = (unsigned)__builtin_ctzll(free);
        card->allocated |= UINT64_C(1) << *counter;
    }
    pthread_mutex_unlock(&card->lock);
    return free != 0 ? VIC_OK : fail(VIC_ENOSPC, "all %u counters are allocated", card->job->config.counters - 3);
}

int vic_counter_free(vic_t *card, unsigned counter)
{
    NEED(card, 1);
    if (!counter_exists(card, counter)) {
        return fail_range(card, 0, 0, 0, counter);
    }
    uint64_t bit = UINT64_C(1) << counter;
    pthread_mutex_lock(&card->lock);
    bool mine = counter < FIRST_RESERVED && (card->allocated & bit) != 0;
    card->allocated &= mine ? ~bit : UINT64_MAX;
    pthread_mutex_unlock(&card->lock);
    return mine ? VIC_OK : fail(VIC_EINVAL, "counter %u is not allocated", counter);
}

static int take(vic_t *card, struct transfer **transfer, vic_dma_t **dma)
{
    pthread_mutex_lock(&card->lock);
    int status = dma_take(&card->dma, card->job->config.dma_entries, transfer, dma);
    pthread_mutex_unlock(&card->lock);
    if (status == VIC_ENOSPC) {
        return fail(status, "%u transfers have not been waited for, as many as there are entries",
                    card->job->config.dma_entries);
    }
    return fail_as(status);
}

FAIL_COLD static int fail_transfer(const struct vic *card)
{
    fail(VIC_EINVAL, "there is no such transfer, or it was waited for");
    return watch_refused(card, VIC_EINVAL);
}

static struct transfer *find(vic_t *card, const vic_dma_t *dma)
{
    pthread_mutex_lock(&card->lock);
    struct transfer *transfer = dma_find(&card->dma, dma);
    pthread_mutex_unlock(&card->lock);
    return transfer;
}

/* Free an entry, unless another thread that waited for the same transfer did. One that packets still count
 * down is never used again. */
static int give(vic_t *card, struct transfer *transfer, const vic_dma_t *handle)
{
    pthread_mutex_lock(&card->lock);
    bool mine = dma_find(&card->dma, handle) == transfer;
    if (mine && atomic_load(&transfer->left) == 0) {
        dma_give(&card->dma, transfer);
    }
    pthread_mutex_unlock(&card->lock);
    return mine ? VIC_OK : fail_transfer(card);
}

static int begun(vic_t *card, int status, struct transfer *transfer, vic_dma_t *handle, vic_dma_t **dma)
{
    if (status == VIC_OK) {
        *dma = handle;
    } else {
        give(card, transfer, handle);
    }
    return status;
}

static int start_send(vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n, vic_dma_t **dma)
{
    struct transfer *transfer;
    vic_dma_t *handle;
    int status = take(card, &transfer, &handle);
    return status != VIC_OK ? status
                            : begun(card, card->ops->dma_send(card, headers, payloads, n, transfer), transfer, handle, dma);
}

static int start_read(vic_t *card, uint64_t *host, vic_addr_t addr, size_t n, vic_dma_t **dma)
{
    struct transfer *transfer;
    vic_dma_t *handle;
    int status = take(card, &transfer, &handle);
    return status != VIC_OK ? status : begun(card, card->ops->dma_read(card, host, addr, n, transfer), transfer, handle, dma);
}

static int wait_and_free(vic_t *card, struct transfer *transfer, const vic_dma_t *handle, vic_dma_t **dma,
                         uint64_t timeout_ns)
{
    int status = card->ops->dma_wait(card, transfer, timeout_ns);
    if (status == VIC_OK) {
        status = give(card, transfer, handle);
        *dma = NULL;
    }
    return status;
}

static int test(vic_t *card, struct transfer *transfer, int *done)
{
    int found = card->ops->dma_done(card, transfer);
    if (found < 0) {
        return found;
    }
    *done = found;
    return VIC_OK;
}

CALL(vic_dma_send, (vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n, vic_dma_t **dma),
     (card, headers, payloads, n, dma),
     payloads != NULL && dma != NULL, !range_exists(card, headers, n), fail_words(card, "headers", headers, n),
     start_send(card, headers, payloads, n, dma), CALL_DMA_SEND, n, "headers n", headers, (int64_t)n)

CALL(vic_dma_read, (vic_t *card, uint64_t *host, vic_addr_t addr, size_t n, vic_dma_t **dma),
     (card, host, addr, n, dma),
     host != NULL && dma != NULL, !range_exists(card, addr, n), fail_range(card, 0, addr, n, SCRATCH),
     start_read(card, host, addr, n, dma), CALL_DMA_READ, n, "addr n", addr, (int64_t)n)

int vic_dma_test(vic_t *card, vic_dma_t *dma, int *done)
{
    NEED(card, done != NULL);
    struct transfer *transfer = find(card, dma);
    if (transfer == NULL) {
        return fail_transfer(card);
    }
    WATCHED(card, CALL_DMA_TEST, 0, test(card, transfer, done), "dma", (int64_t)(intptr_t)dma);
}

int vic_dma_wait(vic_t *card, vic_dma_t **dma, uint64_t timeout_ns)
{
    NEED(card, dma != NULL);
    const vic_dma_t *handle = *dma; /* once: another thread may wait for it, too */
    struct transfer *transfer = find(card, handle);
    if (transfer == NULL) {
        return fail_transfer(card);
    }
    WATCHED(card, CALL_DMA_WAIT, 0, wait_and_free(card, transfer, handle, dma, timeout_ns),
            "dma timeout", (int64_t)(intptr_t)handle, (int64_t)timeout_ns);
}
