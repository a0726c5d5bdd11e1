/* Messages of queues: each goes to one subscriber, and is acknowledged to the broker when that acknowledges it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consume.h"

enum { LONG_BYTES = 32 << 10, ANSWER = 32 }; /* bytes of an ack or nack, and of its frame */

/* A long message goes piece by piece as its receiver takes them: that is waited for, by all. */
static const uint64_t long_wait_ns = 500000000, short_most_ns = 20000000, long_most_ns = 8000000000;

static struct delivery **bucket_of(struct consumer *consumer, uint64_t id)
{
    return &consumer->bucket[id % BUCKETS];
}

/* Done with, in one way or the other. */
void delivery_drop(struct consumer *consumer, struct channel *channel, struct delivery *delivery)
{
    struct delivery **at = bucket_of(consumer, delivery->id);
    while (*at != delivery) {
        at = &(*at)->same_bucket;
    }
    *at = delivery->same_bucket;
    *(delivery->previous != NULL ? &delivery->previous->next : &channel->first) = delivery->next;
    *(delivery->next != NULL ? &delivery->next->previous : &channel->last) = delivery->previous;
    channel->acked -= delivery->acked;
    message_free(delivery->message);
    free(delivery);
}

static struct delivery *delivery_new(struct consumer *consumer, struct channel *channel, uint64_t tag)
{
    struct delivery *delivery = calloc(1, sizeof *delivery);
    if (delivery != NULL) {
        delivery->tag = tag;
        delivery->id = ++consumer->last_id;
        delivery->same_bucket = *bucket_of(consumer, delivery->id);
        *bucket_of(consumer, delivery->id) = delivery;
        delivery->previous = channel->last;
        *(channel->last != NULL ? &channel->last->next : &channel->first) = delivery;
        channel->last = delivery;
    }
    return delivery;
}

/* The next one in turn that may have a message now. */
static struct subscriber *choose(struct channel *channel, uint64_t now)
{
    struct subscriber *begin = channel->turn != NULL ? channel->turn : channel->subscribers, *each = begin;
    while (each != NULL) {
        if (each->out < each->credit && each->retry_ns <= now) {
            return each;
        }
        each = each->next != NULL ? each->next : channel->subscribers;
        if (each == begin) {
            break;
        }
    }
    return NULL;
}

static bool give(struct consumer *consumer, struct subscriber *to, struct delivery *delivery)
{
    struct message *message = delivery->message;
    bool is_long = message->bytes > LONG_BYTES;
    vic_envelope_put_word(message->data + 24, to->session);
    vic_envelope_put_word(message->data + 32, to->number);
    int status = vic_message_send(consumer->bridge->messages, to->card, message->data, message->bytes,
                                  is_long ? long_wait_ns : 0);
    if (status != VIC_OK) { /* no room: others first */
        uint64_t most = is_long ? long_most_ns : short_most_ns,
                 least = is_long ? long_wait_ns : short_most_ns / 20;
        to->pause_ns = to->pause_ns < least ? least : 2 * to->pause_ns < most ? 2 * to->pause_ns : most;
        to->retry_ns = now_ns() + to->pause_ns;
        return false;
    }
    to->pause_ns = to->retry_ns = 0;
    to->out++;
    delivery->to = to;
    delivery->message = NULL;
    message_free(message);
    count(&consumer->bridge->counters.delivered, 1);
    return true;
}

bool deliver_waiting(struct consumer *consumer, struct channel *channel)
{
    uint64_t now = now_ns();
    struct delivery *delivery;
    struct subscriber *to;
    while ((delivery = channel->first_waiting) != NULL && (to = choose(channel, now)) != NULL) {
        channel->turn = to->next;
        if (give(consumer, to, delivery)) {
            channel->first_waiting = delivery->next_waiting;
        } else if (delivery->message->bytes > LONG_BYTES) {
            return false;
        } /* it is not its turn again before the next call */
    }
    return true;
}

static bool has_room(struct consumer *consumer)
{
    bool fits = link_has_room(&consumer->link, ANSWER);
    consumer->wants_room |= !fits;
    return fits;
}

/* Without room it waits with what is acknowledged. */
enum fault delivery_return(struct consumer *consumer, struct channel *channel, struct delivery *delivery)
{
    int status = AMQP_STATUS_OK;
    if (channel->is_open && delivery->tag != 0) {
        count(&consumer->bridge->counters.requeued, 1);
        if (!has_room(consumer)) {
            channel->acked += !delivery->acked;
            delivery->acked = delivery->back = true;
            delivery->to = NULL;
            message_free(delivery->message);
            delivery->message = NULL;
            return FAULT_NONE;
        }
        status = amqp_basic_nack(consumer->link.state, channel->number, delivery->tag, 0, 1);
    }
    delivery_drop(consumer, channel, delivery);
    return link_status(&consumer->link, status, "giving back");
}

