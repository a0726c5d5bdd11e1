/* publish.h: a publisher, the thread of one AMQP connection. */
#ifndef BRIDGE_PUBLISH_H
#define BRIDGE_PUBLISH_H

#include <pthread.h>

#include "bridge.h"
#include "flight.h"
#include "link.h"
#include "outbox.h"
#include "reply.h"

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
    struct replies replies;
    bool return_begun; /* its header has not come yet */
    char return_key[256];
    bool wants_room;         /* something could be sent, but for the socket */
    bool blocked, connected; /* as counted */
    bool progress;           /* something was confirmed since the last connect */
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

/* ---- window.c */

/* Report messages that the broker has answered to their senders, and free them. */
void publisher_done(struct publisher *publisher, struct queue *messages, unsigned flags);

#endif
