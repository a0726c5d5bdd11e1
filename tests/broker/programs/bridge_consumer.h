/* bridge_consumer.h: a consumer of vicbridge with one queue, q, what programs say to it and what a broker does. */
#ifndef BRIDGE_CONSUMER_H
#define BRIDGE_CONSUMER_H

#include "bridge_parts.h"
#include "consume.h"

enum { HEAD = VIC_ENVELOPE_MOST };

static _Atomic uint64_t opens[3];
static struct bridge bridge = {.cards = 3, .session = 99, .opens = opens};
static struct {
    struct wire wire;
    struct channel channel;
} here;
static struct consumer consumer;

static inline void queue_of(struct channel *channel)
{
    *channel = (struct channel){.number = 1, .name = "q", .name_bytes = 1, .is_open = true, .consuming = true};
}

static inline void begin(void)
{
    bridge.options = (struct options){.prefetch = 8};
    memset(&bridge.counters, 0, sizeof bridge.counters);
    consumer = (struct consumer){.bridge = &bridge};
    here.wire = wire_open(&consumer.link, &bridge);
    queue_of(&here.channel);
    consumer.channel[consumer.channels++] = &here.channel;
    card_status = VIC_OK;
    card_opens = 1;
    card_envelopes = 0;
}

static inline void end(void)
{
    subscribers_refuse(&consumer, &here.channel, "the end");
    deliver_forget(&consumer, &here.channel);
    refusals_forget(&consumer);
    wire_close(&here.wire);
}

/* What programs say. */
static inline void say(unsigned kind, uint32_t card, uint64_t session, uint64_t number, const char *queue, uint64_t credit)
{
    unsigned char body[8];
    vic_envelope_put_word(body, credit);
    struct vic_envelope envelope = {
        .kind = kind, .session = session, .id = number, .key = queue, .key_bytes = strlen(queue), .body = body, .bytes = 8};
    (kind == VIC_SUBSCRIBE ? subscribe : unsubscribe)(&consumer, card, &envelope);
}

static inline void acknowledge(uint32_t card, uint64_t session, uint64_t id, unsigned flags)
{
    const struct vic_envelope envelope = {.kind = VIC_ACK, .session = session, .id = id, .flags = flags};
    deliver_ack(&consumer, card, &envelope);
}

/* A frame of the broker is read. */
static inline enum fault reads(void)
{
    amqp_frame_t frame;
    bool there = false;
    enum fault fault = link_frame(&consumer.link, &frame, &there);
    return fault == FAULT_NONE && there ? deliver_frame(&consumer, &frame) : fault;
}

static inline void delivers(char tag, const char *body, unsigned channel)
{
    char arguments[] = "\1q\0\0\0\0\0\0\0\0\0\0\1k";
    arguments[9] = tag;
    wire_method(&here.wire, channel, 60, 60, arguments, sizeof arguments - 1);
    wire_header(&here.wire, channel, strlen(body), "0000000000000007-000000000000002a");
    wire_body(&here.wire, channel, body);
    CHECK(reads() == FAULT_NONE && reads() == FAULT_NONE && reads() == FAULT_NONE);
}

#endif
