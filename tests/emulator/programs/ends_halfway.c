/* The program of card 1 ends well, with exit code 0, while it is in the middle of something: it has taken places in the
 * FIFO of card 0 and filled some of them as a push would, or is in the barrier. By hand, as no schedule finds that
 * moment often. The others do not wait for it.
 *
 *     ends_halfway fifo|barrier|many HOW [FILE]
 *
 * HOW: returns, closes (its card before), exits (at once), leaves (another process that has the card: makes FILE, and
 * ends when its parent has). */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "functional/claims.h"
#include "handle.h"
#include "harness.h"

enum { HOLES = 5, FILLED = 2, MANY = 70 };

static bool is(const char *text, const char *other)
{
    return strcmp(text, other) == 0;
}

static bool has_ended(const struct self *self)
{
    return atomic_load(&self->card->job->card[1].end) == CARD_ENDED;
}

/* As push() in functional/fifo.c, up to a moment. */
static void take_places(vic_t *card, uint64_t count)
{
    struct card_shared *target = &card->job->card[0];
    struct fifo_slot *slots = job_slots(card->job, 0);
    uint64_t tail = atomic_load(&target->fifo_tail), mask = card->job->ring - 1;
    do {
        claim_note(card->job, slots, tail);
    } while (!atomic_compare_exchange_weak(&target->fifo_tail, &tail, claim_by(tail + count, card->number)));
    for (uint64_t i = 0; i < FILLED; i++) {
        struct fifo_slot *slot = &slots[(tail + i) & mask];
        atomic_store(&slot->word, 0);
        atomic_store(&slot->ticket, ticket_word(tail + i));
    }
}

static void *enter(void *card)
{
    vic_barrier(card, VIC_FOREVER);
    return NULL;
}

static void be_in_the_barrier(vic_t *card)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, enter, card) == 0);
    while (barrier_count(atomic_load(&card->job->shared->barrier)) == 0) {
        vic_relax(card);
    }
}

static void end(const struct self *self, const char *how, const char *file)
{
    if (is(how, "closes")) {
        OK(vic_close(self->card));
    } else if (is(how, "exits")) {
        _exit(0);
    } else if (is(how, "leaves")) {
        FILE *made = fopen(file, "w");
        CHECK(made != NULL && fclose(made) == 0);
        while (!has_ended(self)) {
            vic_relax(self->card);
        }
    }
    exit(0);
}

/* More than the FIFO holds, by the others, when all has come that card 1 filled. */
static void send_in_order(const struct self *self)
{
    uint64_t header = vic_header(0, VIC_FIFO, 0, VIC_NO_COUNTER);
    for (uint64_t number = 1; number <= 3 * self->attr.fifo_words; number++) {
        uint64_t word = (uint64_t)self->me << 32 | number;
        OK(vic_send(self->card, &header, &word, 1));
    }
}

static void take_all(const struct self *self)
{
    uint64_t next[64] = {0}, word[64], all = 3 * (uint64_t)self->attr.fifo_words * (self->cards - 2) + FILLED;
    while (all > 0) {
        size_t n, least = all < self->attr.fifo_words ? (size_t)all : self->attr.fifo_words;
        OK(vic_fifo_wait(self->card, word, least, least, &n, 20 * (uint64_t)SECOND)); /* all that it can hold */
        for (size_t i = 0; i < n; i++) {
            uint32_t from = (uint32_t)(word[i] >> 32), number = (uint32_t)word[i];
            CHECK(word[i] == 0 || (from > 1 && from < self->cards && number == ++next[from]));
        }
        all -= n;
    }
}

int main(int argc, char **argv)
{
    vic_t *card;
    CHECK(argc >= 3 && vic_open(&card) == VIC_OK);
    struct self self = self_of(card);
    bool barrier = is(argv[1], "barrier"), many = is(argv[1], "many");
    CHECK(self.attr.fifo_words <= 64);
    if (self.me != 1) {
        uint64_t opens = 0;
        while (opens == 0) {
            vic_relax(card);
            OK(vic_peer_opens(card, 1, &opens));
        }
    }
    if (self.me == 1) {
        if (barrier) {
            be_in_the_barrier(card);
        } else {
            take_places(card, many ? MANY : HOLES);
        }
        end(&self, argv[2], argv[3]);
    } else if (barrier) {
        while (!has_ended(&self)) {
            vic_relax(card);
        }
        IS(vic_barrier(card, 20 * (uint64_t)SECOND), VIC_EPEER);
    } else if (many) {
        IS(vic_counter_set(card, 0, 1), VIC_OK);
        IS(vic_counter_wait(card, 0, 20 * (uint64_t)SECOND), VIC_EPEER);
    } else if (self.me == 0) {
        take_all(&self);
    } else {
        send_in_order(&self);
    }
    OK(vic_close(card));
    return 0;
}
