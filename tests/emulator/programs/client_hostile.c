/* Can cards that send whatever they like harm a client? Card 0 publishes to itself, counts, and uses topics;
 * the others send it envelopes of chance, near misses, and ones with its own session in them. */
#include "client.h"

enum { MESSAGES = 300, MOST = 700 };

/* ---- card 0 */

struct victim {
    vic_client_t *client;
    uint64_t mine, topics; /* messages of its own that came */
};

static void take(struct victim *v, uint64_t timeout_ns)
{
    struct vic_delivery d;
    int status = vic_client_recv(v->client, &d, timeout_ns);
    if (status == VIC_ETIMEDOUT) {
        return;
    }
    OK(status);
    CHECK(d.key[d.key_bytes] == 0 && d.key_bytes <= VIC_KEY_MOST);
    uint64_t name;
    if (d.src == 0 && d.kind == VIC_PUBLISH) {
        CHECK(d.bytes >= 8);
        memcpy(&name, d.body, 8);
        CHECK(name == v->mine++ && is_filled((const unsigned char *)d.body + 8, d.bytes - 8, name));
    } else if (d.src == 0 && d.kind == VIC_TOPIC) {
        v->topics++;
    }
    OK(vic_client_ack(v->client, &d, 0)); /* hostile ones get an answer, too */
}

static void suffer(const struct self *self)
{
    struct vic_message_config messages = {1 << 20, 4096, 0};
    /* the flood waits in the rings, rather than before what we wait for */
    struct vic_client_config config = {16, 1 << 14, VIC_CLIENT_BRIDGE | VIC_CLIENT_RETURNS};
    struct victim v = {NULL, 0, 0};
    uint32_t number, cards;
    OK(vic_client_open(self->card, &messages, &config, &v.client));
    OK(vic_client_bind(v.client, "mine.#"));
    for (uint32_t bridge = 0; bridge < self->cards; bridge++) {
        OK(vic_client_subscribe(v.client, bridge, "queue", 3, &number));
    }
    for (uint64_t i = 0; i < MESSAGES; i++) {
        unsigned char data[MOST];
        uint64_t state = i;
        size_t bytes = 8 + draw(&state) % (MOST - 8);
        memcpy(data, &i, 8);
        fill(data + 8, bytes - 8, i);
        for (int status = VIC_ETIMEDOUT; status != VIC_OK; take(&v, 0)) {
            status = vic_client_publish(v.client, 0, "mine", data, bytes, 1000 * 1000);
            CHECK(status == VIC_OK || status == VIC_ETIMEDOUT || status == VIC_ENOSPC);
        }
        OK(vic_client_topic(v.client, "mine.topic", data, 8, &cards, LONG));
        take(&v, 0);
    }
    for (int status = VIC_ETIMEDOUT; status != VIC_OK; take(&v, 0)) {
        status = vic_client_flush(v.client, 1000 * 1000);
        CHECK(status == VIC_OK || status == VIC_ETIMEDOUT || status == VIC_ENOSPC);
    }
    struct vic_client_count counts = counts_of(v.client);
    CHECK(v.mine == MESSAGES && counts.published == MESSAGES && counts.confirmed == MESSAGES);
    CHECK(counts.returned == 0 && counts.refused == 0 && counts.unconfirmed == 0);
    CHECK(self->cards == 1 || counts.strange > 0);
    OK(vic_client_close(v.client));
}

/* ---- the others */

static uint64_t some_word(uint64_t *chance, const uint64_t known[4])
{
    uint64_t x = draw(chance);
    return x % 3 == 0 ? known[x >> 8 & 3] : x % 3 == 1 ? x >> 58 : x;
}

static size_t make(uint64_t *chance, const uint64_t known[4], unsigned char *room)
{
    static const char *const keys[] = {"", "mine", "mine.topic", "#", "*.*", "queue"};
    uint64_t x = draw(chance);
    unsigned char body[64];
    for (size_t i = 0; i < sizeof body; i += 8) {
        vic_envelope_put_word(body + i, some_word(chance, known));
    }
    struct vic_envelope e = {.kind = 1 + x % 10, .key = keys[x >> 8 & 3], .body = body};
    e.key_bytes = strlen(e.key);
    e.bytes = x >> 16 & 63;
    e.flags = (x >> 24) % 8 == 0 ? x >> 32 & 127 : 0;
    e.session = some_word(chance, known);
    e.id = some_word(chance, known);
    e.subscriber = some_word(chance, known);
    e.subscription = some_word(chance, known);
    size_t bytes;
    while (vic_envelope_pack(room, MOST, &e, &bytes) != VIC_OK) { /* nearly always: what this kind has not */
        e.flags = 0;
        e.key_bytes = e.kind == VIC_CONFIRM || e.kind == VIC_ACK ? 0 : e.key_bytes;
        e.bytes = e.kind == VIC_SUBSCRIBE ? 8 : e.kind == VIC_CONFIRM || e.kind == VIC_ACK ? e.bytes & 56 : 0;
    }
    for (x = draw(chance); x % 4 == 0; x = draw(chance)) {
        room[(x >> 8) % bytes] ^= (unsigned char)(1 << (x >> 32 & 7)); /* a near miss */
    }
    return x % 16 == 1 ? bytes / 2 : x % 16 == 2 ? bytes + 8 : bytes;
}

static void attack(const struct self *self, unsigned stop)
{
    struct vic_message_config config = {1 << 20, 4096, 0};
    unsigned char room[MOST + 8] = {0};
    uint64_t chance = self->me, known[4] = {1, 2, 3, 4};
    vic_message_t *messages;
    OK(vic_message_open(self->card, &config, &messages));
    for (int64_t left = 1; left != 0;) {
        OK(vic_counter_get(self->card, stop, &left));
        size_t bytes = make(&chance, known, room);
        int status = vic_message_send(messages, 0, room, bytes, 200 * 1000);
        CHECK(status == VIC_OK || status == VIC_ETIMEDOUT);
        while (vic_message_recv(messages, NULL, room, MOST, &bytes, 0) == VIC_OK) {
            struct vic_envelope e;
            OK(vic_envelope_unpack(room, bytes, &e));
            known[draw(&chance) % 2] = e.session;
            known[2 + draw(&chance) % 2] = e.id;
        }
    }
    vic_message_close(messages); /* VIC_EPEER: card 0 has not received all */
}

void run(const struct self *self)
{
    unsigned stop;
    OK(vic_counter_alloc(self->card, &stop));
    OK(vic_counter_set(self->card, stop, 1));
    OK(vic_barrier(self->card, LONG));
    if (self->me == 0) {
        suffer(self);
        for (uint32_t to = 1; to < self->cards; to++) {
            uint64_t header = vic_header(to, VIC_COUNTER_SET, 0, stop), zero = 0;
            OK(vic_send(self->card, &header, &zero, 1));
        }
    } else {
        attack(self, stop);
    }
    OK(vic_barrier(self->card, LONG));
}
