/* Card 2 ends at once. Card 1, whose program has ended and left this process, sends a word to card 0 a while later. Card 0
 * waits for that word. */
#include "harness.h"

int main(void)
{
    vic_t *card;
    OK(vic_open(&card));
    struct self self = self_of(card);
    uint64_t header = vic_header(0, VIC_FIFO, 0, VIC_NO_COUNTER), word = 7, opens = 0;
    size_t n;
    while (self.me != 1 && opens == 0) {
        OK(vic_peer_opens(card, 1, &opens));
        vic_relax(card);
    }
    if (self.me == 1) {
        pause_ns(300 * 1000 * 1000);
        OK(vic_send(card, &header, &word, 1));
    } else if (self.me == 0) {
        OK(vic_fifo_wait(card, &word, 1, 1, &n, LONG));
        puts("good");
    }
    return 0;
}
