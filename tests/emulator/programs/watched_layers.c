/* Calls of vic_message.h, vic_collective.h and vic_client.h that VIC_DEBUG tells. */
#include "harness.h"
#include "vic_client.h"
#include "vic_collective.h"

static void messages(const struct self *self)
{
    vic_message_t *messages;
    char text[64];
    uint32_t src;
    size_t bytes;
    OK(vic_message_open(self->card, NULL, &messages));
    if (self->me == 0) {
        OK(vic_message_send(messages, 1, "hello", 5, LONG));
        OK(vic_message_flush(messages, LONG));
        IS(vic_message_send(messages, 9, "x", 1, 0), VIC_ERANGE);
    } else {
        OK(vic_message_recv(messages, &src, text, sizeof text, &bytes, LONG));
    }
    OK(vic_barrier(self->card, LONG));
    OK(vic_message_close(messages));
}

static void collectives(const struct self *self)
{
    vic_team_t *team;
    uint64_t mine = self->me, sum;
    OK(vic_team_open(self->card, NULL, 0, &team, LONG));
    OK(vic_allreduce(team, VIC_SUM, &mine, &sum, 1, LONG));
    OK(vic_barrier(self->card, LONG));
    OK(vic_team_close(team));
}

/* To and from itself. */
static void client(const struct self *self)
{
    const struct vic_client_config config = {.flags = VIC_CLIENT_BRIDGE};
    struct vic_delivery delivery;
    vic_client_t *client;
    OK(vic_client_open(self->card, NULL, &config, &client));
    OK(vic_client_publish(client, 0, "orders\n", "hello", 5, LONG));
    OK(vic_client_recv(client, &delivery, LONG));
    OK(vic_client_ack(client, &delivery, 0));
    OK(vic_client_flush(client, LONG));
    OK(vic_client_close(client));
}

void run(const struct self *self)
{
    messages(self);
    collectives(self);
    if (self->me == 0) {
        int fd;
        client(self);
        IS(vic_event_fd(self->card, 1, 0, &fd), self->attr.mode == 0 ? VIC_OK : VIC_EINVAL);
        IS(vic_message_open(NULL, NULL, NULL), VIC_EINVAL);
    }
}
