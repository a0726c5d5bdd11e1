/* Each call of vic_message.h, vic_client.h and vic_collective.h without a handle, which is refused, and with one. A card
 * alone, which sends to itself. */
#include "harness.h"
#include "vic_client.h"
#include "vic_collective.h"

static uint64_t word[2] = {5, 6}, ends;
static size_t bytes;
static uint32_t src, number;
static char text[16];
static struct vic_delivery d;
static struct vic_client_count counts;

static void refused(void)
{
    IS(vic_message_open(NULL, NULL, NULL), VIC_EINVAL);
    IS(vic_message_send(NULL, 0, "hello", 5, 0), VIC_EINVAL);
    IS(vic_message_recv(NULL, &src, text, sizeof text, &bytes, 0), VIC_EINVAL);
    IS(vic_message_flush(NULL, 0), VIC_EINVAL);
    IS(vic_message_flush_to(NULL, 0, 0), VIC_EINVAL);
    IS(vic_message_ends(NULL, 0, &ends), VIC_EINVAL);
    IS(vic_message_close(NULL), VIC_EINVAL);
    IS(vic_client_open(NULL, NULL, NULL, NULL), VIC_EINVAL);
    IS(vic_client_publish(NULL, 0, "k", "hello", 5, 0), VIC_EINVAL);
    IS(vic_client_flush(NULL, 0), VIC_EINVAL);
    IS(vic_client_subscribe(NULL, 0, "q", 1, &number), VIC_EINVAL);
    IS(vic_client_unsubscribe(NULL, 0), VIC_EINVAL);
    IS(vic_client_bind(NULL, "a.#"), VIC_EINVAL);
    IS(vic_client_unbind(NULL, "a.#"), VIC_EINVAL);
    IS(vic_client_topic(NULL, "a.b", "hello", 5, &number, 0), VIC_EINVAL);
    IS(vic_client_recv(NULL, &d, 0), VIC_EINVAL);
    IS(vic_client_release(NULL, NULL), VIC_EINVAL);
    IS(vic_client_ack(NULL, NULL, 0), VIC_EINVAL);
    IS(vic_client_ack_within(NULL, NULL, 0, 0), VIC_EINVAL);
    IS(vic_client_counts(NULL, &counts), VIC_EINVAL);
    IS(vic_client_close(NULL), VIC_EINVAL);
    IS(vic_team_open(NULL, NULL, 0, NULL, 0), VIC_EINVAL);
    IS(vic_team_barrier(NULL, 0), VIC_EINVAL);
    IS(vic_broadcast(NULL, 0, word, 1, 0), VIC_EINVAL);
    IS(vic_reduce(NULL, 0, VIC_SUM, word, word, 1, 0), VIC_EINVAL);
    IS(vic_allreduce(NULL, VIC_SUM, word, word, 1, 0), VIC_EINVAL);
    IS(vic_gather(NULL, 0, word, 1, word, 0), VIC_EINVAL);
    IS(vic_alltoall(NULL, word, word, 1, 0), VIC_EINVAL);
    IS(vic_team_close(NULL), VIC_EINVAL);
}

static void messages(const struct self *self)
{
    const struct vic_message_config config = {1024, 4096, 0};
    vic_message_t *messages;
    OK(vic_message_open_sized(sizeof config.max_bytes, self->card, &config, &messages)); /* as if it had no more */
    OK(vic_message_send(messages, self->me, "hello", 5, LONG));
    OK(vic_message_recv(messages, NULL, text, sizeof text, &bytes, LONG));
    IS(vic_message_recv(messages, &src, text, sizeof text, &bytes, 0), VIC_ETIMEDOUT);
    OK(vic_message_flush(messages, LONG));
    OK(vic_message_flush_to(messages, self->me, LONG));
    OK(vic_message_ends(messages, self->me, &ends));
    OK(vic_message_close(messages));
    IS(vic_message_open_sized(0, self->card, &config, &messages), VIC_EINVAL);
}

static void collectives(const struct self *self)
{
    vic_team_t *team;
    OK(vic_team_open(self->card, NULL, 0, &team, LONG));
    OK(vic_team_barrier(team, LONG));
    OK(vic_broadcast(team, 0, word, 2, LONG));
    OK(vic_reduce(team, 0, VIC_MAX, word, word, 2, LONG));
    OK(vic_allreduce(team, VIC_SUM, word, word, 2, LONG));
    OK(vic_gather(team, 0, word, 2, word, LONG));
    OK(vic_alltoall(team, word, word, 2, LONG));
    OK(vic_team_close(team));
    CHECK(word[0] == 5 && word[1] == 6);
}

static void client(const struct self *self)
{
    const struct vic_message_config rings = {1024, 4096, 0};
    const struct vic_client_config config = {0, 0, VIC_CLIENT_BRIDGE};
    vic_client_t *client;
    IS(vic_client_open_sized(0, 0, self->card, &rings, &config, &client), VIC_EINVAL);
    OK(vic_client_open(self->card, &rings, &config, &client));
    OK(vic_client_bind(client, "a.#"));
    OK(vic_client_topic(client, "a.b", "hello", 5, &number, LONG));
    OK(vic_client_recv(client, &d, LONG));
    OK(vic_client_release(client, &d));
    OK(vic_client_unbind(client, "a.#"));
    OK(vic_client_topic(client, "a.b", "hello", 5, NULL, LONG)); /* to nobody */
    IS(vic_client_recv(client, &d, 0), VIC_ETIMEDOUT);
    for (int within = 0; within < 2; within++) {
        OK(vic_client_publish(client, self->me, "k", "hello", 5, LONG));
        OK(vic_client_recv(client, &d, LONG));
        OK(within ? vic_client_ack_within(client, &d, 0, LONG) : vic_client_ack(client, &d, 0));
    }
    OK(vic_client_flush(client, LONG));
    IS(vic_client_publish(client, self->me, NULL, "hello", 5, 0), VIC_EINVAL);
    OK(vic_client_subscribe(client, self->me, "a queue\xff\x7f whose name is longer than what one line tells of a text", 1,
                            &number));
    OK(vic_client_unsubscribe(client, number));
    OK(vic_client_subscribe(client, self->me, "q", 1, NULL));
    IS(vic_client_subscribe(client, self->cards, "q", 1, NULL), VIC_ERANGE);
    OK(vic_client_counts(client, &counts));
    OK(vic_client_close(client));
    CHECK(counts.published == 2 && counts.confirmed == 2);
}

void run(const struct self *self)
{
    refused();
    messages(self);
    collectives(self);
    client(self);
}
