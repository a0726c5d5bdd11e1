/* Do messages of queues get to programs whole, each to one, and back to their queue when nobody has them? */
#define _GNU_SOURCE
#include "bridge_parts.h"

#include <unistd.h>

#include "consume.h"

enum { HEAD = VIC_ENVELOPE_MOST };

static _Atomic uint64_t opens[3];
static struct bridge bridge = {.cards = 3, .session = 99, .opens = opens};
static struct {
    struct wire wire;
    struct channel channel;
} here;
static struct consumer consumer;

static void queue_of(struct channel *channel)
{
    *channel = (struct channel){.number = 1, .name = "q", .name_bytes = 1, .is_open = true, .consuming = true};
}

static void begin(void)
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

static void end(void)
{
    subscribers_refuse(&consumer, &here.channel, "the end");
    deliver_forget(&consumer, &here.channel);
    wire_close(&here.wire);
}

/* What programs say. */
static void say(unsigned kind, uint32_t card, uint64_t session, uint64_t number, const char *queue, uint64_t credit)
{
    unsigned char body[8];
    vic_envelope_put_word(body, credit);
    struct vic_envelope envelope = {
        .kind = kind, .session = session, .id = number, .key = queue, .key_bytes = strlen(queue), .body = body, .bytes = 8};
    (kind == VIC_SUBSCRIBE ? subscribe : unsubscribe)(&consumer, card, &envelope);
}

static void acknowledge(uint32_t card, uint64_t session, uint64_t id, unsigned flags)
{
    const struct vic_envelope envelope = {.kind = VIC_ACK, .session = session, .id = id, .flags = flags};
    deliver_ack(&consumer, card, &envelope);
}

/* A frame of the broker is read. */
static enum fault reads(void)
{
    amqp_frame_t frame;
    bool there = false;
    enum fault fault = link_frame(&consumer.link, &frame, &there);
    return fault == FAULT_NONE && there ? deliver_frame(&consumer, &frame) : fault;
}

static void delivers(char tag, const char *body, unsigned channel)
{
    char arguments[] = "\1q\0\0\0\0\0\0\0\0\0\0\1k";
    arguments[9] = tag;
    wire_method(&here.wire, channel, 60, 60, arguments, sizeof arguments - 1);
    wire_header(&here.wire, channel, strlen(body), "0000000000000007-000000000000002a");
    wire_body(&here.wire, channel, body);
    CHECK(reads() == FAULT_NONE && reads() == FAULT_NONE && reads() == FAULT_NONE);
}

static void a_message_is_put_together_and_given_in_turn(void)
{
    begin();
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 1);
    say(VIC_SUBSCRIBE, 2, 8, 1, "q", 2);
    CHECK(subscribers_any(&consumer));
    for (char tag = 1; tag <= 4; tag++) {
        delivers(tag, "the body", 1);
    }
    deliver_waiting(&consumer, &here.channel);
    CHECK(card_envelopes == 3 && bridge.counters.delivered == 3); /* that is all their credit */
    CHECK(card_last.kind == VIC_DELIVER && card_last.bytes == 8 && memcmp(card_last.body, "the body", 8) == 0);
    CHECK(card_last.key_bytes == 1 && card_last.origin_session == 7 && card_last.origin_id == 42);
    acknowledge(1, 98, 1, 0); /* of another bridge, of another card, of nothing: no word is heeded */
    acknowledge(0, 99, 1, 0);
    acknowledge(1, 99, 1 + BUCKETS, 0);
    acknowledge(1, 99, 4, 0);
    CHECK(bridge.counters.acked == 0 && here.channel.acked == 0);
    struct delivery *second = here.channel.first->next;
    acknowledge(second->to->card, 99, second->id, 0);
    CHECK(bridge.counters.acked == 1 && deliver_tell_broker(&consumer, &here.channel) == FAULT_NONE);
    unsigned char room[256];
    CHECK(wire_read(&here.wire, room, sizeof room) == 21 && room[10] == 80 && room[18] == 2 && room[19] == 0);
    struct delivery *first = here.channel.first;
    acknowledge(first->to->card, 99, first->id, VIC_REJECTED);
    CHECK(bridge.counters.requeued == 1 && wire_read(&here.wire, room, sizeof room) == 21 && room[10] == 120);
    acknowledge(here.channel.first->to->card, 99, here.channel.first->id, 0);
    CHECK(deliver_tell_broker(&consumer, &here.channel) == FAULT_NONE);
    CHECK(wire_read(&here.wire, room, sizeof room) == 21 && room[10] == 80 && room[18] == 3 && room[19] == 1);
    end();
}

