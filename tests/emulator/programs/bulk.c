/* Card 0 puts the same 32,768 words into the memory of card 1 four times, a MiB in all; card 1 looks at each word. */
#include "harness.h"

enum { WORDS = 1 << 15, TIMES = 4, PATIENCE_S = 100 };

void run(const struct self *self)
{
    static uint64_t words[WORDS];
    vic_t *card = self->card;
    OK(vic_counter_set(card, 0, TIMES * WORDS));
    OK(vic_barrier(card, LONG));
    for (uint64_t i = 0; i < WORDS; i++) {
        words[i] = self->me == 0 ? i + 1 : 0;
    }
    for (int i = 0; i < TIMES && self->me == 0; i++) {
        OK(vic_put(card, 1, 0, words, WORDS, 0));
    }
    if (self->me == 1) {
        OK(vic_counter_wait(card, 0, PATIENCE_S * (uint64_t)SECOND));
        OK(vic_read(card, 0, words, WORDS));
        for (uint64_t i = 0; i < WORDS; i++) {
            CHECK(words[i] == i + 1);
        }
    }
    OK(vic_barrier(card, PATIENCE_S * (uint64_t)SECOND));
}
