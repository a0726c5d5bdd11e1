/* vic_client, and a card that sends it envelopes of every kind, and what is none; it learns sessions and ids from what
 * the client sends. Are the client's books right, and is what it sends an envelope? */
#include "../cards.h"
#include <sys/types.h>

#include "vic_client.h"

enum { ALL = 2, ME = 0, HOSTILE = 1, WINDOW = 4096, MOST = 3000, HELD = 8, SEEN = 16, CONFIRMS = 24 };

static const struct job_config size = {
    .cards = ALL, .sram_words = 4096, .counters = 40, .fifo_words = 8, .dma_entries = 8,
    .pcie_rate = 8000000000, .dma_slow = 1, .seed = 1,
    .model = {.crossing_ps = 400000, .load_ps = 1000000, .look_ps = 50000, .store_rate = 500000000,
              .port_rate = 4400000000, .send_words = 16, .planes = 16, .angles = 6},
};
static const struct vic_message_config config = {MOST, WINDOW, 0};

static vic_t *card[ALL];
static vic_client_t *client;
static vic_message_t *hostile;
static struct vic_delivery held[HELD];
static uint64_t seen[SEEN];
static unsigned turn;
static uint32_t subscriptions;
static uint64_t named; /* ids that confirms of this session have named, each as often as it stood there */
static char body[MOST];

static uint64_t randoms;

/* Sessions are the same in each run of an input. The linker gives us this call. */
ssize_t __wrap_getrandom(void *to, size_t bytes, unsigned flags);
ssize_t __wrap_getrandom(void *to, size_t bytes, unsigned flags)
{
    (void)flags;
    uint64_t word = UINT64_C(0x9e3779b97f4a7c15) * ++randoms;
    CHECK(bytes == sizeof word);
    memcpy(to, &word, bytes);
    return (ssize_t)bytes;
}

/* What the client has sent: sound, and something to send back. */
static void listen(void)
{
    unsigned char data[MOST];
    size_t bytes;
    uint32_t src;
    struct vic_envelope e;
    while (vic_message_recv(hostile, &src, data, MOST, &bytes, 0) == VIC_OK) {
        CHECK(vic_envelope_unpack(data, bytes, &e) == VIC_OK);
        seen[turn++ % SEEN] = e.session;
        seen[turn++ % SEEN] = e.id;
    }
}

static uint64_t any(struct input *in)
{
    unsigned kind = take_byte(in);
    return kind < 128 ? seen[kind % SEEN] : kind < 192 ? kind % 8 : take_word(in);
}

static const char *key_of(struct input *in)
{
    static const char *const keys[] = {"", "a", "a.b", "*.b", "#", "a.*", "x", "a.b.c"};
    static char longer[VIC_KEY_MOST + 2];
    unsigned kind = take_byte(in);
    memset(longer, 'a', sizeof longer - 1);
    longer[VIC_KEY_MOST + (kind & 1)] = 0;
    return kind >= 250 ? longer : keys[kind % 8];
}

static void send_data(const unsigned char *data, size_t bytes)
{
    struct vic_client_count mine;
    struct vic_envelope e;
    int status = vic_message_send(hostile, ME, data, bytes, 0);
    CHECK(status == VIC_OK || status == VIC_ETIMEDOUT);
    CHECK(vic_client_counts(client, &mine) == VIC_OK);
    if (status == VIC_OK && vic_envelope_unpack(data, bytes, &e) == VIC_OK && e.kind == VIC_CONFIRM &&
        e.session == mine.session) {
        named += vic_envelope_ids(&e);
    }
}

static void send_envelope(struct input *in)
{
    unsigned char data[MOST], ids[8 * CONFIRMS];
    struct vic_envelope e = {.kind = take_byte(in) % 12, .flags = 0};
    unsigned more = take_byte(in);
    e.flags = more < 200 ? more & (VIC_CONFIRM_WANTED | VIC_RETURNED | VIC_REFUSED | VIC_ASK) : 0;
    e.session = any(in);
    e.id = any(in);
    e.subscriber = any(in);
    e.subscription = any(in);
    e.origin_session = more;
    size_t bytes = more / 8 % CONFIRMS * 8;
    for (size_t i = 0; i < bytes; i += 8) {
        vic_envelope_put_word(ids + i, any(in));
    }
    e.key = key_of(in);
    e.key_bytes = e.kind == VIC_CONFIRM || e.kind == VIC_ACK ? 0 : strlen(e.key);
    e.body = ids;
    e.bytes = e.kind == VIC_SUBSCRIBE ? 8 : e.kind == VIC_UNSUBSCRIBE || e.kind == VIC_BIND || e.kind == VIC_UNBIND ? 0 : bytes;
    if (vic_envelope_pack(data, sizeof data, &e, &bytes) != VIC_OK) { /* make it sound: the rest is bytes of chance */
        e.flags = 0;
        if (vic_envelope_pack(data, sizeof data, &e, &bytes) != VIC_OK) {
            return;
        }
    }
    if (more == 255 && bytes > 0) {
        data[take(in, 2) % bytes] ^= take_byte(in);
    }
    send_data(data, bytes);
}