static void who_has_no_room_is_asked_again_later(void)
{
    begin();
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 8);
    struct subscriber *one = here.channel.subscribers;
    delivers(1, "x", 1);
    card_status = VIC_ETIMEDOUT;
    uint64_t before = 0;
    for (int i = 0; i < 8; i++) {
        one->retry_ns = 0;
        deliver_waiting(&consumer, &here.channel);
        CHECK(one->pause_ns >= before && one->pause_ns <= 20000000 && one->retry_ns > now_ns() - 20000000);
        before = one->pause_ns;
    }
    CHECK(before == 20000000 && bridge.counters.delivered == 0);
    one->retry_ns = now_ns() + UINT64_C(60000000000);
    card_status = VIC_OK;
    deliver_waiting(&consumer, &here.channel);
    CHECK(bridge.counters.delivered == 0); /* not before */
    one->retry_ns = 0;
    deliver_waiting(&consumer, &here.channel);
    CHECK(bridge.counters.delivered == 1 && one->pause_ns == 0);
    end();
}

static void what_nobody_can_take_goes_back(void)
{
    begin();
    bridge.options.max_bytes = HEAD + 10;
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 8);
    delivers(1, "123456789", 1); /* as long as may be, with its key */
    CHECK(here.channel.first_waiting != NULL && here.channel.subscribers != NULL);
    card_envelopes = 0;
    char arguments[] = "\1q\0\0\0\0\0\0\0\2\0\0\1k";
    wire_method(&here.wire, 1, 60, 60, ARGUMENTS(arguments));
    wire_header(&here.wire, 1, 10, NULL);
    CHECK(reads() == FAULT_NONE && reads() == FAULT_NONE);
    CHECK(here.channel.subscribers == NULL && card_last.kind == VIC_REFUSAL && card_envelopes == 1);
    CHECK(strstr(card_last.body, "a message of 10 bytes is longer than cards take") != NULL);
    wire_header(&here.wire, 1, 10, NULL); /* once more: of nothing */
    wire_body(&here.wire, 1, "1234567890");
    CHECK(reads() == FAULT_NONE && reads() == FAULT_NONE && bridge.counters.requeued == 1);
    bridge.options.max_bytes = HEAD; /* not even a key fits */
    wire_method(&here.wire, 1, 60, 60, ARGUMENTS(arguments));
    wire_header(&here.wire, 1, 1, NULL);
    wire_body(&here.wire, 1, "1");
    CHECK(reads() == FAULT_NONE && reads() == FAULT_NONE && reads() == FAULT_NONE && bridge.counters.requeued == 2);
    here.channel.consuming = false; /* all have left */
    bridge.options.max_bytes = 0;
    delivers(3, "late", 1);
    CHECK(bridge.counters.requeued == 3);
    wire_body(&here.wire, 1, "of nothing");
    wire_header(&here.wire, 1, 1, NULL);
    CHECK(reads() == FAULT_NONE && reads() == FAULT_NONE);
    delivers(4, "of no queue", 2); /* only one is open */
    CHECK(bridge.counters.requeued == 3 && here.channel.coming == NULL);
    end();
}

static void a_queue_that_ends_is_refused_unless_it_is_ours(void)
{
    begin();
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 8);
    delivers(1, "waits", 1);
    wire_method(&here.wire, 1, 60, 30, ARGUMENTS("\1q\1")); /* cancel */
    CHECK(reads() == FAULT_NONE && !here.channel.consuming && bridge.counters.requeued == 1);
    CHECK(here.channel.subscribers == NULL && strstr(card_last.body, "the queue was deleted") != NULL);
    here.channel.consuming = true;
    say(VIC_SUBSCRIBE, 1, 7, 2, "q", 8);
    bridge.options.declare = true;
    bridge.options.queue[bridge.options.queues++] = (struct queue_option){"q", "k"};
    wire_method(&here.wire, 1, 60, 30, ARGUMENTS("\1q\1"));
    CHECK(reads() == FAULT_NONE && here.channel.subscribers != NULL);
    wire_method(&here.wire, 1, 20, 40, ARGUMENTS("\1\224\4none\0\0\0\0"));
    CHECK(reads() == FAULT_DOWN && strstr(consumer.link.why, "q: 404 none") != NULL);
    end();
}

