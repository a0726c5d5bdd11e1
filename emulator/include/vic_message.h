/* vic_message.h: messages of any length between cards, on the calls of vic.h and nothing else.
 *
 *     vic_message_t *messages;
 *     if (vic_message_open(card, NULL, &messages) != VIC_OK) ...
 *     vic_message_send(messages, peer, "hello", 5, VIC_FOREVER);
 *     vic_message_recv(messages, &source, buffer, sizeof buffer, &bytes, VIC_FOREVER);
 *     vic_message_flush(messages, VIC_FOREVER);     // peer's program has them
 *     vic_message_close(messages);
 *
 * Every card has one ring in its SRAM for each card that may send to it. A sender writes a message into its ring in
 * pieces, each with its position and a checksum, as packets that arrive in any order; the receiver takes a piece when
 * all of it is right. By query packets, in which the receiver's host takes no part, the sender learns what has been
 * taken, and it writes no further than that. docs/message.md has the protocol.
 *
 * Guarantees
 *   exactly once   A message that was sent is received once, whole and unchanged, unless its receiver closes before
 *                  it has received it: then flush and close return VIC_EPEER. If a program writes over a ring by
 *                  accident, the checksum finds that and the piece is sent again. It is no protection against a
 *                  program that forges pieces.
 *   order          Messages from one card arrive in the order in which they were sent. A program that relies on this
 *                  sets VIC_MESSAGE_ORDERED: this version always keeps the order, later ones may not.
 *   credit         A sender waits while its ring is full; nothing is overwritten. The surprise FIFO is not used.
 *   peers          Cards come and go. Each vic_message_open is an incarnation of its own: nothing of an earlier one
 *                  is taken for something of a later one.
 *
 * The conventions of vic.h hold: statuses, threads (any number may send and receive at the same time), timeouts.
 * Every wait ends as in vic.h, with VIC_EPEER and VIC_ECLOSED as there; messages that have arrived are received
 * first. If the program of one peer ends or closes, that ends no wait for it as long as others run: the peer may come
 * back. After vic_message_close, or vic_close of the card, calls return VIC_ECLOSED, also those that are waiting.
 *
 * Progress is made only inside these calls; no thread runs behind them. A damaged piece, or anything else that this
 * card has to notice, is noticed when it next sends, receives, flushes or closes.
 *
 * All cards that talk to each other open with the same config, after the same vic_alloc and vic_counter_alloc calls.
 * If the config or the counters of a peer differ, vic_message_send to it returns VIC_EINVAL after 50 ms, and
 * vic_error_detail says how they differ. If the vic_alloc calls differed, the cards see each other as not open.
 */
#ifndef VIC_MESSAGE_H
#define VIC_MESSAGE_H

#include "vic.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vic_message vic_message_t;

/* VIC_MESSAGE_ORDERED: messages of each sender arrive in the order in which it sent them. */
enum { VIC_MESSAGE_ORDERED = 1 };

struct vic_message_config {
    size_t max_bytes;    /* of one message, at most 1 GiB; 0: 16 MiB */
    size_t window_bytes; /* of each ring, 512 B to 16 MiB, rounded up to a power of two; 0: each card's share of a
                          * quarter of the SRAM, at most 512 KiB */
    unsigned flags;
};

/* Open messages on a card; they can be open once at a time. NULL stands for a config that is all 0. This allocates
 * cards x (window_bytes + 128) bytes of SRAM and up to 10 counters, which stay allocated until the card is closed, as
 * peers may still write there. The host memory of a ring is allocated when the first message to that card is sent.
 * Later versions may add fields at the end of the config, with 0 for what was before; the second name passes its
 * size, as for vic_query_attr. VIC_EINVAL: the config. VIC_EBUSY: messages are open on this card. VIC_ENOSPC: SRAM or
 * counters. VIC_ESYS: no memory. cost: 4 words per card at pio_rate. */
VIC_API int vic_message_open(vic_t *card, const struct vic_message_config *config, vic_message_t **messages);
VIC_API int vic_message_open_sized(size_t config_bytes, vic_t *card, const struct vic_message_config *config,
                                   vic_message_t **messages);
#define vic_message_open(...) vic_message_open_sized(sizeof(struct vic_message_config), __VA_ARGS__)

/* Send bytes to a card, which may be this one. data may be NULL if bytes is 0. The buffer may be used again when the
 * call returns. While the call waits for credit, it takes messages that arrive into host memory, up to max_bytes of
 * them: two cards may send that much to each other before they receive.
 * VIC_ETIMEDOUT: there was no credit, because the peer is not open or does not receive, or the message is longer than
 * what the ring has room for. The message was not sent, and no part of it will be received. If the next message to
 * that card is the same again, it goes on where it was; so a message of any length gets through with timeout 0, too.
 * VIC_EINVAL: more than max_bytes, or the config of the peer differs. VIC_ERANGE: no such card. cost: (bytes + 24) of each piece as vic_put, and one packet that wakes the receiver. */
VIC_API int vic_message_send(vic_message_t *messages, uint32_t dest, const void *data, size_t bytes,
                             uint64_t timeout_ns);

/* Receive a message from any card. src may be NULL; data may be NULL if capacity is 0. VIC_ENOSPC: capacity is too
 * small; *bytes is what is needed, *src the sender, and the message stays the next one to be received. Whatever the
 * status, data may have been written up to capacity. VIC_ESYS: no memory for the parts of a message.
 * cost: two looks (poll_mirror) and, where that is faster than pio_read of its words, a transfer as vic_dma_read: one for
 * a message up to 256 B or no longer than the last one of that card, else another one per 32 KiB. With timeout 0 and
 * nothing there: poll_mirror; each 20 us four of them, to notice ends, and each 10 ms a transfer per card. */
VIC_API int vic_message_recv(vic_message_t *messages, uint32_t *src, void *data, size_t capacity, size_t *bytes,
                             uint64_t timeout_ns);

/* Wait until the programs of the destinations have received all that was sent before. VIC_EPEER, besides a dead card:
 * a peer closed before it had received all; this is reported once. cost: a query per card and look. */
VIC_API int vic_message_flush(vic_message_t *messages, uint64_t timeout_ns);

/* The same for one card. VIC_ERANGE: no such card. */
VIC_API int vic_message_flush_to(vic_message_t *messages, uint32_t dest, uint64_t timeout_ns);

/* How many openings of a peer's messages have ended, as far as this card knows. If the number has changed since
 * before a vic_message_send, the peer's program may not have received that message. cost: poll_mirror, and a query if
 * some peer has closed. */
VIC_API int vic_message_ends(vic_message_t *messages, uint32_t peer, uint64_t *ends);

/* Close, without waiting: flush before. Messages that were sent stay where they are and can still be received, unless
 * the memory of the card is used for something else. Messages that arrived here and were not received are lost, and
 * their senders learn it. Calls of other threads end with VIC_ECLOSED. VIC_EPEER: a peer had closed and not received
 * all; this closes all the same. */
VIC_API int vic_message_close(vic_message_t *messages);

#ifdef __cplusplus
}
#endif

#endif
