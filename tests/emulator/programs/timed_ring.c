/* A token goes round; the card waits for it in one of three ways. Prints the clock at the end. Cards may come
 * late by the wall clock. */
#define _GNU_SOURCE
#include <unistd.h>

#include "harness.h"

static void await(const struct self *self, const char *how)
{
    int64_t value = 1;
    size_t n = 0;
    uint64_t word;
    if (strcmp(how, "wait") == 0) {
        OK(vic_counter_wait(self->card, 2, VIC_FOREVER));
    } else if (strcmp(how, "poll") == 0) {
        while (value != 0) {
            OK(vic_counter_get(self->card, 2, &value));
        }
    } else if (strcmp(how, "fifo") == 0) {
        OK(vic_fifo_wait(self->card, &word, 1, 1, &n, VIC_FOREVER));
    } else {
        while (n == 0) {
            OK(vic_fifo_poll(self->card, &word, 1, &n));
        }
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "wait";
    if (argc > 2) {
        usleep((useconds_t)(atoi(getenv("VIC_CARD")) * 7 % 3) * 20000);
    }
    vic_t *card;
    OK(vic_open(&card));
    struct self self = self_of(card);
    bool fifo = strncmp(how, "fifo", 4) == 0;
    uint32_t next = (self.me + 1) % self.cards;
    uint64_t header = vic_header(next, fifo ? VIC_FIFO : VIC_WRITE, 0, 2), word = 0;
    OK(vic_counter_set(card, 2, 1));
    OK(vic_barrier(card, VIC_FOREVER));
    for (int round = 0; round < 20; round++) {
        if (self.me != 0) {
            await(&self, how);
            OK(vic_counter_set(card, 2, 1));
        }
        OK(vic_send(card, &header, &word, 1));
        if (self.me == 0) {
            await(&self, how);
            OK(vic_counter_set(card, 2, 1));
        }
    }
    printf("%u %llu\n", self.me, (unsigned long long)vic_time_ns(card));
    OK(vic_close(card));
    return 0;
}
