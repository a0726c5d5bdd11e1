/* Card 0, when all others have left: its queries of their SRAM are answered, its transfers to them end, and so do those of
 * words for a FIFO that has room, however late --reorder lets packets go. */
#include "harness.h"

enum { WORDS = 64, TIMES = 50 };

static void ask(vic_t *card, uint32_t of)
{
    uint64_t header[WORDS], wish[WORDS], found[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        header[i] = vic_header(of, VIC_QUERY, i, VIC_NO_COUNTER);
        wish[i] = vic_header(0, VIC_WRITE, WORDS + i, 0);
    }
    OK(vic_counter_set(card, 0, WORDS));
    OK(vic_send(card, header, wish, WORDS));
    OK(vic_counter_wait(card, 0, LONG));
    OK(vic_read(card, WORDS, found, WORDS));
    for (uint32_t i = 0; i < WORDS; i++) {
        CHECK(found[i] == 1000 * of + i);
    }
}

static void transfer(vic_t *card, uint32_t to, enum vic_op op, uint32_t n)
{
    uint64_t header[WORDS], word[WORDS];
    vic_dma_t *dma;
    for (uint32_t i = 0; i < n; i++) {
        header[i] = vic_header(to, op, 2 * WORDS + i, VIC_NO_COUNTER);
        word[i] = i;
    }
    OK(vic_write(card, 2 * WORDS, header, n));
    OK(vic_dma_send(card, 2 * WORDS, word, n, &dma));
    OK(vic_dma_wait(card, &dma, LONG));
}

int main(void)
{
    vic_t *card;
    OK(vic_open(&card));
    struct self self = self_of(card);
    for (uint32_t i = 0; i < WORDS; i++) {
        uint64_t word = 1000 * self.me + i;
        OK(vic_write(card, i, &word, 1));
    }
    OK(vic_barrier(card, LONG));
    if (self.me != 0) {
        return 0;
    }
    uint64_t word;
    size_t n;
    while (vic_fifo_wait(card, &word, 1, 1, &n, LONG) != VIC_ECLOSED) {
    }
    for (int i = 0; i < TIMES; i++) {
        uint32_t other = 1 + (uint32_t)i % (self.cards - 1);
        ask(card, other);
        transfer(card, other, VIC_WRITE, WORDS);
        transfer(card, other, VIC_FIFO, 2);
    }
    puts("good");
    return 0;
}
