/* Put bandwidth: how many bytes a second does card 0 write into card 1, by each path and size?
 *
 *     vicrun -n 2 -- ./put_bandwidth [REPEATS [MOST_WORDS]]
 *
 * The clock stops when card 1 has counted all packets. The four ways differ in what crosses PCIe: `put`
 * chooses, `send` moves header and payload, `cached` the payload only, `dma` lets an engine fetch it.
 */
#include "example.h"

enum way { PUT, SEND, CACHED, DMA, WAYS };

struct wire {
    vic_t *card;
    struct vic_attr attr;
    vic_addr_t buffer, headers;
    unsigned counter, done;
    uint64_t *words, *header;
};

static void send_once(struct wire *wire, enum way way, size_t n)
{
    vic_dma_t *dma;
    switch (way) {
    case PUT: MUST(vic_put(wire->card, 1, wire->buffer, wire->words, n, wire->counter)); break;
    case SEND: MUST(vic_send(wire->card, wire->header, wire->words, n)); break;
    case CACHED: MUST(vic_send_cached(wire->card, wire->headers, wire->words, n)); break;
    default:
        MUST(vic_dma_send(wire->card, wire->headers, wire->words, n, &dma));
        MUST(vic_dma_wait(wire->card, &dma, VIC_FOREVER));
    }
}

/* Seconds for `repeats` transfers of n words, seen by card 0. */
static double measure(struct wire *wire, enum way way, uint64_t repeats, size_t n)
{
    MUST(vic_counter_set(wire->card, wire->counter, (int64_t)(repeats * n)));
    MUST(vic_counter_set(wire->card, wire->done, 1));
    MUST(vic_barrier(wire->card, VIC_FOREVER));
    uint64_t start = vic_time_ns(wire->card);
    if (wire->attr.card == 0) {
        for (uint64_t i = 0; i < repeats; i++) {
            send_once(wire, way, n);
        }
        MUST(vic_counter_wait(wire->card, wire->done, VIC_FOREVER));
    } else if (wire->attr.card == 1) {
        uint64_t all = 1;
        MUST(vic_counter_wait(wire->card, wire->counter, VIC_FOREVER));
        MUST(vic_put(wire->card, 0, wire->buffer, &all, 1, wire->done));
    }
    return (double)(vic_time_ns(wire->card) - start) / 1e9;
}

/* Card 1 has what card 0 sent, and nothing behind it. Both forget it. */
static uint64_t check(struct wire *wire, size_t n, size_t most)
{
    uint64_t *got = allocate(most, sizeof *got), result = 0;
    if (wire->attr.card == 1) {
        fetch(wire->card, got, wire->buffer, most);
        for (size_t i = 0; i < most; i++) {
            if (got[i] != (i < n ? wire->words[i] : 0)) {
                fail("put_bandwidth: word %zu of %zu is wrong", i, n);
            }
            result = scramble(result ^ got[i]);
        }
        worked(wire->card, (double)most, MAKE_NS);
        memset(got, 0, most * sizeof *got);
        MUST(vic_write(wire->card, wire->buffer, got, most));
    }
    free(got);
    return result;
}

int main(int argc, char **argv)
{
    struct wire wire;
    struct sum sum;
    uint64_t result = 0;
    wire.card = open_card(&wire.attr);
    uint64_t repeats = argument(argc, argv, 1, 20, 1, UINT32_MAX);
    uint64_t most = argument(argc, argv, 2, 16384, 1, wire.attr.sram_words / 4);
    if (wire.attr.cards < 2) {
        fail("put_bandwidth: needs two cards: vicrun -n 2 -- %s", argv[0]);
    }
    wire.words = allocate(most, sizeof *wire.words);
    wire.header = allocate(most, sizeof *wire.header);
    MUST(vic_alloc(wire.card, most, &wire.buffer));
    MUST(vic_alloc(wire.card, most, &wire.headers));
    MUST(vic_counter_alloc(wire.card, &wire.counter));
    MUST(vic_counter_alloc(wire.card, &wire.done));
    for (size_t i = 0; i < most; i++) {
        wire.words[i] = scramble(i) | 1;
        wire.header[i] = vic_header(1, VIC_WRITE, wire.buffer + (vic_addr_t)i, wire.counter);
    }
    worked(wire.card, 2 * (double)most, MAKE_NS);
    MUST(vic_write(wire.card, wire.headers, wire.header, most));
    sum_open(wire.card, &wire.attr, &sum);
    if (wire.attr.card == 0) {
        printf("%10s %12s %12s %12s %12s   GB/s\n", "words", "put", "send", "cached", "dma");
    }
    for (size_t n = 1; n <= most; n *= 4) {
        double rate[WAYS];
        for (int way = 0; way < WAYS; way++) {
            rate[way] = 8e-9 * (double)(repeats * n) / measure(&wire, way, repeats, n);
            result = scramble(result ^ check(&wire, n, most));
        }
        if (wire.attr.card == 0) {
            printf("%10zu %12.4f %12.4f %12.4f %12.4f\n", n, rate[PUT], rate[SEND], rate[CACHED], rate[DMA]);
        }
    }
    free(wire.words);
    free(wire.header);
    report(wire.card, &wire.attr, &sum, "put_bandwidth", result);
    return 0;
}
