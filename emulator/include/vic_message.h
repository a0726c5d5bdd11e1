/* vic_message.h: messages of any length between cards, on the calls of vic.h and nothing else.
 *
 *     vic_message_t *messages;
 *     if (vic_message_open(card, NULL, &messages) != VIC_OK) ...
 *     vic_message_send(messages, peer, "hello", 5, VIC_FOREVER);
 *     vic_message_recv(messages, &source, buffer, sizeof buffer, &bytes, VIC_FOREVER);
 *     vic_message_flush(messages, VIC_FOREVER);     // peer's program has them
 *     vic_message_close(messages);
 *
 * Every card has a ring in its SRAM for each card that may send to it. A sender writes pieces of a message
 * into its ring, each with its place and a checksum, as packets in any order; the receiver takes a piece when all
 * of it is right. The sender learns by query packets, which the receiver's host takes no part in, what has been
 * taken, and writes no further than that. docs/message.md has the protocol.
 *
 * What holds
 *   exactly once   A message that was sent is received once, whole and unchanged, unless its receiver closes
 *                  before it received it: then flush and close say VIC_EPEER. Words that somebody writes over a
 *                  ring are noticed by the checksum, and sent again (below). It finds accidents; it is no
 *                  protection against a program that forges pieces.
 *   order          Messages from one card come in the order in which they were sent. This version keeps to it
 *                  always; a program that relies on it sets VIC_MESSAGE_ORDERED, as later ones may not.
 *   credit         A sender waits when its ring is full; nothing overruns. The surprise FIFO is not used.
 *   peers          come and go: each vic_message_open is an incarnation of its own. Nothing of an earlier one
 *                  is taken for something of a later one.
 *
 * Conventions are those of vic.h: statuses, threads (any number may send and receive at the same time), timeouts.
 * Every wait ends as in vic.h, with VIC_EPEER and VIC_ECLOSED as there; what has arrived is received first. That the
 * program of one peer has ended, or has closed, ends no wait for it as long as others run: it may come back. After
 * vic_message_close, or vic_close of the card, calls say VIC_ECLOSED, those that wait just then too.
 *
 * Progress is made inside these calls only: there is no thread behind them. What was damaged or has to be
 * noticed by this card is when it next sends, receives, flushes or closes.
 *
 * All cards that talk to each other open with the same config, and have made the same vic_alloc and
 * vic_counter_alloc calls before. A vic_message_send to a card whose config or counters are others says VIC_EINVAL once
 * it has been so for 50 ms, and vic_error_detail how they differ; after other vic_alloc calls they see each other as
 * not open.
 */
#ifndef VIC_MESSAGE_H
#define VIC_MESSAGE_H

#include "vic.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vic_message vic_message_t;

/* VIC_MESSAGE_ORDERED: the messages of each sender come in the order in which it sent them. */
enum { VIC_MESSAGE_ORDERED = 1 };

struct vic_message_config {
    size_t max_bytes;    /* of one message, at most 1 GiB; 0: 16 MiB */
    size_t window_bytes; /* of each ring, 512 B to 16 MiB, rounded up to a power of two. 0: an equal share of a
                          * quarter of the SRAM for each card, at most 512 KiB */
    unsigned flags;
};

/* Open messages on a card, once at a time. NULL as config is all 0. Allocates cards x (window_bytes + 128) bytes of
 * SRAM and up to 9 counters, which stay allocated until the card is closed: peers may still write there.
 * The host memory of a ring is taken when the first message is sent to that card.
 * The config may get fields at its end in later versions, with 0 as what was before: as with vic_query_attr the size is
 * told by the second name. VIC_EINVAL: the config. VIC_EBUSY: messages are open on this card. VIC_ENOSPC: SRAM or counters. VIC_ESYS: no
 * memory. cost: 4 words per card at pio_rate. */
VIC_API int vic_message_open(vic_t *card, const struct vic_message_config *config, vic_message_t **messages);
VIC_API int vic_message_open_sized(size_t config_bytes, vic_t *card, const struct vic_message_config *config,
                                   vic_message_t **messages);
#define vic_message_open(...) vic_message_open_sized(sizeof(struct vic_message_config), __VA_ARGS__)

/* Send bytes to a card, which may be this one. data may be NULL if bytes is 0. The buffer may be used again when the
 * call returns. While it waits for credit, messages that arrive are taken into host memory, up to max_bytes
 * of them: so two cards may send to each other before they receive, up to that.
 * VIC_ETIMEDOUT: there was no credit, as the peer is not open or does not receive; nothing was sent: not even part
 * of the message will be received. VIC_EINVAL: more than max_bytes; the peer's config is another.
 * VIC_ERANGE: no such card.
 * cost: (bytes + 24) of each piece as vic_put, and a packet that rings. */
VIC_API int vic_message_send(vic_message_t *messages, uint32_t dest, const void *data, size_t bytes,
                             uint64_t timeout_ns);

/* Receive a message of any card. VIC_ENOSPC: capacity is too small; *bytes says what is needed, *src who sent it, and
 * the message stays, the next to be received. data may be NULL if capacity is 0. Whatever the status, data up
 * to capacity may have been written. src may be NULL. VIC_ESYS: no memory for the parts of a message.
 * cost: 4 words at pio_read for a message up to 8 B, else dma_setup per 32 KiB and 8 B at pcie_rate per word. */
VIC_API int vic_message_recv(vic_message_t *messages, uint32_t *src, void *data, size_t capacity, size_t *bytes,
                             uint64_t timeout_ns);

/* Wait until all that was sent before has been received by the programs of its destinations. VIC_EPEER, besides
 * a dead card: a peer closed and had not received all; said once. cost: a query per card and look. */
VIC_API int vic_message_flush(vic_message_t *messages, uint64_t timeout_ns);

/* The same for one card. VIC_ERANGE: no such card. */
VIC_API int vic_message_flush_to(vic_message_t *messages, uint32_t dest, uint64_t timeout_ns);

/* How many openings of a peer's messages have ended, as far as this card knows by now. If the number has changed since
 * before a vic_message_send, its program may not have received that message. cost: poll_mirror, and a query if
 * some peer has closed. */
VIC_API int vic_message_ends(vic_message_t *messages, uint32_t peer, uint64_t *ends);

/* Close. Does not wait: what was sent stays where it is and will be received, unless the card's memory is used for
 * something else; so flush before. What arrived and was not received is lost, and its senders are told. Other
 * threads' calls end with VIC_ECLOSED. VIC_EPEER: a peer had closed and not received all; closed all the same. */
VIC_API int vic_message_close(vic_message_t *messages);

#ifdef __cplusplus
}
#endif

#endif
