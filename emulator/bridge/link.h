/* link.h: one AMQP connection, used by one thread. No call here waits for ever, except that rabbitmq-c does while it sends
 * a frame that is longer than the room in the send buffer. Then another thread shuts the connection: by link_guard after
 * two heartbeats, or by link_shut when the bridge ends.
 *
 * rabbitmq-c's own heartbeats are off after the login, as it would send them within calls that then wait. The thread of
 * the link calls link_wait, which sends and checks them.
 */
#ifndef BRIDGE_LINK_H
#define BRIDGE_LINK_H

#include <amqp.h>
#include <stdatomic.h>

#include "options.h"

struct bridge;

enum fault {
    FAULT_NONE,
    FAULT_DOWN,   /* another try, or another broker, may work */
    FAULT_REFUSED /* another try cannot work: wrong password, vhost, certificate or topology */
};

struct link {
    const struct options *options;
    char name[64];                 /* as the broker shows it */
    amqp_connection_state_t state; /* NULL: none */
    _Atomic int fd;                /* -1: none; other threads use link_shut */
    const struct url *url;
    size_t turn;   /* index of the URL to try next */
    bool blocked;  /* the broker takes no messages for now */
    bool readable; /* there may be something to read */
    bool corked;
    size_t allowance;     /* bytes that can be sent without a further look */
    uint64_t heartbeat_s; /* as agreed with the broker */
    uint64_t heard_ns, sent_ns;
    _Atomic uint64_t overdue_ns; /* when its thread should be back from calls of rabbitmq-c; 0: there is no limit */
    bool channel_only; /* the last fault closed a channel, not the connection */
    uint16_t code;     /* of AMQP, with which the broker closed either; 0: it did not */
    char said[256];    /* code and text of that */
    char why[1024];    /* of the last fault */
};

/* Connect to the next URL, log in. */
enum fault link_open(struct link *link);

/* Close it. `polite`: tell the broker, and wait for its answer; true then means that it has taken all that was sent. */
bool link_close(struct link *link, bool polite);

/* Called by another thread: end calls that wait in it. */
void link_shut(struct link *link);

/* Called by another thread from time to time: shut it if its thread is overdue, which is two heartbeats when it sends. */
void link_guard(struct link *link);

/* From now on those two leave it alone, as its descriptor is about to be closed. */
void link_forget(struct link *link);

/* The outcome of the last call of rabbitmq-c that returned a pointer; `doing` says what it was. */
enum fault link_reply(struct link *link, amqp_channel_t channel, const char *doing);
enum fault link_fault(struct link *link, const amqp_rpc_reply_t *reply, amqp_channel_t channel,
                      const char *doing);
enum fault link_status(struct link *link, int status, const char *doing);

/* Read the next frame that has come. FAULT_NONE and *found = false: there is none. Frames of the connection itself
 * (blocked, close) are handled here. What the frame points to is valid until the next call. */
enum fault link_frame(struct link *link, amqp_frame_t *frame, bool *found);

/* True if so many bytes can be sent without waiting. It updates `readable`. */
bool link_has_room(struct link *link, size_t bytes);

/* Hold small frames back until they are many, or let them go. */
void link_cork(struct link *link, bool on);

/* Wait until there is something to read, room to send (if `send`), a write to the eventfd `wake`, which is emptied, or the
 * timeout. Sends heartbeats; FAULT_DOWN if none have come for too long. */
enum fault link_wait(struct link *link, int wake, bool send, uint64_t timeout_ns);

/* ---- reconnect.c: connecting until it works */

struct attempt {
    struct bridge *bridge;
    struct link *link;
    int wake;           /* an eventfd that ends a pause */
    bool before;        /* this link worked once: what is refused now may be accepted later */
    unsigned fruitless; /* connections in a row that led to nothing: each makes the pause before the next try longer */
    void *self;
    enum fault (*prepare)(void *self); /* channels, topology */
    bool (*needed)(void *self);        /* false: give up quietly */
    void (*tend)(void *self);          /* between tries */
};

/* Connect and prepare, again and again, with growing pauses. False: it is not needed any more, or the bridge was stopped
 * as it cannot work, which was logged. */
bool attempt_all(const struct attempt *attempt);

/* Declare exchange, queues and bindings, or with --no-declare check that they exist. */
enum fault topology_declare(struct link *link, amqp_channel_t channel);

/* The option of a queue, if it has one. */
const struct queue_option *topology_queue(const struct options *options, const char *name, size_t bytes);
enum fault topology_queue_declare(struct link *link, amqp_channel_t channel, const struct queue_option *queue);

static inline amqp_bytes_t bytes_of(const void *at, size_t bytes)
{
    return (amqp_bytes_t){bytes, (void *)(uintptr_t)at}; /* rabbitmq-c does not write there */
}

#endif
