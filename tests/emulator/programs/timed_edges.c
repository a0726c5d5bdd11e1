/* Timed mode at its edges: more words than a ring holds, none at all, times without an end, a card that is opened and
 * closed faster than anybody can hear of it, packets that have no room. The first argument says which. */
#include "harness.h"

enum { MANY = 20000, FEW = 20, LOTS = 200, SEND_WORDS = 16 };

static vic_t *card;
static struct self self;

static void sizes(void)
{
    uint64_t *words = calloc(MANY, sizeof *words), none = 7;
    vic_dma_t *dma;
    size_t n = 9;
    int done;
    for (uint64_t i = 0; i < MANY; i++) {
        words[i] = i + 1;
    }
    OK(vic_write(card, 5, words, MANY));
    memset(words, 0, MANY * sizeof *words);
    OK(vic_dma_read(card, words, 5, MANY, &dma));
    do {
        OK(vic_dma_test(card, dma, &done)); /* a fault hides it for a while */
    } while (!done);
    OK(vic_dma_wait(card, &dma, LONG));
    for (uint64_t i = 0; i < MANY; i++) {
        CHECK(words[i] == i + 1);
    }
    OK(vic_dma_read(card, &none, 5, 0, &dma));
    OK(vic_dma_wait(card, &dma, LONG));
    OK(vic_read(card, 5, &none, 0));
    CHECK(none == 7);
    OK(vic_fifo_poll(card, &none, 0, &n));
    CHECK(n == 0);
    free(words);
}

/* Half of all time may pass; waits have no deadline then. */
static void times(void)
{
    OK(vic_counter_set(card, 3, 0));
    OK(vic_counter_wait(card, 3, VIC_FOREVER - 1));
    OK(vic_compute_ns(card, UINT64_MAX));
    uint64_t late = vic_time_ns(card);
    CHECK(late > (UINT64_C(1) << 61) / 1000);
    OK(vic_compute_ns(card, UINT64_MAX));
    OK(vic_counter_wait(card, 3, 1000));
    for (int i = 0; i < 10; i++) {
        vic_relax(card);
    }
    OK(vic_compute_ns(card, UINT64_MAX / 4));
    OK(vic_counter_wait(card, 3, 1000));
    CHECK(vic_time_ns(card) - late < 2000);
}

/* Whatever is heard of it, and when: never that it is open when it is not. */
static void openings(void)
{
    uint64_t opens, before = 1;
    for (int i = 0; i < LOTS; i++) {
        if (self.me == 0) {
            OK(vic_close(card));
            OK(vic_open(&card));
            OK(vic_compute_ns(card, (uint64_t)(i % 40 < 20 ? 0 : 300)));
        } else {
            OK(vic_compute_ns(card, 300));
            OK(vic_peer_opens(card, 0, &opens));
            CHECK(opens >= before);
            before = opens;
        }
    }
    OK(vic_barrier(card, LONG));
    OK(vic_compute_ns(card, 1000));
    OK(vic_peer_opens(card, 0, &opens));
    CHECK(opens % 2 == 1 && opens > 1 && opens <= 2 * LOTS + 1);
}

/* Packets for a FIFO that nobody reads stop all that follow; how that ends is what this call says. */
static void blocked(const char *how)
{
    uint64_t header[LOTS], word[LOTS] = {0};
    vic_dma_t *dma;
    int status = VIC_EINVAL;
    for (int i = 0; i < LOTS; i++) {
        header[i] = vic_header(1, VIC_FIFO, 0, VIC_NO_COUNTER);
    }
    OK(vic_write(card, 0, header, LOTS));
    if (self.me != 0) {
        OK(vic_counter_set(card, 3, 1));
        status = vic_counter_wait(card, 3, VIC_FOREVER);
    } else if (strcmp(how, "cached") == 0) {
        status = vic_send_cached(card, 0, word, LOTS);
    } else if (strcmp(how, "put") == 0) { /* after as many as the FIFO and the card have room for */
        OK(vic_send(card, header, word, self.attr.fifo_words + SEND_WORDS));
        status = vic_put(card, 1, 0, word, FEW, 5);
    } else {
        OK(vic_dma_send(card, 0, word, LOTS, &dma));
        status = strcmp(how, "long") == 0 ? vic_put(card, 1, 0, word, LOTS, 5)
                                          : vic_dma_wait(card, &dma, VIC_FOREVER);
    }
    IS(status, VIC_EPEER);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    OK(vic_open(&card));
    self = self_of(card);
    if (strcmp(how, "sizes") == 0) {
        sizes();
    } else if (strcmp(how, "times") == 0) {
        times();
    } else if (strcmp(how, "openings") == 0) {
        openings();
    } else {
        blocked(how);
    }
    OK(vic_close(card));
    return 0;
}
