/* What every call says when it cannot, and what timeouts leave behind. One card: it is its own bridge. */
#include "client.h"

static void envelopes(void)
{
    unsigned char room[600];
    char key[VIC_KEY_MOST + 1] = {0};
    size_t bytes = 0;
    struct vic_envelope e = {.kind = VIC_PUBLISH, .session = 1, .id = 2, .key = "ab", .key_bytes = 2}, back;
    e.body = "xyz";
    e.bytes = 3;
    OK(vic_envelope_pack(room, sizeof room, &e, &bytes));
    CHECK(bytes == 24 + 2 + 3 && memcmp(room, "\x01\x01\0\0\x02\0\0\0\x01\0\0\0\0\0\0\0\x02", 17) == 0);
    OK(vic_envelope_unpack(room, bytes, &back));
    CHECK(back.kind == VIC_PUBLISH && back.session == 1 && back.id == 2);
    CHECK(back.key_bytes == 2 && back.bytes == 3);
    CHECK(back.key == (char *)room + 24 && back.body == room + 26);
    IS(vic_envelope_pack(room, bytes - 1, &e, &bytes), VIC_ENOSPC);
    CHECK(bytes == 29);
    IS(vic_envelope_pack(NULL, 0, &e, &bytes), VIC_EINVAL);
    IS(vic_envelope_pack(room, sizeof room, NULL, &bytes), VIC_EINVAL);
    IS(vic_envelope_pack(room, sizeof room, &e, NULL), VIC_EINVAL);
    IS(vic_envelope_unpack(NULL, 30, &back), VIC_EINVAL);
    IS(vic_envelope_unpack(room, 23, &back), VIC_EINVAL);
    IS(vic_envelope_unpack(room, 25, &back), VIC_EINVAL); /* not all of the key */
    IS(vic_envelope_unpack(room, 29, NULL), VIC_EINVAL);
    e.key = key;
    e.key_bytes = VIC_KEY_MOST + 1;
    IS(vic_envelope_pack(room, sizeof room, &e, &bytes), VIC_EINVAL);
    e.key_bytes = VIC_KEY_MOST;
    OK(vic_envelope_pack(room, sizeof room, &e, &bytes));
    e.bytes = SIZE_MAX - 100;
    IS(vic_envelope_pack(room, sizeof room, &e, &bytes), VIC_EINVAL);
    struct vic_envelope deliver = {VIC_DELIVER, VIC_REDELIVERED, 1, 2, 3, 4, 5, 6, "k", 1, "b", 1};
    OK(vic_envelope_pack(room, sizeof room, &deliver, &bytes));
    OK(vic_envelope_unpack(room, bytes, &back));
    CHECK(back.subscriber == 3 && back.subscription == 4 && back.origin_session == 5 && back.origin_id == 6);
    CHECK(bytes == VIC_ENVELOPE_MOST + 2 && back.flags == VIC_REDELIVERED);
    uint64_t ids[2];
    vic_envelope_put_word(&ids[0], 8);
    vic_envelope_put_word(&ids[1], UINT64_C(0x1122334455667788));
    struct vic_envelope confirm = {.kind = VIC_CONFIRM, .session = 1, .id = 7, .body = ids, .bytes = 16};
    OK(vic_envelope_pack(room, sizeof room, &confirm, &bytes));
    OK(vic_envelope_unpack(room, bytes, &back));
    CHECK(vic_envelope_ids(&back) == 3 && vic_envelope_id(&back, 0) == 7 && vic_envelope_id(&back, 1) == 8);
    CHECK(vic_envelope_id(&back, 2) == UINT64_C(0x1122334455667788) && room[32] == 0x88);
}

