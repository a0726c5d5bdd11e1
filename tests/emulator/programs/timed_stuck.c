/* Ends of waits that nobody will make good: the first argument says which. */
#define _GNU_SOURCE
#include <unistd.h>

#include "harness.h"

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    vic_t *card;
    uint64_t word = 0;
    size_t n;
    OK(vic_open(&card));
    struct self self = self_of(card);
    if (strcmp(how, "deadlock") == 0) {
        int status = self.me == 0 ? vic_counter_wait(card, 3, VIC_FOREVER) : VIC_OK;
        OK(vic_counter_set(card, 4, 5));
        status = self.me == 0 ? vic_fifo_wait(card, &word, 2, 2, &n, VIC_FOREVER)
                              : vic_counter_wait(card, 4, VIC_FOREVER);
        IS(status, VIC_EPEER);
        CHECK(strstr(vic_error_detail(), "deadlock") != NULL); /* and not that somebody died */
        IS(vic_barrier(card, VIC_FOREVER), VIC_EPEER); /* and so do all that follow */
    } else if (strcmp(how, "fifo") == 0) { /* both send more than a FIFO takes */
        for (uint32_t i = 0; i < 3 * self.attr.fifo_words; i++) {
            uint64_t header = vic_header((self.me + 1) % self.cards, VIC_FIFO, 0, VIC_NO_COUNTER);
            int status = vic_send(card, &header, &word, 1);
            if (status != VIC_OK) {
                IS(status, VIC_EPEER);
                return 0;
            }
        }
        return 1;
    } else if (strcmp(how, "last") == 0) { /* the others have ended */
        if (self.me == 0) {
            IS(vic_counter_set(card, 3, 1), VIC_OK);
            IS(vic_counter_wait(card, 3, VIC_FOREVER), VIC_ECLOSED);
            IS(vic_fifo_wait(card, &word, 1, 1, &n, VIC_FOREVER), VIC_ECLOSED);
        }
    } else if (strcmp(how, "barrier") == 0) {
        if (self.me == 0) {
            IS(vic_barrier(card, VIC_FOREVER), VIC_EPEER);
        }
    } else if (strcmp(how, "late") == 0) { /* a barrier that timed out was not entered */
        if (self.me == 0) {
            IS(vic_barrier(card, 2000), VIC_ETIMEDOUT);
            OK(vic_compute_ns(card, 20000));
        } else {
            OK(vic_compute_ns(card, 10000));
            IS(vic_barrier(card, 2000), VIC_ETIMEDOUT);
        }
        OK(vic_barrier(card, VIC_FOREVER));
        printf("%llu\n", (unsigned long long)vic_time_ns(card));
    } else if (strcmp(how, "killed") == 0) {
        int status = VIC_OK;
        while (status == VIC_OK) {
            OK(vic_counter_set(card, 3, 1));
            status = vic_counter_wait(card, 3, 100000);
            status = status == VIC_ETIMEDOUT ? VIC_OK : status;
        }
        IS(status, VIC_EPEER);
        printf("%llu\n", (unsigned long long)vic_time_ns(card));
    } else if (strcmp(how, "early") == 0) {
        if (self.me == 0) {
            OK(vic_put(card, 1, 0, &word, 1, 5));
        }
        OK(vic_compute_ns(card, 10000));
    } else if (strcmp(how, "silent") == 0) {
        for (volatile uint64_t i = 0; i < 100000000; i++) {
        }
        vic_relax(card);
    } else if (strcmp(how, "reopen") == 0) {
        OK(vic_counter_set(card, 5, 9));
        OK(vic_compute_ns(card, 10000));
        OK(vic_close(card));
        OK(vic_open(&card));
        int64_t value;
        OK(vic_counter_get(card, 5, &value));
        CHECK(value == 9);
        printf("%llu\n", (unsigned long long)vic_time_ns(card));
    }
    OK(vic_close(card));
    return 0;
}
