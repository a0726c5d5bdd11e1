/* The program's end of the rings that lead to other hosts. */
#include "remote.h"

#include <string.h>

#include "claims.h"
#include "race.h"
#include "watch.h"

enum { SLICE_NS = 20 * 1000 * 1000 };

/* True when no agent will take anything from the ring any more. */
static bool is_over(const struct vic *card)
{
    return atomic_load(&card->job->shared->poison) != 0 || job_orphaned(card->job);
}

/* Waits until so many words fit; the caller holds the lock. Returns false when the job is over. The agent never stops
 * emptying the ring, so the wait is short. */
static bool wait_room(struct vic *card, struct ring *ring, uint64_t words)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    while (tail + words - atomic_load(&ring->head) > RING_WORDS) {
        uint32_t seen = bell_enter(&ring->space);
        if (tail + words - atomic_load(&ring->head) > RING_WORDS) {
            bell_sleep(&ring->space, seen, SLICE_NS);
        }
        if (is_over(card)) {
            return false;
        }
    }
    return true;
}

static void copy(struct ring *ring, uint64_t at, const uint64_t *words, size_t n)
{
    if (n == 0) {
        return;
    }
    size_t first = (size_t)(at % RING_WORDS), whole = RING_WORDS - first < n ? RING_WORDS - first : n;
    memcpy(ring->word + first, words, whole * sizeof *words);
    memcpy(ring->word, words + whole, (n - whole) * sizeof *words);
}

/* One record: its head and what follows, in two parts; the caller holds the lock. What is written when the job is over
 * does not matter. */
static void write_locked(struct vic *card, const uint64_t *head, size_t heads, const uint64_t *words, size_t n)
{
    struct ring *ring = job_ring(card->job, card->number);
    if (wait_room(card, ring, heads + n)) {
        uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
        copy(ring, tail, head, heads);
        copy(ring, tail + heads, words, n);
        STEP();
        atomic_store(&ring->tail, tail + heads + n);
        STEP();
        bell_ring(&card->job->shared->agent);
    }
}

/* --trace: arrows lead from the present call to where the next record arrives. The caller holds the lock. */
FAIL_COLD static void write_sent(struct vic *card)
{
    uint64_t head[] = {record_word(RECORD_SENT, card->number, watch_thread()), card->ops->time_ns(card)};
    write_locked(card, head, 2, NULL, 0);
}

static void write_record(struct vic *card, const uint64_t *head, size_t heads, const uint64_t *words, size_t n)
{
    pthread_mutex_lock(&functional_of(card)->ring_lock);
    if (__builtin_expect(card->watch & WATCH_TRACE, 0) && record_kind(head[0]) == RECORD_PUT) {
        write_sent(card);
    }
    write_locked(card, head, heads, words, n);
    pthread_mutex_unlock(&functional_of(card)->ring_lock);
}

/* True if the FIFO of another host's card has room for a word, as far as is known on this host. */
static bool claim_room(struct vic *card, struct ring *ring, uint32_t dest)
{
    struct card_shared *target = &card->job->card[dest];
    uint32_t claims = atomic_load_explicit(&ring->claims, memory_order_relaxed);
    uint64_t tail = atomic_load(&target->fifo_tail);
    for (;;) {
        if (positions(atomic_load(&target->fifo_head), tail) >= card->job->config.fifo_words) {
            uint64_t now = atomic_load(&target->fifo_tail);
            if (now == tail) {
                atomic_store(&ring->claims, claims);
                return false;
            }
            tail = now;
            continue;
        }
        if (tail >> 40 != (uint64_t)card->number + 1) {
            room_note(card->job, dest, tail);
        }
        atomic_store(&ring->claim[claims], room_claim(dest, tail));
        STEP();
        atomic_store(&ring->claims, claims + 1);
        STEP();
        if (atomic_compare_exchange_weak(&target->fifo_tail, &tail, claim_by(tail + 1, card->number))) {
            STEP();
            return true;
        }
    }
}