void deliver_requeue(struct consumer *consumer, struct channel *channel, const struct subscriber *of)
{
    for (struct delivery *each = channel->first, *next; each != NULL; each = next) {
        next = each->next;
        if (each->to == of && !each->acked && each != channel->coming) {
            delivery_return(consumer, channel, each); /* a broken connection gives all back, and is noticed */
        }
    }
    if (of == NULL) {
        channel->first_waiting = channel->last_waiting = NULL;
    }
}

/* Acknowledged by a program. */
static void done(struct consumer *consumer, uint32_t card, uint64_t id, bool rejected)
{
    struct delivery *delivery = *bucket_of(consumer, id);
    while (delivery != NULL && delivery->id != id) {
        delivery = delivery->same_bucket;
    }
    if (delivery == NULL || delivery->to == NULL || delivery->to->card != card) {
        return; /* acknowledged twice, or nonsense */
    }
    struct channel *channel = delivery->to->channel;
    delivery->to->out--;
    if (delivery->tag == 0) {
        delivery_drop(consumer, channel, delivery);
        return;
    }
    if (rejected) {
        delivery_return(consumer, channel, delivery);
        return;
    }
    delivery->to = NULL;
    delivery->acked = true;
    channel->acked++;
    count(&consumer->bridge->counters.acked, 1);
}

void deliver_ack(struct consumer *consumer, uint32_t card, const struct vic_envelope *envelope)
{
    if (envelope->session == consumer->bridge->session) {
        for (size_t i = 0; i < vic_envelope_ids(envelope); i++) {
            done(consumer, card, vic_envelope_id(envelope, i), (envelope->flags & VIC_REJECTED) != 0);
        }
    }
}

static int ack_one(struct consumer *consumer, const struct channel *channel, const struct delivery *delivery)
{
    amqp_connection_state_t state = consumer->link.state;
    return delivery->back ? amqp_basic_nack(state, channel->number, delivery->tag, 0, 1)
                          : amqp_basic_ack(state, channel->number, delivery->tag, 0);
}

enum fault deliver_send_acks(struct consumer *consumer, struct channel *channel)
{
    int status = AMQP_STATUS_OK;
    uint64_t all_up_to = 0;
    if (channel->acked == 0 || !has_room(consumer)) {
        return FAULT_NONE;
    }
    while (channel->first != NULL && channel->first->acked && !channel->first->back) {
        all_up_to = channel->first->tag;
        delivery_drop(consumer, channel, channel->first);
    }
    if (all_up_to != 0) {
        status = amqp_basic_ack(consumer->link.state, channel->number, all_up_to, 1);
    }
    for (struct delivery *each = channel->first, *next; each != NULL && channel->acked > 0; each = next) {
        next = each->next;
        if (each->acked) {
            if (status != AMQP_STATUS_OK || !has_room(consumer)) {
                break;
            }
            status = ack_one(consumer, channel, each);
            delivery_drop(consumer, channel, each);
        }
    }
    return link_status(&consumer->link, status, "acknowledging");
}

void deliver_forget(struct consumer *consumer, struct channel *channel)
{
    for (struct delivery *each = channel->first, *next; each != NULL; each = next) {
        next = each->next;
        each->tag = 0;
        if (each->to == NULL) {
            delivery_drop(consumer, channel, each);
        }
    }
    channel->first_waiting = channel->last_waiting = channel->coming = NULL;
}

/* ---- messages on their way in: method, header, body, put together as the envelope that a card will get */

static void add_waiting(struct channel *channel, struct delivery *delivery)
{
    delivery->next_waiting = NULL;
    *(channel->first_waiting != NULL ? &channel->last_waiting->next_waiting : &channel->first_waiting) =
        delivery;
    channel->last_waiting = delivery;
}

static enum fault no_memory(struct consumer *consumer)
{
    snprintf(consumer->link.why, sizeof consumer->link.why, "no memory for a message of a queue");
    return FAULT_DOWN; /* the broker keeps it */
}

static enum fault begin(struct consumer *consumer, struct channel *channel, const amqp_basic_deliver_t *deliver)
{
    struct delivery *delivery = delivery_new(consumer, channel, deliver->delivery_tag);
    if (delivery == NULL) {
        return no_memory(consumer);
    }
    delivery->message = message_new(VIC_ENVELOPE_MOST + VIC_KEY_MOST);
    if (delivery->message == NULL) {
        delivery_drop(consumer, channel, delivery);
        return no_memory(consumer);
    }
    delivery->message->key_bytes = (uint32_t)deliver->routing_key.len; /* a short string: 255 at most */
    memcpy(delivery->message->data + VIC_ENVELOPE_MOST, deliver->routing_key.bytes, deliver->routing_key.len);
    channel->coming = delivery;
    channel->coming_headed = false;
    channel->redelivered = deliver->redelivered != 0;
    return FAULT_NONE;
}

/* A message has come completely. */
static void complete(struct consumer *consumer, struct channel *channel)
{
    struct delivery *delivery = channel->coming;
    channel->coming = NULL;
    if (channel->consuming && delivery->message != NULL) {
        add_waiting(channel, delivery);
    } else { /* all had left when it came, or it is too long */
        delivery_return(consumer, channel, delivery);
    }
}

