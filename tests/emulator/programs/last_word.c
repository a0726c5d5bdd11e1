/* Card 1 sends a word and dies. Card 0, which waits for it, must have it: what is there is taken before any
 * error. */
#include <signal.h>

#include "harness.h"

int main(void)
{
    vic_t *card;
    uint64_t word = 7;
    OK(vic_open(&card));
    struct self self = self_of(card);
    OK(vic_counter_set(card, 0, 1));
    OK(vic_barrier(card, LONG));
    if (self.me == 1) {
        uint64_t start = vic_time_ns(card);
        while (vic_time_ns(card) - start < 5 * 1000 * 1000) {
        }
        OK(vic_put(card, 0, 0, &word, 1, 0));
        raise(SIGKILL);
    }
    OK(vic_counter_wait(card, 0, LONG));
    OK(vic_read(card, 0, &word, 1));
    CHECK(word == 7);
    IS(vic_fifo_wait(card, &word, 1, 1, &(size_t){0}, LONG), VIC_EPEER);
    puts("good");
    return 0;
}
