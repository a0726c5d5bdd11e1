/* Words that wait in a FIFO: card 0 sends five to card 1, which takes them when card 0 has read its standard
 * input to the end. */
#include <stdio.h>

#include "harness.h"

enum { WORDS = 5 };

void run(const struct self *self)
{
    uint64_t headers[WORDS], payloads[WORDS], got[WORDS];
    OK(vic_counter_set(self->card, 4, WORDS));
    OK(vic_barrier(self->card, LONG));
    if (self->me == 0) {
        for (uint64_t i = 0; i < WORDS; i++) {
            headers[i] = vic_header(1, VIC_FIFO, 0, 4);
            payloads[i] = i;
        }
        OK(vic_send(self->card, headers, payloads, WORDS));
        while (getchar() != EOF) {
        }
    }
    OK(vic_barrier(self->card, LONG));
    if (self->me == 1) {
        size_t n;
        OK(vic_fifo_wait(self->card, got, WORDS, WORDS, &n, LONG));
        CHECK(n == WORDS && got[0] == 0 && got[WORDS - 1] == WORDS - 1);
    }
}
