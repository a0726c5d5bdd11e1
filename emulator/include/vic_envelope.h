/* vic_envelope.h: what stands in a vic_message that clients and bridges exchange (vic_client.h). Whoever writes
 * a bridge, to whatever kind of broker, needs this; a program that only publishes or receives does not.
 *
 *     unsigned char room[4096];
 *     struct vic_envelope e = {.kind = VIC_PUBLISH, .flags = VIC_CONFIRM_WANTED, .session = mine, .id = 1,
 *                              .key = "a.b", .key_bytes = 3, .body = text, .bytes = strlen(text)};
 *     size_t bytes;
 *     if (vic_envelope_pack(room, sizeof room, &e, &bytes) == VIC_OK)
 *         vic_message_send(m, bridge, room, bytes, VIC_FOREVER);
 *     ...
 *     if (vic_envelope_unpack(room, bytes, &e) == VIC_OK) switch (e.kind) ...
 *
 * Layout: a header of 3 words, 7 in a VIC_DELIVER; the key; the body. Words are 64 bits, the lowest byte first.
 * No padding: key and body begin anywhere.
 *
 *     word 0   kind (bits 0-7) | version = 1 (8-15) | flags (16-31) | bytes of the key (32-47) | 0 (48-63)
 *     word 1   session: a random number, one for each vic_client_open and for each start of a bridge
 *     word 2   id
 *     word 3   VIC_DELIVER: session of the VIC_SUBSCRIBE        word 4   its id
 *     word 5   VIC_DELIVER: session of the VIC_PUBLISH, or 0    word 6   its id, or 0
 *
 * Kinds, what their words say, and what a receiver does
 *   VIC_PUBLISH      client to bridge. session and id of this message: ids of a session grow from 1 on. key:
 *                    routing key. body: the message. Sent again, with the same session and id, to a bridge that
 *                    was opened anew. flags: VIC_CONFIRM_WANTED, VIC_PERSISTENT.
 *   VIC_CONFIRM      bridge to client: the broker has taken these messages. session: that of the PUBLISHes. id
 *                    and, in the body, any number of further ids, 8 bytes each. No key. flags: VIC_RETURNED:
 *                    the broker had no queue for them; VIC_REFUSED: it refused them. Ids that the client does
 *                    not know, or no longer, mean nothing.
 *   VIC_SUBSCRIBE    client to bridge. session: the client's. id: number of the subscription in this session.
 *                    key: queue. body: 8 bytes: credit, 1 or more: so many deliveries may be unacknowledged at
 *                    a time. The same session and id again: the same subscription, with this credit.
 *   VIC_UNSUBSCRIBE  client to bridge: the end of it; deliveries that are not acknowledged go back to the
 *                    queue. No body.
 *   VIC_REFUSAL      bridge to client: this subscription cannot be, or has ended (no such queue). session, id
 *                    and key of the SUBSCRIBE. body: a text that says why.
 *   VIC_DELIVER      bridge to client. session: the bridge's. id: from 1 on, over all deliveries of this
 *                    session. Words 3, 4: for which subscription; a client that has no such one answers by a
 *                    VIC_UNSUBSCRIBE of it. Words 5, 6: if the AMQP message id was that of a PUBLISH: which.
 *                    key: routing key. body: the message. flags: VIC_REDELIVERED.
 *   VIC_ACK          client to bridge: these deliveries are done. session: that of the DELIVERs. id and further
 *                    ids as in CONFIRM. flags: VIC_REJECTED: they go back to the queue. Of another session:
 *                    means nothing.
 *   VIC_BIND         client to client: send me what has a topic of this pattern (the key). session: the
 *                    client's; what another session of this card had bound is forgotten. flags: VIC_ASK: and
 *                    tell me your patterns; no pattern of mine is meant then, the key is empty. id 0, no body.
 *   VIC_UNBIND       client to client: no longer. As BIND.
 *   VIC_TOPIC        client to client. session, id as PUBLISH. key: topic. body: the message.
 * What is of no use to a receiver (a bridge has none for the last three) is dropped.
 *
 * The AMQP message id of a PUBLISH is VIC_MESSAGE_ID of its session and id: consumers drop duplicates by it.
 *
 * A bridge that has lost what it knew of its clients has been killed, or closes its messages or its card:
 * vic_peer_opens and vic_message_ends tell the clients, and they publish again what is not confirmed, and
 * subscribe again. In the same way the bridge takes notice of clients: what a client that left had not
 * acknowledged goes back to the queue, after what the client had sent before was taken off the card.
 */
#ifndef VIC_ENVELOPE_H
#define VIC_ENVELOPE_H

#include <string.h>

#include "vic_message.h"

