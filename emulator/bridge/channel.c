/* What a publisher sends over its connection and reads from it. */
#include <stdio.h>
#include <string.h>

#include "publish.h"

enum {
    CHANNEL = 1,
    BATCH = 64,        /* messages after which to look for confirms */
    FRAME_EXTRA = 8,   /* bytes of a frame besides its payload */
    HEADS = 700,       /* bytes of method and header at most, and of their frames */
    MOST_REFUSALS = 6, /* a nack is no answer for good: this many are */
    FIRST_PAUSE_MS = 50,
    KEYS = 32 /* that are named when they have no queue */
};

static void properties_of(const struct publisher *publisher, const struct message *message, char *id,
                          amqp_basic_properties_t *properties)
{
    bool persistent = message->persistent || publisher->bridge->options.persistent;
    id_write(id, message->session, message->id);
    *properties = (amqp_basic_properties_t){
        ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG,
        .delivery_mode = persistent ? AMQP_DELIVERY_PERSISTENT : AMQP_DELIVERY_NONPERSISTENT,
        .message_id = bytes_of(id, ID_BYTES),
    };
}

static amqp_basic_publish_t method_of(const struct publisher *publisher, const struct message *message)
{
    const struct options *options = &publisher->bridge->options;
    return (amqp_basic_publish_t){
        .exchange = amqp_cstring_bytes(options->exchange),
        .routing_key = bytes_of(message->key, message->key_bytes),
        .mandatory = options->mandatory,
    };
}

/* Method and header of a message. */
static int send_head(struct publisher *publisher, const struct message *message)
{
    char id[ID_BYTES];
    amqp_basic_properties_t properties;
    amqp_basic_publish_t method = method_of(publisher, message);
    properties_of(publisher, message, id, &properties);
    if (!publisher->link.url->tls) {
        return outbox_publish(&publisher->outbox, &publisher->link, CHANNEL, &method, &properties, message->body_bytes);
    }
    int status = amqp_send_method(publisher->link.state, CHANNEL, AMQP_BASIC_PUBLISH_METHOD, &method);
    amqp_frame_t frame = {.frame_type = AMQP_FRAME_HEADER, .channel = CHANNEL};
    frame.payload.properties.class_id = AMQP_BASIC_CLASS;
    frame.payload.properties.body_size = message->body_bytes;
    frame.payload.properties.decoded = &properties;
    return status == AMQP_STATUS_OK ? amqp_send_frame(publisher->link.state, &frame) : status;
}

static int send_body(struct publisher *publisher, amqp_bytes_t fragment)
{
    if (!publisher->link.url->tls) {
        return outbox_body(&publisher->outbox, &publisher->link, CHANNEL, fragment);
    }
    amqp_frame_t frame = {.frame_type = AMQP_FRAME_BODY, .channel = CHANNEL, .payload.body_fragment = fragment};
    return amqp_send_frame(publisher->link.state, &frame);
}

/* The next frame of publisher->partial; before the first of them method and header. */
static int send_next_frame(struct publisher *publisher, size_t frame_bytes)
{
    const struct message *message = publisher->partial;
    int status = publisher->partial_at == 0 ? send_head(publisher, message) : AMQP_STATUS_OK;
    if (status == AMQP_STATUS_OK && frame_bytes > 0) {
        status = send_body(publisher, bytes_of(message->body + publisher->partial_at, frame_bytes));
        publisher->partial_at += frame_bytes;
    }
    return status;
}

static void published(struct publisher *publisher, struct message *message)
{
    struct bridge *bridge = publisher->bridge;
    count(message->published_ns == 0 ? &bridge->counters.published : &bridge->counters.republished, 1);
    message->published_ns = message->published_ns == 0 ? now_ns() : message->published_ns;
    message->returned = false;
    if (bridge->options.at_most_once) {
        queue_put(&publisher->unwritten, message);
    } else {
        flight_add(&publisher->flight, message);
    }
}

/* Send a message, or the next frame of one that is longer than a frame. */
static int send_some(struct publisher *publisher)
{
    size_t most = (size_t)amqp_get_frame_max(publisher->link.state) - FRAME_EXTRA;
    struct message *message = publisher->partial != NULL ? publisher->partial : publisher->next.first;
    size_t left = message->body_bytes - (publisher->partial != NULL ? publisher->partial_at : 0);
    size_t frame_bytes = left < most ? left : most;
    bool asks = publisher->link.allowance < frame_bytes + HEADS; /* the system knows of what it was given */
    int status = asks ? outbox_flush(&publisher->outbox, &publisher->link) : AMQP_STATUS_OK;
    if (status != AMQP_STATUS_OK) {
        return status;
    }
    if (!link_has_room(&publisher->link, frame_bytes + HEADS)) {
        publisher->wants_room = true;
        return AMQP_STATUS_OK;
    }
    if (publisher->partial == NULL) { /* to be published again if this fails */
        publisher->partial = queue_take(&publisher->next);
        publisher->partial_at = 0;
    }
    if (publisher->link.url->tls) {
        link_cork(&publisher->link, true); /* small frames by rabbitmq-c */
    }
    status = send_next_frame(publisher, frame_bytes);
    if (status == AMQP_STATUS_OK && publisher->partial_at == message->body_bytes) {
        publisher->partial = NULL;
        published(publisher, message);
    }
    return status;
}

