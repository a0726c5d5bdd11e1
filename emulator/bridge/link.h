/* link.h: one AMQP connection, used by one thread. Nothing here waits for ever: rabbitmq-c does in a frame that is longer
 * than the room in the send buffer; then another thread, which calls link_guard, shuts the connection.
 *
 * rabbitmq-c's own heartbeats are off after the login (they would be sent from within calls that then wait):
 * whoever has the link calls link_wait, which sends and checks them.
 */
#ifndef BRIDGE_LINK_H
#define BRIDGE_LINK_H

#include <amqp.h>
#include <stdatomic.h>

#include "options.h"

struct bridge;

enum fault {
    FAULT_NONE,
    FAULT_DOWN,   /* may work later, or elsewhere */
    FAULT_REFUSED /* will not work until somebody changes something: password, vhost, certificate, topology */
};

struct link {
    const struct options *options;
    char name[64];                 /* as the broker shows it */
    amqp_connection_state_t state; /* NULL: none */
    _Atomic int fd;                /* -1: none; another thread uses link_shut */
    const struct url *url;
    size_t turn;   /* the URL to be tried next */
    bool blocked;  /* the broker wants nothing published for now */
    bool readable; /* something may be there to be read */
    bool corked;
    size_t allowance;     /* bytes that can be sent without a further look */
    uint64_t heartbeat_s; /* as agreed */
    uint64_t heard_ns, said_ns;
    _Atomic uint64_t overdue_ns; /* when its thread should be back from calls of rabbitmq-c; 0: they end themselves */
    bool channel_only; /* the last fault closed a channel, not the connection */
    char why[1024];    /* of the last fault */
};

/* Connect to the next URL, log in. */
enum fault link_open(struct link *link);

/* Say goodbye, if `polite`: the broker has taken all that was sent before when this returns true. */
bool link_close(struct link *link, bool polite);

/* For another thread: calls that wait there end. link_forget: the descriptor is about to be closed. */
void link_shut(struct link *link);

/* For another thread, now and then: shut it if its thread is overdue: two heartbeats when it sends. */
void link_guard(struct link *link);
void link_forget(struct link *link);

/* The outcome of the last call of rabbitmq-c that returned a pointer; `doing` says what it was. */
enum fault link_reply(struct link *link, amqp_channel_t channel, const char *doing);
enum fault link_fault(struct link *link, const amqp_rpc_reply_t *reply, amqp_channel_t channel,
                      const char *doing);
enum fault link_status(struct link *link, int status, const char *doing);

/* The next frame that is there. FAULT_NONE and *there = false: none. Frames of the connection itself (blocked,
 * close) are seen to. What the frame points to is there until the next call. */
enum fault link_frame(struct link *link, amqp_frame_t *frame, bool *there);

/* May so many bytes be sent without waiting? Sets readable as well. */
bool link_has_room(struct link *link, size_t bytes);

/* Hold small frames back until they are many, or let them go. */
void link_cork(struct link *link, bool on);

/* Wait until there is something to read, `wake` (an eventfd, emptied) was written to, room to send if `send`,
 * or time has passed. Heartbeats. */
enum fault link_wait(struct link *link, int wake, bool send, uint64_t timeout_ns);

/* ---- reconnect.c: connecting until it works */

struct attempt {
    struct bridge *bridge;
    struct link *link;
    int wake;           /* an eventfd: look round */
    bool before;        /* this link worked once: what is refused now may be taken later */
    unsigned fruitless; /* how often it worked, but to no effect: pauses before the next try */
    void *self;
    enum fault (*prepare)(void *self); /* channels, topology */
    bool (*needed)(void *self);        /* false: give up quietly */
    void (*tend)(void *self);          /* between tries */
};

/* Connect and prepare, with pauses that grow. False: not needed any more, or the bridge has been stopped as it
 * cannot work; that has been said. */
bool attempt_all(const struct attempt *attempt);

/* ---- topology.c */

/* Declare exchange, queues and bindings, or look that they are there. */
enum fault topology_declare(struct link *link, amqp_channel_t channel);

/* The option of a queue, if it has one. */
const struct queue_option *topology_queue(const struct options *options, const char *name, size_t bytes);
enum fault topology_queue_declare(struct link *link, amqp_channel_t channel, const struct queue_option *queue);

static inline amqp_bytes_t bytes_of(const void *at, size_t bytes)
{
    return (amqp_bytes_t){bytes, (void *)(uintptr_t)at}; /* rabbitmq-c does not write there */
}

#endif
