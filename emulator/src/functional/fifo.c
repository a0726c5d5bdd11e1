/* The surprise FIFO: a ring with many writers and many readers. A slot is published by the ticket of the
 * word in it, so a reader never waits for a writer. Senders claim free slots only: a sender that
 * gives up leaves no hole, and one whose program ends leaves one that says so (claims.h). */
#include "claims.h"
#include "functional.h"
#include "race.h"

static uint64_t free_slots(struct vic *card, uint32_t dest, uint64_t tail, uint64_t wanted)
{
    struct card_shared *target = &card->job->card[dest];
    _Atomic uint64_t *known = &card->job->fifo_known[dest];
    uint64_t depth = card->job->config.fifo_words;
    uint64_t head = atomic_load_explicit(known, memory_order_acquire);
    if (positions(head, tail) + wanted > depth) {
        head = atomic_load_explicit(&target->fifo_head, memory_order_acquire);
        atomic_store_explicit(known, head, memory_order_release);
        depth += atomic_load_explicit(&target->fifo_voids, memory_order_relaxed);
    }
    /* a tail that was read before this head may lie behind it: it has moved on */
    uint64_t used = positions(head, tail);
    return used < depth ? depth - used : 0;
}

/* Fills what was claimed, the last slot last, see claims.h. */
static void fill(struct fifo_slot *slots, uint64_t mask, uint64_t first, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fifo_slot *slot = &slots[(first + i) & mask];
        atomic_store_explicit(&slot->word, words[i], memory_order_relaxed);
        STEP();
        atomic_store_explicit(&slot->ticket, ticket_word(first + i), memory_order_release);
        STEP();
    }
}

static size_t push(struct vic *card, uint32_t dest, const uint64_t *words, size_t n)
{
    struct card_shared *target = &card->job->card[dest];
    struct fifo_slot *slots = job_slots(card->job, dest);
    uint64_t mask = card->job->ring - 1, tail = atomic_load_explicit(&target->fifo_tail, memory_order_acquire);
    uint64_t claim;
    size_t count;
    do {
        uint64_t free = free_slots(card, dest, tail, n);
        while (free == 0) { /* full, or the tail has moved on meanwhile */
            uint64_t now = atomic_load_explicit(&target->fifo_tail, memory_order_acquire);
            if (now == tail) {
                return 0;
            }
            tail = now;
            free = free_slots(card, dest, tail, n);
        }
        count = free < n ? (size_t)free : n;
        count = count < CLAIM_MOST ? count : CLAIM_MOST;
        claim_note(card->job, slots, tail);
        claim = claim_by(tail + count, card->number);
        /* ordered with the check for sleeping readers, see fifo_filling */
    } while (!atomic_compare_exchange_weak_explicit(&target->fifo_tail, &tail, claim, memory_order_seq_cst,
                                                    memory_order_acquire));
    STEP();
    fill(slots, mask, tail & POSITION, words, count);
    bell_ring_for(&target->arrival, &target->fifo_awaited);
    if (__builtin_expect(card->watch != 0, 0)) {
        uint64_t head = atomic_load_explicit(&target->fifo_head, memory_order_relaxed);
        uint64_t there = positions(head, tail + count);
        watch_fifo(card, dest, there <= card->job->ring ? there : 0);
    }
    return count;
}

bool fifo_loses(struct vic *card, uint32_t dest)
{
    _Atomic uint64_t *sent = &functional_of(card)->fifo_words;
    bool lost = fault_chance(card, atomic_load(sent), card->job->config.fifo_drop);
    if (lost) {
        atomic_fetch_add(&card->job->card[dest].stat[STAT_DROPPED], 1);
        atomic_fetch_add(sent, 1);
    }
    return lost;
}

static size_t push_or_lose(struct vic *card, uint32_t dest, const uint64_t *words)
{
    if (!fifo_loses(card, dest)) {
        if (push(card, dest, words, 1) == 0) {
            return 0;
        }
        fifo_keeps(card);
    }
    return 1;
}

size_t fifo_push(struct vic *card, uint32_t dest, const uint64_t *words, size_t n)
{
    return card->job->config.fifo_drop <= 0 ? push(card, dest, words, n) : push_or_lose(card, dest, words);
}

struct target {
    struct vic *card;
    uint32_t dest;
};

bool fifo_has_space(const struct vic *card, uint32_t dest)
{
    const struct card_shared *target = &card->job->card[dest];
    uint64_t head = atomic_load(&target->fifo_head), used = positions(head, atomic_load(&target->fifo_tail));
    /* the head is read first: the tail is never behind it, unless a program overwrote it, and then there is none free */
    return used < card->job->config.fifo_words + atomic_load(&target->fifo_voids);
}

static bool has_space(void *what)
{
    const struct target *to = what;
    return fifo_has_space(to->card, to->dest);
}

static bool reader_is_gone(void *what)
{
    const struct target *to = what;
    return card_is_left(&to->card->job->card[to->dest]);
}

int fifo_wait_space(struct vic *card, uint32_t dest, uint64_t timeout_ns)
{
    struct target to = {card, dest};
    struct wait wait = {.bell = &card->job->card[dest].space, .ready = has_space, .what = &to,
                        .progress = pending_progress, .coming = pending_coming, .hopeless = reader_is_gone,
                        .kind = WAIT_ROOM, .dest = dest};
    return wait_for(card, &wait, timeout_ns);
}

