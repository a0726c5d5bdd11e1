/* Does vic_peer_opens count how often each card was opened and left? */
#include "harness.h"

static void all_read(vic_t *card, uint32_t cards, uint64_t expected)
{
    uint64_t opens, start = vic_time_ns(card);
    for (uint32_t peer = 0; peer < cards; peer++) {
        do {
            OK(vic_peer_opens(card, peer, &opens));
            CHECK(opens <= expected);
            CHECK(vic_time_ns(card) - start < LONG);
            vic_relax(card);
        } while (opens < expected);
    }
}

void run(const struct self *self)
{
    uint64_t opens;
    OK(vic_barrier(self->card, LONG));
    OK(vic_peer_opens(self->card, self->me, &opens));
    CHECK(opens == 1);
    all_read(self->card, self->cards, 1);
    OK(vic_barrier(self->card, LONG));
#ifndef IN_PROCESS
    vic_t *card = self->card;
    for (int i = 0; i < 5; i++) {
        OK(vic_close(card));
        OK(vic_open(&card));
    }
    all_read(card, self->cards, 11);
    OK(vic_barrier(card, LONG));
    OK(vic_close(card));
    exit(0);
#endif
}
