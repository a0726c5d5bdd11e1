/* All to all: every card sends a block of its own to every card. How many bytes a second leave a card?
 *
 *     vicrun -n 4 -- ./alltoall [ROUNDS [MOST_WORDS]]
 *
 * One counter counts all that a card is to get, whoever sends it. There are two buffers and two counters:
 * a card that is done with a round may start the next, while a slow one still looks at this one.
 * After each measurement a few rounds follow whose words are all different, and all are checked.
 */
#include "example.h"

enum { CHECKED_ROUNDS = 3 };

struct mesh {
    vic_t *card;
    struct vic_attr attr;
    vic_addr_t buffer[2];
    unsigned counter[2];
    uint64_t *out, *in;
};

static uint64_t word_of(uint64_t round, uint64_t from, uint64_t to, uint64_t at)
{
    return scramble(round << 48 ^ from << 36 ^ to << 24 ^ at);
}

static void one_round(struct mesh *mesh, uint64_t round, size_t n, bool check)
{
    uint32_t me = mesh->attr.card, cards = mesh->attr.cards;
    unsigned turn = round % 2;
    for (uint32_t k = 0; k < cards; k++) { /* starting with the neighbour: not everybody at card 0 at once */
        uint32_t to = (me + 1 + k) % cards;
        for (size_t i = 0; i < n && check; i++) {
            mesh->out[i] = word_of(round, me, to, i);
        }
        vic_addr_t at = mesh->buffer[turn] + (vic_addr_t)(me * n);
        MUST(vic_put(mesh->card, to, at, mesh->out, n, mesh->counter[turn]));
    }
    MUST(vic_counter_wait(mesh->card, mesh->counter[turn], VIC_FOREVER));
    MUST(vic_counter_set(mesh->card, mesh->counter[turn], (int64_t)(cards * n)));
    fetch(mesh->card, mesh->in, mesh->buffer[turn], cards * n);
    for (size_t i = 0; i < cards * n && check; i++) {
        if (mesh->in[i] != word_of(round, i / n, me, i % n)) {
            fail("alltoall: word %zu of card %zu is wrong in round %" PRIu64, i % n, i / n, round);
        }
    }
}

/* Returns ns a round. */
static double run(struct mesh *mesh, uint64_t rounds, size_t n, bool check)
{
    for (int i = 0; i < 2; i++) {
        MUST(vic_counter_set(mesh->card, mesh->counter[i], (int64_t)(mesh->attr.cards * n)));
    }
    MUST(vic_barrier(mesh->card, VIC_FOREVER));
    uint64_t start = vic_time_ns(mesh->card);
    for (uint64_t round = 0; round < rounds; round++) {
        one_round(mesh, round, n, check);
    }
    double each = (double)(vic_time_ns(mesh->card) - start) / (double)rounds;
    MUST(vic_barrier(mesh->card, VIC_FOREVER));
    return each;
}

int main(int argc, char **argv)
{
    struct mesh mesh;
    struct sum sum;
    uint64_t result = 0;
    mesh.card = open_card(&mesh.attr);
    uint32_t cards = mesh.attr.cards;
    uint64_t rounds = argument(argc, argv, 1, 20, 1, UINT16_MAX);
    uint64_t most = argument(argc, argv, 2, 1024, 1, mesh.attr.sram_words / 4 / cards);
    mesh.out = allocate(most, sizeof *mesh.out);
    mesh.in = allocate(most * cards, sizeof *mesh.in);
    for (int i = 0; i < 2; i++) {
        MUST(vic_alloc(mesh.card, most * cards, &mesh.buffer[i]));
        MUST(vic_counter_alloc(mesh.card, &mesh.counter[i]));
    }
    sum_open(mesh.card, &mesh.attr, &sum);
    if (mesh.attr.card == 0) {
        printf("%10s %14s %20s\n", "words", "round us", "GB/s out of a card");
    }
    for (size_t n = 1; n <= most; n *= 4) {
        double each = run(&mesh, rounds, n, false);
        run(&mesh, CHECKED_ROUNDS, n, true);
        worked(mesh.card, 2.0 * CHECKED_ROUNDS * (double)(cards * n), MAKE_NS);
        result = scramble(result ^ mesh.in[cards * n - 1]);
        if (mesh.attr.card == 0) {
            printf("%10zu %14.3f %20.4f\n", n, each / 1e3, (double)(cards * n) * 8 / each);
        }
    }
    free(mesh.out);
    free(mesh.in);
    report(mesh.card, &mesh.attr, &sum, "alltoall", result);
    return 0;
}
