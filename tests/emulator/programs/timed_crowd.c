/* Many cards: a word from each to each, twice, and barriers; prints when this card was through. */
#include "harness.h"

enum { ROUNDS = 2, MOST = 256 };

void run(const struct self *self)
{
    uint64_t headers[MOST], payloads[MOST], words[MOST];
    CHECK(self->cards <= MOST);
    OK(vic_counter_set(self->card, 0, self->cards));
    OK(vic_counter_set(self->card, 1, self->cards));
    OK(vic_barrier(self->card, LONG));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t k = 0; k < self->cards; k++) {
            uint32_t to = (self->me + k) % self->cards;
            headers[k] = vic_header(to, VIC_WRITE, round * MOST + self->me, round);
            payloads[k] = (uint64_t)(round + 1) << 32 | self->me << 16 | to;
        }
        OK(vic_send(self->card, headers, payloads, self->cards));
        OK(vic_counter_wait(self->card, round, LONG));
        vic_dma_t *dma;
        OK(vic_dma_read(self->card, words, round * MOST, self->cards, &dma));
        OK(vic_dma_wait(self->card, &dma, LONG));
        for (uint32_t from = 0; from < self->cards; from++) {
            CHECK(words[from] == ((uint64_t)(round + 1) << 32 | from << 16 | self->me));
        }
        OK(vic_barrier(self->card, LONG));
    }
    printf("%llu\n", (unsigned long long)vic_time_ns(self->card));
}
