/* Decrements of group counters, gathered by destination and counter. */
#include <stdio.h>

#include "cancel.h"
#include "functional.h"

FAIL_COLD static void report(const struct vic *card, uint32_t dest, unsigned counter, int64_t read)
{
    struct counter *target = &card->job->card[dest].counter[counter];
    if (counter != SCRATCH && atomic_exchange(&target->reported, 1) == 0) {
        int before = cancel_off(); /* who delivers may have a lock */
        if (counter < FIRST_RESERVED) {
            fprintf(stderr,
                    "vic: check: card %u: counter %u read %lld when a packet of card %u came: it was not preset "
                    "yet, or is preset to less than what is sent\n",
                    dest, counter, (long long)read, card->number);
        } else {
            fprintf(stderr, CHECK_RESERVED, dest, counter, card->number);
        }
        cancel_back(before);
    }
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
    if (after == 0) { /* who waits for a counter waits for 0 */
        bell_ring(&target->arrival);
    }
}

void tally_flush(struct vic *card, struct tally *tally)
{
    for (; tally->used != 0; tally->used &= tally->used - 1) {
        unsigned at = (unsigned)__builtin_ctzll(tally->used);
        tally_count(card, tally->key[at], tally->count[at]);
    }
}
