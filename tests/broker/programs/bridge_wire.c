/* What does vicbridge make of the frames of a broker, and of a connection that breaks at any place? */
#define _GNU_SOURCE
#include "bridge_parts.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static struct bridge bridge = {.cards = 3, .session = 99, .options = {.window = 8, .window_bytes = 1 << 20, .exchange = "x"}};
static struct publisher publisher;
static struct wire wire;

/* A publisher that has published so many messages, 1 and on, and waits for confirms. */
static void begin(uint64_t messages)
{
    memset(&bridge.counters, 0, sizeof bridge.counters);
    publisher = (struct publisher){.bridge = &bridge, .wake = eventfd(0, EFD_NONBLOCK)};
    pthread_mutex_init(&publisher.lock, NULL);
    wire = wire_open(&publisher.link, &bridge);
    CHECK(flight_open(&publisher.flight, 8) && outbox_open(&publisher.outbox));
    CHECK(replies_open(&publisher.replies, &bridge));
    for (uint64_t id = 1; id <= messages; id++) {
        struct message *message = a_message(id, "body");
        message->published_ns = 1;
        flight_add(&publisher.flight, message);
        publisher.held++;
        publisher.held_bytes += message->bytes;
    }
    bridge.counters.in_flight = messages;
}

static void end(void)
{
    wire_close(&wire);
    publisher_close(&publisher);
}

static void silence_is_noticed_and_broken(void)
{
    begin(0);
    struct link *link = &publisher.link;
    unsigned char room[64];
    link->heard_ns = now_ns() - UINT64_C(3000000000);
    CHECK(link_wait(link, publisher.wake, false, 0) == FAULT_NONE); /* without heartbeats nothing is silence */
    wire_body(&wire, 0, "on the channel of the connection");
    CHECK(publisher_read(&publisher) == FAULT_NONE);
    link->heartbeat_s = 1;
    CHECK(link_wait(link, publisher.wake, false, 0) == FAULT_DOWN);
    CHECK(strcmp(link->why, "nothing was heard from amqp://nobody for 2 s") == 0);
    wire_frame(&wire, AMQP_FRAME_HEARTBEAT, 0, "", 0); /* it was we who did not look */
    CHECK(link_wait(link, publisher.wake, false, 0) == FAULT_NONE && link->readable);
    CHECK(publisher_read(&publisher) == FAULT_NONE && !link->readable);
    link->heard_ns = now_ns();
    link->sent_ns = 0;
    CHECK(link_wait(link, publisher.wake, false, 0) == FAULT_NONE);
    CHECK(wire_read(&wire, room, sizeof room) == 8 && memcmp(room, "\10\0\0\0\0\0\0\316", 8) == 0); /* a heartbeat */
    publisher_kick(&publisher);
    CHECK(link_wait(link, publisher.wake, true, UINT64_MAX) == FAULT_NONE && !link->readable); /* at once: kicked */
    wire_frame(&wire, AMQP_FRAME_HEARTBEAT, 0, "", 0);
    CHECK(link_wait(link, publisher.wake, false, UINT64_MAX) == FAULT_NONE && link->readable);
    CHECK(publisher_read(&publisher) == FAULT_NONE && !link->readable);
    CHECK(write(publisher.wake, &(uint64_t){UINT64_MAX - 1}, 8) == 8);
    publisher_kick(&publisher); /* has been told often enough: does not wait */
    shutdown(wire.broker, SHUT_RDWR);
    link->sent_ns = 0;
    CHECK(link_wait(link, publisher.wake, false, 0) == FAULT_DOWN && strstr(link->why, "heartbeat") != NULL);
    CHECK(publisher_read(&publisher) == FAULT_DOWN);
    end();
}

