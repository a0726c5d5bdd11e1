/* Reading words of a ring into host memory. */
#include <string.h>

#include "message.h"

enum {
    DIRECT = 32, /* words; more are fetched by DMA, */
    BLOCK = 4096 /* so many at a time: they are still in the cache when they are looked at */
};

static int read_words(struct vic_message *m, uint32_t addr, uint64_t *to, size_t n)
{
    int status = VIC_OK;
    for (size_t i = 0; i < n && status == VIC_OK; i += BLOCK) {
        size_t count = n - i < BLOCK ? n - i : BLOCK;
        vic_dma_t *dma = NULL;
        status = VIC_ENOSPC;
        if (count > DIRECT) {
            status = vic_dma_read(m->card, to + i, (vic_addr_t)(addr + i), count, &dma);
        }
        if (status == VIC_ENOSPC) { /* or the program uses all of the table */
            status = vic_read(m->card, (vic_addr_t)(addr + i), to + i, count);
        } else if (status == VIC_OK) {
            status = vic_dma_wait(m->card, &dma, VIC_FOREVER);
        }
    }
    return status;
}

unsigned char *fetch_bytes(struct vic_message *m, uint32_t addr, size_t bytes, unsigned char *to)
{
    bool straight = to != NULL && (uintptr_t)to % sizeof(uint64_t) == 0;
    uint64_t *words = straight ? (uint64_t *)(void *)to : m->bounce, last;
    if (read_words(m, addr, words, bytes / 8) != VIC_OK) {
        return NULL;
    }
    if (bytes % 8 != 0) {
        if (read_words(m, addr + (uint32_t)(bytes / 8), &last, 1) != VIC_OK) {
            return NULL;
        }
        memcpy(words + bytes / 8, &last, bytes % 8);
    }
    return (unsigned char *)words;
}
