/* Which words of the SRAM are allocated. */
#include "sram.h"

#include <stdlib.h>
#include <string.h>

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
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 64;
        struct sram_block *block = realloc(table->block, capacity * sizeof *block);
        if (block == NULL) {
            return VIC_ESYS;
        }
        table->block = block;
        table->capacity = capacity;
    }
    memmove(table->block + at + 1, table->block + at, (table->count - at) * sizeof *table->block);
    table->block[at] = (struct sram_block){addr, words};
    table->count++;
    return VIC_OK;
}

int sram_alloc(struct sram_table *table, uint32_t sram_words, size_t words, uint32_t *addr)
{
    uint64_t start = 0;
    for (size_t i = 0; i <= table->count; i++) {
        uint64_t end = i < table->count ? table->block[i].addr : sram_words;
        if (start < end && words <= end - start) {
            int status = insert(table, i, (uint32_t)start, (uint32_t)words);
            if (status == VIC_OK) {
                *addr = (uint32_t)start;
            }
            return status;
        }
        if (i < table->count) {
            start = (uint64_t)table->block[i].addr + table->block[i].words;
            start = (start + STEP - 1) / STEP * STEP;
        }
    }
    return VIC_ENOSPC;
}

size_t sram_longest(const struct sram_table *table, uint32_t sram_words)
{
    uint64_t start = 0, longest = 0;
    for (size_t i = 0; i <= table->count; i++) {
        uint64_t end = i < table->count ? table->block[i].addr : sram_words;
        longest = start < end && end - start > longest ? end - start : longest;
        if (i < table->count) {
            start = ((uint64_t)table->block[i].addr + table->block[i].words + STEP - 1) / STEP * STEP;
        }
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
