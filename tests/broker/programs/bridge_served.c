/* The threads of vicbridge with a broker that listens (../../fuzz/amqp_server.h): are messages confirmed, given out and
 * given back, and does a connection that breaks at a bad moment lose nothing? */
#define _GNU_SOURCE
#include "bridge_parts.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#undef CHECK
#include "../../fuzz/amqp_server.h"

#include "consume.h"

/* What a byte of a script makes of the reply whose turn it is: see amqp_server.c. */
#define GOOD "\0"
#define HANGS_UP "\217"
#define LOGGED_IN GOOD GOOD GOOD       /* start, tune, open-ok */
#define OPEN LOGGED_IN GOOD            /* and a channel */
#define READY OPEN GOOD GOOD           /* and exchange and confirms */
#define NACKS "\372" GOOD              /* not an ack, and a good frame all the same */
#define NONE "\213\005\013\001\224\004none\0\0\0\0" /* before the reply: channel.close, 404 none */

#define WAIT_FOR(condition)                                                                                 \
    while (!(condition)) {                                                                                  \
        nanosleep(&(struct timespec){0, 200000}, NULL);                                                     \
    }

static _Atomic uint64_t opens[3];
static struct bridge bridge;
static struct publisher publisher;
static struct consumer *consumer;
static char url[64];

struct script {
    const char *text;
    size_t bytes;
};
#define SCRIPT(text) {text, sizeof text - 1}

static void begin(const struct script script[PARTS])
{
    static struct input part[PARTS];
    for (int i = 0; i < PARTS; i++) {
        part[i] = input_of((const uint8_t *)script[i].text, script[i].bytes);
    }
    server_start(part);
    memset(&bridge, 0, sizeof bridge);
    bridge.cards = 3;
    bridge.session = 99;
    bridge.opens = opens;
    bridge.options = (struct options){.urls = 1, .exchange = "x", .declare = true, .prefetch = 8, .window = 8,
                                      .window_bytes = 1 << 20, .connections = 1,
                                      .reconnect_least_ns = 1000000, .reconnect_most_ns = 4000000};
    CHECK(url_read(url, true, &bridge.options.url[0]) == NULL);
    card_status = VIC_OK;
    card_opens = 1;
    card_envelopes = card_tries = 0;
}

static void end(void)
{
    server_stop();
    free(bridge.options.url[0].text);
}

/* ---- a publisher */

static void publish(const struct script script[PARTS], uint64_t messages)
{
    begin(script);
    CHECK(publisher_start(&publisher, &bridge, 0));
    for (uint64_t id = 1; id <= messages; id++) {
        CHECK(publisher_put(&publisher, a_message(id, "body")));
    }
    publisher_nudge(&publisher);
}

static void publish_no_more(void)
{
    atomic_store(&bridge.stopping, true);
    publisher_kick(&publisher);
    WAIT_FOR(publisher_state(&publisher) == PUBLISHER_ENDED);
    pthread_join(publisher.thread, NULL);
    publisher_close(&publisher);
    end();
}

/* All of 3 are confirmed, and the broker has them; how often they were published again. */
static uint64_t all_confirmed(void)
{
    WAIT_FOR(bridge.counters.confirmed == 3);
    for (char digit = '1'; digit <= '3'; digit++) {
        char id[] = "0000000000000007-0000000000000000";
        id[32] = digit;
        CHECK(server_has(id));
    }
    CHECK(bridge.counters.published == 3 && bridge.counters.refused == 0);
    publish_no_more();
    CHECK(card_last.kind == VIC_CONFIRM && card_last.session == 7 && bridge.counters.in_flight == 0);
    return bridge.counters.republished;
}

static void a_message_that_is_not_taken_is_published_again(void)
{
    publish((struct script[PARTS]){SCRIPT(READY NACKS NACKS)}, 3);
    CHECK(all_confirmed() == 2 && bridge.counters.nacked == 2 && bridge.counters.reconnects == 0);
}