static void the_broker_may_block_and_close(void)
{
    begin(0);
    struct link *link = &publisher.link;
    unsigned char room[64];
    CHECK(link_has_room(link, 1 << 20) && link->allowance == 0); /* the whole of it, and then look again */
    wire_method(&wire, 0, 10, 20, ARGUMENTS("\0\0\0\0")); /* connection.secure: nothing to us */
    CHECK(publisher_read(&publisher) == FAULT_NONE);
    wire_method(&wire, 0, 10, 60, ARGUMENTS("\6memory"));
    CHECK(publisher_read(&publisher) == FAULT_NONE && link->blocked);
    queue_put(&publisher.next, a_message(1, "waits"));
    CHECK(publisher_publish(&publisher) == FAULT_NONE && publisher.next.count == 1);
    CHECK(wire_read(&wire, room, sizeof room) == 0); /* nothing is published meanwhile */
    wire_method(&wire, 0, 10, 61, ARGUMENTS(""));
    CHECK(publisher_read(&publisher) == FAULT_NONE && !link->blocked);
    wire_method(&wire, 0, 10, 50, ARGUMENTS("\1\100\3bye\0\0\0\0")); /* 320: forced */
    CHECK(publisher_read(&publisher) == FAULT_DOWN && strcmp(link->why, "amqp://nobody: connection: 320 bye") == 0);
    CHECK(wire_read(&wire, room, sizeof room) == 12 && room[10] == 51 - 0); /* close-ok */
    wire_method(&wire, 0, 10, 50, ARGUMENTS("\2\22\2no\0\0\0\0")); /* 530: not allowed */
    CHECK(publisher_read(&publisher) == FAULT_REFUSED && strstr(link->why, "530 no") != NULL);
    wire_method(&wire, 1, 20, 40, ARGUMENTS("\1\224\4none\0\0\0\0")); /* 404 on the channel */
    CHECK(publisher_read(&publisher) == FAULT_REFUSED && strstr(link->why, "publishing: 404 none") != NULL);
    CHECK(link->channel_only);
    wire_method(&wire, 1, 20, 20, ARGUMENTS("\1")); /* channel.flow: nothing to us */
    CHECK(publisher_read(&publisher) == FAULT_NONE);
    amqp_rpc_reply_t nothing = {.reply_type = AMQP_RESPONSE_NONE};
    CHECK(link_fault(link, &nothing, 1, "a call") == FAULT_DOWN && strstr(link->why, "a call: 0 no answer") != NULL);
    nothing.reply_type = AMQP_RESPONSE_SERVER_EXCEPTION; /* of a method that is no refusal */
    CHECK(link_fault(link, &nothing, 1, "a call") == FAULT_DOWN);
    message_free(queue_take(&publisher.next));
    end();
}

static void confirms_are_of_what_was_published(void)
{
    begin(8);
    wire_method(&wire, 1, 60, 80, ARGUMENTS("\0\0\0\0\0\0\0\2\1")); /* 1 and 2 */
    wire_method(&wire, 1, 60, 80, ARGUMENTS("\0\0\0\0\0\0\0\4\0"));
    CHECK(publisher_read(&publisher) == FAULT_NONE && bridge.counters.confirmed == 3 && publisher.held == 5);
    CHECK(bridge.counters.in_flight == 5 && publisher.replies.waiting == 3);
    wire_method(&wire, 1, 60, 80, ARGUMENTS("\0\0\0\0\0\0\0\11\0"));
    CHECK(publisher_read(&publisher) == FAULT_DOWN);
    CHECK(strcmp(publisher.link.why, "amqp://nobody: a confirm of a message that was not published") == 0);
    wire_method(&wire, 1, 60, 120, ARGUMENTS("\0\0\0\0\0\0\0\0\0"));
    CHECK(publisher_read(&publisher) == FAULT_DOWN && publisher.held == 5);
    wire_method(&wire, 1, 60, 80, ARGUMENTS("\0\0\0\0\0\0\0\0\1")); /* all */
    CHECK(publisher_read(&publisher) == FAULT_NONE && bridge.counters.confirmed == 8 && publisher.held == 0);
    end();
}

static void a_message_that_is_not_taken_six_times_is_refused(void)
{
    begin(1);
    for (unsigned refusals = 1; refusals <= 6; refusals++) {
        wire_method(&wire, 1, 60, 120, ARGUMENTS("\0\0\0\0\0\0\0\0\1"));
        CHECK(publisher_read(&publisher) == FAULT_NONE && bridge.counters.nacked == refusals);
        CHECK(publisher.later.count == (refusals < 6 ? 1u : 0u));
        if (refusals < 6) {
            flight_add(&publisher.flight, queue_take(&publisher.later));
        }
    }
    CHECK(bridge.counters.refused == 1 && bridge.counters.confirmed == 0 && bridge.counters.in_flight == 0);
    CHECK(publisher.replies.to[0].answer[0].flags == VIC_REFUSED);
    end();
}

