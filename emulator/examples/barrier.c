/* Barrier: how long does it take, and does it hold?
 *
 *     vicrun -n 8 -- ./barrier [ROUNDS]
 *
 * The clock is the same on all cards. So the check is: no card leaves a barrier before the last has entered.
 */
#include "example.h"

/* The latest of all cards, by the sum's slots: its words are those of the last sum. */
static uint64_t latest(vic_t *card, const struct vic_attr *attr, struct sum *sum, uint64_t mine)
{
    vic_addr_t slots = sum->slots + sum->turn % 2 * attr->cards;
    uint64_t most = 0;
    sum_of(card, attr, sum, mine);
    for (uint32_t from = 0; from < attr->cards; from++) {
        uint64_t word;
        MUST(vic_read(card, slots + from, &word, 1));
        most = word > most ? word : most;
    }
    return most;
}

static void check(vic_t *card, const struct vic_attr *attr, struct sum *sum)
{
    for (uint32_t late = 0; late < attr->cards; late++) {
        if (attr->card == late) { /* everybody is late once: 20 us of work, in either mode */
            uint64_t until = vic_time_ns(card) + 20 * 1000;
            MUST(vic_compute_ns(card, 20 * 1000));
            while (vic_time_ns(card) < until) {
                vic_relax(card);
            }
        }
        uint64_t entered = vic_time_ns(card);
        MUST(vic_barrier(card, VIC_FOREVER));
        uint64_t left = vic_time_ns(card);
        if (left < latest(card, attr, sum, entered)) {
            fail("barrier: card %u left before another entered", attr->card);
        }
    }
}

int main(int argc, char **argv)
{
    struct vic_attr attr;
    struct sum sum;
    vic_t *card = open_card(&attr);
    uint64_t rounds = argument(argc, argv, 1, 1000, 1, UINT32_MAX);
    sum_open(card, &attr, &sum);
    check(card, &attr, &sum);
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = vic_time_ns(card);
    for (uint64_t i = 0; i < rounds; i++) {
        MUST(vic_barrier(card, VIC_FOREVER));
    }
    double each = (double)(vic_time_ns(card) - start) / (double)rounds;
    if (attr.card == 0) {
        printf("%10s %14s\n%10u %14.3f\n", "cards", "barrier us", attr.cards, each / 1e3);
    }
    report(card, &attr, &sum, "barrier", rounds);
    return 0;
}