static void a_connection_may_break_at_any_step_of_its_beginning(void)
{
    static const struct script steps[][PARTS] = {
        {SCRIPT(HANGS_UP), SCRIPT(GOOD HANGS_UP), SCRIPT(GOOD GOOD HANGS_UP)},
        {SCRIPT(LOGGED_IN HANGS_UP), SCRIPT(OPEN HANGS_UP), SCRIPT(OPEN GOOD HANGS_UP)}};
    for (int i = 0; i < 2; i++) {
        publish(steps[i], 3);
        CHECK(all_confirmed() == 0 && bridge.counters.reconnects == 0); /* it had never worked */
    }
}

static void what_was_not_confirmed_when_it_broke_is_published_again(void)
{
    publish((struct script[PARTS]){SCRIPT(READY GOOD HANGS_UP), SCRIPT(READY GOOD GOOD GOOD HANGS_UP)}, 3);
    CHECK(all_confirmed() >= 1 && bridge.counters.reconnects == 2);
}

static void what_a_broker_does_not_have_is_said_and_not_tried_again(void)
{
    publish((struct script[PARTS]){SCRIPT(OPEN NONE)}, 1);
    WAIT_FOR(publisher_state(&publisher) == PUBLISHER_ENDED);
    CHECK(bridge.stop == STOP_FAILED && strstr(publisher.link.why, "exchange 'x': 404 none") != NULL);
    publish_no_more();
    CHECK(bridge.counters.in_flight == 1 && card_envelopes == 0); /* nobody was told that it is there */
}

static void a_broker_that_worked_once_is_tried_again_though_it_refuses(void)
{
    publish((struct script[PARTS]){SCRIPT(READY GOOD HANGS_UP), SCRIPT(OPEN NONE), SCRIPT(LOGGED_IN NONE)}, 3);
    CHECK(all_confirmed() >= 1 && bridge.stop == STOP_NOT);
}

static void what_is_held_when_it_is_asked_to_stop_is_confirmed_first(void)
{
    begin((struct script[PARTS]){SCRIPT(READY GOOD HANGS_UP), SCRIPT(READY GOOD GOOD HANGS_UP)});
    bridge.options.exchange = ""; /* the nameless one: nothing to declare but the queue */
    bridge.options.queue[bridge.options.queues++] = (struct queue_option){"q", "k"};
    CHECK(publisher_start(&publisher, &bridge, 0));
    WAIT_FOR(publisher_state(&publisher) == PUBLISHER_WORKS);
    atomic_store(&bridge.stop, STOP_SIGNAL);
    CHECK(publisher_put(&publisher, a_message(1, "body")));
    publisher_nudge(&publisher);
    WAIT_FOR(bridge.counters.confirmed == 1);
    CHECK(bridge.counters.republished == 1 && bridge.counters.reconnects == 1);
    publish_no_more(); /* the broker hangs up before it says goodbye, which is no harm */
}

static void when_nothing_is_worth_a_wait_it_ends_without_a_broker(void)
{
    publish((struct script[PARTS]){SCRIPT(HANGS_UP), SCRIPT(HANGS_UP), SCRIPT(HANGS_UP), SCRIPT(HANGS_UP)}, 1);
    atomic_store(&bridge.abandon, true);
    publish_no_more();
    CHECK(bridge.counters.in_flight == 1);
}

/* ---- the consumer */

static void tell(unsigned kind, uint64_t session, uint64_t id)
{
    unsigned char credit[8] = {2};
    struct vic_envelope envelope = {.kind = kind, .session = session, .id = id};
    if (kind == VIC_SUBSCRIBE) {
        envelope.body = credit;
        envelope.bytes = sizeof credit;
    }
    if (kind != VIC_ACK) {
        envelope.key = "q";
        envelope.key_bytes = 1;
    }
    consumer_put(consumer, an_envelope(&envelope));
    consumer_nudge(consumer);
}

static void consume(const struct script script[PARTS])
{
    begin(script);
    CHECK((consumer = consumer_start(&bridge)) != NULL);
    tell(VIC_SUBSCRIBE, 7, 1);
}

static void consume_no_more(void)
{
    atomic_store(&bridge.stopping, true);
    consumer_close(consumer);
    end();
}

