/* Cards that are closed while what they sent does not fit into a FIFO: 0 does not read it, 4 reads it slowly; 1 and 3
 * close their cards, 2 ends without. In model time the card holds what does not fit: closing waits for nobody. */
#define _GNU_SOURCE
#include <unistd.h>

#include "harness.h"

enum { MORE = 4, NAP_US = 2800 * 1000 };

static void send_too_much(const struct self *self, uint32_t dest)
{
    enum { MOST = 1024 };
    uint64_t headers[MOST], words[MOST] = {0};
    size_t n = self->attr.fifo_words + MORE;
    CHECK(n <= MOST);
    vic_dma_t *dma;
    for (size_t i = 0; i < n; i++) {
        headers[i] = vic_header(dest, VIC_FIFO, 0, VIC_NO_COUNTER);
        words[i] = i;
    }
    OK(vic_write(self->card, 0, headers, n));
    OK(vic_dma_send(self->card, 0, words, n, &dma));
}

static void read_slowly(const struct self *self)
{
    uint64_t word = 0;
    for (uint64_t i = 0, n; i < self->attr.fifo_words + MORE; i++) {
        if (i < MORE) {
            usleep(NAP_US);
        }
        OK(vic_fifo_wait(self->card, &word, 1, 1, &n, LONG));
        CHECK(word == i);
    }
    puts("all came");
}

int main(void)
{
    vic_t *card;
    OK(vic_open(&card));
    struct self self = self_of(card);
    setvbuf(stdout, NULL, _IOLBF, 0);
    OK(vic_barrier(card, LONG));
    if (self.me == 0 && self.attr.mode == 0) {
        getchar(); /* until the test has seen what the others say */
    } else if (self.me == 0) {
        OK(vic_compute_ns(card, SECOND));
    } else if (self.me == 4) {
        read_slowly(&self);
    } else {
        send_too_much(&self, self.me == 3 ? 4 : 0);
    }
    if (self.me != 2) {
        CHECK(self.attr.mode == 0 || self.me == 0 || vic_time_ns(card) < SECOND / 1000);
        printf("card %u closed: %s\n", self.me, vic_strerror(vic_close(card)));
    }
    return 0;
}