static void returned(const char *id)
{
    wire_method(&wire, 1, 60, 50, ARGUMENTS("\1\70\4none\1x\1k"));
    wire_header(&wire, 1, 4, id);
    wire_body(&wire, 1, "body");
    CHECK(publisher_read(&publisher) == FAULT_NONE);
}

static void what_comes_back_is_told_apart(void)
{
    begin(2);
    returned("0000000000000007-0000000000000002");
    CHECK(flight_find(&publisher.flight, 7, 2) == NULL && bridge.counters.returned == 0); /* with its ack */
    returned("0000000000000007-0000000000000005"); /* not in flight */
    returned("somebody's id");
    returned(NULL);
    CHECK(bridge.counters.returned == 3);
    wire_header(&wire, 1, 4, NULL); /* of nothing */
    CHECK(publisher_read(&publisher) == FAULT_NONE && bridge.counters.returned == 3);
    wire_method(&wire, 1, 60, 80, ARGUMENTS("\0\0\0\0\0\0\0\2\1"));
    CHECK(publisher_read(&publisher) == FAULT_NONE);
    CHECK(bridge.counters.returned == 4 && bridge.counters.confirmed == 1);
    end();
}

static void why_a_login_fails_is_hinted_at(void)
{
    begin(0);
    struct link *link = &publisher.link;
    static const struct {
        int status;
        enum fault fault;
        const char *hint;
    } all[] = {{AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED, FAULT_REFUSED, "; see --server-name"},
               {AMQP_STATUS_SSL_PEER_VERIFY_FAILED, FAULT_REFUSED, "; see --cacert"},
               {AMQP_STATUS_SSL_CONNECTION_FAILED, FAULT_REFUSED, "; see --cacert"},
               {AMQP_STATUS_SSL_ERROR, FAULT_REFUSED, "; the broker may want another --cert"},
               {AMQP_STATUS_BROKER_UNSUPPORTED_SASL_METHOD, FAULT_REFUSED, "amqp://nobody: login: "},
               {AMQP_STATUS_CONNECTION_CLOSED, FAULT_DOWN, "amqp://nobody: login: "}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        link->heard_ns = 0;
        CHECK(link_status(link, all[i].status, "login") == all[i].fault && strstr(link->why, all[i].hint) != NULL);
    }
    link->heard_ns = 1; /* logged in: it was the connection, not the certificate */
    CHECK(link_status(link, AMQP_STATUS_SSL_ERROR, "login") == FAULT_DOWN && strstr(link->why, "--cert") == NULL);
    end();
}

/* True if a message with a body of one frame could be put in. */
static bool published(const char *body, size_t bytes, size_t key_bytes)
{
    static unsigned char key[4096];
    amqp_basic_publish_t method = {.routing_key = bytes_of(key, key_bytes)};
    amqp_basic_properties_t properties = {0};
    int status = outbox_publish(&publisher.outbox, &publisher.link, 1, &method, &properties, bytes);
    if (status == AMQP_STATUS_OK && bytes > 0) {
        status = outbox_body(&publisher.outbox, &publisher.link, 1, bytes_of(body, bytes));
    }
    return status == AMQP_STATUS_OK;
}

static _Atomic bool written;

/* Until all is written: what is left at the end may be more than the socket has room for. */
static void *read_slowly(void *into)
{
    for (size_t *all = into; !atomic_load(&written);) {
        static unsigned char room[5000];
        *all += wire_read(&wire, room, sizeof room);
    }
    return NULL;
}

