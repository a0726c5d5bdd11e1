/* pending.h: packets that have left their sender and not arrived.
 *
 * With --reorder all packets pass through here and leave in any order, at once or a little later; without,
 * only the rest of a DMA transfer that a full FIFO stopped. Every call of the card that waits or looks
 * delivers some; a thread, started with the first packet that is pending, does so when the program does
 * not call.
 */
#ifndef VIC_PENDING_H
#define VIC_PENDING_H

#include "functional.h"

/* VIC_OK, VIC_ESYS. */
int pending_open(struct vic *card);

/* Deliver all, but for packets whose FIFO is full and whose card is gone; end the thread. VIC_ETIMEDOUT, after saying how
 * many packets are lost: none could be delivered for CLOSE_TIMEOUT_NS. */
int pending_close(struct vic *card);
void pending_dispose(struct vic *card);

/* Keep packets, which are checked again; dma->left (if there is a transfer) counts those that have not been delivered.
 * With `wait`, return when few enough are left. VIC_OK, VIC_ESYS, the status of a check or of a wait. */
int pending_add(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n,
              struct transfer *dma, bool wait);

/* Keep the first packets, as many as there is room for. VIC_EAGAIN: not all. */
int pending_try(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *kept);

/* Some of what is pending will arrive: its card is there to take it. */
bool pending_coming(struct vic *card);

/* Deliver some. */
void pending_deliver(struct vic *card);

/* Call pending_deliver if anything is pending, which takes a load and a branch to find out. */
static inline void pending_progress(struct vic *card)
{
    size_t pending = atomic_load_explicit(&functional_of(card)->pending_count, memory_order_relaxed);
    if (__builtin_expect(pending != 0, 0)) {
        pending_deliver(card);
    }
}

#endif
