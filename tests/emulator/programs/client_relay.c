/* A relay on one thread: card 1 receives what card 0 sends by topic and publishes it through the bridge on card 2, which
 * confirms late. Its inbox is full of topics all the time, and confirms have to get past them. */
#include "client.h"

enum { MESSAGES = 400, BODY = 400, LATE = 8 };

static const struct vic_message_config rings = {1000, 4096, 0};

static void source(const struct self *self, vic_client_t *client)
{
    char body[BODY] = "";
    struct vic_delivery d;
    uint32_t cards = 0;
    for (uint32_t i = 0; i < MESSAGES;) {
        snprintf(body, sizeof body, "%u", i);
        OK(vic_client_topic(client, "t", body, sizeof body, &cards, VIC_FOREVER));
        i += cards == 1;
        if (cards == 0) { /* it has not said yet that it wants them */
            IS(vic_client_recv(client, &d, 1000 * 1000), VIC_ETIMEDOUT);
        }
    }
    CHECK(self->me == 0);
}

static void relay(vic_client_t *client)
{
    struct vic_delivery d;
    OK(vic_client_bind(client, "t"));
    for (uint32_t i = 0; i < MESSAGES; i++) {
        OK(vic_client_recv(client, &d, LONG));
        CHECK(strtoul(d.body, NULL, 10) == i);
        OK(vic_client_publish(client, 2, d.key, d.body, d.bytes, VIC_FOREVER));
        OK(vic_client_ack(client, &d, 0));
    }
    OK(vic_client_flush(client, VIC_FOREVER));
}

/* Confirms are held back until the relay's window is full. */
static void bridge(vic_client_t *client)
{
    struct vic_delivery d[LATE];
    for (uint32_t i = 0; i < MESSAGES;) {
        uint32_t n = 0;
        for (; n < LATE && i + n < MESSAGES; n++) {
            OK(vic_client_recv(client, &d[n], LONG));
            CHECK(d[n].kind == VIC_PUBLISH && strtoul(d[n].body, NULL, 10) == i + n);
        }
        for (uint32_t k = 0; k < n; k++) {
            OK(vic_client_ack(client, &d[k], 0));
        }
        i += n;
    }
}

void run(const struct self *self)
{
    const struct vic_client_config config = {.window_messages = LATE, .window_bytes = 2 * LATE * BODY,
                                             .flags = self->me == 2 ? VIC_CLIENT_BRIDGE : 0};
    vic_client_t *client;
    OK(vic_client_open(self->card, &rings, &config, &client));
    self->me == 0 ? source(self, client) : self->me == 1 ? relay(client) : bridge(client);
    OK(vic_barrier(self->card, LONG));
    vic_client_close(client);
}
