/* vic_envelope.h: the format of the vic_messages that clients and bridges exchange (vic_client.h). You need it to
 * write a bridge to some kind of broker; a program that only publishes and receives does not.
 *
 *     unsigned char buffer[4096];
 *     struct vic_envelope e = {.kind = VIC_PUBLISH, .flags = VIC_CONFIRM_WANTED, .session = mine, .id = 1,
 *                              .key = "a.b", .key_bytes = 3, .body = text, .bytes = strlen(text)};
 *     size_t bytes;
 *     if (vic_envelope_pack(buffer, sizeof buffer, &e, &bytes) == VIC_OK)
 *         vic_message_send(m, bridge, buffer, bytes, VIC_FOREVER);
 *     ...
 *     if (vic_envelope_unpack(buffer, bytes, &e) == VIC_OK) switch (e.kind) ...
 *
 * Layout: a header of 3 words, or of 7 in a VIC_DELIVER; then the key; then the body. A word has 64 bits and stands
 * with its lowest byte first. There is no padding: key and body begin at any byte.
 *
 *     word 0   kind (bits 0-7) | version = 1 (8-15) | flags (16-31) | bytes of the key (32-47) | 0 (48-63)
 *     word 1   session: a random number, one for each vic_client_open and for each start of a bridge
 *     word 2   id
 *     word 3   VIC_DELIVER: session of the VIC_SUBSCRIBE        word 4   its id
 *     word 5   VIC_DELIVER: session of the VIC_PUBLISH, or 0    word 6   its id, or 0
 *
 * Kinds, and what a receiver does
 *   VIC_PUBLISH      client to bridge: give this message to the broker. session, id: of the message; the ids of a
 *                    session grow from 1. key: routing key. body: the message. When a bridge is opened anew, the
 *                    client sends unconfirmed ones again with the same session and id. flags: VIC_CONFIRM_WANTED,
 *                    VIC_PERSISTENT.
 *   VIC_CONFIRM      bridge to client: the broker has taken these messages. session: that of the PUBLISHes. id: of
 *                    the first; the body has the ids of the others, 8 bytes each. flags: VIC_RETURNED: the
 *                    broker had no queue for them; VIC_REFUSED: it refused them, and the key says why, as text, or
 *                    is empty. The client ignores ids that it does not wait for.
 *   VIC_SUBSCRIBE    client to bridge: deliver from a queue. session: the client's. id: number of the subscription in
 *                    this session. key: the queue. body: 8 bytes: the credit, 1 or more, which is how many deliveries
 *                    may be unacknowledged. The same session and id again change the credit of that subscription.
 *   VIC_UNSUBSCRIBE  client to bridge: end that subscription; what was delivered and is not acknowledged goes back to
 *                    the queue. No body.
 *   VIC_REFUSAL      bridge to client: the subscription could not begin, or has ended (there is no such queue).
 *                    session, id, key: of the SUBSCRIBE. body: the reason, as text.
 *   VIC_DELIVER      bridge to client: a message from a queue. session: the bridge's. id: counts all deliveries of
 *                    this session from 1. Words 3 and 4: the subscription; a client that does not have it answers with
 *                    its VIC_UNSUBSCRIBE. Words 5 and 6: the PUBLISH that brought the message, if its AMQP message id
 *                    names one. key: routing key. body: the message. flags: VIC_REDELIVERED.
 *   VIC_ACK          client to bridge: the broker may forget these deliveries. session: that of the DELIVERs. id and
 *                    body: as in CONFIRM. flags: VIC_REJECTED: put them back into the queue instead. The bridge ignores
 *                    an ACK of another session.
 *   VIC_BIND         client to client: send me topics that match this pattern (the key). session: the client's; the
 *                    receiver forgets patterns of an earlier session of this card. flags: VIC_ASK: send me your
 *                    patterns; the key is then empty, and binds nothing. id 0, no body.
 *   VIC_UNBIND       client to client: this pattern is bound no longer. Otherwise as BIND.
 *   VIC_TOPIC        client to client: a message by topic. session, id: as in PUBLISH. key: the topic. body: the
 *                    message.
 * A receiver drops kinds that are not for it: a bridge drops the last three.
 *
 * The AMQP message id of a PUBLISH is VIC_MESSAGE_ID of its session and id: consumers drop duplicates by it.
 *
 * A bridge forgets its clients when it is killed, or closes its messages or its card. Clients notice by
 * vic_peer_opens and vic_message_ends; then they publish again what is not confirmed, and subscribe again. A bridge
 * notices in the same way that a client has left. It first takes what that client had sent off the card; what the
 * client had not acknowledged goes back to the queue.
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

/* The short names, which programs of 0.1 use, and the texts here. */
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
    const char *key;                    /* without a 0 byte at its end */
    size_t key_bytes;
    const void *body; /* at any address; may be NULL if bytes is 0 */
    size_t bytes;
};

/* Bytes of the header of this kind. */
VIC_API inline size_t vic_envelope_header(unsigned kind)
{
    return kind == VIC_DELIVER ? VIC_ENVELOPE_MOST : 24;
}

/* A word with its lowest byte first, from a word of this machine, or the other way. */
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

/* 1 if kind, flags and lengths are as described above, else 0. Key and body are not read. */
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
        return (e->key_bytes == 0 || (e->flags & VIC_REFUSED) != 0) && e->bytes % 8 == 0;
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

/* Write an envelope to `to`, *bytes long. VIC_EINVAL: a pointer is NULL that must not be, or e is no envelope.
 * VIC_ENOSPC: capacity is too small; *bytes is what is needed. */
VIC_API inline int vic_envelope_pack(void *to, size_t capacity, const struct vic_envelope *e, size_t *bytes)
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
    if (*bytes > capacity) {
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

/* Read an envelope; e->key and e->body point into it. Nothing outside from .. from + bytes - 1 is read, whatever the
 * content. VIC_EINVAL: it is no envelope of this version; *e is all 0. */
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

/* How many ids a CONFIRM or ACK has. */
VIC_API inline size_t vic_envelope_ids(const struct vic_envelope *e)
{
    return 1 + e->bytes / 8;
}

/* Id `which` of a CONFIRM or ACK, from 0. */
VIC_API inline uint64_t vic_envelope_id(const struct vic_envelope *e, size_t which)
{
    return which == 0 ? e->id : vic_envelope_word((const unsigned char *)e->body + 8 * (which - 1));
}

/* 1 if a topic matches a pattern, else 0. Dots separate words; in a pattern * stands for one word, # for any number of
 * words, also for none. An empty topic has no words. */
VIC_API int vic_topic_matches(const char *pattern, size_t pattern_bytes, const char *topic, size_t topic_bytes);

#ifdef __cplusplus
}
#endif

#endif
