/* A relay: what other cards send by topic is published through a bridge to a broker, all on one thread.
 *
 *     vicrun -n 4 -- ./relay [MESSAGES]                                    # the last card is a bridge of our own
 *     vicrun -n 3 -- ./relay [MESSAGES] : dvsim bridge --queue readings=reading.#   # or one to RabbitMQ
 *
 * Card 0 is the relay, the cards between it and the bridge send to it. When the bridge confirms late the relay's
 * vic_client_publish waits, its inbox fills, then the rings of the senders, and these wait, too. Nothing is lost, and no
 * window has to be made larger for it: confirms get past what the others have sent.
 */
#include <vic_client.h>

#include "example.h"

static void relay(vic_client_t *client, uint32_t bridge, uint64_t messages)
{
    struct vic_client_count counts;
    struct vic_delivery d;
    MUST(vic_client_bind(client, "reading.#"));
    for (uint64_t i = 0; i < messages; i++) {
        MUST(vic_client_recv(client, &d, VIC_FOREVER));
        MUST(vic_client_publish(client, bridge, d.key, d.body, d.bytes, VIC_FOREVER));
        MUST(vic_client_release(client, &d));
    }
    MUST(vic_client_flush(client, VIC_FOREVER)); /* the broker has them */
    MUST(vic_client_counts(client, &counts));
    printf("relay: %" PRIu64 " messages, %" PRIu64 " confirmed, %" PRIu64 " of them had no queue\n", messages,
           counts.confirmed, counts.returned);
}

/* A topic goes to nobody until the relay has said that it wants it. */
static void send_readings(vic_client_t *client, uint32_t me, uint64_t messages)
{
    char topic[32], body[256] = "";
    snprintf(topic, sizeof topic, "reading.%u", me);
    for (uint64_t i = 0; i < messages;) {
        struct vic_delivery d;
        uint32_t cards;
        snprintf(body, sizeof body, "%" PRIu64, i);
        MUST(vic_client_topic(client, topic, body, sizeof body, &cards, VIC_FOREVER));
        i += cards;
        if (cards == 0 && vic_client_recv(client, &d, 1000 * 1000) != VIC_ETIMEDOUT) {
            fail("relay: card %u received something", me);
        }
    }
}

/* In the place of vicbridge: confirms what comes, as if a broker had it. */
static void be_bridge(vic_client_t *client, uint64_t messages)
{
    struct vic_delivery d;
    for (uint64_t i = 0; i < messages; i++) {
        MUST(vic_client_recv(client, &d, VIC_FOREVER));
        MUST(vic_client_ack(client, &d, 0));
    }
}

int main(int argc, char **argv)
{
    struct vic_attr attr;
    vic_t *card = open_card(&attr);
    vic_client_t *client;
    uint64_t each = argument(argc, argv, 1, 2000, 1, UINT32_MAX);
    if (attr.cards < 3) {
        fail("relay: needs 3 cards or more: the relay, a sender, a bridge");
    }
    uint32_t bridge = attr.cards - 1;
    struct vic_client_config config = {.flags = attr.card == bridge ? VIC_CLIENT_BRIDGE : 0};
    MUST(vic_client_open(card, NULL, &config, &client));
    if (attr.card == 0) {
        relay(client, bridge, each * (attr.cards - 2));
    } else if (attr.card == bridge) {
        be_bridge(client, each * (attr.cards - 2));
    } else {
        send_readings(client, attr.card, each);
    }
    MUST(vic_client_close(client));
    MUST(vic_close(card));
    return 0;
}
