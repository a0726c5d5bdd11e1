/* fabric.h: what carries the messages of a replay: one table of functions, whatever is behind them.
 *
 * The replay gives a fabric messages in the order of their times, and asks it to go on. A fabric has
 * its own clock, which never passes the time that it was asked to go to: so a message is never given
 * at a time that the fabric has left behind.
 */
#ifndef DVSIM_WORKLOAD_FABRIC_H
#define DVSIM_WORKLOAD_FABRIC_H

#include "engine/law.h"

#define DVSIM_NEVER INT64_MAX        /* no event is to come */
#define DVSIM_LATEST (INT64_MAX / 4) /* of an event, 26 days: what costs as much again still has a time */

typedef struct {
    int64_t id;    /* names it when it arrives; from 0, at most one message of an id is under way */
    int32_t from;  /* ports of the fabric: the places of the ranks, not the ranks */
    int32_t to;    /* may be `from` */
    int64_t bytes; /* 0 or more */
} dvsim_message;

typedef struct {
    int64_t id;
    int64_t time_ps;    /* when its last byte is at the receiving host */
    int64_t latency_ps; /* of the time since it was sent: what one word would take in an empty fabric, */
    int64_t serial_ps;  /* and what its other bytes take behind it. What is left is contention */
} dvsim_arrival;

/* A fabric. All calls are made by one thread; `self` is the first argument of each. */
typedef struct {
    void *self;

    /* Take a message at a time, not before that of the last message or `advance`. DVSIM_EINVAL if it
     * has no such port, DVSIM_ERANGE if that would be after DVSIM_LATEST, DVSIM_ENOMEM. */
    int (*send)(void *self, const dvsim_message *message, int64_t time_ps);

    /* The time of the next thing that happens inside; DVSIM_NEVER if nothing is under way. */
    int64_t (*next)(void *self);

    /* Go on until messages arrive, at most to `until_ps`, all of which is done then. Writes up to
     * `room` arrivals and returns how many, in the order of their times; negative: an error. What had
     * no room, or comes later, is given by the next call. */
    int64_t (*advance)(void *self, int64_t until_ps, dvsim_arrival *arrivals, int64_t room);
} dvsim_fabric;

/* The cable between a port and a plane, where the fabric is a Data Vortex. */
typedef struct {
    int64_t port, plane;
} dvsim_cable;

#endif
