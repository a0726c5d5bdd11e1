/* Do the finite things end where they should: SRAM, counters, transfers, FIFO? Each card works on itself, so
 * that a job of one is enough. */
#include "harness.h"

static void sram(const struct self *self)
{
    vic_t *card = self->card;
    uint32_t all = self->attr.sram_words;
    vic_addr_t a, b, c;
    OK(vic_alloc(card, all, &a));
    CHECK(a == 0);
    IS(vic_alloc(card, 1, &b), VIC_ENOSPC);
    OK(vic_free(card, a));
    IS(vic_free(card, a), VIC_EINVAL);
    IS(vic_alloc(card, 0, &a), VIC_EINVAL);
    IS(vic_alloc(card, (size_t)all + 1, &a), VIC_ENOSPC);
    IS(vic_alloc(card, SIZE_MAX, &a), VIC_ENOSPC);
    OK(vic_alloc(card, 5, &a));
    OK(vic_alloc(card, 8, &b));
    OK(vic_alloc(card, 1, &c));
    CHECK(a == 0 && b == 8 && c == 16);
    IS(vic_free(card, 9), VIC_EINVAL);
    OK(vic_free(card, b));
    OK(vic_alloc(card, 9, &b)); /* too large for the gap */
    CHECK(b == 24);
    vic_addr_t d;
    OK(vic_alloc(card, 8, &d)); /* fills it */
    CHECK(d == 8);
    OK(vic_free(card, a));
    OK(vic_free(card, b));
    OK(vic_free(card, c));
    OK(vic_free(card, d));
    OK(vic_alloc(card, all, &a)); /* all is there again */
    OK(vic_free(card, a));
}

static void counters(const struct self *self)
{
    unsigned counter, usable = self->attr.counters - 3;
    for (unsigned i = 0; i < usable; i++) {
        OK(vic_counter_alloc(self->card, &counter));
        CHECK(counter == i);
    }
    IS(vic_counter_alloc(self->card, &counter), VIC_ENOSPC);
    OK(vic_counter_free(self->card, 1));
    IS(vic_counter_free(self->card, 1), VIC_EINVAL);
    OK(vic_counter_alloc(self->card, &counter));
    CHECK(counter == 1);
    for (unsigned i = 0; i < usable; i++) {
        OK(vic_counter_free(self->card, i));
        OK(vic_counter_set(self->card, i, i));
    }
    if (usable < 61) {
        IS(vic_counter_set(self->card, usable, 1), VIC_ERANGE);
        uint64_t header = vic_header(0, VIC_WRITE, 0, usable);
        IS(vic_send(self->card, &header, &header, 1), VIC_ERANGE);
    }
}

static void transfers(const struct self *self)
{
    uint32_t entries = self->attr.dma_entries;
    uint64_t word = 5, header = vic_header(self->me, VIC_WRITE, 8, VIC_NO_COUNTER);
    vic_dma_t **dma = calloc(entries + 1, sizeof *dma);
    OK(vic_write(self->card, 0, &header, 1));
    for (uint32_t i = 0; i < entries; i++) {
        if (i % 2) {
            OK(vic_dma_read(self->card, &word, 0, 1, &dma[i]));
        } else {
            OK(vic_dma_send(self->card, 0, &word, 1, &dma[i]));
        }
    }
    IS(vic_dma_send(self->card, 0, &word, 1, &dma[entries]), VIC_ENOSPC);
    IS(vic_dma_read(self->card, &word, 0, 1, &dma[entries]), VIC_ENOSPC);
    vic_dma_t *old = dma[0];
    OK(vic_dma_wait(self->card, &dma[0], LONG));
    CHECK(dma[0] == NULL);
    int done;
    IS(vic_dma_test(self->card, old, &done), VIC_EINVAL);
    IS(vic_dma_wait(self->card, &old, 0), VIC_EINVAL);
    OK(vic_dma_send(self->card, 0, &word, 1, &dma[0])); /* its entry again, and still another handle */
    CHECK(dma[0] != old);
    IS(vic_dma_test(self->card, old, &done), VIC_EINVAL);
    IS(vic_dma_test(self->card, (vic_dma_t *)(uintptr_t)0xdeadbeef, &done), VIC_EINVAL);
    for (uint32_t i = 0; i < entries; i++) {
        OK(vic_dma_wait(self->card, &dma[i], LONG));
    }
    for (uintptr_t forged = 0; forged < 8; forged++) { /* nothing is in flight */
        IS(vic_dma_test(self->card, (vic_dma_t *)(forged << 24 | 1), &done), VIC_EINVAL);
    }
    OK(vic_dma_send(self->card, 0, &word, 0, &dma[0])); /* no words: done at once */
    OK(vic_dma_test(self->card, dma[0], &done));
    CHECK(done == 1);
    OK(vic_dma_wait(self->card, &dma[0], 0));
    free(dma);
}

/* A transfer waits in the card for a FIFO that is full, and the program takes meanwhile. */
static void fifo(const struct self *self)
{
    uint32_t depth = self->attr.fifo_words;
    size_t all = 3 * (size_t)depth, n;
    uint64_t *headers = calloc(all, sizeof *headers), *words = calloc(all, sizeof *words);
    vic_addr_t at;
    OK(vic_alloc(self->card, all, &at));
    for (size_t i = 0; i < all; i++) {
        headers[i] = vic_header(self->me, VIC_FIFO, 0, 4);
        words[i] = i;
    }
    OK(vic_counter_set(self->card, 4, (int64_t)all));
    IS(vic_fifo_wait(self->card, words, 2, 1, &n, 0), VIC_EINVAL);
    IS(vic_fifo_wait(self->card, words, depth + 1, depth + 1, &n, 0), VIC_EINVAL);
    IS(vic_fifo_wait(self->card, words, 1, 1, &n, 1000), VIC_ETIMEDOUT);
    OK(vic_fifo_poll(self->card, words, all, &n));
    CHECK(n == 0);
    OK(vic_fifo_wait(self->card, words, 0, 1, &n, LONG));
    CHECK(n == 0);
    OK(vic_write(self->card, at, headers, all));
    vic_dma_t *dma;
    OK(vic_dma_send(self->card, at, words, all, &dma));
    int done;
    OK(vic_dma_test(self->card, dma, &done));
    CHECK(done == 0);
    IS(vic_dma_wait(self->card, &dma, 100000), VIC_ETIMEDOUT);
    CHECK(dma != NULL);
    uint64_t *seen = calloc(all, sizeof *seen);
    OK(vic_fifo_wait(self->card, headers, depth, depth, &n, LONG)); /* all it can hold */
    CHECK(n == depth);
    for (size_t got = 0;;) {
        for (size_t i = 0; i < n; i++) {
            CHECK(headers[i] < all && seen[headers[i]]++ == 0);
        }
        got += n;
        if (got == all) {
            break;
        }
        OK(vic_fifo_wait(self->card, headers, 1, all, &n, LONG));
    }
    OK(vic_dma_wait(self->card, &dma, LONG));
    OK(vic_counter_wait(self->card, 4, LONG));
    OK(vic_free(self->card, at));
    free(headers);
    free(words);
    free(seen);
}

void run(const struct self *self)
{
    sram(self);
    counters(self);
    transfers(self);
    fifo(self);
    OK(vic_barrier(self->card, LONG));
}
