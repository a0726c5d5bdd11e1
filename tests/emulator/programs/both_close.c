/* Two cards that have sent each other more than a FIFO holds, by DMA, and close: neither waits for the other. */
#include "harness.h"

enum { MANY = 256 };

void run(const struct self *self)
{
    uint64_t headers[MANY], words[MANY] = {0};
    vic_dma_t *dma;
    for (int i = 0; i < MANY; i++) {
        headers[i] = vic_header(1 - self->me, VIC_FIFO, 0, VIC_NO_COUNTER);
    }
    OK(vic_write(self->card, 0, headers, MANY));
    OK(vic_barrier(self->card, LONG));
    OK(vic_dma_send(self->card, 0, words, MANY, &dma));
    OK(vic_barrier(self->card, LONG));
}
