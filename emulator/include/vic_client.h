/* vic_client.h: publish to brokers and receive from them through a bridge on another card, and from card to
 * card by topic; on vic_message.h and vic_peer_opens.
 *
 *     vic_client_t *client;
 *     struct vic_delivery d;
 *     if (vic_client_open(card, NULL, NULL, &client) != VIC_OK) ...
 *     vic_client_publish(client, bridge, "orders.eu", "hello", 5, VIC_FOREVER);
 *     vic_client_flush(client, VIC_FOREVER);                  // the broker has confirmed it
 *     vic_client_subscribe(client, bridge, "orders", 64);
 *     while (vic_client_recv(client, &d, VIC_FOREVER) == VIC_OK) {
 *         if (d.kind == VIC_DELIVER) use(d.key, d.body, d.bytes);
 *         vic_client_ack(client, &d, 0);                      // only now the broker forgets it
 *     }
 *     vic_client_close(client);
 *
 * A bridge is a program that takes envelopes (vic_envelope.h) off its card and hands them to a broker:
 * vicbridge, to RabbitMQ; or one of your own, with VIC_CLIENT_BRIDGE. docs/client.md has the protocol.
 *
 * What holds
 *   at least once  A message that was published is kept in host memory until the bridge has confirmed it, which
 *                  it does when the broker has. When the bridge's card is opened anew all that is not confirmed
 *                  is published again, with the same session and id, so that consumers can drop duplicates.
 *                  What is delivered is the broker's until it was acknowledged here.
 *   order          Messages of one thread to one bridge leave in the order of their publishing; repeated ones
 *                  too, before any new one. Confirms come in any order.
 *   memory         At most window_messages messages and window_bytes bytes are unconfirmed, and at most
 *                  window_bytes wait to be received; one message is always allowed, however large. What a bridge
 *                  delivers while this card publishes to it may be more, as far as the credit of its subscriptions goes.
 *   relays         A program may receive, and publish what it received, on one thread with any windows: while
 *                  vic_client_publish or vic_client_flush waits for confirms and window_bytes are full, only what the bridge
 *                  sends is taken off the card, and the others wait in their rings. emulator/examples/relay.c. The rule: who
 *                  confirms must not send topics, or publish, to the card that waits for it (VIC_ENOSPC, see publish).
 *   one or the other  A card has a client, or vic_message of its own (VIC_EBUSY): the client's messages come out of the same
 *                  ring of each peer, in order, so a program that took them off would take confirms, too. A message to a
 *                  card is vic_client_topic, with a topic that only that card has bound.
 *   topics         A message goes once to each card that has bound a pattern which its topic has, as far as
 *                  this card knows by then; no broker takes part, nothing is kept for cards that are not there.
 *                  A card that does not receive holds up who publishes to it.
 *   groups         Cards that subscribe to the same queue share it: each message goes to one of them.
 *
 * Conventions are those of vic.h: statuses, timeouts, and threads: any number may call at the same time, on the
 * same handle. Every wait ends as in vic.h, with VIC_EPEER and VIC_ECLOSED as there; a bridge that leaves a job which goes
 * on without it is no such case: waits go on until it comes back, or until their timeout. After vic_client_close,
 * or vic_close of the card, calls say VIC_ECLOSED, those that wait just then too.
 *
 * Progress is made inside these calls only: repeating, subscribing again and telling bindings to cards that
 * came later as well. A program that computes for long calls vic_client_recv with timeout 0 now and then.
 */
#ifndef VIC_CLIENT_H
#define VIC_CLIENT_H

#include "vic_envelope.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vic_client vic_client_t;

enum {
    VIC_CLIENT_AT_MOST_ONCE = 1, /* publish without confirms: nothing is kept, nothing repeated */
    VIC_CLIENT_PERSISTENT = 2,   /* brokers write messages to disk */
    VIC_CLIENT_BRIDGE = 4,       /* VIC_PUBLISH of others comes out of vic_client_recv; ack confirms it */
    VIC_CLIENT_RETURNS = 8       /* what was returned or refused comes out of vic_client_recv, as VIC_CONFIRM */
};

struct vic_client_config {
    size_t window_messages; /* 0: 1024; more than 1048576 count as that many */
    size_t window_bytes;    /* 0: 16 MiB */
    unsigned flags;
};

struct vic_client_count {
    uint64_t session;              /* of this opening */
    uint64_t published, confirmed; /* messages; confirmed: returned and refused ones among them */
    uint64_t returned, refused;    /* the broker had no queue for them; would not have them */
    uint64_t repeated;             /* published again for a bridge that was opened anew */
    uint64_t unconfirmed;          /* at present */
    uint64_t delivered;            /* messages that vic_client_recv gave */
    uint64_t topics;               /* messages sent to cards by vic_client_topic */
    uint64_t strange;              /* messages that were no envelopes, or not for a client: dropped */
};

/* Something that was received. */
struct vic_delivery {
    unsigned kind;     /* VIC_DELIVER, VIC_TOPIC, VIC_REFUSAL; with their flags VIC_PUBLISH, VIC_CONFIRM */
    unsigned flags;    /* of the envelope: VIC_REDELIVERED, VIC_RETURNED, ... */
    uint32_t src;      /* card */
    uint32_t subscription; /* DELIVER, REFUSAL: what vic_client_subscribe gave */
    uint64_t session, id;  /* of the VIC_PUBLISH or VIC_TOPIC: no two messages have the same; 0: not known */
    const char *key;       /* ended by a 0; may have others in it */
    size_t key_bytes;
    const void *body; /* at a multiple of 16 */
    size_t bytes;
    uint64_t token[3]; /* for vic_client_ack */
    void *memory;      /* of key and body */
};

