/* Who waits, for what, and until when? Card 0 is a client; card 1 speaks for a bridge by its envelopes alone: late, slow,
 * and too much. Then threads of card 0 wait while it closes. */
#include <pthread.h>

#include "client.h"

enum { MANY = 300, PATTERNS = 1024, WAITERS = 4 };

static const struct vic_message_config ring = {1 << 20, 4096, 0};

/* ---- card 1 */

static void say(vic_message_t *messages, const struct vic_envelope *e)
{
    unsigned char room[512];
    size_t bytes;
    OK(vic_envelope_pack(room, sizeof room, e, &bytes));
    OK(vic_message_send(messages, 0, room, bytes, LONG));
}

/* The next envelope of this kind; others are nothing to us. */
static struct vic_envelope hear(vic_message_t *messages, unsigned kind, unsigned char room[512])
{
    struct vic_envelope e;
    size_t bytes;
    do {
        OK(vic_message_recv(messages, NULL, room, 512, &bytes, LONG));
        OK(vic_envelope_unpack(room, bytes, &e));
    } while (e.kind != kind);
    return e;
}

static void be_bridge(const struct self *self)
{
    unsigned char room[512];
    char key[16];
    vic_message_t *messages;
    OK(vic_barrier(self->card, LONG)); /* the client has said what it wants, to nobody yet */
    OK(vic_message_open(self->card, &ring, &messages));
    struct vic_envelope e = hear(messages, VIC_SUBSCRIBE, room);
    uint64_t session = e.session;
    CHECK(e.id == 2 && e.key_bytes == 4 && memcmp(e.key, "kept", 4) == 0); /* the first has ended meanwhile */
    e = hear(messages, VIC_BIND, room); /* the question for our patterns */
    CHECK(e.flags == VIC_ASK);
    e = hear(messages, VIC_BIND, room);
    CHECK(e.session == session && e.key_bytes == 3 && memcmp(e.key, "b.#", 3) == 0); /* older than: */
    e = hear(messages, VIC_BIND, room);
    CHECK(e.key_bytes == 3 && memcmp(e.key, "a.#", 3) == 0); /* bound, unbound and bound again */
    for (uint64_t id = 1; id <= MANY; id++) {
        say(messages, &(struct vic_envelope){
                          .kind = VIC_DELIVER, .session = 5, .id = id, .subscriber = session, .subscription = 2, .body = "x", .bytes = 1});
    }
    uint64_t begin = vic_time_ns(self->card);
    while (vic_time_ns(self->card) - begin < 30 * 1000 * 1000) { /* nobody takes the acks, and the ring is full */
        vic_relax(self->card);
    }
    for (uint64_t id = 1; id <= MANY; id++) {
        e = hear(messages, VIC_ACK, room);
        CHECK(e.session == 5 && e.id == id && vic_envelope_ids(&e) == 1);
    }
    e = hear(messages, VIC_UNSUBSCRIBE, room);
    CHECK(e.session == session && e.id == 2);
    for (int i = 0; i <= PATTERNS; i++) { /* one more than are kept */
        snprintf(key, sizeof key, "p%d", i);
        say(messages, &(struct vic_envelope){.kind = VIC_BIND, .session = 5, .key = key, .key_bytes = strlen(key)});
    }
    say(messages, &(struct vic_envelope){.kind = VIC_TOPIC, .session = 5, .id = 1, .key = "b.x", .key_bytes = 3});
    e = hear(messages, VIC_TOPIC, room); /* the last that is kept, and not the one more */
    CHECK(e.key_bytes == 5 && memcmp(e.key, "p1023", 5) == 0);
    OK(vic_barrier(self->card, LONG));
    vic_message_close(messages);
}

/* ---- card 0 */

static void what_was_said_before_the_bridge_was_there(const struct self *self, vic_client_t *client)
{
    uint32_t number, cards = 9;
    OK(vic_client_subscribe(client, 1, "ended", 1, &number));
    OK(vic_client_unsubscribe(client, number));
    IS(vic_client_unsubscribe(client, number), VIC_EINVAL);
    OK(vic_client_subscribe(client, 1, "kept", MANY, &number));
    CHECK(number == 2);
    OK(vic_client_bind(client, "a.#"));
    OK(vic_client_bind(client, "b.#"));
    OK(vic_client_unbind(client, "a.#"));
    OK(vic_client_topic(client, "a.x", "", 0, &cards, LONG)); /* bound no more */
    CHECK(cards <= 1); /* ourselves at most: the message may be before that */
    OK(vic_client_bind(client, "a.#"));
    OK(vic_barrier(self->card, LONG));
}

