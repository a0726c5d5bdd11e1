/* What if the card is closed under its client, and opened again? Each call says so, and none waits for ever. */
#include "client.h"

enum { FLAGS = VIC_CLIENT_BRIDGE | VIC_CLIENT_RETURNS };

/* Of one life: the client is its own bridge. */
static void begin(vic_t *card, unsigned flags, vic_client_t **client, struct vic_delivery *held)
{
    const struct vic_client_config config = {.window_messages = 2, .flags = flags};
    OK(vic_client_open(card, NULL, &config, client));
    OK(vic_client_publish(*client, 0, "held", "x", 1, LONG));
    OK(vic_client_recv(*client, held, LONG));
    CHECK(held->kind == VIC_PUBLISH && strcmp(held->key, "held") == 0);
    OK(vic_client_publish(*client, 0, "waits", "x", 1, LONG));
}

static void with_confirms(vic_t *card)
{
    vic_client_t *client;
    struct vic_delivery held, none;
    uint32_t number, cards = 9;
    begin(card, FLAGS, &client, &held);
    OK(vic_close(card));
    IS(vic_client_publish(client, 0, "late", "x", 1, LONG), VIC_ECLOSED); /* the window is full */
    IS(vic_client_flush(client, LONG), VIC_ECLOSED);
    IS(vic_client_recv(client, &none, LONG), VIC_ECLOSED);
    IS(vic_client_recv(client, &none, 0), VIC_ECLOSED);
    IS(vic_client_ack(client, &held, 0), VIC_ECLOSED);
    OK(vic_client_bind(client, "a.*")); /* told when the card is there */
    OK(vic_client_subscribe(client, 0, "q", 1, &number));
    OK(vic_client_unsubscribe(client, number));
    OK(vic_client_topic(client, "a.b", "x", 1, &cards, LONG)); /* nobody is seen to want it */
    CHECK(cards == 0 && counts_of(client).unconfirmed == 2);
    OK(vic_client_release(client, &held));
    IS(vic_client_close(client), VIC_EPEER); /* not all is confirmed */
}

static void with_room_in_the_window(vic_t *card)
{
    vic_client_t *client;
    OK(vic_client_open(card, NULL, NULL, &client));
    OK(vic_close(card));
    IS(vic_client_publish(client, 0, "late", "x", 1, LONG), VIC_ECLOSED);
    CHECK(counts_of(client).published == 0 && counts_of(client).unconfirmed == 0);
    OK(vic_client_flush(client, LONG)); /* nothing is open */
    OK(vic_client_close(client));
}

static void without_confirms(vic_t *card)
{
    vic_client_t *client;
    struct vic_delivery held;
    begin(card, FLAGS | VIC_CLIENT_AT_MOST_ONCE, &client, &held);
    OK(vic_close(card));
    IS(vic_client_publish(client, 0, "late", "x", 1, LONG), VIC_ECLOSED);
    IS(vic_client_flush(client, LONG), VIC_ECLOSED);
    OK(vic_client_ack(client, &held, 0)); /* it needs no answer */
    CHECK(counts_of(client).published == 2);
    IS(vic_client_close(client), VIC_OK);
}

int main(void)
{
    static void (*const all[])(vic_t *) = {with_confirms, with_room_in_the_window, without_confirms};
    for (int times = 0; times < 80; times++) { /* more than closed handles are kept */
        vic_t *card;
        vic_client_t *client;
        OK(vic_open(&card));
        all[times % 3](card);
        IS(vic_client_open(card, NULL, NULL, &client), VIC_ECLOSED);
    }
    return 0;
}
