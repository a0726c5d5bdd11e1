/* sram.h: which words of a card's SRAM are allocated. First fit from address 0, starts at multiples of 8:
 * the same calls give the same addresses. Not thread-safe. */
#ifndef VIC_SRAM_H
#define VIC_SRAM_H

#include <stddef.h>
#include <stdint.h>

struct sram_block {
    uint32_t addr, words;
};

struct sram_table {
    struct sram_block *block; /* by address */
    size_t count, capacity;
};

/* VIC_OK, VIC_ENOSPC, VIC_ESYS. */
int sram_alloc(struct sram_table *table, uint32_t sram_words, size_t words, uint32_t *addr);

/* The words of the longest gap that sram_alloc would find. */
size_t sram_longest(const struct sram_table *table, uint32_t sram_words);

/* VIC_OK, or VIC_EINVAL: no block starts there. */
int sram_free(struct sram_table *table, uint32_t addr);

void sram_clear(struct sram_table *table);

#endif
