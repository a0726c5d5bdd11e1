/* client.h: clients, and messages whose bytes follow from who published them and which one it is. */
#ifndef TEST_CLIENT_H
#define TEST_CLIENT_H

#include "message.h"
#include "vic_client.h"

static inline vic_client_t *open_client(const struct self *self, size_t window, unsigned flags)
{
    struct vic_message_config messages = {1 << 20, 4096, 0};
    struct vic_client_config config = {window, 0, flags};
    vic_client_t *client;
    OK(vic_client_open(self->card, &messages, &config, &client));
    return client;
}

static inline struct vic_client_count counts_of(vic_client_t *client)
{
    struct vic_client_count counts;
    OK(vic_client_counts(client, &counts));
    return counts;
}

#endif