static void programs_are_told_apart(void)
{
    begin();
    card_opens = 2;
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 8); /* has left again */
    CHECK(!subscribers_any(&consumer) && card_envelopes == 0);
    card_opens = 1;
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 0);
    CHECK(!subscribers_any(&consumer) && strncmp(card_last.body, "a credit of 0", 13) == 0);
    say(VIC_SUBSCRIBE, 1, 7, 1, "", 1);
    CHECK(!subscribers_any(&consumer) && strncmp(card_last.body, "this is no name of a queue", 26) == 0);
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 8);
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 9); /* more credit, not a second one */
    CHECK(here.channel.subscribers->next == NULL && here.channel.subscribers->credit == 9);
    say(VIC_SUBSCRIBE, 1, 8, 1, "q", 8); /* another program of the card: the first is gone */
    CHECK(here.channel.subscribers->session == 8 && here.channel.subscribers->next == NULL);
    say(VIC_UNSUBSCRIBE, 1, 7, 1, "q", 0);
    say(VIC_UNSUBSCRIBE, 2, 8, 1, "q", 0);
    say(VIC_UNSUBSCRIBE, 1, 8, 2, "q", 0);
    CHECK(subscribers_any(&consumer));
    opens[1] = 3; /* seen by the main thread: the card was opened anew */
    subscribers_look(&consumer);
    CHECK(!subscribers_any(&consumer));
    say(VIC_SUBSCRIBE, 1, 9, 1, "q", 8);
    subscribers_look(&consumer); /* not so soon */
    CHECK(subscribers_any(&consumer));
    opens[1] = 0;
    bridge.options.consume[bridge.options.consumes++] = "other";
    say(VIC_SUBSCRIBE, 1, 9, 2, "q", 8);
    CHECK(strncmp(card_last.body, "this bridge does not serve it", 29) == 0);
    bridge.options.consume[bridge.options.consumes++] = "q";
    say(VIC_SUBSCRIBE, 2, 9, 2, "q", 8);
    CHECK(here.channel.subscribers->next != NULL);
    end();
}

static void no_more_than_64_queues_are_consumed(void)
{
    begin();
    char name[] = "queue 00";
    for (int i = 0; i < MOST_QUEUES; i++) {
        name[6] = (char)('0' + i / 10);
        name[7] = (char)('0' + i % 10);
        say(VIC_SUBSCRIBE, 1, 7, (uint64_t)i, name, 1);
    }
    CHECK(consumer.channels == MOST_QUEUES && strncmp(card_last.body, "64 queues are consumed already", 30) == 0);
    for (size_t i = 1; i < consumer.channels; i++) {
        subscribers_refuse(&consumer, consumer.channel[i], "the end");
        free(consumer.channel[i]);
    }
    consumer.channels = 1;
    end();
}

static void a_broken_connection_is_noticed(void)
{
    begin();
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 8);
    delivers(1, "x", 1);
    delivers(2, "y", 1);
    delivers(3, "z", 1);
    deliver_waiting(&consumer, &here.channel);
    acknowledge(1, 99, 1, 0);
    acknowledge(1, 99, 3, 0);
    close(here.wire.broker);
    CHECK(deliver_tell_broker(&consumer, &here.channel) == FAULT_DOWN && here.channel.acked == 1);
    CHECK(delivery_return(&consumer, &here.channel, here.channel.first) == FAULT_DOWN);
    here.channel.is_open = false; /* then nothing needs to be said */
    CHECK(delivery_return(&consumer, &here.channel, here.channel.first) == FAULT_NONE);
    here.wire.broker = -1;
    end();
}

static void a_long_message_waits_longer_for_its_receiver(void)
{
    begin();
    char arguments[] = "\1q\0\0\0\0\0\0\0\1\0\0\1k", piece[4001];
    memset(piece, 'l', sizeof piece);
    piece[4000] = 0;
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 8);
    wire_method(&here.wire, 1, 60, 60, ARGUMENTS(arguments));
    wire_header(&here.wire, 1, 36000, NULL);
    CHECK(reads() == FAULT_NONE && reads() == FAULT_NONE);
    for (int i = 0; i < 9; i++) {
        CHECK(here.channel.first_waiting == NULL);
        wire_body(&here.wire, 1, piece);
        CHECK(reads() == FAULT_NONE);
    }
    card_status = VIC_ETIMEDOUT;
    struct subscriber *one = here.channel.subscribers;
    for (uint64_t pause_ms = 500; pause_ms <= 8000; pause_ms *= 2) {
        one->retry_ns = 0;
        deliver_waiting(&consumer, &here.channel);
        CHECK(one->pause_ns == pause_ms * 1000000);
    }
    one->retry_ns = 0;
    card_status = VIC_OK;
    deliver_waiting(&consumer, &here.channel);
    CHECK(card_last.bytes == 36000 && memcmp(card_last.body, piece, 4000) == 0 && one->pause_ns == 0);
    end();
}

