/* Card 0, when all others have left: what it sends to itself has come, however many looks the fault extra-polls takes. */
#include "harness.h"

enum { TIMES = 200 };

int main(void)
{
    vic_t *card;
    OK(vic_open(&card));
    struct self self = self_of(card);
    OK(vic_barrier(card, LONG));
    if (self.me != 0) {
        OK(vic_close(card));
        return 0;
    }
    uint64_t word = 7, read;
    size_t n;
    while (vic_fifo_wait(card, &read, 1, 1, &n, LONG) != VIC_ECLOSED) {
    }
    for (int i = 0; i < TIMES; i++) {
        uint64_t ready, header = vic_header(0, VIC_FIFO, 0, VIC_NO_COUNTER);
        OK(vic_counter_set(card, 0, 1));
        OK(vic_put(card, 0, 0, &word, 1, 0));
        OK(vic_counter_wait(card, 0, LONG));
        OK(vic_send(card, &header, &word, 1));
        OK(vic_wait(card, 0, 1, &ready, LONG));
        OK(vic_fifo_wait(card, &read, 1, 1, &n, LONG));
        CHECK(n == 1 && read == word);
    }
    puts("good");
    return 0;
}