static void bodies_go_whole_through_a_narrow_socket(void)
{
    begin(0);
    static char body[100000];
    size_t all = 0;
    pthread_t reader;
    int small = 4096;
    setsockopt(publisher.link.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    CHECK(published(body, 0, 1));
    size_t empty = publisher.outbox.used;
    CHECK(published(body, 10, 1));
    size_t short_one = publisher.outbox.used - empty;
    CHECK(empty > 20 && short_one == empty + 8 + 10 && !published(body, 10, 300)); /* a key of 255 at most */
    CHECK(publisher.outbox.used == empty + short_one);           /* and no half of it */
    CHECK(pthread_create(&reader, NULL, read_slowly, &all) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(published(body, sizeof body, 1) && publisher.outbox.used == 0); /* it has been sent */
    }
    CHECK(outbox_flush(&publisher.outbox, &publisher.link) == AMQP_STATUS_OK && outbox_flush(&publisher.outbox, &publisher.link) == AMQP_STATUS_OK);
    atomic_store(&written, true);
    pthread_join(reader, NULL);
    unsigned char room[4096];
    for (size_t bytes; (bytes = wire_read(&wire, room, sizeof room)) > 0;) {
        all += bytes;
    }
    CHECK(all == empty + short_one + 3 * (empty + 8 + sizeof body));
    shutdown(wire.broker, SHUT_RDWR);
    CHECK(!published(body, sizeof body, 1) && publisher.outbox.used == 0);
    queue_put(&publisher.next, a_message(1, "lost"));
    CHECK(publisher_publish(&publisher) == FAULT_DOWN && strstr(publisher.link.why, "publishing") != NULL);
    message_free(queue_take(&publisher.next));
    end();
}

/* Bodies that are not copied go out behind their heads, those that are copied between them, whatever their lengths. */
static size_t length_of(size_t i)
{
    return i % 3 == 0 ? 2049 : i % 3 == 1 ? 3000 : i - 2;
}

static void bodies_stay_where_they_are_until_they_are_sent(void)
{
    begin(0);
    static unsigned char all[60][3000], room[1 << 18];
    size_t bytes = 0, at = 0;
    flight_close(&publisher.flight);
    CHECK(flight_open(&publisher.flight, 60));
    for (size_t i = 0; i < 60; i++) {
        memset(all[i], (int)i + 1, sizeof all[i]);
        struct message *message = a_message(i + 1, "");
        message->body = all[i];
        message->body_bytes = length_of(i);
        queue_put(&publisher.next, message);
    }
    publisher.link.allowance = 1 << 20; /* it was said to have room */
    CHECK(publisher_publish(&publisher) == FAULT_NONE && publisher.outbox.parts == 0 && publisher.next.count == 0);
    for (size_t more; (more = wire_read(&wire, room + bytes, sizeof room - bytes)) > 0;) {
        bytes += more;
    }
    for (size_t i = 0; i < 60; i++) {
        for (unsigned type = 1; type <= (length_of(i) > 0 ? 3u : 2u); type++) { /* method, header, body */
            size_t payload = (size_t)room[at + 5] << 8 | room[at + 6];
            CHECK(at + 7 + payload < bytes && room[at] == type && room[at + 7 + payload] == 0xce);
            CHECK(type < 3 || (payload == length_of(i) && memcmp(room + at + 7, all[i], payload) == 0));
            at += 8 + payload;
        }
    }
    CHECK(at == bytes);
    end();
}

/* A broker that takes no more in the middle of a frame is left as one that says nothing. */
static void a_long_message_waits_no_longer_than_heartbeats(void)
{
    begin(0);
    static unsigned char body[300000];
    struct message *message = a_message(1, "long");
    int small = 4096;
    setsockopt(publisher.link.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    message->body = body;
    message->body_bytes = sizeof body;
    publisher.link.heartbeat_s = 1;
    publisher.link.allowance = 1 << 20; /* it was said to have room */
    queue_put(&publisher.next, message);
    CHECK(publisher_publish(&publisher) == FAULT_DOWN && strstr(publisher.link.why, "publishing: request timed out") != NULL);
    CHECK(publisher.partial == message); /* to be published again */
    end();
}

/* Without confirms: what was not written is not told to have been. */
static void at_most_once_is_told_when_it_is_written(void)
{
    begin(0);
    bridge.options.at_most_once = true;
    for (uint64_t id = 1; id <= 2; id++) {
        struct message *message = a_message(id, "once");
        message->confirm_wanted = true;
        queue_put(&publisher.next, message);
        publisher.held = 1;
        publisher.held_bytes = message->bytes;
        if (id == 1) {
            CHECK(publisher_publish(&publisher) == FAULT_NONE);
        } else {
            shutdown(wire.broker, SHUT_RDWR);
            publisher.link.allowance = 1 << 20; /* it was said to have room */
            CHECK(publisher_publish(&publisher) == FAULT_DOWN);
        }
        CHECK(publisher.replies.waiting == 1 && publisher.replies.to[message->src].answer[0].id == 1);
        CHECK(publisher.held == id - 1);
    }
    bridge.options.at_most_once = false;
    end();
}

/* Whoever hands a message over waits no longer than the bridge lives. */
static void a_full_window_is_waited_for_until_the_end(void)
{
    begin(8);
    struct message *more = a_message(9, "more");
    publisher.state = PUBLISHER_ENDED;
    CHECK(!publisher_put(&publisher, more) && bridge.counters.in_flight == 8);
    publisher.state = PUBLISHER_WORKS;
    bridge.options.window = 100; /* by bytes it is full, too */
    bridge.options.window_bytes = publisher.held_bytes + 3;
    atomic_store(&bridge.abandon, true);
    CHECK(!publisher_put(&publisher, more) && publisher.todo.first == NULL);
    atomic_store(&bridge.abandon, false);
    bridge.options.window_bytes++;
    CHECK(publisher_put(&publisher, more) && publisher.held == 9 && bridge.counters.in_flight == 9);
    bridge.options.window = 8;
    bridge.options.window_bytes = 1 << 20;
    bridge_stop(&bridge, STOP_SIGNAL); /* what it took is the last: it is waited for like the others */
    CHECK(publisher_put(&publisher, a_message(10, "last")) && publisher.held == 10 && bridge.counters.in_flight == 10);
    atomic_store(&bridge.stop, STOP_NOT);
    end();
}

static void a_full_socket_is_waited_for(void)
{
    begin(0);
    char room[4096] = {0};
    while (send(publisher.link.fd, room, sizeof room, MSG_DONTWAIT) > 0) {
    }
    publisher.link.allowance = 0;
    CHECK(!link_has_room(&publisher.link, 10));
    publisher.link.heartbeat_s = 1;
    CHECK(published(room, sizeof room, 1) && outbox_flush(&publisher.outbox, &publisher.link) == AMQP_STATUS_TIMEOUT);
    queue_put(&publisher.next, a_message(1, "waits"));
    CHECK(publisher_publish(&publisher) == FAULT_NONE && publisher.wants_room && publisher.next.count == 1);
    int fd = publisher.link.fd;
    publisher.link.fd = -1;
    CHECK(!link_has_room(&publisher.link, 10)); /* of nothing there is no more */
    publisher.link.fd = fd;
    publisher.link.heard_ns = now_ns();
    publisher.link.sent_ns = 0; /* what is there already says that we live */
    CHECK(link_wait(&publisher.link, publisher.wake, false, 0) == FAULT_NONE && publisher.link.sent_ns > 0);
    wire_method(&wire, 0, 10, 50, ARGUMENTS("\1\100\3bye\0\0\0\0")); /* no room for a goodbye: it is one all the same */
    CHECK(publisher_read(&publisher) == FAULT_DOWN && strstr(publisher.link.why, "320 bye") != NULL);
    message_free(queue_take(&publisher.next));
    end();
}

int main(void)
{
    silence_is_noticed_and_broken();
    the_broker_may_block_and_close();
    confirms_are_of_what_was_published();
    a_message_that_is_not_taken_six_times_is_refused();
    what_comes_back_is_told_apart();
    why_a_login_fails_is_hinted_at();
    bodies_go_whole_through_a_narrow_socket();
    bodies_stay_where_they_are_until_they_are_sent();
    a_long_message_waits_no_longer_than_heartbeats();
    a_full_window_is_waited_for_until_the_end();
    a_full_socket_is_waited_for();
    at_most_once_is_told_when_it_is_written();
    message_free_all();
    puts("checks passed");
    return 0;
}
