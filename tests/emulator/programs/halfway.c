/* Card 1 takes places in the FIFO of card 0, fills none or some of them as a push would, or takes room there for words
 * that it would send from another host, and is killed at once: by hand, as no kill finds that moment often. What others
 * send before and after must come, in its order.
 *
 *     halfway LIVES */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "functional/claims.h"
#include "handle.h"
#include "harness.h"

enum { LEAST = 5 };

/* As push() in functional/fifo.c, up to a moment. */
static void die_halfway(vic_t *card, uint64_t life)
{
    struct card_shared *target = &card->job->card[0];
    struct fifo_slot *slots = job_slots(card->job, 0);
    uint64_t tail = atomic_load(&target->fifo_tail), mask = card->job->ring - 1, claim;
    uint64_t count = 1 + life % 5, filled = life / 5 % 5;
    do {
        while (positions(atomic_load(&target->fifo_head), tail) + count >
               card->job->config.fifo_words + atomic_load(&target->fifo_voids)) {
            vic_relax(card);
            tail = atomic_load(&target->fifo_tail);
        }
        claim_note(card->job, slots, tail);
        claim = claim_by(tail + count, card->number);
    } while (!atomic_compare_exchange_weak(&target->fifo_tail, &tail, claim));
    for (uint64_t i = 0; i + 1 < count && i < filled; i++) {
        struct fifo_slot *slot = &slots[(tail + i) & mask];
        atomic_store(&slot->word, 0);
        atomic_store(&slot->ticket, ticket_word(tail + i));
    }
    kill(getpid(), SIGKILL);
    pause();
}

/* As claim_room() in functional/remote.c, word by word. The last word is listed and not taken, or taken, or taken and
 * somebody else has taken the next one. */
static void die_with_room(vic_t *card, uint64_t life)
{
    struct ring *ring = job_ring(card->job, card->number);
    struct card_shared *target = &card->job->card[0];
    uint32_t count = 1 + (uint32_t)(life % 5);
    atomic_store(&ring->claimed_at, atomic_load(&ring->tail));
    for (uint32_t claims = 0; claims < count;) {
        uint64_t tail = atomic_load(&target->fifo_tail);
        if (positions(atomic_load(&target->fifo_head), tail) >= card->job->config.fifo_words) {
            vic_relax(card);
            continue;
        }
        room_note(card->job, 0, tail);
        atomic_store(&ring->claim[claims], room_claim(0, tail));
        atomic_store(&ring->claims, claims + 1);
        if (claims + 1 == count && life % 3 == 0) {
            break;
        }
        claims += atomic_compare_exchange_strong(&target->fifo_tail, &tail, claim_by(tail + 1, card->number));
    }
    while (life % 3 == 2 && atomic_load(&target->fifo_tail) >> 40 == card->number + 1) {
        vic_relax(card);
    }
    kill(getpid(), SIGKILL);
    pause();
}

static void send_in_order(const struct self *self)
{
    uint64_t header = vic_header(0, VIC_FIFO, 0, VIC_NO_COUNTER);
    for (uint64_t number = 1; atomic_load(&self->card->job->card[1].end) == CARD_RUNS;) {
        uint64_t word = (uint64_t)self->me << 32 | number++;
        OK(vic_send(self->card, &header, &word, 1));
    }
    uint64_t last = (uint64_t)self->me << 32;
    OK(vic_send(self->card, &header, &last, 1));
}

static void take_all(const struct self *self)
{
    uint64_t next[64] = {0}, word[16];
    for (uint32_t ended = 0; ended + 2 < self->cards;) {
        size_t n;
        uint64_t timeout = vic_fifo_wait(self->card, word, LEAST, 16, &n, 1000 * 1000) == VIC_OK ? 0 : LONG;
        if (timeout != 0) { /* fewer may be all that ever comes */
            OK(vic_fifo_wait(self->card, word, 1, 16, &n, timeout));
        }
        for (size_t i = 0; i < n; i++) {
            uint32_t from = (uint32_t)(word[i] >> 32), number = (uint32_t)word[i];
            CHECK(from < self->cards && (word[i] == 0 || number == 0 || number == next[from] + 1));
            next[from] = number;
            ended += word[i] != 0 && number == 0;
        }
    }
}

int main(int argc, char **argv)
{
    vic_t *card;
    uint64_t opens;
    CHECK(argc == 2 && vic_open(&card) == VIC_OK);
    struct self self = self_of(card);
    OK(vic_peer_opens(card, self.me, &opens));
    if (self.me == 1 && opens / 2 < strtoull(argv[1], NULL, 10)) {
        (job_is_here(card->job, 0) ? die_halfway : die_with_room)(card, opens / 2);
    } else if (self.me == 0) {
        take_all(&self);
    } else if (self.me > 1) {
        send_in_order(&self);
    }
    OK(vic_close(card));
    return 0;
}