/* Take between min and max words, or none. Positions that will never be filled are skipped. */
static size_t take(struct vic *card, uint64_t *words, size_t min, size_t max)
{
    struct card_shared *me = card->me;
    struct fifo_slot *slots = job_slots(card->job, card->number);
    uint64_t mask = card->job->ring - 1, head = atomic_load_explicit(&me->fifo_head, memory_order_relaxed), at;
    size_t count;
    do {
        count = 0;
        for (at = head; count < max && at - head <= mask; at++) {
            struct fifo_slot *slot = &slots[at & mask];
            uint64_t ticket = atomic_load_explicit(&slot->ticket, memory_order_acquire);
            if (ticket == ticket_word(at)) {
                words[count++] = word_load(&slot->word);
            } else if (ticket != ticket_void(at)) {
                break;
            }
        }
        if (at == head || (count > 0 && count < min)) {
            return 0;
        }
    } while (!atomic_compare_exchange_weak(&me->fifo_head, &head, at));
    STEP();
    if (__builtin_expect(at - head != count, 0)) {
        atomic_fetch_sub(&me->fifo_voids, at - head - count);
    }
    bell_ring(&me->space);
    if (__builtin_expect(card->job->config.hosts > 1, 0)) { /* for senders on other hosts */
        bell_ring(&card->job->shared->agent);
    }
    if (atomic_load_explicit(&functional_of(card)->relaxes, memory_order_relaxed) != 0) {
        atomic_store_explicit(&functional_of(card)->relaxes, 0, memory_order_relaxed);
    }
    if (__builtin_expect(card->watch != 0, 0)) {
        uint64_t tail = atomic_load_explicit(&me->fifo_tail, memory_order_relaxed);
        watch_fifo(card, card->number, positions(at, tail));
    }
    return count;
}

int functional_fifo_poll(struct vic *card, uint64_t *words, size_t max, size_t *n)
{
    pending_progress(card);
    *n = functional_overlooks(card) ? 0 : take(card, words, 1, max);
    return *n == 0 && job_known_orphaned(card->job) ? VIC_ECLOSED : VIC_OK;
}

bool fifo_holds(struct vic *card, size_t min)
{
    struct fifo_slot *slots = job_slots(card->job, card->number);
    uint64_t mask = card->job->ring - 1, head = atomic_load(&card->me->fifo_head), before;
    size_t count = 0;
    do {
        before = head;
        uint64_t last = head + min - 1;
        bool old = ticket_is_old(atomic_load_explicit(&slots[last & mask].ticket, memory_order_acquire), last);
        count = 0;
        for (uint64_t at = head; !old && count < min && at - head <= mask; at++) {
            uint64_t ticket = atomic_load_explicit(&slots[at & mask].ticket, memory_order_acquire);
            count += ticket == ticket_word(at);
            old = ticket != ticket_word(at) && ticket != ticket_void(at);
        }
        head = atomic_load(&card->me->fifo_head);
    } while (count < min && head != before); /* another thread took some meanwhile: there may be others behind */
    return count >= min;
}

bool fifo_filling(const struct vic *card)
{
    const struct fifo_slot *slots = job_slots(card->job, card->number);
    uint64_t mask = card->job->ring - 1, head = atomic_load(&card->me->fifo_head);
    uint64_t claimed = positions(head, atomic_load(&card->me->fifo_tail));
    bool filling = false;
    for (uint64_t at = head; !filling && at - head < claimed && at - head <= mask; at++) {
        filling = ticket_is_old(atomic_load_explicit(&slots[at & mask].ticket, memory_order_acquire), at);
    }
    return filling;
}

struct reader {
    struct vic *card;
    uint64_t *words;
    size_t min, max, count;
};

static bool has_taken(void *what)
{
    struct reader *reader = what;
    struct vic *card = reader->card;
    if (functional_overlooks(card)) {
        return false;
    }
    uint64_t last = atomic_load_explicit(&card->me->fifo_head, memory_order_relaxed) + reader->min - 1;
    struct fifo_slot *slot = &job_slots(card->job, card->number)[last & (card->job->ring - 1)];
    if (ticket_is_old(atomic_load_explicit(&slot->ticket, memory_order_acquire), last)) {
        return false; /* the last one is not there: no need to look at the others */
    }
    reader->count = take(card, reader->words, reader->min, reader->max);
    return reader->count >= reader->min;
}

int functional_fifo_wait(struct vic *card, uint64_t *words, size_t min, size_t max, size_t *n,
                         uint64_t timeout_ns)
{
    if (min == 0) {
        return functional_fifo_poll(card, words, max, n);
    }
    struct reader reader = {card, words, min, max, 0};
    struct wait wait = {.bell = &card->me->arrival, .ready = has_taken, .what = &reader, .progress = pending_progress,
                        .coming = pending_coming, .filling = fifo_filling, .kind = WAIT_COUNTERS, .words = min};
    int status = wait_for(card, &wait, timeout_ns);
    *n = status == VIC_OK ? reader.count : 0;
    return status;
}
