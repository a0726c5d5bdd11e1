/* One call with packets for every counter of every card, several times and in any order: is each counted? More
 * pairs of card and counter than a call keeps apart without counting some of them early. */
#include "harness.h"

enum { TIMES = 5, USED = 61 };

void run(const struct self *self)
{
    size_t pairs = (size_t)self->cards * USED, all = pairs * TIMES;
    uint64_t *headers = calloc(all, sizeof *headers), *payloads = calloc(all, sizeof *payloads), random = 5;
    for (size_t i = 0; i < all; i++) {
        uint32_t to = (uint32_t)(i % pairs / USED);
        headers[i] = vic_header(to, VIC_WRITE, self->me, (unsigned)(i % USED));
        payloads[i] = 1;
    }
    for (size_t i = all; i-- > 1;) {
        size_t j = draw(&random) % (i + 1);
        uint64_t header = headers[i];
        headers[i] = headers[j];
        headers[j] = header;
    }
    for (unsigned counter = 0; counter < USED; counter++) {
        OK(vic_counter_set(self->card, counter, (int64_t)TIMES * self->cards));
    }
    OK(vic_barrier(self->card, LONG));
    OK(vic_send(self->card, headers, payloads, all));
    for (unsigned counter = 0; counter < USED; counter++) {
        OK(vic_counter_wait(self->card, counter, LONG));
    }
    for (uint32_t from = 0; from < self->cards; from++) {
        uint64_t word = 0;
        OK(vic_read(self->card, from, &word, 1));
        CHECK(word == 1);
    }
    OK(vic_barrier(self->card, LONG));
    free(headers);
    free(payloads);
}
