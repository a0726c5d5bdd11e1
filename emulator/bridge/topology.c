/* Exchange, queues, bindings: declared, or found to be there. */
#include <stdio.h>
#include <string.h>

#include "link.h"

const struct queue_option *topology_queue(const struct options *options, const char *name, size_t bytes)
{
    for (size_t i = 0; i < options->queues; i++) {
        if (strlen(options->queue[i].name) == bytes && memcmp(options->queue[i].name, name, bytes) == 0) {
            return &options->queue[i];
        }
    }
    return NULL;
}

enum fault topology_queue_declare(struct link *link, amqp_channel_t channel, const struct queue_option *queue)
{
    const struct options *options = link->options;
    char doing[320];
    amqp_bytes_t name = amqp_cstring_bytes(queue->name);
    snprintf(doing, sizeof doing, "queue '%s'", queue->name);
    amqp_queue_declare(link->state, channel, name, !options->declare, 1, 0, 0, amqp_empty_table);
    enum fault fault = link_reply(link, channel, doing);
    if (fault != FAULT_NONE || !options->declare || *options->exchange == 0) {
        return fault; /* the nameless exchange knows each queue by its name */
    }
    amqp_queue_bind(link->state, channel, name, amqp_cstring_bytes(options->exchange),
                    amqp_cstring_bytes(queue->binding), amqp_empty_table);
    return link_reply(link, channel, doing);
}

enum fault topology_declare(struct link *link, amqp_channel_t channel)
{
    const struct options *options = link->options;
    enum fault fault = FAULT_NONE;
    if (*options->exchange != 0) {
        char doing[320];
        snprintf(doing, sizeof doing, "exchange '%s'", options->exchange);
        amqp_exchange_declare(link->state, channel, amqp_cstring_bytes(options->exchange),
                              amqp_cstring_bytes("topic"), !options->declare, 1, 0, 0, amqp_empty_table);
        fault = link_reply(link, channel, doing);
    }
    for (size_t i = 0; i < options->queues && fault == FAULT_NONE; i++) {
        fault = topology_queue_declare(link, channel, &options->queue[i]);
    }
    return fault;
}
