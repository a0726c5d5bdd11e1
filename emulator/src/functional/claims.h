/* claims.h: what a card may have half done in the job's memory when its program ends, in a form that whoever takes its
 * seat can finish or take back: places in a FIFO that it took and did not fill, and its part in a barrier.
 *
 * Both are taken by exchanging one word, the FIFO's tail or the barrier. That word also says who did so last;
 * whoever exchanges it next writes that down first, where it stays: in the last slot that was taken, or in the
 * mark of the card that came or went. So at any moment everything is known, and nobody waits for anybody.
 *
 * Over hosts agents count the barrier, and a program has room half taken in FIFOs of other hosts.
 */
#ifndef VIC_CLAIMS_H
#define VIC_CLAIMS_H

#include "job.h"

/* claims.c. Take back or finish what the dead owner of a card was doing to FIFOs and the barrier; by who has its seat now.
 * False: there is no room for that. */
bool claims_undo(const struct job *job, uint32_t dead);

/* ---- FIFO. A position is the number of the word in the life of the FIFO, modulo 2^40.
 *
 *     tail     card + 1 24 | position 40      the next position; this card took the places before it, 0: nobody
 *     ticket   card + 1 24 | position + 1 40  of a slot. A smaller position: it is not filled. Else 0: a word
 *              is there; VOID: none ever will be; a card: it is not filled, the last one that this card took.
 * What was taken is filled from the first slot to the last. */
enum { CLAIM_MOST = 256, CLAIM_VOID = 0xffffff };
#define POSITION ((UINT64_C(1) << 40) - 1)

static inline uint64_t claim_by(uint64_t position, uint32_t card)
{
    return (position & POSITION) | ((uint64_t)card + 1) << 40;
}

static inline uint64_t ticket_word(uint64_t position)
{
    return (position + 1) & POSITION;
}

static inline uint64_t ticket_void(uint64_t position)
{
    return ticket_word(position) | (uint64_t)CLAIM_VOID << 40;
}

/* From `from` on to `to`; half of all positions or more: it lies behind. */
static inline uint64_t positions(uint64_t from, uint64_t to)
{
    return (to - from) & POSITION;
}

/* Is this ticket of an earlier position than that of the slot now? */
static inline bool ticket_is_old(uint64_t ticket, uint64_t position)
{
    return positions(ticket_word(position), ticket) > POSITION / 2;
}

/* The card that has claimed the slot and not filled it, or -1. */
static inline int64_t ticket_card(uint64_t ticket, uint64_t position)
{
    uint64_t by = ticket >> 40;
    bool claimed = ((ticket ^ ticket_word(position)) & POSITION) == 0 && by != 0 && by != CLAIM_VOID;
    return claimed ? (int64_t)by - 1 : -1;
}

/* Note which card took the positions before the tail, unless the last of them is filled. */
static inline void claim_note(const struct job *job, struct fifo_slot *slots, uint64_t tail)
{
    uint64_t last = (tail - 1) & POSITION;
    struct fifo_slot *slot = &slots[last & (job->ring - 1)];
    uint64_t ticket = atomic_load_explicit(&slot->ticket, memory_order_acquire);
    if (__builtin_expect(tail >> 40 != 0 && ticket_is_old(ticket, last), 0)) {
        atomic_compare_exchange_strong(&slot->ticket, &ticket, ticket_word(last) | tail >> 40 << 40);
    }
}

/* ---- barrier
 *
 *     word     step 14 | card + 1 17 | generation 16 | cards that are in it 17
 *              `card` came or went last, by its `step`
 *     mark     generation 16 | step 14  of a card. Steps are counted; by an odd one it came, by an even one it
 *              went. */
enum { STEPS = 1 << 14, GENERATIONS = 1 << 16 };

static inline uint64_t barrier_word(uint32_t generation, uint32_t count, uint32_t card, uint32_t step)
{
    return (uint64_t)(count & 0x1ffff) | (uint64_t)(generation % GENERATIONS) << 17 |
           ((uint64_t)card + 1) << 33 | (uint64_t)(step % STEPS) << 50;
}

static inline uint32_t barrier_count(uint64_t word)
{
    return (uint32_t)(word & 0x1ffff);
}

static inline uint32_t barrier_generation(uint64_t word)
{
    return (uint32_t)(word >> 17) % GENERATIONS;
}

static inline uint32_t barrier_mark(uint64_t word)
{
    return barrier_generation(word) << 14 | (uint32_t)(word >> 50);
}

static inline bool mark_is_in(uint32_t mark, uint64_t word)
{
    return mark % 2 == 1 && mark / STEPS == barrier_generation(word);
}

/* Write down in the mark of the card that came or went last what it did. */
static inline void barrier_note(const struct job *job, uint64_t word)
{
    uint32_t card = (uint32_t)(word >> 33 & 0x1ffff) - 1;
    if (card < job->config.cards) {
        _Atomic uint32_t *mark = &job->card[card].barrier_mark;
        uint32_t old = atomic_load(mark), new = barrier_mark(word), steps = (new - old) % STEPS;
        if (steps != 0 && steps < STEPS / 2) {
            atomic_compare_exchange_strong(mark, &old, new);
        }
    }
}

/* The card goes out of the barrier; false: it was not in, or the barrier is complete. */
static inline bool barrier_go(const struct job *job, uint32_t card)
{
    uint64_t old = atomic_load(&job->shared->barrier);
    for (;;) {
        barrier_note(job, old);
        uint32_t mark = atomic_load(&job->card[card].barrier_mark);
        if (!mark_is_in(mark, old)) {
            return false;
        }
        uint64_t new = barrier_word(barrier_generation(old), barrier_count(old) - 1, card, mark + 1);
        if (atomic_compare_exchange_weak(&job->shared->barrier, &old, new)) {
            return true;
        }
    }
}

/* ---- room in the FIFO of another host's card, for words that a program is about to write to its ring. Its tail here says
 * what programs of this host have taken, word by word, and who took the last, as above. Each program lists what it takes:
 *
 *     claim    card + 1 24 | position 40
 *
 * All claims of the list but the last were taken. The last one was taken if the tail or `noted` names it: the program that
 * changes the tail next first copies the old tail to `noted`. Once the ring's tail has gone past `claimed_at` the words are
 * on their way. */
static inline uint64_t room_claim(uint32_t dest, uint64_t position)
{
    return claim_by(position, dest);
}

static inline void room_note(const struct job *job, uint32_t dest, uint64_t tail)
{
    uint32_t by = (uint32_t)(tail >> 40) - 1;
    if (!job_is_here(job, by)) {
        return;
    }
    struct ring *ring = job_ring(job, by);
    uint64_t noted = atomic_load(&ring->noted), claim = room_claim(dest, tail - 1);
    uint32_t last = atomic_load(&ring->claims) - 1;
    if (last < RING_BATCH && atomic_load(&ring->claim[last]) == claim) {
        atomic_compare_exchange_strong(&ring->noted, &noted, claim);
    }
}

#endif
