/* Fan-out by topic, from card to card, without a broker.
 *
 *     vicrun -n 4 -- ./topic_fanout [READINGS]
 *
 * Every card is a station: it sends readings with a topic that says which station it is and what was measured.
 * Each card wants some of them: all temperatures of all stations, and everything of the station after it. A
 * message goes once to each card that wants it, in whatever way. Nobody has to know who the others are.
 */
#include <vic_client.h>

#include "example.h"

static const char *const kinds[] = {"temperature", "wind.speed", "wind.direction"};

struct reading {
    uint64_t station, kind, number;
};

static bool wants(const struct vic_attr *attr, const struct reading *r)
{
    return r->kind == 0 || r->station == (attr->card + 1) % attr->cards;
}

/* How many cards there are that want it. */
static uint32_t interested(const struct vic_attr *attr, const struct reading *r)
{
    return r->kind == 0 ? attr->cards : 1;
}

static void topic_of(const struct reading *r, char *topic, size_t room)
{
    snprintf(topic, room, "station%u.%s", (unsigned)r->station, kinds[r->kind]);
}

struct taken {
    uint64_t count, sum; /* of readings, not of attempts */
};

/* Take what there is. */
static void take(vic_client_t *client, const struct vic_attr *attr, struct taken *taken, uint64_t timeout_ns)
{
    struct vic_delivery d;
    int status;
    while ((status = vic_client_recv(client, &d, timeout_ns)) == VIC_OK) {
        struct reading r;
        char topic[80];
        if (d.bytes == sizeof r) {
            memcpy(&r, d.body, sizeof r);
            topic_of(&r, topic, sizeof topic);
            if (!wants(attr, &r) || strcmp(topic, d.key) != 0) {
                fail("topic_fanout: card %u got '%s'", attr->card, d.key);
            }
            taken->count++;
            taken->sum += scramble(r.station << 40 | r.kind << 32 | r.number);
        }
        MUST(vic_client_release(client, &d));
        timeout_ns = 0;
    }
    if (status != VIC_ETIMEDOUT) {
        MUST(status);
    }
}

int main(int argc, char **argv)
{
    struct vic_attr attr;
    struct sum sum;
    vic_client_t *client;
    struct taken taken = {0, 0};
    char topic[80];
    vic_t *card = open_card(&attr);
    uint64_t readings = argument(argc, argv, 1, 1000, 1, UINT32_MAX);
    sum_open(card, &attr, &sum);
    MUST(vic_client_open(card, NULL, NULL, &client));
    snprintf(topic, sizeof topic, "station%u.#", (attr.card + 1) % attr.cards);
    MUST(vic_client_bind(client, topic));
    MUST(vic_client_bind(client, "*.temperature"));

    /* Bindings travel as everything does: an empty message tells who is there by now. */
    struct reading r = {attr.card, 0, 0};
    for (uint64_t kind = 0; kind < 3; kind++) {
        r.kind = kind;
        topic_of(&r, topic, sizeof topic);
        for (uint32_t cards = 0; cards < interested(&attr, &r); take(client, &attr, &taken, 100 * 1000)) {
            MUST(vic_client_topic(client, topic, NULL, 0, &cards, VIC_FOREVER));
        }
    }
    uint64_t start = vic_time_ns(card), sent = 0;
    for (; r.number < readings; r.number++) {
        for (r.kind = 0; r.kind < 3; r.kind++) {
            uint32_t cards;
            topic_of(&r, topic, sizeof topic);
            MUST(vic_client_topic(client, topic, &r, sizeof r, &cards, VIC_FOREVER));
            sent += cards;
        }
        take(client, &attr, &taken, 0); /* who only sends holds up who sends to it */
    }
    while (taken.count < readings * (attr.cards + 2)) {
        take(client, &attr, &taken, VIC_FOREVER);
    }
    double s = (double)(vic_time_ns(card) - start) / 1e9;
    if (sent != readings * (attr.cards + 2) || taken.count != sent) {
        fail("topic_fanout: card %u got %" PRIu64 " readings", attr.card, taken.count);
    }
    if (attr.card == 0) {
        printf("%10s %14s\n%10u %14.3f\n", "cards", "M/s sent", attr.cards, (double)sent / s / 1e6);
    }
    MUST(vic_client_close(client)); /* nobody sends to this card any more */
    report(card, &attr, &sum, "topic_fanout", taken.sum);
    return 0;
}