static void nulls(vic_t *card, vic_client_t *client)
{
    struct vic_delivery d = {0};
    struct vic_client_count counts;
    struct vic_client_config config = {0, 0, 16};
    vic_client_t *other;
    IS(vic_client_open(card, NULL, NULL, NULL), VIC_EINVAL);
    IS(vic_client_open(NULL, NULL, NULL, &other), VIC_EINVAL);
    IS(vic_client_open(card, NULL, &config, &other), VIC_EINVAL);
    CHECK(other == NULL);
    IS(vic_client_open(card, NULL, NULL, &other), VIC_EBUSY);
    IS(vic_client_publish(NULL, 0, "", "", 0, 0), VIC_EINVAL);
    IS(vic_client_publish(client, 0, NULL, "", 0, 0), VIC_EINVAL);
    IS(vic_client_publish(client, 0, "", NULL, 1, 0), VIC_EINVAL);
    IS(vic_client_publish(client, 1, "", NULL, 0, 0), VIC_ERANGE);
    IS(vic_client_publish(client, 0, "k", "", 1000 - 24, 0), VIC_EINVAL);
    IS(vic_client_publish(client, 0, "k", "", 1001, 0), VIC_EINVAL);
    IS(vic_client_topic(client, NULL, "", 0, NULL, 0), VIC_EINVAL);
    IS(vic_client_topic(client, "t", NULL, 1, NULL, 0), VIC_EINVAL);
    IS(vic_client_topic(client, "", "", 1001, NULL, 0), VIC_EINVAL);
    IS(vic_client_topic(client, "t", "", 1000 - 24, NULL, 0), VIC_EINVAL);
    IS(vic_client_subscribe(client, 0, NULL, 1, NULL), VIC_EINVAL);
    IS(vic_client_subscribe(client, 0, "q", 0, NULL), VIC_EINVAL);
    IS(vic_client_subscribe(client, 1, "q", 1, NULL), VIC_ERANGE);
    IS(vic_client_unsubscribe(client, 1), VIC_EINVAL);
    IS(vic_client_bind(client, NULL), VIC_EINVAL);
    IS(vic_client_unbind(client, "never.bound"), VIC_EINVAL);
    IS(vic_client_recv(client, NULL, 0), VIC_EINVAL);
    IS(vic_client_recv(client, &d, 0), VIC_ETIMEDOUT);
    IS(vic_client_recv(client, &d, 1000), VIC_ETIMEDOUT);
    IS(vic_client_ack(client, &d, 0), VIC_EINVAL);
    IS(vic_client_ack(client, NULL, 0), VIC_EINVAL);
    IS(vic_client_ack(client, &(struct vic_delivery){.kind = VIC_DELIVER, .src = 1}, 0), VIC_EINVAL);
    IS(vic_client_release(client, NULL), VIC_EINVAL);
    IS(vic_client_release(NULL, &d), VIC_EINVAL);
    IS(vic_client_counts(client, NULL), VIC_EINVAL);
    IS(vic_client_counts(NULL, &counts), VIC_EINVAL);
    IS(vic_client_flush(NULL, 0), VIC_EINVAL);
    IS(vic_client_close(NULL), VIC_EINVAL);
    char key[VIC_KEY_MOST + 2];
    memset(key, 'k', sizeof key);
    key[VIC_KEY_MOST + 1] = 0;
    IS(vic_client_publish(client, 0, key, "", 0, 0), VIC_EINVAL);
    IS(vic_client_topic(client, key, "", 0, NULL, 0), VIC_EINVAL);
    IS(vic_client_bind(client, key), VIC_EINVAL);
    IS(vic_client_subscribe(client, 0, key, 1, NULL), VIC_EINVAL);
    CHECK(counts_of(client).published == 0);
}

