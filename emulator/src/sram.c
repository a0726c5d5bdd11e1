/* Which words of the SRAM are allocated. */
#include "sram.h"

#include "grow.h"
#include "vic.h"

enum { STEP = 8 };

/* The block that starts at addr, or the first one behind it. */
static size_t find(const struct sram_table *table, uint32_t addr)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table->block[middle].addr < addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
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

int sram_alloc(struct sram_table *table, uint32_t sram_words, size_t words, uint32_t *addr)
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

size_t sram_longest(const struct sram_table *table, uint32_t sram_words)
{
    uint64_t start, longest = 0;
    for (size_t i = 0; i <= table->count; i++) {
        uint64_t free = gap(table, i, sram_words, &start);
        longest = free > longest ? free : longest;
    }
    return (size_t)longest;
}

int sram_free(struct sram_table *table, uint32_t addr)
{
    size_t at = find(table, addr);
    if (at == table->count || table->block[at].addr != addr) {
        return VIC_EINVAL;
    }
    table->count--;
    memmove(table->block + at, table->block + at + 1, (table->count - at) * sizeof *table->block);
    return VIC_OK;
}

void sram_clear(struct sram_table *table)
{
    free(table->block);
    *table = (struct sram_table){0};
}
