/* Packets into the SRAM, counters and FIFOs of other cards: what the words of a send do. */
#include "functional.h"

#include "race.h"
#include "remote.h"

/* ---- decrements of group counters, gathered by destination and counter */

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
    STEP();
    int64_t before = atomic_fetch_sub(&target->counter[counter].value, (int64_t)count);
    STEP();
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

/* The sender of a query answers it itself, so the host of the target takes no part. */
static bool answer(struct vic *card, struct packet query, uint64_t reply, struct tally *tally)
{
    _Atomic uint64_t *word = &job_sram(card->job, query.dest)[query.addr];
    return deliver(card, reply, word_load(word), tally);
}

bool deliver(struct vic *card, uint64_t header, uint64_t payload, struct tally *tally)
{
    return job_is_here(card->job, packet_of(header).dest) ? deliver_here(card, header, payload, tally)
                                                          : remote_send(card, &header, &payload, 1) == 1;
}

bool deliver_here(struct vic *card, uint64_t header, uint64_t payload, struct tally *tally)
{
    struct packet packet = packet_of(header);
    struct card_shared *target = &card->job->card[packet.dest];
    struct counter *counter = &target->counter[packet.counter];
    switch (packet.op) {
    case VIC_WRITE:
        word_store(&job_sram(card->job, packet.dest)[packet.addr], payload);
        break;
    case VIC_FIFO:
        if (fifo_push(card, packet.dest, &payload, 1) == 0) {
            return false;
        }
        fifo_count(card, packet.dest, packet.counter, 1, tally);
        return true;
    case VIC_QUERY:
        if (!answer(card, packet, payload, tally)) {
            return false;
        }
        break;
    case VIC_COUNTER_SET:
    default: /* VIC_COUNTER_ADD */
        if (packet.op == VIC_COUNTER_SET) {
            atomic_exchange(&counter->value, (int64_t)payload);
        } else {
            atomic_fetch_add(&counter->value, (int64_t)payload);
        }
        bell_ring_for(&target->arrival, &counter->awaited);
        if (__builtin_expect(card->check, 0)) {
            tally_check(card, packet.dest, packet.counter);
        }
        return true;
    }
    tally_add(card, tally, tally_key(packet.dest, packet.counter), 1);
    return true;
}
