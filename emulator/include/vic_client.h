/* vic_client.h: publish to brokers and receive from them through a bridge on another card; and publish from card to
 * card by topic. On vic_message.h and vic_peer_opens.
 *
 *     vic_client_t *client;
 *     struct vic_delivery d;
 *     if (vic_client_open(card, NULL, NULL, &client) != VIC_OK) ...
 *     vic_client_publish(client, bridge, "orders.eu", "hello", 5, VIC_FOREVER);
 *     vic_client_flush(client, VIC_FOREVER);                  // the broker has confirmed it
 *     vic_client_subscribe(client, bridge, "orders", 64);
 *     while (vic_client_recv(client, &d, VIC_FOREVER) == VIC_OK) {
 *         if (d.kind == VIC_REFUSAL) {                        // no such queue, or it was deleted: no more will come
 *             fprintf(stderr, "%s: %s\n", d.key, vic_client_reason(&d));
 *             break;
 *         }
 *         if (d.kind == VIC_DELIVER) use(d.key, d.body, d.bytes);
 *         vic_client_ack(client, &d, 0);                      // only now does the broker forget it
 *     }
 *     vic_client_close(client);
 *
 * A bridge is a program that takes envelopes (vic_envelope.h) from its card and hands them to a broker: vicbridge, to
 * RabbitMQ; or your own, with VIC_CLIENT_BRIDGE. docs/client.md has the protocol.
 *
 * Guarantees
 *   at least once  A published message is kept in host memory until the bridge has confirmed it, which it does when
 *                  the broker has. When the bridge's card is opened again, all messages that are not confirmed are
 *                  published again, with the same session and id, so that consumers can drop duplicates. A delivery
 *                  belongs to the broker until it is acknowledged here.
 *   order          Messages of one thread to one bridge leave in the order in which they were published; repeated
 *                  ones do, too, before any new one. Confirms come in any order.
 *   memory         At most window_messages messages and window_bytes bytes are unconfirmed, and at most window_bytes
 *                  wait to be received; one message is always allowed, however large. While this card publishes to a
 *                  bridge, deliveries from it may exceed this, up to the credit of its subscriptions.
 *   relays         A program may receive and publish what it received, on one thread and with any windows. While
 *                  vic_client_publish or vic_client_flush waits for confirms and window_bytes are full, it takes only
 *                  what the bridge sends off the card; messages of others wait in their rings. See
 *                  emulator/examples/relay.c. The rule: the card that confirms must not send topics, or publish, to
 *                  the card that waits for the confirm (VIC_ENOSPC, see vic_client_publish).
 *   one of both    A card has a client, or vic_message of its own (VIC_EBUSY). The client's messages come out of the
 *                  same ring of each peer, in order, so a program that received them would take confirms, too. To
 *                  send a message to one card, use vic_client_topic with a topic that only that card has bound.
 *   topics         A message goes once to each card that has bound a matching pattern, as far as this card knows. No
 *                  broker takes part, and nothing is kept for cards that are not there. A card that does not receive
 *                  holds up those who publish to it.
 *   groups         Cards that subscribe to the same queue share it: each message goes to one of them.
 *
 * The conventions of vic.h hold: statuses, timeouts, and threads: any number may call at the same time, on the same
 * handle. Every wait ends as in vic.h, with VIC_EPEER and VIC_ECLOSED as there. A bridge that leaves a job which goes
 * on without it does not end a wait: the wait goes on until the bridge comes back, or until its timeout. After
 * vic_client_close, or vic_close of the card, calls return VIC_ECLOSED, also those that are waiting.
 *
 * Progress is made only inside these calls: also publishing again, subscribing again, and sending bindings to cards
 * that came later. A program that computes for a long time calls vic_client_recv with timeout 0 now and then.
 */
#ifndef VIC_CLIENT_H
#define VIC_CLIENT_H

#include "vic_envelope.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vic_client vic_client_t;