/* The window is full, then what is received: neither blocks for ever. */
static void windows(vic_client_t *client)
{
    struct vic_delivery d[4];
    char body[900] = "body";
    for (int i = 0; i < 4; i++) { /* as many messages as the window has */
        OK(vic_client_publish(client, 0, "key", body, 10, LONG));
    }
    IS(vic_client_publish(client, 0, "key", body, 10, 0), VIC_ETIMEDOUT);
    IS(vic_client_flush(client, 1000 * 1000), VIC_ETIMEDOUT);
    for (int i = 0; i < 4; i++) {
        OK(vic_client_recv(client, &d[i], LONG));
        CHECK(d[i].kind == VIC_PUBLISH && d[i].id == (uint64_t)i + 1 && d[i].src == 0);
        CHECK(strcmp(d[i].key, "key") == 0);
    }
    OK(vic_client_ack(client, &d[2], 1));
    OK(vic_client_release(client, &d[1]));
    OK(vic_client_ack(client, &d[1], 0)); /* the memory is not needed for it */
    OK(vic_client_ack(client, &d[0], 0));
    IS(vic_client_ack(client, &d[0], 0), VIC_EINVAL); /* once */
    OK(vic_client_publish(client, 0, "key", body, 10, LONG));
    OK(vic_client_ack(client, &d[3], 0));
    OK(vic_client_recv(client, &d[0], LONG));
    if (d[0].kind == VIC_CONFIRM) { /* the refused one, with its bytes */
        CHECK(d[0].flags == VIC_REFUSED && d[0].id == 3 && d[0].bytes == 10);
        CHECK(memcmp(d[0].body, body, 10) == 0);
        OK(vic_client_ack(client, &d[0], 0));
        OK(vic_client_recv(client, &d[0], LONG));
    }
    CHECK(d[0].kind == VIC_PUBLISH && d[0].id == 5);
    OK(vic_client_ack(client, &d[0], 0));
    OK(vic_client_flush(client, LONG));
    struct vic_client_count counts = counts_of(client);
    CHECK(counts.published == 5 && counts.confirmed == 5 && counts.refused == 1 && counts.unconfirmed == 0);
    int status = VIC_OK;
    for (int i = 0; i < 8 && status == VIC_OK; i++) { /* by bytes: topics wait until this thread takes them */
        OK(vic_client_bind(client, "t.#"));
        status = vic_client_topic(client, "t", body, sizeof body, NULL, LONG);
    }
    while (status == VIC_OK) {
        status = vic_client_publish(client, 0, "key", body, sizeof body, LONG);
    }
    CHECK(status == VIC_ENOSPC);
    while ((status = vic_client_recv(client, d, 10 * 1000 * 1000)) == VIC_OK) {
        OK(vic_client_ack(client, d, 0));
    }
    IS(status, VIC_ETIMEDOUT);
    OK(vic_client_flush(client, LONG));
}

static void patterns(vic_client_t *client)
{
    char pattern[16];
    OK(vic_client_unbind(client, "t.#"));
    for (int i = 0; i < 1024; i++) {
        snprintf(pattern, sizeof pattern, "p%d", i);
        OK(vic_client_bind(client, pattern));
    }
    IS(vic_client_bind(client, "one more"), VIC_ENOSPC);
    OK(vic_client_bind(client, "p5"));
    for (int i = 0; i < 1024; i++) {
        snprintf(pattern, sizeof pattern, "p%d", i);
        OK(vic_client_unbind(client, pattern));
    }
    struct vic_delivery d;
    while (vic_client_bind(client, "one more") == VIC_ENOSPC) { /* until this card knows that */
        IS(vic_client_recv(client, &d, 1000 * 1000), VIC_ETIMEDOUT);
    }
}

/* A message that is longer than the window goes alone; a window may be wider than the books have buckets. */
static void wide_and_narrow(vic_t *card)
{
    const struct vic_client_config narrow = {4, 100, VIC_CLIENT_BRIDGE}, wide = {1 << 20, 0, VIC_CLIENT_BRIDGE};
    char body[300] = "long";
    struct vic_delivery d;
    vic_client_t *client;
    OK(vic_client_open(card, NULL, &narrow, &client));
    OK(vic_client_publish(client, 0, "k", body, sizeof body, LONG));
    int status = vic_client_publish(client, 0, "k", body, 1, 0);
    CHECK(status == VIC_ETIMEDOUT || status == VIC_ENOSPC); /* it has come back already, and nobody took it */
    OK(vic_client_recv(client, &d, VIC_FOREVER - 2)); /* a deadline that no clock has */
    CHECK(d.bytes == sizeof body && strcmp(d.body, body) == 0);
    OK(vic_client_ack(client, &d, 0));
    OK(vic_client_publish(client, 0, "k", body, 1, LONG));
    IS(vic_client_close(client), VIC_EPEER);
    OK(vic_client_open(card, NULL, &wide, &client));
    for (uint64_t id = 1; id <= 3; id++) {
        OK(vic_client_publish(client, 0, "k", body, id, LONG));
        OK(vic_client_recv(client, &d, LONG));
        CHECK(d.id == id && d.bytes == id);
        OK(vic_client_ack(client, &d, 0));
    }
    OK(vic_client_flush(client, LONG));
    OK(vic_client_close(client));
}

