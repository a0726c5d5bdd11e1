/* publish.h: a publisher, the thread of one AMQP connection. */
#ifndef BRIDGE_PUBLISH_H
#define BRIDGE_PUBLISH_H

#include <pthread.h>
#include <sys/uio.h>

#include "bridge.h"
#include "link.h"
#include "message.h"

/* ---- flight.c: what was published on a connection and the broker has not answered yet, by delivery tag. */

struct flight {
    struct message **ring; /* tag % size; NULL: answered */
    size_t size;
    uint64_t oldest, next; /* tags: not answered; to be given */
};

bool flight_open(struct flight *flight, size_t window);
bool flight_is_empty(const struct flight *flight);
bool flight_is_full(const struct flight *flight);
void flight_add(struct flight *flight, struct message *message);

/* Take what a confirm means out of it, oldest first. False: the broker speaks of what was never published. */
bool flight_answered(struct flight *flight, uint64_t tag, bool multiple, struct queue *answered);

/* What came back, by its message id; NULL: nothing like that. It stays. */
struct message *flight_find(struct flight *flight, uint64_t session, uint64_t id);

/* Take all that is left, oldest first; tags begin at 1 again. */
void flight_empty(struct flight *flight, struct queue *left);
void flight_close(struct flight *flight);

/* ---- outbox.c: publishes on plain TCP, one behind another, sent together.
 *
 * rabbitmq-c hands each frame to the operating system by itself: three calls for a short message, which cost more
 * than all that is done for it elsewhere. Here it encodes method and properties, and the frames of many
 * messages go in one call. By the 32 and into a socket that is drained, a publish of 8 B takes 0.1 us of processor time,
 * by rabbitmq-c with TCP_CORK 2.9; of 2 KiB 0.5 and 3.0, of 64 KiB 16 and 21. It also waits for ever when a broker takes no
 * more; here that ends with the heartbeats.
 * Over TLS its own calls are used. */

enum { OUTBOX_PARTS = 67 };

struct outbox {
    unsigned char *bytes;            /* heads of frames, and short bodies */
    size_t used, begun;              /* of these; where those begin that are in no part yet */
    struct iovec part[OUTBOX_PARTS]; /* in the order in which they are sent */
    size_t parts, waiting;           /* how many; bytes of the bodies among them */
};

bool outbox_open(struct outbox *outbox); /* false: no memory */
void outbox_close(struct outbox *outbox);

/* Put method and header of a message in, whose body has so many bytes. The connection has room for it and for what is
 * there. A status of rabbitmq-c. */
int outbox_publish(struct outbox *outbox, struct link *link, amqp_channel_t channel,
                   const amqp_basic_publish_t *method, const amqp_basic_properties_t *properties, size_t body_bytes);

/* Put a frame of its body in, which stays where it is until outbox_flush returns; the same. */
int outbox_body(struct outbox *outbox, struct link *link, amqp_channel_t channel, amqp_bytes_t body);

/* Send what is there. */
int outbox_flush(struct outbox *outbox, struct link *link);
void outbox_forget(struct outbox *outbox); /* or do not */

/* ---- reply.c: confirms on their way back to the clients, many in one envelope, never waiting for a client. */

struct answer {
    uint64_t session, id;
    unsigned flags;
    char *reason; /* of a refusal, malloc'd; NULL: none */
};

/* To one card. */
struct backlog {
    struct answer *answer; /* from `first` on */
    size_t first, count, capacity;
};

struct replies {
    struct bridge *bridge;
    struct backlog *to; /* bridge->cards of them */
    size_t waiting;     /* in all */
    uint64_t since_ns;  /* the first of these */
};

bool replies_open(struct replies *replies, struct bridge *bridge);
void replies_add(struct replies *replies, uint32_t card, const struct answer *answer); /* takes its reason */

/* Send what can be sent without waiting; if `more_come`, as soon as they are a quarter of the window, or the first
 * has waited for half a millisecond. A client that left needs no answer; of a program that does not read the
 * oldest are given up beyond 2^21, and counted. A vic_client has at most half as many unconfirmed, so all of its own are
 * kept: it would wait for ever for one that was not. */
void replies_send(struct replies *replies, bool more_come);
void replies_close(struct replies *replies);

/* ---- the publisher */

struct publisher {
    struct bridge *bridge;
    unsigned number;
    pthread_t thread;
    int wake; /* an eventfd: look round */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t free_slot;
    struct queue todo;       /* what came off the card */
    size_t held, held_bytes; /* todo and everything below */
    bool sleeps, room_wanted;
    enum { PUBLISHER_TRIES, PUBLISHER_WORKS, PUBLISHER_ENDED } state;

    /* the thread's own */
    struct link link;
    struct flight flight;
    struct outbox outbox;
    struct queue next;    /* to be published, first of all */
    struct queue later;   /* not taken by the broker: again when they are due */
    struct queue unwritten; /* --at-most-once: published, but perhaps not given to the system */
    struct message *partial; /* being sent: its body up to partial_at */
    size_t partial_at;
    size_t suspects; /* the first of `next`, one of which made the broker close the channel: they go one by one */
    struct replies replies;
    bool return_begun; /* its header has not come yet */
    char return_key[256];
    bool wants_room;         /* something could be sent, but for the socket */
    bool blocked, connected; /* as counted */
    bool progress;           /* something was confirmed since the last connect */
    bool worked;             /* it was connected once */
    unsigned unfit;          /* brokers in a row whose exchange or queues are not as they should be */
    _Atomic bool connects;   /* it has no connection, and tries to get one */
};

bool publisher_start(struct publisher *publisher, struct bridge *bridge, unsigned number);

/* Hand a message over; waits while the window is full, unless the bridge is to stop: then what was taken is the
 * last. False: the bridge gives up; the message is the caller's. */
bool publisher_put(struct publisher *publisher, struct message *message);

void publisher_kick(struct publisher *publisher);  /* look round */
void publisher_nudge(struct publisher *publisher); /* the same, if it sleeps on something that it has to do */
int publisher_state(struct publisher *publisher);
size_t publisher_backlog(struct publisher *publisher);

/* Close what is left after the thread has ended. */
void publisher_close(struct publisher *publisher);

/* ---- channel.c: what goes over the connection; all in the thread */

enum fault publisher_publish(struct publisher *publisher); /* as much as there is and goes now */
enum fault publisher_read(struct publisher *publisher);    /* confirms, returns */

/* The next message may be published: there is room for it, or it is a suspect and alone. */
static inline bool publisher_may_publish(const struct publisher *publisher)
{
    return publisher->suspects > 0 ? flight_is_empty(&publisher->flight) : !flight_is_full(&publisher->flight);
}

/* The broker has not taken messages, and said so: they are due again after a pause, or refused for the reason. `tries`: as
 * how many of its six tries this counts. */
void publisher_not_taken(struct publisher *publisher, struct queue *messages, uint32_t tries, const char *reason);

/* Report messages that the broker has answered to their senders, and free them. reason: of a refusal, or NULL. */
void publisher_done(struct publisher *publisher, struct queue *messages, unsigned flags, const char *reason);

#endif