enum {
    VIC_CLIENT_AT_MOST_ONCE = 1, /* publish without confirms: nothing is kept, nothing is repeated */
    VIC_CLIENT_PERSISTENT = 2,   /* brokers write the messages to disk */
    VIC_CLIENT_BRIDGE = 4,       /* vic_client_recv gives the VIC_PUBLISH of others; vic_client_ack confirms it */
    VIC_CLIENT_RETURNS = 8       /* vic_client_recv gives what was returned or refused, as VIC_CONFIRM */
};

struct vic_client_config {
    size_t window_messages; /* 0: 1024; at most 1048576, a larger number counts as that */
    size_t window_bytes;    /* 0: 16 MiB */
    unsigned flags;
};

struct vic_client_count {
    uint64_t session;              /* of this opening */
    uint64_t published, confirmed; /* messages; confirmed counts returned and refused ones, too */
    uint64_t returned, refused;    /* the broker had no queue for them; the broker refused them */
    uint64_t repeated;             /* published again, because the bridge's card was opened again */
    uint64_t unconfirmed;          /* at present */
    uint64_t delivered;            /* messages that vic_client_recv gave */
    uint64_t topics;               /* messages that vic_client_topic sent to cards */
    uint64_t strange;              /* messages that were no envelopes, or not for a client; they were dropped */
};

/* What vic_client_recv gave. */
struct vic_delivery {
    unsigned kind;     /* VIC_DELIVER, VIC_TOPIC, VIC_REFUSAL; VIC_PUBLISH, VIC_CONFIRM if their flags are set */
    unsigned flags;    /* of the envelope: VIC_REDELIVERED, VIC_RETURNED, ... */
    uint32_t src;      /* the card that sent it */
    uint32_t subscription; /* of a DELIVER or REFUSAL: the number that vic_client_subscribe gave */
    uint64_t session, id;  /* of the VIC_PUBLISH or VIC_TOPIC, different for any two messages; 0: not known */
    const char *key;       /* ends with a 0 byte, and may contain others */
    size_t key_bytes;
    const void *body; /* at a multiple of 16 */
    size_t bytes;
    uint64_t token[3]; /* for vic_client_ack */
    void *memory;      /* of key and body */
};

/* Open a client on a card. This opens vic_message there: a card has one or the other. NULL stands for a config that
 * is all 0. Cards that talk to each other use the same `messages` config, see vic_message_open. A client takes one
 * counter more. The second name passes the sizes of the structs, as for vic_query_attr. Errors are those of
 * vic_message_open; VIC_EINVAL also: unknown flags. */
VIC_API int vic_client_open(vic_t *card, const struct vic_message_config *messages,
                            const struct vic_client_config *config, vic_client_t **client);
VIC_API int vic_client_open_sized(size_t messages_bytes, size_t config_bytes, vic_t *card,
                                  const struct vic_message_config *messages,
                                  const struct vic_client_config *config, vic_client_t **client);
#define vic_client_open(...)                                                                                \
    vic_client_open_sized(sizeof(struct vic_message_config), sizeof(struct vic_client_config), __VA_ARGS__)

/* Publish through the bridge on card `bridge`, which may not be there yet. Waits while the window is full or the
 * bridge takes nothing. VIC_OK: the message is on its way and, with confirms, kept until confirmed; the arguments may
 * be used again. VIC_ETIMEDOUT: it was not published and will not be. VIC_EINVAL: the key is longer than
 * VIC_KEY_MOST, or the body longer than max_bytes of the messages less 24 and the key. VIC_ERANGE: no such card.
 * VIC_ESYS: no memory. VIC_ENOSPC: window_bytes wait to be received already, no other thread could receive them (none
 * that has called vic_client_recv lives, or all of those wait in such a call, too), and the confirms cannot come
 * before them: the bridge has sent a topic or, with VIC_CLIENT_BRIDGE, a VIC_PUBLISH first; or there are no confirms
 * (VIC_CLIENT_AT_MOST_ONCE, topics). Call vic_client_recv. cost: as vic_message_send. */
VIC_API int vic_client_publish(vic_client_t *client, uint32_t bridge, const char *key, const void *body,
                               size_t bytes, uint64_t timeout_ns);

/* Wait until the broker has confirmed every message published before. With VIC_CLIENT_AT_MOST_ONCE: until the bridges
 * have them. Returned and refused messages count as confirmed: look at the counts. VIC_EPEER, besides a dead card and
 * only with VIC_CLIENT_AT_MOST_ONCE: a bridge closed before it had taken all; this is reported once. */
