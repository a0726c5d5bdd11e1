/* consume.h: the way back: queues that programs subscribed to, over one connection with a channel for each
 * queue. */
#ifndef BRIDGE_CONSUME_H
#define BRIDGE_CONSUME_H

#include <pthread.h>

#include "bridge.h"
#include "link.h"
#include "message.h"

enum { BUCKETS = 4096 };

/* A program that wants messages of a queue: one of its consumer group. */
struct channel;
struct subscriber {
    struct subscriber *next;
    struct channel *channel;
    uint32_t card;
    uint64_t session, number;    /* of its VIC_SUBSCRIBE */
    uint64_t opens;              /* of its card then: another number is another program */
    uint64_t credit, out;        /* deliveries that it may have, and has, unacknowledged */
    uint64_t retry_ns, pause_ns; /* it had no room: not before */
};

/* A message of the broker that has not been acknowledged to it. */
struct delivery {
    struct delivery *previous, *next; /* of the channel, by tag */
    struct delivery *same_bucket, *next_waiting;
    uint64_t id, tag;        /* tag 0: of an earlier connection, the broker delivers it again */
    struct subscriber *to;   /* NULL: it waits for a subscriber */
    struct message *message; /* the envelope, as long as it waits */
    bool acked;              /* acknowledged by its program, not yet to the broker */
    bool back;               /* that its queue has it again */
};

/* The end of a subscription, which the program had no room to be told. */
struct refusal {
    struct refusal *next;
    uint32_t card;
    uint64_t opens; /* of its card then */
    uint64_t session, number; /* of the subscription */
    size_t bytes;
    unsigned char envelope[];
};

/* A queue. */
struct channel {
    amqp_channel_t number;
    char name[256];
    size_t name_bytes;
    bool is_open, consuming;
    bool lingers; /* it was consumed, and frames of that may still come */
    struct subscriber *subscribers, *turn;
    struct delivery *first, *last;                 /* by tag */
    struct delivery *first_waiting, *last_waiting; /* not given to anybody */
    size_t acked;                                  /* deliveries to be acknowledged to the broker */
    struct delivery *coming;                       /* its body is still coming, */
    size_t coming_at, coming_bytes;                /* the bytes of it that have come */
    bool coming_headed;                            /* and its header */
    bool redelivered;
};

struct consumer {
    struct bridge *bridge;
    pthread_t thread;
    int wake;
    _Atomic bool ended, connects; /* connects: it has no connection, and tries to get one */

    pthread_mutex_t lock; /* of the inbox */
    pthread_cond_t free_slot;
    struct queue inbox; /* envelopes off the card */
    bool nudged;

    struct link link;
    struct channel *channel[MOST_QUEUES];
    size_t channels, turn; /* turn: the channel that is looked at first */
    struct refusal *refusals; /* for which there was no room */
    struct delivery *bucket[BUCKETS];
    uint64_t last_id;
    uint64_t look_ns; /* time of the next subscribers_look */
    bool wants_room;  /* something has to be sent to the broker, which has no room */
    bool blocked;     /* as counted */
};

struct consumer *consumer_start(struct bridge *bridge);                 /* NULL: no memory */
void consumer_put(struct consumer *consumer, struct message *envelope); /* takes it */
void consumer_nudge(struct consumer *consumer);
bool consumer_has_ended(struct consumer *consumer);
void consumer_close(struct consumer *consumer); /* NULL is good */

/* ---- subscribe.c */

void subscribe(struct consumer *consumer, uint32_t card, const struct vic_envelope *envelope);
void unsubscribe(struct consumer *consumer, uint32_t card, const struct vic_envelope *envelope);
void subscribers_look(struct consumer *consumer); /* drop those that have left; send refusals for which there is room now */
bool subscribers_any(const struct consumer *consumer);

/* End all subscriptions of a queue, and say why. */
void subscribers_refuse(struct consumer *consumer, struct channel *channel, const char *why);
void refusals_forget(struct consumer *consumer);

/* Begin to consume the queues that have subscribers, and stop those that have none. */
enum fault channels_attend(struct consumer *consumer);

enum fault deliver_frame(struct consumer *consumer, const amqp_frame_t *frame);

/* ---- deliver.c */

void delivery_drop(struct consumer *consumer, struct channel *channel, struct delivery *delivery);
enum fault delivery_return(struct consumer *consumer, struct channel *channel,
                           struct delivery *delivery); /* to the queue */

/* Give waiting deliveries to subscribers that have credit. False: a send timed out, so the link has to be served before the
 * next try. */
bool deliver_waiting(struct consumer *consumer, struct channel *channel);
void deliver_ack(struct consumer *consumer, uint32_t card, const struct vic_envelope *envelope);
enum fault deliver_send_acks(struct consumer *consumer, struct channel *channel); /* what was acknowledged */
void deliver_requeue(struct consumer *consumer, struct channel *channel,
                     const struct subscriber *of);                       /* NULL: what waits */

/* The connection was lost, so the broker delivers everything again. Deliveries that programs have stay counted until they
 * acknowledge them, as they use credit. */
void deliver_forget(struct consumer *consumer, struct channel *channel);

#endif