enum fault publisher_publish(struct publisher *publisher)
{
    struct link *link = &publisher->link;
    int status = AMQP_STATUS_OK;
    publisher->wants_room = false;
    for (unsigned i = 0; i < BATCH && status == AMQP_STATUS_OK && !link->blocked && !publisher->wants_room;
         i++) {
        bool found = publisher->next.first != NULL && publisher_may_publish(publisher);
        if (publisher->partial == NULL && !found) {
            break;
        }
        status = send_some(publisher);
    }
    status = status == AMQP_STATUS_OK ? outbox_flush(&publisher->outbox, link) : status;
    if (status == AMQP_STATUS_OK) {
        publisher_done(publisher, &publisher->unwritten, 0, NULL); /* --at-most-once: that was all */
    }
    link_cork(link, false);
    return link_status(link, status, "publishing");
}

/* The first of them; the others are counted. */
static void say_refused(const struct message *message, const char *reason)
{
    static _Atomic unsigned said;
    unsigned before = atomic_fetch_add(&said, 1);
    if (before < KEYS) {
        log_warning("message " VIC_MESSAGE_ID " of card %u with key '%.*s', %zu bytes, is refused: %s%s",
                    (unsigned long long)message->session, (unsigned long long)message->id, message->src,
                    (int)message->key_bytes, message->key, message->body_bytes, reason,
                    before == KEYS - 1 ? "; further ones are counted" : "");
    }
}

void publisher_not_taken(struct publisher *publisher, struct queue *messages, uint32_t tries, const char *reason)
{
    struct message *message;
    struct queue refused = {NULL, NULL, 0};
    count(&publisher->bridge->counters.nacked, messages->count);
    while ((message = queue_take(messages)) != NULL) {
        message->refusals += tries;
        if (message->refusals >= MOST_REFUSALS) {
            say_refused(message, reason);
            queue_put(&refused, message);
        } else {
            message->due_ns = now_ns() + ((uint64_t)FIRST_PAUSE_MS * 1000000 << (message->refusals - 1));
            queue_put(&publisher->later, message);
        }
    }
    publisher_done(publisher, &refused, VIC_REFUSED, reason);
}

static enum fault answered(struct publisher *publisher, uint64_t tag, bool multiple, bool taken)
{
    struct queue messages = {NULL, NULL, 0};
    if (!flight_answered(&publisher->flight, tag, multiple, &messages)) {
        snprintf(publisher->link.why, sizeof publisher->link.why,
                 "%s: a confirm of a message that was not published", publisher->link.url->shown);
        return FAULT_DOWN;
    }
    publisher->suspects -= publisher->suspects < messages.count ? publisher->suspects : messages.count;
    if (taken) {
        publisher_done(publisher, &messages, 0, NULL);
    } else {
        publisher_not_taken(publisher, &messages, 1, "the broker did not take it (basic.nack)");
    }
    return FAULT_NONE;
}

static enum fault read_method(struct publisher *publisher, const amqp_method_t *method)
{
    if (method->id == AMQP_BASIC_ACK_METHOD) {
        const amqp_basic_ack_t *ack = method->decoded;
        return answered(publisher, ack->delivery_tag, ack->multiple, true);
    }
    if (method->id == AMQP_BASIC_NACK_METHOD) {
        const amqp_basic_nack_t *nack = method->decoded;
        return answered(publisher, nack->delivery_tag, nack->multiple, false);
    }
    if (method->id == AMQP_BASIC_RETURN_METHOD) {
        const amqp_basic_return_t *back = method->decoded;
        publisher->return_begun = true;
        snprintf(publisher->return_key, sizeof publisher->return_key, "%.*s", (int)back->routing_key.len,
                 (const char *)back->routing_key.bytes);
    }
    if (method->id == AMQP_CHANNEL_CLOSE_METHOD) {
        amqp_rpc_reply_t reply = {AMQP_RESPONSE_SERVER_EXCEPTION, *method, 0};
        return link_fault(&publisher->link, &reply, CHANNEL, "publishing");
    }
    return FAULT_NONE;
}

/* Once for each key. */
static void say_return(const char *key, const char *exchange)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char said[KEYS][256];
    static size_t keys;
    pthread_mutex_lock(&lock);
    bool known = keys == KEYS;
    for (size_t i = 0; i < keys && !known; i++) {
        known = strcmp(said[i], key) == 0;
    }
    if (!known) {
        snprintf(said[keys++], sizeof said[0], "%s", key);
        log_warning("no queue for routing key '%s' of exchange '%s': returned; further ones are counted%s", key,
                    exchange, keys == KEYS ? ", and further keys are not named" : "");
    }
    pthread_mutex_unlock(&lock);
}

/* A message had no queue. With confirms its ack follows, without them this is all. */
static void returned(struct publisher *publisher, const amqp_basic_properties_t *properties)
{
    uint64_t session, id;
    struct bridge *bridge = publisher->bridge;
    struct message *message = NULL;
    if ((properties->_flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0 &&
        id_read(properties->message_id.bytes, properties->message_id.len, &session, &id)) {
        message = flight_find(&publisher->flight, session, id);
    }
    if (message != NULL) {
        message->returned = true;
    } else {
        count(&bridge->counters.returned, 1);
    }
    say_return(publisher->return_key, bridge->options.exchange);
}

enum fault publisher_read(struct publisher *publisher)
{
    amqp_frame_t frame;
    bool found = true;
    enum fault fault = FAULT_NONE;
    while (fault == FAULT_NONE) {
        fault = link_frame(&publisher->link, &frame, &found);
        if (fault != FAULT_NONE || !found) {
            break;
        }
        if (frame.frame_type == AMQP_FRAME_METHOD) {
            fault = read_method(publisher, &frame.payload.method);
        } else if (frame.frame_type == AMQP_FRAME_HEADER && publisher->return_begun) {
            publisher->return_begun = false;
            returned(publisher, frame.payload.properties.decoded);
        } /* the body of the returned message is still in memory */
    }
    return fault;
}
