/* Does a FIFO lose or double nothing, however shallow, with many senders and two readers? Everybody sends to
 * everybody while a thread of its own takes. */
#include <pthread.h>

#include "harness.h"

enum { ALL = 6000 };

/* What a card sends to each. */
static uint32_t each(const struct self *self)
{
    return ALL / self->cards;
}

struct taker {
    const struct self *self;
    uint64_t *seen; /* per sender: sum of what came */
    _Atomic uint64_t *left;
};

static void *take(void *what)
{
    struct taker *taker = what;
    uint64_t words[64];
    while (*taker->left > 0) {
        size_t n;
        OK(vic_fifo_poll(taker->self->card, words, 3, &n)); /* now and then both take at the same time */
        if (n == 0) {
            int status = vic_fifo_wait(taker->self->card, words, 1, 64, &n, 2 * 1000 * 1000);
            CHECK(status == VIC_OK || (status == VIC_ETIMEDOUT && n == 0));
        }
        for (size_t i = 0; i < n; i++) {
            CHECK(words[i] >> 32 < taker->self->cards);
            taker->seen[words[i] >> 32] += words[i] & UINT32_MAX;
        }
        *taker->left -= n;
    }
    return NULL;
}

static void give(const struct self *self)
{
    uint64_t headers[8], payloads[8], random = self->me;
    for (uint32_t i = 1; i <= each(self);) {
        uint32_t n = 1 + (uint32_t)(draw(&random) % 8), most = each(self) + 1 - i;
        n = n < most ? n : most;
        for (uint32_t to = 0; to < self->cards; to++) {
            for (uint32_t k = 0; k < n; k++) {
                headers[k] = vic_header(to, VIC_FIFO, 0, 4);
                payloads[k] = (uint64_t)self->me << 32 | (i + k);
            }
            if (i % 3 == 0) {
                vic_dma_t *dma;
                OK(vic_write(self->card, 0, headers, n));
                OK(vic_dma_send(self->card, 0, payloads, n, &dma));
                OK(vic_dma_wait(self->card, &dma, LONG));
            } else {
                OK(vic_send(self->card, headers, payloads, n));
            }
        }
        i += n;
    }
}

void run(const struct self *self)
{
    uint64_t *seen = calloc(2 * (size_t)self->cards, sizeof *seen);
    _Atomic uint64_t left = (uint64_t)each(self) * self->cards;
    OK(vic_counter_set(self->card, 4, (int64_t)left));
    OK(vic_barrier(self->card, LONG));
    pthread_t thread[2];
    struct taker taker[2] = {{self, seen, &left}, {self, seen + self->cards, &left}};
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&thread[i], NULL, take, &taker[i]) == 0);
    }
    give(self);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
    }
    for (uint32_t from = 0; from < self->cards; from++) {
        CHECK(seen[from] + seen[from + self->cards] == (uint64_t)each(self) * (each(self) + 1) / 2);
    }
    OK(vic_counter_wait(self->card, 4, LONG)); /* counted, too */
    free(seen);
    OK(vic_barrier(self->card, LONG));
}
