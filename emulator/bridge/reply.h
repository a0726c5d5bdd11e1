/* reply.h: confirms on their way back to the clients, many in one envelope, never waiting for a client. */
#ifndef BRIDGE_REPLY_H
#define BRIDGE_REPLY_H

#include "bridge.h"

struct answer {
    uint64_t session, id;
    unsigned flags;
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
void replies_add(struct replies *replies, uint32_t card, const struct answer *answer);

/* Send what can be sent without waiting; if `more_come`, as soon as they are a quarter of the window, or the first
 * has waited for half a millisecond. A client that left needs no answer; of a program that does not read the
 * oldest are given up beyond 2^21, and counted. A vic_client has at most half as many unconfirmed, so all of its own are
 * kept: it would wait for ever for one that was not. */
void replies_send(struct replies *replies, bool more_come);
void replies_close(struct replies *replies);

#endif