static void without_memory_the_broker_keeps_it_and_programs_are_told(void)
{
    begin();
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 8);
    char arguments[] = "\1q\0\0\0\0\0\0\0\1\0\0\1k";
    message_free_all();
    for (int n = 1; n <= 2; n++) { /* the delivery, its message */
        wire_method(&here.wire, 1, 60, 60, ARGUMENTS(arguments));
        memory_fails_in = n;
        CHECK(reads() == FAULT_DOWN && memory_fails_in == 0 && here.channel.first == NULL);
        CHECK(strcmp(consumer.link.why, "no memory for a message of a queue") == 0);
    }
    wire_method(&here.wire, 1, 60, 60, ARGUMENTS(arguments));
    wire_header(&here.wire, 1, 100000, NULL);
    CHECK(reads() == FAULT_NONE);
    memory_fails_in = 1;
    CHECK(reads() == FAULT_DOWN && here.channel.first_waiting == NULL);
    deliver_forget(&consumer, &here.channel);
    card_envelopes = 0;
    for (int n = 1; n <= 2; n++) { /* the queue, who wants it */
        memory_fails_in = n;
        say(VIC_SUBSCRIBE, 1, 7, 2, "another", 8);
        CHECK(card_envelopes == (uint64_t)n && card_last.kind == VIC_REFUSAL && memcmp(card_last.body, "no memory", 9) == 0);
    }
    CHECK(consumer.channels == 2 && consumer.channel[1]->subscribers == NULL);
    free(consumer.channel[--consumer.channels]);
    end();
}

static void deliveries_that_share_a_bucket_are_told_apart(void)
{
    begin();
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 8);
    delivers(1, "x", 1);
    consumer.last_id = BUCKETS;
    delivers(2, "y", 1);
    deliver_waiting(&consumer, &here.channel);
    acknowledge(1, 99, 1, 0);
    CHECK(here.channel.first->acked && here.channel.first->id == 1 && !here.channel.last->acked);
    CHECK(deliver_tell_broker(&consumer, &here.channel) == FAULT_NONE && here.channel.first->id == BUCKETS + 1);
    acknowledge(1, 99, 1, 0); /* twice */
    CHECK(bridge.counters.acked == 1);
    end();
}

/* What programs sent before it was asked to stop is freed, whether it was read or not. */
static void a_consumer_without_a_broker_ends_when_it_is_asked_to(void)
{
    bridge.options = (struct options){.urls = 1, .reconnect_least_ns = 1000000, .reconnect_most_ns = 1000000};
    CHECK(url_read("amqp://127.0.0.1:1", true, &bridge.options.url[0]) == NULL); /* nobody listens there */
    struct consumer *own = consumer_start(&bridge);
    CHECK(own != NULL && !consumer_has_ended(own));
    for (int i = 0; i < 2; i++) {
        unsigned char credit[8] = {1};
        consumer_put(own, an_envelope(&(struct vic_envelope){
                              .kind = VIC_SUBSCRIBE, .session = 7, .id = 1, .key = "q", .key_bytes = 1, .body = credit, .bytes = 8}));
        if (i == 0) {
            consumer_nudge(own);
            for (size_t there = 1; there != 0;) {
                pthread_mutex_lock(&own->lock);
                there = own->inbox.count;
                pthread_mutex_unlock(&own->lock);
            }
            atomic_store(&bridge.stopping, true);
            while (!consumer_has_ended(own)) {
            }
        }
    }
    consumer_close(own);
    consumer_close(NULL);
    free(bridge.options.url[0].text);
}

int main(void)
{
    a_message_is_put_together_and_given_in_turn();
    who_has_no_room_is_asked_again_later();
    what_nobody_can_take_goes_back();
    a_queue_that_ends_is_refused_unless_it_is_ours();
    programs_are_told_apart();
    no_more_than_64_queues_are_consumed();
    a_broken_connection_is_noticed();
    a_long_message_waits_longer_for_its_receiver();
    without_memory_the_broker_keeps_it_and_programs_are_told();
    deliveries_that_share_a_bucket_are_told_apart();
    a_consumer_without_a_broker_ends_when_it_is_asked_to();
    message_free_all();
    puts("checks passed");
    return 0;
}