/* A message that is too long for any card is rejected: its queue is not for cards. */
static void too_long(struct consumer *consumer, struct channel *channel, uint64_t bytes)
{
    char why[128];
    snprintf(why, sizeof why, "a message of %llu bytes is longer than cards take (--max-message)",
             (unsigned long long)bytes);
    subscribers_refuse(consumer, channel, why);
}

static enum fault head(struct consumer *consumer, struct channel *channel, uint64_t body_bytes,
                       const amqp_basic_properties_t *properties)
{
    struct delivery *delivery = channel->coming;
    size_t key_bytes = delivery->message->key_bytes, head_bytes = VIC_ENVELOPE_MOST + key_bytes, bytes;
    uint64_t most =
        consumer->bridge->options.max_bytes > 0 ? consumer->bridge->options.max_bytes : UINT64_C(16) << 20;
    struct vic_envelope envelope = {.kind = VIC_DELIVER,
                                    .flags = channel->redelivered ? VIC_REDELIVERED : 0,
                                    .session = consumer->bridge->session,
                                    .id = delivery->id,
                                    .key_bytes = key_bytes};
    char key[256];
    memcpy(key, delivery->message->data + VIC_ENVELOPE_MOST, key_bytes);
    envelope.key = key;
    channel->coming_headed = true;
    channel->coming_at = 0;
    channel->coming_bytes = (size_t)body_bytes;
    if (head_bytes > most || body_bytes > most - head_bytes) {
        too_long(consumer, channel, body_bytes);
        message_free(delivery->message); /* the body is not kept */
        delivery->message = NULL;
    } else if (delivery->message->capacity < head_bytes + body_bytes) {
        message_free(delivery->message);
        delivery->message = message_new(head_bytes + (size_t)body_bytes);
        if (delivery->message == NULL) {
            return no_memory(consumer);
        }
    }
    if ((properties->_flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0) {
        id_read(properties->message_id.bytes, properties->message_id.len, &envelope.origin_session,
                &envelope.origin_id);
    }
    if (delivery->message != NULL) {
        vic_envelope_pack(delivery->message->data, head_bytes, &envelope, &bytes);
        delivery->message->bytes = head_bytes + (size_t)body_bytes;
        delivery->message->key_bytes = (uint32_t)key_bytes;
    }
    if (body_bytes == 0) {
        complete(consumer, channel);
    }
    return FAULT_NONE;
}

static void body(struct consumer *consumer, struct channel *channel, amqp_bytes_t piece)
{
    struct message *message = channel->coming->message;
    size_t left = channel->coming_bytes - channel->coming_at, bytes = piece.len < left ? piece.len : left;
    if (message != NULL) {
        memcpy(message->data + (message->bytes - left), piece.bytes, bytes);
    }
    channel->coming_at += bytes;
    if (channel->coming_at == channel->coming_bytes) {
        complete(consumer, channel);
    }
}

/* The queue was deleted, or its node is down. */
static void cancelled(struct consumer *consumer, struct channel *channel)
{
    const struct options *options = &consumer->bridge->options;
    log_warning("the broker cancelled the consumer of queue '%s'", channel->name);
    channel->consuming = false;
    deliver_requeue(consumer, channel, NULL);
    if (!options->declare || topology_queue(options, channel->name, channel->name_bytes) == NULL) {
        subscribers_refuse(consumer, channel, "the queue was deleted, or its broker is down");
    } /* otherwise it is declared again */
}

enum fault deliver_frame(struct consumer *consumer, const amqp_frame_t *frame)
{
    if (frame->channel == 0 || frame->channel > consumer->channels) {
        return FAULT_NONE;
    }
    struct channel *channel = consumer->channel[frame->channel - 1];
    const amqp_method_t *method = &frame->payload.method;
    if (frame->frame_type == AMQP_FRAME_METHOD && method->id == AMQP_BASIC_DELIVER_METHOD) {
        return begin(consumer, channel, method->decoded);
    }
    if (frame->frame_type == AMQP_FRAME_METHOD && method->id == AMQP_BASIC_CANCEL_METHOD) {
        cancelled(consumer, channel);
    } else if (frame->frame_type == AMQP_FRAME_METHOD && method->id == AMQP_CHANNEL_CLOSE_METHOD) {
        amqp_rpc_reply_t reply = {AMQP_RESPONSE_SERVER_EXCEPTION, *method, 0};
        link_fault(&consumer->link, &reply, channel->number, channel->name);
        return FAULT_DOWN; /* begin again with a new connection */
    } else if (frame->frame_type == AMQP_FRAME_HEADER && channel->coming != NULL && !channel->coming_headed) {
        return head(consumer, channel, frame->payload.properties.body_size, frame->payload.properties.decoded);
    } else if (frame->frame_type == AMQP_FRAME_BODY && channel->coming != NULL && channel->coming_headed) {
        body(consumer, channel, frame->payload.body_fragment);
    }
    return FAULT_NONE;
}
