/* Packets into the SRAM, counters and FIFOs of other cards: what the words of a send do. */
#include "functional.h"
#include "remote.h"

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
