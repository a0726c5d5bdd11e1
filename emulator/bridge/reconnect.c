/* Connecting until it works, to one broker after the other, with pauses that double. Then publish.c resends what is not
 * confirmed. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "bridge.h"
#include "link.h"

enum { MOST_REFUSALS = 5 }; /* in a row, of a link that worked before */
static const uint64_t FIRST_NS = UINT64_C(30000000000); /* until the first connection of all; then for ever */

static bool ended(const struct attempt *attempt)
{
    return atomic_load(&attempt->bridge->abandon) || !attempt->needed(attempt->self);
}

/* False: not needed any more. */
static bool pause_for(const struct attempt *attempt, uint64_t ns)
{
    uint64_t until = now_ns() + ns, now, count;
    while (!ended(attempt) && (now = now_ns()) < until) {
        struct pollfd look = {attempt->wake, POLLIN, 0};
        uint64_t wait_ms = (until - now + 999999) / 1000000;
        poll(&look, 1, wait_ms < 20 ? (int)wait_ms : 20);
        eventfd_read(attempt->wake, &count);
        attempt->tend(attempt->self);
    }
    return !ended(attempt);
}

static enum fault try_once(const struct attempt *attempt)
{
    enum fault fault = link_open(attempt->link);
    if (fault != FAULT_NONE) {
        return fault;
    }
    fault = attempt->prepare(attempt->self);
    if (fault != FAULT_NONE) {
        link_close(attempt->link, false);
    }
    return fault;
}

/* How long to go on without a connection, 0: for ever. */
static uint64_t most_ns(const struct bridge *bridge)
{
    uint64_t asked = bridge->options.give_up_ns;
    return asked != GIVE_UP_USUAL ? asked : atomic_load(&bridge->worked) ? 0 : FIRST_NS;
}

static bool fail(const struct attempt *attempt, const char *what)
{
    log_error("%s%s", attempt->link->why, what);
    bridge_stop(attempt->bridge, STOP_FAILED);
    return false;
}

bool attempt_all(const struct attempt *attempt)
{
    const struct options *options = &attempt->bridge->options;
    struct link *link = attempt->link;
    uint64_t begin = now_ns(), pause_ns = options->reconnect_least_ns;
    unsigned refusals = 0;
    for (unsigned i = 0; i < attempt->fruitless && pause_ns < options->reconnect_most_ns; i++) {
        pause_ns *= 2;
    }
    if (attempt->fruitless > 0 && !pause_for(attempt, pause_ns / 2 + chance() % (pause_ns / 2 + 1))) {
        return false;
    }
    for (size_t tries = 1; !ended(attempt); tries++) {
        enum fault fault = try_once(attempt);
        if (fault == FAULT_NONE) {
            log_info("%s: connected to %s", link->name, link->url->shown);
            atomic_store(&attempt->bridge->worked, true);
            return true;
        }
        refusals = fault == FAULT_REFUSED ? refusals + 1 : 0;
        if (refusals > 0 && (!attempt->before || refusals == MOST_REFUSALS)) {
            return fail(attempt, "");
        }
        uint64_t most = most_ns(attempt->bridge);
        if (most > 0 && tries >= options->urls && now_ns() - begin > most) { /* each broker is tried once */
            return fail(attempt, "; given up (--give-up)");
        }
        if (tries % options->urls != 0) {
            log_warning("%s; the next one", link->why);
            continue;
        }
        uint64_t ns = pause_ns / 2 + chance() % (pause_ns / 2 + 1); /* not all bridges at once */
        log_warning("%s; again in %.2f s", link->why, (double)ns / 1e9);
        if (!pause_for(attempt, ns)) {
            return false;
        }
        pause_ns = 2 * pause_ns < options->reconnect_most_ns ? 2 * pause_ns : options->reconnect_most_ns;
    }
    return false;
}

/* ---- exchange, queues, bindings: declared, or found to be there */

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