static void who_has_no_room_gets_his_messages_later(void)
{
    begin((struct script[PARTS]){{0}});
    card_status = VIC_ETIMEDOUT;
    CHECK((consumer = consumer_start(&bridge)) != NULL);
    tell(VIC_SUBSCRIBE, 7, 1);
    WAIT_FOR(card_tries >= 3);
    CHECK(bridge.counters.delivered == 0);
    card_status = VIC_OK;
    WAIT_FOR(bridge.counters.delivered == 2);
    tell(VIC_ACK, 99, 1);
    WAIT_FOR(bridge.counters.acked == 1);
    tell(VIC_UNSUBSCRIBE, 7, 1);
    WAIT_FOR(bridge.counters.requeued == 1); /* the other one */
    tell(VIC_SUBSCRIBE, 7, 2); /* on the channel that is open still */
    WAIT_FOR(bridge.counters.delivered == 4);
    consume_no_more();
}

static void a_connection_of_a_consumer_may_break_too(void)
{
    consume((struct script[PARTS]){SCRIPT(LOGGED_IN HANGS_UP), SCRIPT(OPEN HANGS_UP), SCRIPT(OPEN GOOD HANGS_UP),
                                   SCRIPT(OPEN GOOD GOOD GOOD HANGS_UP)});
    WAIT_FOR(bridge.counters.delivered == 2); /* of the fifth */
    CHECK(bridge.counters.reconnects == 4);
    consume_no_more();
}

static void a_queue_that_is_not_there_is_refused_and_others_are_not(void)
{
    consume((struct script[PARTS]){SCRIPT(OPEN GOOD NONE)});
    WAIT_FOR(card_envelopes == 1);
    CHECK(card_last.kind == VIC_REFUSAL && card_last.id == 1);
    CHECK(card_last.bytes > 8 && memcmp((const char *)card_last.body + card_last.bytes - 8, "404 none", 8) == 0);
    tell(VIC_SUBSCRIBE, 7, 2); /* and now it is */
    WAIT_FOR(bridge.counters.delivered == 2);
    consume_no_more();
}

/* ---- a full inbox */

static void *put_one_more(void *nothing)
{
    consumer_put(consumer, an_envelope(&(struct vic_envelope){.kind = VIC_ACK, .session = 99, .id = 1}));
    return nothing;
}

static void the_main_thread_waits_for_a_consumer_that_is_behind(void)
{
    enum { MOST_INBOX = 4096 };
    struct consumer behind = {.bridge = &bridge, .wake = eventfd(0, EFD_NONBLOCK)};
    struct message *message;
    pthread_t other;
    uint64_t kicks;
    pthread_mutex_init(&behind.lock, NULL);
    pthread_cond_init(&behind.free_slot, NULL);
    consumer = &behind;
    for (int i = 0; i < MOST_INBOX; i++) {
        put_one_more(NULL);
    }
    CHECK(eventfd_read(behind.wake, &kicks) == 0 && kicks == MOST_INBOX / 16);
    CHECK(pthread_create(&other, NULL, put_one_more, NULL) == 0);
    WAIT_FOR(eventfd_read(behind.wake, &kicks) == 0); /* it says that it waits */
    pthread_mutex_lock(&behind.lock);
    CHECK(behind.inbox.count == MOST_INBOX);
    atomic_store(&behind.ended, true); /* then it need not wait */
    pthread_cond_signal(&behind.free_slot);
    pthread_mutex_unlock(&behind.lock);
    pthread_join(other, NULL);
    CHECK(behind.inbox.count == MOST_INBOX + 1);
    while ((message = queue_take(&behind.inbox)) != NULL) {
        message_free(message);
    }
    close(behind.wake);
}

int main(void)
{
    snprintf(url, sizeof url, "amqp://127.0.0.1:%d", server_listen());
    a_message_that_is_not_taken_is_published_again();
    a_connection_may_break_at_any_step_of_its_beginning();
    what_was_not_confirmed_when_it_broke_is_published_again();
    what_a_broker_does_not_have_is_said_and_not_tried_again();
    a_broker_that_worked_once_is_tried_again_though_it_refuses();
    what_is_held_when_it_is_asked_to_stop_is_confirmed_first();
    when_nothing_is_worth_a_wait_it_ends_without_a_broker();
    who_has_no_room_gets_his_messages_later();
    a_connection_of_a_consumer_may_break_too();
    a_queue_that_is_not_there_is_refused_and_others_are_not();
    the_main_thread_waits_for_a_consumer_that_is_behind();
    message_free_all();
    puts("checks passed");
    return 0;
}
