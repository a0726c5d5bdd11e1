/* host.h: the receiving node's memory: a DRAM ring of a few buffers with a finite number of word slots.
 *
 * The card's DMA engine fills one buffer while the bridge's threads empty another. A burst that does
 * not fit overruns the buffer: the ring takes what it can, the rest stays with the sender, which is
 * held back until a buffer is empty again. Nothing is ever dropped:
 *
 *     filled == drained + held in the ring        (dvsim_host_check)
 *
 * Units are messages of one size, because a burst has one size at flow fidelity.
 */
#ifndef DVSIM_HOST_HOST_H
#define DVSIM_HOST_HOST_H

#include "engine/law.h"

typedef struct {
    int64_t slots;      /* messages that one buffer holds, by its bytes */
    int64_t buffers;    /* buffers of the ring */
    int64_t reserve;    /* messages that the threads hold in reassembly beyond the buffer, one each */
    int64_t in_use;     /* buffers that are filling or draining */
    int64_t held;       /* messages in the ring */
    int64_t filled;     /* messages taken since init */
    int64_t drained;    /* messages given to the threads since init */
    int64_t windows;    /* bursts admitted */
    int64_t overruns;   /* of these, bursts that did not fit */
} dvsim_host;

/* A ring of `buffers` buffers of buffer_bytes each for messages of message_words 64-bit words.
 * A buffer smaller than one message still takes what the threads' reserve takes.
 * DVSIM_EINVAL: NULL, sizes below zero or above 2^50, no buffer, no thread, message_words < 1. */
int dvsim_host_init(dvsim_host *host, int64_t buffer_bytes, int64_t buffers, int64_t threads,
                    int64_t message_words);

/* Messages that one buffer and the threads take before the sender is stopped. */
int64_t dvsim_host_room(const dvsim_host *host);

/* How a buffer fills and drains at the same time. */
typedef struct {
    int64_t arrival_ps; /* from one message to the next, on the way in */
    int64_t drain_ps;   /* and on the way out, once the threads have come to this buffer */
    int64_t wait_ps;    /* until then: they empty the buffers before it first */
    int64_t stop_ppm;   /* the sender is stopped early or late: 1,000,000 is exactly when full */
} dvsim_flow;

/* Fill a free buffer with a burst of `offered` messages. Messages leave it while others arrive, so a
 * buffer overruns only where the bridge is slower than the network. Returns how many were taken, at least
 * 1; fewer than offered is an overrun. DVSIM_EINVAL: offered < 1 or a negative number in flow.
 * DVSIM_ESTATE: no buffer is free. */
int64_t dvsim_host_fill(dvsim_host *host, int64_t offered, const dvsim_flow *flow);

/* The threads have emptied a buffer of `messages`. DVSIM_ESTATE: that many are not in the ring. */
int dvsim_host_drain(dvsim_host *host, int64_t messages);

/* 1 when the ring's books balance. */
int dvsim_host_check(const dvsim_host *host);

#endif
