/* Card 0 fills the FIFO of card 1, whose program has ended, while card 2 goes on: what has no room ends, whether the FIFO
 * stops it or, with --reorder, what is held back. What it sends to card 2 meanwhile arrives. */
#include "harness.h"

enum { DONE = 1, MANY = 100000, PART = 100, TRANSFER = 5000 };

static uint64_t header[TRANSFER], word[TRANSFER];

static void sends(const struct self *self)
{
    vic_dma_t *dma;
    uint64_t one = 1;
    int status = VIC_OK;
    for (uint32_t i = 0; i < TRANSFER; i++) {
        header[i] = vic_header(1, VIC_FIFO, 0, VIC_NO_COUNTER);
    }
    for (uint32_t sent = 0; sent < MANY && status == VIC_OK; sent += PART) {
        status = vic_send(self->card, header, word, PART);
    }
    IS(status, VIC_EPEER);
    status = VIC_OK;
    for (size_t all = 0, sent; all < MANY && status == VIC_OK; all += sent) {
        status = vic_try_send(self->card, header, word, PART, &sent);
    }
    IS(status, VIC_EPEER);
    OK(vic_write(self->card, 0, header, TRANSFER));
    OK(vic_dma_send(self->card, 0, word, TRANSFER, &dma));
    OK(vic_put(self->card, 2, 0, &one, 1, DONE));
    IS(vic_dma_wait(self->card, &dma, LONG), VIC_EPEER);
    OK(vic_put(self->card, 2, 0, &one, 1, DONE));
}

void run(const struct self *self)
{
    OK(vic_counter_set(self->card, DONE, 2));
    OK(vic_barrier(self->card, LONG));
    if (self->me == 1) {
        return;
    }
    IS(vic_barrier(self->card, LONG), VIC_EPEER);
    if (self->me == 0) {
        sends(self);
    } else {
        OK(vic_counter_wait(self->card, DONE, LONG));
    }
}