static void an_ack_waits_for_room(vic_client_t *client)
{
    static struct vic_delivery all[MANY];
    for (int i = 0; i < MANY; i++) {
        do {
            OK(vic_client_recv(client, &all[i], LONG));
        } while (all[i].kind != VIC_DELIVER);
        CHECK(all[i].src == 1 && all[i].subscription == 2 && all[i].bytes == 1);
    }
    int late = 0;
    for (int i = 0; i < MANY; i++) {
        int status = vic_client_ack_within(client, &all[i], 0, 1000);
        if (status == VIC_ETIMEDOUT) { /* it was not sent: the bridge hears each once, in order */
            late++;
            CHECK(all[i].memory != NULL && all[i].kind == VIC_DELIVER);
            status = vic_client_ack(client, &all[i], 0);
        }
        OK(status);
        CHECK(all[i].memory == NULL);
    }
    CHECK(late > 0);
    IS(vic_client_ack_within(client, &all[0], 0, 1000), VIC_EINVAL);
    OK(vic_client_unsubscribe(client, 2));
    IS(vic_client_unsubscribe(client, 2), VIC_EINVAL);
}

static void so_many_patterns_and_no_more(vic_client_t *client)
{
    struct vic_delivery d;
    uint32_t cards;
    OK(vic_client_recv(client, &d, LONG)); /* all of its patterns were before */
    CHECK(d.kind == VIC_TOPIC && strcmp(d.key, "b.x") == 0);
    OK(vic_client_release(client, &d));
    OK(vic_client_topic(client, "p1024", "", 0, &cards, LONG));
    CHECK(cards == 0);
    OK(vic_client_topic(client, "p1023", "", 0, &cards, LONG));
    CHECK(cards == 1);
}

static _Atomic int timed_out;

static void *receive(void *client)
{
    struct vic_delivery d;
    IS(vic_client_recv(client, &d, 1000 * 1000), VIC_ETIMEDOUT);
    timed_out++;
    IS(vic_client_recv(client, &d, VIC_FOREVER), VIC_ECLOSED);
    return NULL;
}

static void *publish(void *client)
{
    int status = vic_client_publish(client, 1, "k", "", 0, VIC_FOREVER); /* the window is full */
    IS(status, VIC_ECLOSED);
    return NULL;
}

static void *flush(void *client)
{
    IS(vic_client_flush(client, VIC_FOREVER), VIC_ECLOSED);
    return NULL;
}

static void closed_while_threads_wait(const struct self *self)
{
    void *(*const waits[WAITERS])(void *) = {receive, receive, publish, flush};
    pthread_t thread[WAITERS];
    const struct vic_client_config narrow = {.window_messages = 1};
    vic_client_t *client;
    OK(vic_client_open(self->card, &ring, &narrow, &client));
    OK(vic_client_publish(client, 0, "k", "", 0, LONG)); /* to a card that is no bridge: never confirmed */
    for (int i = 0; i < WAITERS; i++) {
        CHECK(pthread_create(&thread[i], NULL, waits[i], client) == 0);
    }
    uint64_t begin = vic_time_ns(self->card);
    while (timed_out < 2 || vic_time_ns(self->card) - begin < 20 * 1000 * 1000) { /* who comes later finds it closed */
        vic_relax(self->card);
    }
    IS(vic_client_close(client), VIC_EPEER);
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(thread[i], NULL);
    }
}

void run(const struct self *self)
{
    if (self->me == 1) {
        be_bridge(self);
    } else {
        const struct vic_client_config usual = {0};
        vic_client_t *client;
        OK(vic_client_open(self->card, &ring, &usual, &client));
        what_was_said_before_the_bridge_was_there(self, client);
        an_ack_waits_for_room(client);
        so_many_patterns_and_no_more(client);
        OK(vic_barrier(self->card, LONG));
        OK(vic_client_close(client));
        closed_while_threads_wait(self);
    }
    OK(vic_barrier(self->card, LONG));
}
