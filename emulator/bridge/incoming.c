/* Messages of queues on their way in: method, header, body, put together as the envelope that a card will get.
 */
#include <stdio.h>
#include <string.h>

#include "consume.h"

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
