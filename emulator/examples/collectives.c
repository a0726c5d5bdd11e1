/* What the calls of vic_collective.h take, by size.
 *
 *     vicrun -n 8 --mode timed -- ./collectives [ROUNDS [MOST_WORDS]]
 *
 * It also prints what docs/emulator-collectives.md predicts for the card data-vortex-8. In timed mode the two agree
 * within 15 %.
 */
#include <math.h>
#include <vic_collective.h>

#include "example.h"

enum call { BARRIER, BROADCAST, REDUCE, ALLREDUCE, GATHER, ALLTOALL, CALLS };

static const char *const names[] = {"barrier", "broadcast", "reduce", "allreduce", "gather", "alltoall"};

/* The card, in ns: `dvsim show data-vortex-8`. */
#define CROSSING 400.0       /* pio_write */
#define READ 1000.0          /* pio_read */
#define SETUP 1000.0         /* dma_setup */
#define STORE (8 / 0.5)      /* a word at pio_rate */
#define FETCH (8 / 7.88)     /* a word at pcie_rate */
#define PORT (8 / 4.4)       /* a word at port_rate */
#define FLIGHT 250.0         /* a word through the network of 2 to 8 cards, and the look that sees it */

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* What vic_put takes, by stores or by an engine, and when its words begin to leave. */
static double put(double n, double *begin)
{
    double stores = 2 * STORE * n, setup = 2 * STORE + CROSSING + SETUP, engine = setup + FETCH * n + CROSSING;
    *begin = engine < stores ? setup : 0;
    return least(stores, engine);
}

/* A step in which a card puts `sent` words to each of `peers` others, and takes `came` words in that others sent to it. */
static double step(double k, double peers, double sent, double came)
{
    double begin, all = peers * put(sent, &begin), tokens = 2 * STORE * (k - peers);
    double leave = tokens + all - (begin > 0 ? CROSSING : 0); /* the program goes on after the last words have left */
    double busy = begin + came * PORT, arrive = busy > leave ? busy : leave;
    double take = came == 1 ? READ : came > 0 ? 2 * STORE + 2 * CROSSING + SETUP + FETCH * came : 0;
    return arrive + 2 * CROSSING + FLIGHT + take;
}

static double law(enum call call, double k, double n)
{
    double share = ceil(n / k), others = (k - 1) * n, rest = n - share;
    double spread = step(k, k - 1, share, (k - 1) * share);
    switch (call) {
    case BARRIER: return step(k, 0, 0, 0);
    case BROADCAST: return least(step(k, k - 1, n, n), step(k, k - 1, share, share) + step(k, k - 1, share, rest));
    case ALLREDUCE: return least(step(k, k - 1, n, others), spread + step(k, k - 1, share, rest));
    case REDUCE: return least(step(k, 1, n, others), spread + step(k, 1, share, rest));
    case GATHER: return step(k, 1, n, others);
    default: return step(k, k - 1, n, others);
    }
}

struct bench {
    vic_t *card;
    struct vic_attr attr;
    vic_team_t *team;
    uint64_t *in, *out;
};

static void call(const struct bench *bench, enum call call, size_t n)
{
    switch (call) {
    case BARRIER: MUST(vic_team_barrier(bench->team, VIC_FOREVER)); break;
    case BROADCAST: MUST(vic_broadcast(bench->team, 0, bench->in, n, VIC_FOREVER)); break;
    case REDUCE: MUST(vic_reduce(bench->team, 0, VIC_SUM, bench->in, bench->out, n, VIC_FOREVER)); break;
    case ALLREDUCE: MUST(vic_allreduce(bench->team, VIC_SUM, bench->in, bench->out, n, VIC_FOREVER)); break;
    case GATHER: MUST(vic_gather(bench->team, 0, bench->in, n, bench->out, VIC_FOREVER)); break;
    default: MUST(vic_alltoall(bench->team, bench->in, bench->out, n, VIC_FOREVER));
    }
}

/* Nanoseconds a call, from the last card's call to the last card's return. */
static double measure(const struct bench *bench, enum call what, uint64_t rounds, size_t n)
{
    uint64_t total = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t when[2], last[2];
        MUST(vic_team_barrier(bench->team, VIC_FOREVER));
        when[0] = vic_time_ns(bench->card);
        call(bench, what, n);
        when[1] = vic_time_ns(bench->card);
        MUST(vic_allreduce(bench->team, VIC_MAX, when, last, 2, VIC_FOREVER));
        total += last[1] - last[0];
    }
    return (double)total / (double)rounds;
}

int main(int argc, char **argv)
{
    struct bench bench;
    bench.card = open_card(&bench.attr);
    uint64_t rounds = argument(argc, argv, 1, 5, 1, UINT16_MAX);
    size_t most = argument(argc, argv, 2, 4096, 1, 1 << 20), cards = bench.attr.cards;
    bench.in = allocate(most * cards, sizeof *bench.in);
    bench.out = allocate(most * cards, sizeof *bench.out);
    MUST(vic_team_open(bench.card, NULL, 0, &bench.team, VIC_FOREVER));
    if (bench.attr.card == 0) {
        printf("%10s %8s %12s %12s\n", "call", "words", "us", "law us");
    }
    for (enum call what = BARRIER; what < CALLS; what++) {
        for (size_t n = what == BARRIER ? most : 1; n <= most; n *= 8) {
            double ns = measure(&bench, what, rounds, n);
            if (bench.attr.card == 0) {
                printf("%10s %8zu %12.3f %12.3f\n", names[what], n, ns / 1e3, law(what, (double)cards, (double)n) / 1e3);
            }
        }
    }
    MUST(vic_team_close(bench.team));
    MUST(vic_barrier(bench.card, VIC_FOREVER));
    MUST(vic_close(bench.card));
    return 0;
}
