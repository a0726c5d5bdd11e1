/* All other cards send to the FIFO of card 0, several words a call; its one reader takes them. A race
 * detector that sees the words as ordinary memory sees whether a ticket really orders them. */
#include "harness.h"

enum { CALLS = 100, MANY = 8 };

static void give(const struct self *self)
{
    uint64_t headers[MANY], words[MANY];
    for (int i = 0; i < MANY; i++) {
        headers[i] = vic_header(0, VIC_FIFO, 0, VIC_NO_COUNTER);
    }
    for (uint64_t call = 0; call < CALLS; call++) {
        for (uint64_t i = 0; i < MANY; i++) {
            words[i] = call * MANY + i;
        }
        OK(vic_send(self->card, headers, words, MANY));
    }
}

static void take(const struct self *self)
{
    uint64_t words[MANY], sum = 0, all = (uint64_t)CALLS * MANY;
    size_t n;
    for (uint64_t left = all * (self->cards - 1); left > 0; left -= n) {
        OK(vic_fifo_wait(self->card, words, 1, MANY, &n, LONG));
        for (size_t i = 0; i < n; i++) {
            sum += words[i];
        }
    }
    CHECK(sum == (self->cards - 1) * all * (all - 1) / 2);
}

void run(const struct self *self)
{
    OK(vic_barrier(self->card, LONG));
    if (self->me == 0) {
        take(self);
    } else {
        give(self);
    }
    OK(vic_barrier(self->card, LONG));
}
