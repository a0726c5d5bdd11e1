/* Card 1 is killed in a barrier, in a wait and in a full FIFO, and each time finds its card as it was; the
 * others find that they cross the barrier with it when it is there again, and that its incarnations are
 * counted. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

enum { LIVES = 3 };

static vic_t *card;

/* When the main thread waits, most likely. */
static void *die(void *unused)
{
    nanosleep(&(struct timespec){0, 20 * 1000 * 1000}, NULL);
    kill(getpid(), SIGKILL);
    return unused;
}

static void mortal(const struct self *self, uint64_t life)
{
    uint64_t word = life, header = vic_header(0, VIC_FIFO, 0, VIC_NO_COUNTER);
    int64_t counted;
    OK(vic_counter_get(card, 5, &counted));
    if (life > 0) {
        OK(vic_read(card, 7, &word, 1));
        CHECK(word == life && counted == 100 - (int64_t)life);
        size_t n;
        OK(vic_fifo_poll(card, &word, 1, &n));
        CHECK(n == 1 && word == life); /* one is left of those of the life before */
    } else {
        OK(vic_counter_set(card, 5, 100));
    }
    pthread_t thread;
    uint64_t own[2] = {vic_header(1, VIC_WRITE, 7, 5), vic_header(1, VIC_FIFO, 0, VIC_NO_COUNTER)};
    uint64_t value[2] = {life + 1, life + 1};
    OK(vic_send(card, own, value, 2));
    CHECK(life == LIVES || pthread_create(&thread, NULL, die, NULL) == 0);
    while (life == 0) {
        OK(vic_send(card, &header, &word, 1)); /* nobody takes them */
    }
    OK(life == 1 ? vic_counter_wait(card, 6, LONG) : VIC_OK);
    OK(vic_barrier(card, LONG));
    CHECK(life == LIVES); /* card 0 has waited for that */
    (void)self;
}

int main(void)
{
    uint64_t opens;
    CHECK(vic_open(&card) == VIC_OK);
    struct self self = self_of(card);
    OK(vic_peer_opens(card, 1, &opens));
    if (self.me == 1) {
        CHECK(opens % 2 == 1);
        OK(vic_counter_set(card, 6, 1));
        mortal(&self, opens / 2);
    } else {
        while (self.me == 0 && opens != 2 * LIVES + 1) {
            vic_relax(card);
            OK(vic_peer_opens(card, 1, &opens));
        }
        OK(vic_barrier(card, LONG));
    }
    OK(vic_close(card));
    return 0;
}
