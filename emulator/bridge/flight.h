/* flight.h: what was published on a connection and the broker has not answered yet, by delivery tag. */
#ifndef BRIDGE_FLIGHT_H
#define BRIDGE_FLIGHT_H

#include "message.h"

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

#endif