#ifdef __cplusplus
extern "C" {
#endif

enum vic_kind {
    VIC_ENVELOPE_PUBLISH = 1,
    VIC_ENVELOPE_CONFIRM = 2,
    VIC_ENVELOPE_SUBSCRIBE = 3,
    VIC_ENVELOPE_UNSUBSCRIBE = 4,
    VIC_ENVELOPE_REFUSAL = 5,
    VIC_ENVELOPE_DELIVER = 6,
    VIC_ENVELOPE_ACK = 7,
    VIC_ENVELOPE_BIND = 8,
    VIC_ENVELOPE_UNBIND = 9,
    VIC_ENVELOPE_TOPIC = 10
};

enum {
    VIC_ENVELOPE_CONFIRM_WANTED = 1, /* of PUBLISH */
    VIC_ENVELOPE_PERSISTENT = 2,
    VIC_ENVELOPE_RETURNED = 4, /* of CONFIRM */
    VIC_ENVELOPE_REFUSED = 8,
    VIC_ENVELOPE_REDELIVERED = 16, /* of DELIVER */
    VIC_ENVELOPE_REJECTED = 32,    /* of ACK */
    VIC_ENVELOPE_ASK = 64          /* of BIND */
};

enum {
    VIC_ENVELOPE_KEY_MOST = 255, /* bytes of a key, as in AMQP */
    VIC_ENVELOPE_MOST = 56       /* bytes of the longest header */
};

/* The same by the names that programs of 0.1 have, and that the texts here use for short. */
enum {
    VIC_PUBLISH = VIC_ENVELOPE_PUBLISH,
    VIC_CONFIRM = VIC_ENVELOPE_CONFIRM,
    VIC_SUBSCRIBE = VIC_ENVELOPE_SUBSCRIBE,
    VIC_UNSUBSCRIBE = VIC_ENVELOPE_UNSUBSCRIBE,
    VIC_REFUSAL = VIC_ENVELOPE_REFUSAL,
    VIC_DELIVER = VIC_ENVELOPE_DELIVER,
    VIC_ACK = VIC_ENVELOPE_ACK,
    VIC_BIND = VIC_ENVELOPE_BIND,
    VIC_UNBIND = VIC_ENVELOPE_UNBIND,
    VIC_TOPIC = VIC_ENVELOPE_TOPIC,
    VIC_CONFIRM_WANTED = VIC_ENVELOPE_CONFIRM_WANTED,
    VIC_PERSISTENT = VIC_ENVELOPE_PERSISTENT,
    VIC_RETURNED = VIC_ENVELOPE_RETURNED,
    VIC_REFUSED = VIC_ENVELOPE_REFUSED,
    VIC_REDELIVERED = VIC_ENVELOPE_REDELIVERED,
    VIC_REJECTED = VIC_ENVELOPE_REJECTED,
    VIC_ASK = VIC_ENVELOPE_ASK,
    VIC_KEY_MOST = VIC_ENVELOPE_KEY_MOST
};

/* How printf writes the AMQP message id; its arguments are session and id as unsigned long long. */
#define VIC_MESSAGE_ID "%016llx-%016llx"

struct vic_envelope {
    unsigned kind, flags;
    uint64_t session, id;
    uint64_t subscriber, subscription;  /* words 3, 4: DELIVER only, else 0 */
    uint64_t origin_session, origin_id; /* words 5, 6 */
    const char *key;                    /* not ended by a 0 */
    size_t key_bytes;
    const void *body; /* at any address; NULL is good if bytes is 0 */
    size_t bytes;
};

/* Bytes of the header of this kind. */
VIC_API inline size_t vic_envelope_header(unsigned kind)
{
    return kind == VIC_DELIVER ? VIC_ENVELOPE_MOST : 24;
}

/* A number as it stands in an envelope, the lowest byte first, or back. */
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define VIC_ENVELOPE_LITTLE(word) __builtin_bswap64(word)
#else
#define VIC_ENVELOPE_LITTLE(word) (word)
#endif

/* A word at any address. */
VIC_API inline uint64_t vic_envelope_word(const void *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return VIC_ENVELOPE_LITTLE(word);
}

VIC_API inline void vic_envelope_put_word(void *at, uint64_t word)
{
    word = VIC_ENVELOPE_LITTLE(word);
    memcpy(at, &word, sizeof word);
}

/* Is it an envelope as described above, with nothing where nothing belongs? Looks at numbers only. */
VIC_API inline int vic_envelope_is_sound(const struct vic_envelope *e)
{
    static const unsigned flags[] = {
        0,
        VIC_CONFIRM_WANTED | VIC_PERSISTENT,
        VIC_RETURNED | VIC_REFUSED,
        0,
        0,
        0,
        VIC_REDELIVERED,
        VIC_REJECTED,
        VIC_ASK,
        0,
        0,
    };
    if (e->kind < VIC_PUBLISH || e->kind > VIC_TOPIC || (e->flags & ~flags[e->kind]) != 0 ||
        e->key_bytes > VIC_KEY_MOST) {
        return 0;
    }
    switch (e->kind) {
    case VIC_CONFIRM:
    case VIC_ACK:
        return e->key_bytes == 0 && e->bytes % 8 == 0;
    case VIC_SUBSCRIBE:
        return e->bytes == 8;
    case VIC_UNSUBSCRIBE:
    case VIC_UNBIND:
        return e->bytes == 0;
    case VIC_BIND:
        return e->bytes == 0 && (e->flags == 0 || e->key_bytes == 0);
    default:
        return 1;
    }
}

/* Put an envelope together; *bytes of it. VIC_EINVAL: NULL where something is needed, or it is none.
 * VIC_ENOSPC: no room; *bytes says how much is needed. */
VIC_API inline int vic_envelope_pack(void *to, size_t room, const struct vic_envelope *e, size_t *bytes)
{
    unsigned char *at = (unsigned char *)to;
    if (at == NULL || e == NULL || bytes == NULL || (e->key == NULL && e->key_bytes > 0) ||
        (e->body == NULL && e->bytes > 0) || !vic_envelope_is_sound(e)) {
        return VIC_EINVAL;
    }
    size_t header = vic_envelope_header(e->kind);
    if (e->bytes > SIZE_MAX - header - e->key_bytes) {
        return VIC_EINVAL;
    }
    *bytes = header + e->key_bytes + e->bytes;
    if (*bytes > room) {
        return VIC_ENOSPC;
    }
    const uint64_t word[7] = {
        (uint64_t)e->kind | UINT64_C(1) << 8 | (uint64_t)e->flags << 16 | (uint64_t)e->key_bytes << 32,
        e->session, e->id, e->subscriber, e->subscription, e->origin_session, e->origin_id,
    };
    for (size_t i = 0; i < header / 8; i++) {
        vic_envelope_put_word(at + 8 * i, word[i]);
    }
    if (e->key_bytes > 0) {
        memcpy(at + header, e->key, e->key_bytes);
    }
    if (e->bytes > 0) {
        memcpy(at + header + e->key_bytes, e->body, e->bytes);
    }
    return VIC_OK;
}

/* Take one apart: key and body point into it. Whatever stands there, only from .. from + bytes - 1 is read.
 * VIC_EINVAL: it is no envelope of this version; *e is all 0 then. */
VIC_API inline int vic_envelope_unpack(const void *from, size_t bytes, struct vic_envelope *e)
{
    const unsigned char *at = (const unsigned char *)from;
    if (e == NULL) {
        return VIC_EINVAL;
    }
    memset(e, 0, sizeof *e);
    if (at == NULL || bytes < 24) {
        return VIC_EINVAL;
    }
    uint64_t first = vic_envelope_word(at);
    struct vic_envelope read = *e;
    read.kind = (unsigned)(first & 0xff);
    read.flags = (unsigned)(first >> 16 & 0xffff);
    read.key_bytes = (size_t)(first >> 32 & 0xffff);
    size_t header = vic_envelope_header(read.kind);
    if ((first >> 8 & 0xff) != 1 || first >> 48 != 0 || bytes < header || bytes - header < read.key_bytes) {
        return VIC_EINVAL;
    }
    read.bytes = bytes - header - read.key_bytes;
    if (!vic_envelope_is_sound(&read)) {
        return VIC_EINVAL;
    }
    read.session = vic_envelope_word(at + 8);
    read.id = vic_envelope_word(at + 16);
    if (header > 24) {
        read.subscriber = vic_envelope_word(at + 24);
        read.subscription = vic_envelope_word(at + 32);
        read.origin_session = vic_envelope_word(at + 40);
        read.origin_id = vic_envelope_word(at + 48);
    }
    read.key = (const char *)at + header;
    read.body = at + header + read.key_bytes;
    *e = read;
    return VIC_OK;
}

/* Ids of a CONFIRM or ACK: 1 + bytes / 8 of them; the first is e->id. */
VIC_API inline size_t vic_envelope_ids(const struct vic_envelope *e)
{
    return 1 + e->bytes / 8;
}

VIC_API inline uint64_t vic_envelope_id(const struct vic_envelope *e, size_t which)
{
    return which == 0 ? e->id : vic_envelope_word((const unsigned char *)e->body + 8 * (which - 1));
}

/* Does a topic have this pattern? Words are separated by dots; in a pattern * stands for one word, # for any
 * number of words, none too. An empty topic has no words. */
VIC_API int vic_topic_matches(const char *pattern, size_t pattern_bytes, const char *topic, size_t topic_bytes);

#ifdef __cplusplus
}
#endif

#endif
