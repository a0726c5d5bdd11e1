/* Do messages of queues get to programs whole, each to one, and back to their queue when nobody has them? */
#define _GNU_SOURCE
#include "bridge_consumer.h"

#include <sys/socket.h>
#include <unistd.h>

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
    CHECK(bridge.counters.acked == 1 && deliver_send_acks(&consumer, &here.channel) == FAULT_NONE);
    unsigned char room[256];
    CHECK(wire_read(&here.wire, room, sizeof room) == 21 && room[10] == 80 && room[18] == 2 && room[19] == 0);
    struct delivery *first = here.channel.first;
    acknowledge(first->to->card, 99, first->id, VIC_REJECTED);
    CHECK(bridge.counters.requeued == 1 && wire_read(&here.wire, room, sizeof room) == 21 && room[10] == 120);
    acknowledge(here.channel.first->to->card, 99, here.channel.first->id, 0);
    CHECK(deliver_send_acks(&consumer, &here.channel) == FAULT_NONE);
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
        uint64_t start_ns = now_ns();
        one->retry_ns = 0;
        deliver_waiting(&consumer, &here.channel);
        CHECK(one->pause_ns >= before && one->pause_ns <= 20000000);
        CHECK(one->retry_ns >= start_ns + one->pause_ns); /* however late it is by now */
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
    CHECK(deliver_send_acks(&consumer, &here.channel) == FAULT_DOWN && here.channel.acked == 1);
    CHECK(delivery_return(&consumer, &here.channel, here.channel.first) == FAULT_DOWN);
    here.channel.is_open = false; /* then nothing needs to be said */
    CHECK(delivery_return(&consumer, &here.channel, here.channel.first) == FAULT_NONE);
    here.wire.broker = -1;
    end();
}

/* Neither for what it is to take, nor for what its queue has again. */
static void a_broker_that_takes_nothing_is_not_waited_for(void)
{
    begin();
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 8);
    delivers(1, "one", 1);
    delivers(2, "two", 1);
    deliver_waiting(&consumer, &here.channel);
    unsigned char room[4096] = {0};
    uint64_t first = here.channel.first->id, second = here.channel.last->id;
    while (send(consumer.link.fd, room, sizeof room, MSG_DONTWAIT) > 0) {
    }
    consumer.link.allowance = 0;
    alarm(30); /* what waits for ever is killed */
    acknowledge(1, 99, second, VIC_REJECTED);
    acknowledge(1, 99, first, 0);
    CHECK(deliver_send_acks(&consumer, &here.channel) == FAULT_NONE);
    CHECK(consumer.wants_room && here.channel.acked == 2 && here.channel.first->next == here.channel.last);
    CHECK(bridge.counters.acked == 1 && bridge.counters.requeued == 1);
    acknowledge(1, 99, second, 0); /* it has been given back */
    CHECK(bridge.counters.acked == 1);
    while (wire_read(&here.wire, room, sizeof room) > 0) {
    }
    CHECK(deliver_send_acks(&consumer, &here.channel) == FAULT_NONE && here.channel.first == NULL);
    CHECK(wire_read(&here.wire, room, sizeof room) == 42 && room[10] == 80 && room[18] == 1 && room[31] == 120);
    alarm(0);
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
    say(VIC_SUBSCRIBE, 2, 8, 1, "q", 8); /* heartbeats and acks come before the next wait, by whomever */
    one->retry_ns = card_tries = 0;
    CHECK(!deliver_waiting(&consumer, &here.channel) && card_tries == 1);
    say(VIC_UNSUBSCRIBE, 2, 8, 1, "q", 0);
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
    CHECK(deliver_send_acks(&consumer, &here.channel) == FAULT_NONE && here.channel.first->id == BUCKETS + 1);
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
    a_broken_connection_is_noticed();
    a_broker_that_takes_nothing_is_not_waited_for();
    a_long_message_waits_longer_for_its_receiver();
    without_memory_the_broker_keeps_it_and_programs_are_told();
    deliveries_that_share_a_bucket_are_told_apart();
    a_consumer_without_a_broker_ends_when_it_is_asked_to();
    message_free_all();
    puts("checks passed");
    return 0;
}