/* A word that the fault fifo-drop loses is counted all the same. */
static bool fifo_word(struct vic *card, struct ring *ring, uint64_t *header, uint64_t *payload)
{
    struct packet packet = packet_of(*header);
    if (card->job->config.fifo_drop > 0 && fifo_loses(card, packet.dest)) {
        *header = vic_header(packet.dest, VIC_COUNTER_ADD, 0, packet.counter);
        *payload = UINT64_MAX;
        return true;
    }
    bool fits = claim_room(card, ring, packet.dest);
    if (fits && card->job->config.fifo_drop > 0) {
        fifo_keeps(card);
    }
    return fits;
}

/* The first of these packets in one record, with the lock; how many. */
static uint32_t send_batch(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n)
{
    struct ring *ring = job_ring(card->job, card->number);
    uint64_t words[2 * RING_BATCH];
    uint32_t count = 0;
    if (__builtin_expect(card->watch & WATCH_TRACE, 0)) {
        write_sent(card);
    }
    atomic_store(&ring->claimed_at, atomic_load_explicit(&ring->tail, memory_order_relaxed));
    while (count < RING_BATCH && count < n) {
        uint64_t header = read_once(&headers[count]), payload = read_once(&payloads[count]);
        struct packet packet = packet_of(header);
        if (packet_check(card, header, payload) != VIC_OK || job_is_here(card->job, packet.dest) ||
            (packet.op == VIC_FIFO && !fifo_word(card, ring, &header, &payload))) {
            break;
        }
        words[2 * count] = header;
        words[2 * count + 1] = payload;
        count++;
    }
    if (count > 0) {
        uint64_t head = record_word(RECORD_PACKETS, card->number, count);
        write_locked(card, &head, 1, words, 2 * (size_t)count);
    }
    atomic_store(&ring->claims, 0);
    return count;
}

size_t remote_send(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n)
{
    size_t sent = 0;
    uint32_t count = RING_BATCH;
    while (sent < n && count == RING_BATCH) {
        pthread_mutex_lock(&functional_of(card)->ring_lock);
        count = send_batch(card, headers + sent, payloads + sent, n - sent);
        pthread_mutex_unlock(&functional_of(card)->ring_lock);
        sent += count;
    }
    return sent;
}

void remote_put(struct vic *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n, unsigned counter)
{
    for (size_t i = 0; i < n; i += RECORD_PUT_MOST) {
        size_t count = n - i < RECORD_PUT_MOST ? n - i : RECORD_PUT_MOST;
        uint64_t head[] = {record_word(RECORD_PUT, card->number, (uint32_t)count),
                           vic_header(dest, VIC_WRITE, addr + (vic_addr_t)i, counter)};
        write_record(card, head, 2, words + i, count);
    }
}

void remote_opens(struct vic *card, uint64_t opens)
{
    uint64_t head[] = {record_word(RECORD_OPENS, card->number, 1), opens};
    write_record(card, head, 2, NULL, 0);
}

void remote_arrive(struct vic *card, uint32_t generation)
{
    uint64_t head = record_word(RECORD_ARRIVE, card->number, generation);
    write_record(card, &head, 1, NULL, 0);
}

/* Answers are numbered: one may still come for a program of this card that was killed. */
void remote_leave(struct vic *card)
{
    struct ring *ring = job_ring(card->job, card->number);
    struct bell *released = &card->job->shared->released;
    uint32_t number = atomic_fetch_add(&ring->leaves, 1) + 1;
    uint64_t head = record_word(RECORD_LEAVE, card->number, number);
    write_record(card, &head, 1, NULL, 0);
    while (atomic_load(&ring->left) != number && !is_over(card)) {
        uint32_t seen = bell_enter(released);
        if (atomic_load(&ring->left) != number) {
            bell_sleep(released, seen, SLICE_NS);
        }
    }
}

bool remote_coming(const struct vic *card)
{
    bool comes = atomic_load(&job_ring(card->job, card->number)->held) != 0;
    for (uint32_t i = 0; i < card->job->here; i++) { /* the answers to their queries may be for this one */
        const struct ring *ring = job_ring(card->job, card->job->first + i);
        comes |= atomic_load(&ring->head) != atomic_load(&ring->tail) || atomic_load(&ring->flying) != 0;
    }
    return comes;
}
