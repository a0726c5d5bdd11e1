/* Calls of card 0 that VIC_DEBUG tells, one of them refused, and counters of the barrier that --check tells. */
#include "harness.h"

void run(const struct self *self)
{
    const uint64_t words[2] = {1, 2};
    uint64_t header = vic_header(1, VIC_COUNTER_ADD, 0, 62), word = 1;
    if (self->me == 0) {
        OK(vic_counter_set(self->card, 5, 1));
        OK(vic_put(self->card, 1, 16, words, 2, VIC_NO_COUNTER));
        IS(vic_counter_wait(self->card, 5, 1000), VIC_ETIMEDOUT);
        IS(vic_read(self->card, 40000, &word, 1), VIC_ERANGE);
        OK(vic_send(self->card, &header, words, 1));
        OK(vic_put(self->card, 1, 0, words, 1, 61));
    }
    OK(vic_barrier(self->card, LONG));
    OK(vic_barrier(self->card, LONG)); /* in timed mode all has come by then */
}