/* Without confirms a flush waits until the bridge has it all, which here is this thread. */
static void nobody_else_receives(vic_t *card)
{
    const struct vic_client_config once = {0, 0, VIC_CLIENT_BRIDGE | VIC_CLIENT_AT_MOST_ONCE};
    struct vic_delivery d;
    vic_client_t *client;
    OK(vic_client_open(card, NULL, &once, &client));
    OK(vic_client_publish(client, 0, "k", "x", 1, LONG));
    OK(vic_client_flush(client, LONG));
    OK(vic_client_recv(client, &d, LONG));
    CHECK(d.kind == VIC_PUBLISH && d.flags == 0);
    OK(vic_client_ack(client, &d, 0)); /* needs none */
    OK(vic_client_close(client));
}

static void subscriptions(vic_t *card)
{
    vic_client_t *client;
    uint32_t number = 0;
    OK(vic_client_open(card, NULL, NULL, &client));
    for (uint32_t i = 1; i <= 1024; i++) {
        OK(vic_client_subscribe(client, 0, "q", 1, &number));
        CHECK(number == i);
    }
    IS(vic_client_subscribe(client, 0, "q", 1, &number), VIC_ENOSPC);
    OK(vic_client_unsubscribe(client, 7)); /* when the card that should be a bridge knows it: */
    struct vic_delivery d;
    int status;
    while ((status = vic_client_subscribe(client, 0, "q", 1, &number)) == VIC_ENOSPC) {
        IS(vic_client_recv(client, &d, 1000 * 1000), VIC_ETIMEDOUT);
    }
    OK(status);
    CHECK(number == 1025);
    OK(vic_client_close(client));
}

/* The messages of a client would have counters, but none is left for the client. */
static void no_counter(vic_t *card, uint32_t messages_need)
{
    unsigned counter[64];
    uint32_t count = 0;
    vic_client_t *client;
    while (vic_counter_alloc(card, &counter[count]) == VIC_OK) {
        count++;
    }
    for (uint32_t i = 0; i < messages_need; i++) {
        OK(vic_counter_free(card, counter[--count]));
    }
    IS(vic_client_open(card, NULL, NULL, &client), VIC_ENOSPC);
    CHECK(client == NULL);
    OK(vic_counter_free(card, counter[--count]));
    OK(vic_client_open(card, NULL, NULL, &client));
    OK(vic_client_close(client));
    while (count > 0) {
        OK(vic_counter_free(card, counter[--count]));
    }
}

void run(const struct self *self)
{
    struct vic_message_config messages = {1000, 0, 0};
    struct vic_client_config config = {4, 4000, VIC_CLIENT_BRIDGE | VIC_CLIENT_RETURNS};
    struct vic_delivery d;
    vic_client_t *client;
    if (self->cards > 1) {
        return;
    }
    envelopes();
    no_counter(self->card, 1 + 3); /* one for each card, a bell, news, frames */
    wide_and_narrow(self->card);
    nobody_else_receives(self->card);
    if (self->attr.mode == 0) {
        subscriptions(self->card);
    }
    for (int i = 0; i < 3; i++) {
        OK(vic_client_open(self->card, &messages, &config, &client));
        nulls(self->card, client);
        windows(client);
        if (self->attr.mode == 0) { /* a thousand times a few microseconds of model time: slow there */
            patterns(client);
        }
        OK(vic_client_publish(client, 0, "key", "", 0, LONG));
        IS(vic_client_close(client), VIC_EPEER); /* it is not confirmed */
        IS(vic_client_close(client), VIC_ECLOSED);
        IS(vic_client_recv(client, &d, LONG), VIC_ECLOSED);
        IS(vic_client_publish(client, 0, "key", "", 0, LONG), VIC_ECLOSED);
        IS(vic_client_flush(client, LONG), VIC_ECLOSED);
        IS(vic_client_bind(client, "x"), VIC_ECLOSED);
        IS(vic_client_topic(client, "x", "", 0, NULL, LONG), VIC_ECLOSED);
        IS(vic_client_subscribe(client, 0, "q", 1, NULL), VIC_ECLOSED);
        IS(vic_client_unsubscribe(client, 1), VIC_ECLOSED);
        IS(vic_client_ack(client, &d, 0), VIC_ECLOSED);
    }
}