/* Open a client on a card, which opens vic_message there: the card has one or the other. NULL as a config is
 * all 0. Cards that talk to each other use the same `messages` config, see vic_message_open. Takes one more
 * counter. The second name tells the sizes of the structs, as with vic_query_attr. The errors are those of
 * vic_message_open. VIC_EINVAL also: unknown flags. */
VIC_API int vic_client_open(vic_t *card, const struct vic_message_config *messages,
                            const struct vic_client_config *config, vic_client_t **client);
VIC_API int vic_client_open_sized(size_t messages_bytes, size_t config_bytes, vic_t *card,
                                  const struct vic_message_config *messages,
                                  const struct vic_client_config *config, vic_client_t **client);
#define vic_client_open(...)                                                                                \
    vic_client_open_sized(sizeof(struct vic_message_config), sizeof(struct vic_client_config), __VA_ARGS__)

/* Publish through the bridge on card `bridge`, which may not be there yet. Waits while the window is full or
 * the bridge has no room. Good: it is on its way, and with confirms in our books; the arguments may be used
 * again. VIC_ETIMEDOUT: it was not published and will not be. VIC_EINVAL: key longer than VIC_KEY_MOST, body
 * longer than the max_bytes of messages less 24 and the key. VIC_ERANGE: no such card. VIC_ENOSPC: as much as
 * window_bytes waits to be received, and before its confirms the bridge has sent a topic or, with VIC_CLIENT_BRIDGE, a
 * VIC_PUBLISH, or there are no confirms (VIC_CLIENT_AT_MOST_ONCE, topics), but no other thread that has called
 * vic_client_recv lives, or all of them are in such a call as well: call vic_client_recv. VIC_ESYS: no memory. cost: as
 * vic_message_send. */
VIC_API int vic_client_publish(vic_client_t *client, uint32_t bridge, const char *key, const void *body,
                               size_t bytes, uint64_t timeout_ns);

/* Wait until every message published before is confirmed, by the broker. With VIC_CLIENT_AT_MOST_ONCE: until
 * the bridges have them. Returned and refused ones are confirmed: look at the counts. VIC_EPEER, only with
 * VIC_CLIENT_AT_MOST_ONCE, besides a dead card: a bridge closed and had not taken all; said once. */
VIC_API int vic_client_flush(vic_client_t *client, uint64_t timeout_ns);

/* Receive from a queue, with at most `credit` deliveries unacknowledged: 1 or more. *subscription (or NULL)
 * names it in deliveries. Does not wait: the bridge is told when it is there; a VIC_REFUSAL is received if it
 * cannot be. VIC_EINVAL: credit 0, queue longer than VIC_KEY_MOST. VIC_ERANGE: no such card. VIC_ESYS. */
VIC_API int vic_client_subscribe(vic_client_t *client, uint32_t bridge, const char *queue, uint64_t credit,
                                 uint32_t *subscription);

/* VIC_EINVAL: no such subscription, or it has ended by a refusal. */
VIC_API int vic_client_unsubscribe(vic_client_t *client, uint32_t subscription);

/* Receive what has a topic of this pattern, from any card, this one too. Twice is once. Other cards are told
 * inside their and our calls: a message that was published a moment before may not come. VIC_ENOSPC: 1024
 * patterns are bound. VIC_EINVAL: longer than VIC_KEY_MOST. */
VIC_API int vic_client_bind(vic_client_t *client, const char *pattern);

/* VIC_EINVAL: not bound. */
VIC_API int vic_client_unbind(vic_client_t *client, const char *pattern);

/* Send to every card that has bound a pattern which this topic has. *cards (or NULL): to how many it went. The
 * timeout is for all of them; VIC_ETIMEDOUT: some did not get it. VIC_EINVAL, VIC_ENOSPC, VIC_ESYS: see
 * publish. */
VIC_API int vic_client_topic(vic_client_t *client, const char *topic, const void *body, size_t bytes,
                             uint32_t *cards, uint64_t timeout_ns);

/* Receive. key and body are there until vic_client_release or vic_client_ack. VIC_ESYS: no memory. */
VIC_API int vic_client_recv(vic_client_t *client, struct vic_delivery *delivery, uint64_t timeout_ns);

/* Free the memory of a delivery; it may be acknowledged later. After the client was closed too. */
VIC_API int vic_client_release(vic_client_t *client, struct vic_delivery *delivery);

/* The program is done with a delivery: the broker may forget it. reject: not 0: give it back to the queue. With
 * VIC_CLIENT_BRIDGE a VIC_PUBLISH is confirmed, or refused. Kinds that need no answer are released only, as is
 * a delivery of a bridge that was opened anew or has left: the broker delivers it again. Once for each
 * delivery. Waits as long as that bridge is there and has no room. */
VIC_API int vic_client_ack(vic_client_t *client, struct vic_delivery *delivery, int reject);

/* The same with a timeout. VIC_ETIMEDOUT: it is not acknowledged, and can be later. */
VIC_API int vic_client_ack_within(vic_client_t *client, struct vic_delivery *delivery, int reject,
                                  uint64_t timeout_ns);

VIC_API int vic_client_counts(vic_client_t *client, struct vic_client_count *counts);

/* Close. Does not wait for confirms: flush before. Bridges and cards are told, as far as they have room, that
 * subscriptions and bindings have ended; what was received and not taken is lost, of queues: delivered again.
 * Other threads' calls end with VIC_ECLOSED. VIC_EPEER: not all that was published is confirmed; closed all the
 * same. */
VIC_API int vic_client_close(vic_client_t *client);

#ifdef __cplusplus
}
#endif

#endif
