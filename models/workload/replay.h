/* replay.h: operations of many ranks in virtual time: what computes, what is sent, what meets what.
 *
 * The costs at hosts and the order in which things happen are those of LogGOPS as LogGOPSim simulates
 * them (Hoefler, Schneider, Lumsdaine: HPDC 2010). With no fabric the messages cost L, g and G as there,
 * and finish times are equal to its own. With a fabric the messages are carried by that.
 */
#ifndef DVSIM_WORKLOAD_REPLAY_H
#define DVSIM_WORKLOAD_REPLAY_H

#include "workload/fabric.h"

enum {
    DVSIM_CALC = 0,
    DVSIM_SEND = 1,
    DVSIM_RECV = 2,
};

#define DVSIM_ANY (-1)                    /* any source, or any tag, of a receive */
#define DVSIM_IDLE (-2)                   /* the peer of a DVSIM_CALC in which its rank only waits */
#define DVSIM_MOST_OPERATIONS 2147483000 /* of one graph */

/* Operations sorted by rank. All arrays belong to the caller, and stay until the replay is freed. */
typedef struct {
    int64_t ranks;
    const int64_t *first;       /* [ranks + 1] operations of rank r are first[r] .. first[r + 1] - 1 */
    const uint8_t *kind;        /* [operations] as all below */
    const int32_t *peer;        /* the other rank of a message */
    const int32_t *tag;         /* of a message, 0 or more; DVSIM_ANY for a receive of any */
    const int64_t *size;        /* bytes of a message, picoseconds of a DVSIM_CALC */
    const uint8_t *cpu;         /* which processor of its rank runs it */
    const uint8_t *nic;         /* which port of its rank carries it */
    const int64_t *start;       /* [operations + 1] what waits for i is to[start[i]] .. to[start[i + 1] - 1] */
    const int64_t *to;          /* operations of the same rank; no circles */
    const uint8_t *after_start; /* 1: waits until i has started, 0: until it has ended */
    int32_t private_tag;        /* a receive of any tag takes only messages of lower tags; 0: all */
    int32_t agent;              /* a processor that works beside the program of its rank, as a card does; 0: none */
} dvsim_graph;

/* With an agent, operations wait for the end of what they depend on at other processors, too; LogGOPSim knows
 * nothing of that. What an agent sends never waits for its receive, however large it is.
 *
 * LogGOPS. A message of n bytes costs o + (n - 1) O at the processor of the sender and keeps its port for
 * g + (n - 1) G; its first byte arrives at o + L; there it keeps the port as long, and the processor for
 * o + the larger of (n - 1) O and (n - 1) G. With a fabric L, g and G are not used. */
typedef struct {
    int64_t latency_ps;       /* L */
    int64_t overhead_ps;      /* o */
    int64_t gap_ps;           /* g */
    int64_t gap_byte_fs;      /* G */
    int64_t overhead_byte_fs; /* O */
    int64_t eager_bytes;      /* S: the sender of a larger message goes on when its receive is there */
} dvsim_loggops;

enum {
    DVSIM_WAITING = 0, /* for other operations */
    DVSIM_FREE = 1,    /* for its processor or port */
    DVSIM_OPEN = 2,    /* started; a receive without a message, or a send without its receive */
    DVSIM_DONE = 3,
};

/* What came of an operation. */
typedef struct {
    int64_t begin;
    int64_t end;
    int64_t arrived; /* of a send: when its message could be handled at the receiver, */
    int64_t handled; /* when it was, -1 if not yet */
    int64_t latency; /* of a send: parts of the way as in dvsim_arrival */
    int64_t serial;
    int32_t cause;   /* what it waited for last: an operation, -1 for none, or -2 - s for the handling
                        of the message of send s at this rank */
    int32_t delayed; /* of a send: what kept the processor or port until it was handled, as `cause` */
    int32_t pair;    /* of a receive its send, of a send its receive, or -1 */
    uint8_t state;   /* DVSIM_WAITING .. DVSIM_DONE */
} dvsim_course;

typedef struct dvsim_replay dvsim_replay;

/* Make a replay, or NULL without memory. `fabric` may be NULL; with one, rank r is at its port place[r].
 * course[operations] and finish[ranks], when the last processor of a rank is done, belong to the caller. */
dvsim_replay *dvsim_replay_create(const dvsim_graph *graph, const dvsim_loggops *costs, const dvsim_fabric *fabric,
                                  const int32_t *place, dvsim_course *course, int64_t *finish);

void dvsim_replay_free(dvsim_replay *replay); /* NULL is fine */

/* Run so many events at most. Returns 1 if there is more to do, 0 at the end, or an error: DVSIM_ENOMEM,
 * DVSIM_ERANGE if it goes on after DVSIM_LATEST, or what the fabric said. At the end operations that are not DVSIM_DONE can never be. */
int dvsim_replay_run(dvsim_replay *replay, int64_t events);

int64_t dvsim_replay_now(const dvsim_replay *replay);  /* the time of the last event */
int64_t dvsim_replay_done(const dvsim_replay *replay); /* operations that are done */

/* What the time until `last` ended was spent on, walking back through what it waited for. */
typedef struct {
    int64_t compute_ps;
    int64_t overhead_ps;
    int64_t latency_ps;
    int64_t bandwidth_ps;
    int64_t contention_ps;
    int64_t wait_ps;
    int64_t steps; /* operations on the way */
} dvsim_path;

/* Fills `path`, and up to `room` operations of the way into `way` (NULL for none), the last first. */
void dvsim_replay_path(const dvsim_replay *replay, int64_t last, dvsim_path *path, int64_t *way, int64_t room);

#endif
