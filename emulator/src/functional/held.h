/* held.h: packets that have left their sender and not arrived.
 *
 * With --reorder all packets pass through here and leave in any order, at once or a little later; without,
 * only the rest of a DMA transfer that a full FIFO stopped. Every call of the card that waits or looks
 * delivers some; a thread, started with the first packet that is held, does so when the program does
 * not call.
 */
#ifndef VIC_HELD_H
#define VIC_HELD_H

#include "functional.h"

/* VIC_OK, VIC_ESYS. */
int held_open(struct vic *card);

/* Deliver all, but for packets whose FIFO is full and whose card is gone; end the thread. VIC_ETIMEDOUT, after saying how
 * many packets are lost: none could be delivered for CLOSE_PATIENCE_NS. */
int held_close(struct vic *card);
void held_dispose(struct vic *card);

/* Hold packets, checked again; dma->left (if there is one) counts those that have not been delivered. With
 * `wait`, not before there are few enough. VIC_OK, VIC_ESYS, those of a check, the statuses of a wait. */
int held_keep(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n,
              struct transfer *dma, bool wait);

/* Hold as many as there is room for, the first ones. VIC_EAGAIN: not all. */
int held_try(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *kept);

/* Some of what is held will arrive: its card is there to take it. */
bool held_coming(struct vic *card);

/* Deliver some. */
void held_deliver(struct vic *card);

/* held_deliver if anything is held: a load and a branch else. */
static inline void held_progress(struct vic *card)
{
    size_t held = atomic_load_explicit(&functional_of(card)->held_count, memory_order_relaxed);
    if (__builtin_expect(held != 0, 0)) {
        held_deliver(card);
    }
}

#endif
