/* Decrements of group counters, gathered by destination and counter. */
#include "functional.h"

/* Not in line: it would cost the paths that nothing is wrong on a register. */
FAIL_COLD static void report(const struct vic *card, uint32_t dest, unsigned counter, int64_t read)
{
    check_report(card->job, dest, counter, read, card->number);
}

int tally_check(const struct vic *card, uint32_t dest, unsigned counter)
{
    if (counter >= FIRST_RESERVED) {
        report(card, dest, counter, 0);
    }
    return VIC_OK;
}

void tally_count(struct vic *card, uint32_t key, uint32_t count)
{
    uint32_t dest = key / COUNTERS;
    unsigned counter = key % COUNTERS;
    struct card_shared *target = &card->job->card[dest];
    int64_t before = atomic_fetch_sub(&target->counter[counter].value, (int64_t)count);
    int64_t after = (int64_t)((uint64_t)before - count); /* a counter goes round, as a card's does */
    if (__builtin_expect(card->check && (before < (int64_t)count || counter >= FIRST_RESERVED), 0)) {
        report(card, dest, counter, before > 0 ? 0 : before);
    }
    if (__builtin_expect(card->watch != 0, 0)) {
        watch_packets(card, dest, counter, count, after);
    }
    if (after == 0) { /* a wait for a counter is for 0 */
        bell_ring_for(&target->arrival, &target->counter[counter].awaited);
    }
}

void tally_flush(struct vic *card, struct tally *tally)
{
    for (; tally->used != 0; tally->used &= tally->used - 1) {
        unsigned at = (unsigned)__builtin_ctzll(tally->used);
        tally_count(card, tally->key[at], tally->count[at]);
    }
}