VIC_API int vic_client_flush(vic_client_t *client, uint64_t timeout_ns);

/* Subscribe to a queue, with at most `credit` unacknowledged deliveries, 1 or more. *subscription (or NULL) is the
 * number that deliveries carry. Does not wait: the bridge learns it when it is there, and answers with a VIC_REFUSAL
 * if there can be no such subscription. VIC_EINVAL: credit is 0, or the queue's name longer than VIC_KEY_MOST.
 * VIC_ERANGE: no such card. VIC_ENOSPC: 1024 subscriptions are open, or have ended and their bridges do not know it
 * yet. VIC_ESYS: no memory. */
VIC_API int vic_client_subscribe(vic_client_t *client, uint32_t bridge, const char *queue, uint64_t credit,
                                 uint32_t *subscription);

/* End a subscription. VIC_EINVAL: no such subscription, or a refusal has ended it. */
VIC_API int vic_client_unsubscribe(vic_client_t *client, uint32_t subscription);

/* Receive messages whose topic matches this pattern, from any card, this one too. Binding a pattern twice is the same
 * as once. Other cards learn it inside their calls and ours: a message that was published a moment before may not
 * come. VIC_ENOSPC: 1024 patterns are bound. VIC_EINVAL: longer than VIC_KEY_MOST. */
VIC_API int vic_client_bind(vic_client_t *client, const char *pattern);

/* Take a binding back. VIC_EINVAL: not bound. */
VIC_API int vic_client_unbind(vic_client_t *client, const char *pattern);

/* Send to every card that has bound a pattern which this topic matches. *cards (or NULL) is to how many it went. The
 * timeout is for all of them together; VIC_ETIMEDOUT: some did not get it. VIC_EINVAL, VIC_ENOSPC, VIC_ESYS: see
 * vic_client_publish. */
VIC_API int vic_client_topic(vic_client_t *client, const char *topic, const void *body, size_t bytes,
                             uint32_t *cards, uint64_t timeout_ns);

/* Receive a delivery. Its key and body are valid until vic_client_release or vic_client_ack. VIC_ESYS: no memory. */
VIC_API int vic_client_recv(vic_client_t *client, struct vic_delivery *delivery, uint64_t timeout_ns);

/* Why, as text: of a VIC_REFUSAL, or of a VIC_CONFIRM with VIC_REFUSED, which is a message that the broker refused. "" of
 * others, and if nobody said. Valid as long as its key. */
VIC_API const char *vic_client_reason(const struct vic_delivery *delivery);

/* Free the memory of a delivery, also after the client was closed. It may be acknowledged later. */
VIC_API int vic_client_release(vic_client_t *client, struct vic_delivery *delivery);

/* Acknowledge a delivery, once: the broker may forget it. With reject other than 0 it goes back to the queue. With
 * VIC_CLIENT_BRIDGE this confirms a VIC_PUBLISH, or refuses it. Deliveries that need no answer are only released. If the
 * bridge has left or was opened again, the delivery is only released, too: the broker delivers it again. The call waits
 * while that bridge is there and takes nothing. */
VIC_API int vic_client_ack(vic_client_t *client, struct vic_delivery *delivery, int reject);

/* The same with a timeout. VIC_ETIMEDOUT: it is not acknowledged, and can be acknowledged later. */
VIC_API int vic_client_ack_within(vic_client_t *client, struct vic_delivery *delivery, int reject,
                                  uint64_t timeout_ns);

VIC_API int vic_client_counts(vic_client_t *client, struct vic_client_count *counts);

/* Close, without waiting for confirms: flush before. Bridges and cards learn that subscriptions and bindings have
 * ended, as far as they have space for it. What arrived here and was not received is lost; the broker delivers again
 * what came from queues. Calls of other threads end with VIC_ECLOSED. VIC_EPEER: not all that was published is
 * confirmed; this closes all the same. */
VIC_API int vic_client_close(vic_client_t *client);

#ifdef __cplusplus
}
#endif

#endif
