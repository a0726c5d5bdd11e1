/* Is a query answered by the card alone, and its reply, of any kind, sent to any card? */
#include "harness.h"

enum { EACH = 50 };

void run(const struct self *self)
{
    vic_t *card = self->card;
    uint32_t right = (self->me + 1) % self->cards, left = (self->me + self->cards - 1) % self->cards;
    uint64_t mine[EACH], headers[EACH], payloads[EACH], words[EACH];
    for (uint64_t i = 0; i < EACH; i++) {
        mine[i] = self->me * 1000 + i;
    }
    OK(vic_write(card, 0, mine, EACH));
    OK(vic_counter_set(card, 0, EACH)); /* replies to me */
    OK(vic_counter_set(card, 1, EACH)); /* queries that others ask of me */
    OK(vic_counter_set(card, 2, 2 * EACH));
    OK(vic_barrier(card, LONG));
    for (vic_addr_t i = 0; i < EACH; i++) { /* my right neighbour's words to my left neighbour */
        headers[i] = vic_header(right, VIC_QUERY, i, 1);
        payloads[i] = vic_header(left, VIC_WRITE, 100 + i, 0);
    }
    OK(vic_send(card, headers, payloads, EACH));
    OK(vic_counter_wait(card, 0, LONG));
    OK(vic_counter_wait(card, 1, LONG));
    OK(vic_read(card, 100, words, EACH));
    uint32_t asked = (self->me + 2) % self->cards; /* the right neighbour of my right neighbour */
    for (uint64_t i = 0; i < EACH; i++) {
        CHECK(words[i] == asked * 1000 + i);
    }
    OK(vic_barrier(card, LONG));
    for (vic_addr_t i = 0; i < EACH; i++) { /* replies into FIFOs */
        headers[i] = vic_header(right, VIC_QUERY, i, 2);
        payloads[i] = vic_header(self->me, VIC_FIFO, 0, 2);
    }
    OK(vic_send(card, headers, payloads, EACH));
    uint64_t sum = 0;
    for (size_t got = 0, n; got < EACH; got += n) {
        OK(vic_fifo_wait(card, words, 1, EACH, &n, LONG));
        for (size_t i = 0; i < n; i++) {
            sum += words[i];
        }
    }
    CHECK(sum == (uint64_t)right * 1000 * EACH + EACH * (EACH - 1) / 2);
    OK(vic_counter_wait(card, 2, LONG));
    OK(vic_counter_set(card, 3, 5)); /* a reply that sets a counter */
    uint64_t five = 0, header = vic_header(right, VIC_QUERY, 60, VIC_NO_COUNTER);
    uint64_t reply = vic_header(self->me, VIC_COUNTER_SET, 0, 3);
    OK(vic_write(card, 60, &five, 1));
    OK(vic_barrier(card, LONG));
    OK(vic_send(card, &header, &reply, 1));
    OK(vic_counter_wait(card, 3, LONG));
    OK(vic_barrier(card, LONG));
}
