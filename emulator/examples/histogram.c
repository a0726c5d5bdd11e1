/* A histogram of numbers that are spread over all cards: every card counts its own, one call adds all up.
 *
 *     vicrun -n 4 -- ./histogram [LOG_NUMBERS [BINS]]
 *
 * The cards agree on the bins first (least and greatest number of all), then on the counts. Every card gets all bins,
 * and card 0 the number that each of the others had.
 */
#include <vic_collective.h>

#include "example.h"

/* Number i of all: the product of two draws, so that small ones are more. */
static uint64_t number(uint64_t i)
{
    return (scramble(2 * i) >> 32) * (scramble(2 * i + 1) >> 32);
}

struct range {
    uint64_t least, width;
};

static struct range agree(vic_team_t *team, uint64_t first, uint64_t last, uint64_t bins)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (uint64_t i = first; i < last; i++) {
        least = number(i) < least ? number(i) : least;
        most = number(i) > most ? number(i) : most;
    }
    MUST(vic_allreduce(team, VIC_MIN, &least, &least, 1, VIC_FOREVER));
    MUST(vic_allreduce(team, VIC_MAX, &most, &most, 1, VIC_FOREVER));
    return (struct range){least, (most - least) / bins + 1};
}

static void count(uint64_t first, uint64_t last, struct range range, uint64_t *bin)
{
    for (uint64_t i = first; i < last; i++) {
        bin[(number(i) - range.least) / range.width]++;
    }
}

int main(int argc, char **argv)
{
    struct vic_attr attr;
    struct sum sum;
    vic_team_t *team;
    vic_t *card = open_card(&attr);
    uint64_t numbers = UINT64_C(1) << argument(argc, argv, 1, 16, 8, 30), bins = argument(argc, argv, 2, 4096, 1, 1 << 24);
    uint64_t first = numbers * attr.card / attr.cards, last = numbers * (attr.card + 1) / attr.cards, mine = last - first;
    uint64_t *bin = allocate(bins, sizeof *bin), *alone = allocate(bins, sizeof *alone);
    uint64_t *each = allocate(attr.cards, sizeof *each), result = 0, all = 0;
    sum_open(card, &attr, &sum);
    MUST(vic_team_open(card, NULL, 0, &team, VIC_FOREVER));
    uint64_t start = vic_time_ns(card);
    struct range range = agree(team, first, last, bins);
    count(first, last, range, bin);
    worked(card, (double)mine * 2, UPDATE_NS);
    MUST(vic_allreduce(team, VIC_SUM, bin, bin, bins, VIC_FOREVER));
    double us = (double)(vic_time_ns(card) - start) / 1e3;
    MUST(vic_gather(team, 0, &mine, 1, each, VIC_FOREVER));
    count(0, numbers, range, alone); /* what one card alone finds */
    worked(card, (double)numbers, UPDATE_NS);
    for (uint64_t i = 0; i < bins; i++) {
        if (bin[i] != alone[i]) {
            fail("histogram: bin %" PRIu64 " has %" PRIu64 " numbers; there are %" PRIu64, i, bin[i], alone[i]);
        }
        result = scramble(result ^ bin[i]);
    }
    for (uint32_t i = 0; i < attr.cards; i++) {
        all += each[i];
    }
    if (attr.card == 0) {
        if (all != numbers) {
            fail("histogram: the cards have %" PRIu64 " of %" PRIu64 " numbers", all, numbers);
        }
        printf("%10s %10s %12s\n%10" PRIu64 " %10" PRIu64 " %12.3f\n", "numbers", "bins", "us", numbers, bins, us);
    }
    MUST(vic_team_close(team));
    free(bin);
    free(alone);
    free(each);
    report(card, &attr, &sum, "histogram", result);
    return 0;
}