static void send_bytes(struct input *in)
{
    unsigned char data[64];
    size_t bytes = take_below(in, sizeof data);
    for (size_t i = 0; i < bytes; i++) {
        data[i] = take_byte(in);
    }
    send_data(data, bytes);
}

static void publish(struct input *in)
{
    unsigned kind = take_byte(in);
    const char *key = key_of(in);
    size_t bytes = kind < 250 ? kind : MOST - 300u + kind;
    int status = vic_client_publish(client, kind % 32 == 31 ? ALL : HOSTILE, key, body, bytes, 0);
    CHECK(status == VIC_OK || status == VIC_ETIMEDOUT || status == VIC_ENOSPC ||
          (status == VIC_EINVAL && strlen(key) > VIC_KEY_MOST) || (status == VIC_EINVAL && kind >= 250) ||
          (status == VIC_ERANGE && kind % 32 == 31));
}

static void topic(struct input *in)
{
    uint32_t cards = 99;
    const char *key = key_of(in);
    int status = vic_client_topic(client, key, body, take_byte(in), &cards, 0);
    CHECK(status == VIC_OK || status == VIC_ETIMEDOUT || status == VIC_ENOSPC ||
          (status == VIC_EINVAL && strlen(key) > VIC_KEY_MOST));
    CHECK(status == VIC_EINVAL || cards <= ALL);
}

static void bind_one(struct input *in)
{
    unsigned kind = take_byte(in);
    const char *key = key_of(in);
    int status = kind % 2 == 0 ? vic_client_bind(client, key) : vic_client_unbind(client, key);
    CHECK(status == VIC_OK || status == VIC_EINVAL);
}

static void subscribe(struct input *in)
{
    unsigned kind = take_byte(in);
    uint32_t number = 0;
    if (kind % 2 == 0) {
        int status = vic_client_subscribe(client, HOSTILE, key_of(in), kind / 2 % 8, &number);
        CHECK(status == VIC_OK ? number == ++subscriptions : status == VIC_EINVAL);
    } else {
        int status = vic_client_unsubscribe(client, kind / 2 % 8);
        CHECK(status == VIC_OK || status == VIC_EINVAL);
    }
}

static void receive(struct input *in)
{
    struct vic_delivery *d = &held[take_byte(in) % HELD];
    vic_client_release(client, d);
    memset(d, 0, sizeof *d);
    int status = vic_client_recv(client, d, 0);
    CHECK(status == VIC_OK || status == VIC_ETIMEDOUT);
    if (status == VIC_OK) {
        CHECK(strlen(d->key) <= d->key_bytes && d->key[d->key_bytes] == 0 && d->src < ALL);
        CHECK((d->kind != VIC_DELIVER && d->kind != VIC_REFUSAL) || d->subscription <= subscriptions);
        for (size_t i = 0; i < d->bytes; i++) {
            body[i % MOST] ^= ((const char *)d->body)[i];
        }
    }
}

static void acknowledge(struct input *in)
{
    unsigned kind = take_byte(in);
    struct vic_delivery *d = &held[kind % HELD];
    if (d->src == HOSTILE || d->kind == 0) { /* who waits for itself would wait for ever */
        int status = vic_client_ack(client, d, kind / HELD % 2);
        CHECK(status == VIC_OK || (status == VIC_EINVAL && d->kind == 0));
    }
}

static void check_books(void)
{
    struct vic_client_count now;
    CHECK(vic_client_counts(client, &now) == VIC_OK);
    CHECK(now.confirmed + now.unconfirmed == now.published || now.unconfirmed == 0);
    CHECK(now.confirmed <= named && now.confirmed <= now.published && now.returned <= now.confirmed && now.refused <= now.confirmed);
}

static void step(struct input *in)
{
    switch (take_byte(in) % 16) {
    case 0: case 1: case 2: case 3: case 4: send_envelope(in); break;
    case 5: send_bytes(in); break;
    case 6: case 7: publish(in); break;
    case 8: topic(in); break;
    case 9: bind_one(in); break;
    case 10: subscribe(in); break;
    case 11: case 12: receive(in); break;
    case 13: acknowledge(in); break;
    case 14: clock_advance((uint64_t)take_byte(in) * 1000000); break;
    default:
        vic_message_close(hostile);
        CHECK(vic_message_open(card[HOSTILE], &config, &hostile) == VIC_OK);
    }
    listen();
    check_books();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input in = input_of(data, bytes);
    struct vic_client_config wanted = {.window_messages = 4, .window_bytes = 5000, .flags = take_byte(&in) % 16};
    memset(held, 0, sizeof held);
    memset(seen, 0, sizeof seen);
    memset(body, 'b', sizeof body);
    turn = subscriptions = 0;
    named = 0;
    randoms = 0;
    cards_open(&size, card);
    CHECK(vic_message_open(card[HOSTILE], &config, &hostile) == VIC_OK);
    CHECK(vic_client_open(card[ME], &config, &wanted, &client) == VIC_OK);
    while (input_left(&in)) {
        step(&in);
    }
    int status = vic_client_close(client);
    CHECK(status == VIC_OK || status == VIC_EPEER);
    for (int i = 0; i < HELD; i++) {
        free(held[i].memory);
    }
    vic_message_close(hostile);
    cards_close(card);
    return 0;
}
