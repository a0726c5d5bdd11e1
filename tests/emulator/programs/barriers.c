/* Does a barrier let nobody through before all are there, and does one that timed out leave no trace? */
#include "harness.h"

enum { ROUNDS = 30 };

void run(const struct self *self)
{
    uint64_t random = self->me;
    /* each card writes its round to all others; between two barriers all are in the same */
    OK(vic_barrier(self->card, LONG));
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (uint32_t to = 0; to < self->cards; to++) {
            OK(vic_counter_set(self->card, 10, 1));
            uint64_t header = vic_header(to, VIC_WRITE, self->me, VIC_NO_COUNTER);
            uint64_t back = vic_header(to, VIC_QUERY, self->me, VIC_NO_COUNTER);
            uint64_t reply = vic_header(self->me, VIC_WRITE, 1000, 10);
            OK(vic_send(self->card, &header, &round, 1));
            uint64_t seen = 0;
            while (seen != round) { /* until it has arrived: a barrier does not wait for packets */
                OK(vic_counter_set(self->card, 10, 1));
                OK(vic_send(self->card, &back, &reply, 1));
                OK(vic_counter_wait(self->card, 10, LONG));
                OK(vic_read(self->card, 1000, &seen, 1));
            }
        }
        if (draw(&random) % 2) {
            int status = vic_barrier(self->card, draw(&random) % 20000);
            if (status == VIC_ETIMEDOUT) {
                OK(vic_barrier(self->card, LONG));
            } else {
                IS(status, VIC_OK);
            }
        } else {
            OK(vic_barrier(self->card, LONG));
        }
        uint64_t rounds[64];
        uint32_t n = self->cards < 64 ? self->cards : 64;
        OK(vic_read(self->card, 0, rounds, n));
        for (uint32_t from = 0; from < n; from++) {
            CHECK(rounds[from] == round);
        }
        OK(vic_barrier(self->card, LONG));
    }
}
