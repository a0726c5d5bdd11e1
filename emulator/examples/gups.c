/* GUPS: random updates of a table that is spread over all cards, by the rules of HPCC RandomAccess (gups.h).
 *
 *     vicrun -n 4 -- ./gups [LOG2_WORDS]
 *
 * An update is one word to the surprise FIFO of the card that has the place; its program applies it. Words that wait
 * for one card share a transfer; where too few do, each gets a header of its own (stream.h).
 */
#include "gups.h"

static void push(void *to, uint32_t card, uint64_t word)
{
    stream_push(to, card, word);
}

int main(int argc, char **argv)
{
    struct vic_attr attr;
    struct sum sum;
    struct stream stream;
    vic_t *card = open_card(&attr);
    struct part part = part_open(card, &attr, UINT64_C(1) << argument(argc, argv, 1, 16, 10, 34));
    sum_open(card, &attr, &sum);
    stream_open(&stream, card, &attr, apply, &part);
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = vic_time_ns(card);
    make_updates(&part, push, &stream);
    stream_end(&stream);
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t result = part_end(&part, start);
    stream_close(&stream);
    report(card, &attr, &sum, "gups", result);
    return 0;
}
