/* internal.h: the state of a replay, shared by the files of this folder only. */
#ifndef DVSIM_WORKLOAD_INTERNAL_H
#define DVSIM_WORKLOAD_INTERNAL_H

#include <stdbool.h>

#include "workload/replay.h"

/* What comes next: earlier times first; at equal times what was new earlier. */
typedef struct {
    int64_t time;
    int64_t order;
    int64_t what; /* twice the operation; one more: its message arrives. Among ranks: the rank */
} event;

typedef struct {
    event *at;
    int32_t count, room;
} heap;

static inline bool event_earlier(event one, event other)
{
    return one.time != other.time ? one.time < other.time : one.order < other.order;
}

int heap_push(heap *all, event one); /* DVSIM_ENOMEM */
event heap_pop(heap *all);           /* of a heap that has some */

/* Events of a rank that need the same processor and port. */
typedef struct {
    heap due;   /* those that wait for them */
    heap later; /* those of later times */
} queue;

typedef struct {
    queue *queues;  /* [ranks][sets] */
    event *at;      /* [ranks] a heap with four children each */
    int32_t *place; /* [ranks] in that heap */
    int64_t ranks, sets;
} agenda;

int agenda_create(agenda *all, int64_t ranks, int64_t sets);
void agenda_free(agenda *all);
int agenda_put(dvsim_replay *replay, int32_t rank, int64_t set, event one);
int agenda_next(dvsim_replay *replay, int64_t *time); /* DVSIM_NEVER if there is none */
int agenda_take(dvsim_replay *replay, event *one);    /* 1, 0 if there is none, or DVSIM_ENOMEM */

/* Lists of operations through `next`; -1 ends one. */
typedef struct {
    int32_t head, tail;
} list;

/* Receives that are posted, and messages that came before their receive. */
typedef struct {
    int32_t *channel;  /* [operations] of messages from one rank to one with one tag; -1 of a receive of any */
    list *posted;      /* [channels] receives */
    list *early;       /* [channels] sends, whose messages came early */
    int32_t *next;     /* [operations] in the list that it is in */
    uint32_t *turn;    /* [operations] when it was posted */
    list *wild;        /* [ranks] posted receives of any; NULL if the graph has none */
    list *all;         /* [ranks] all sends whose messages came early, through `behind` and `ahead` */
    int32_t *behind, *ahead;
    uint32_t turns;
} matching;

int matching_create(matching *all, const dvsim_graph *graph);
void matching_free(matching *all);
int32_t match_receive(matching *all, const dvsim_graph *graph, int32_t rank, int32_t receive);
int32_t match_message(matching *all, const dvsim_graph *graph, int32_t rank, int32_t source, int32_t send);

/* Operations that an event made free, of one rank. */
typedef struct {
    int32_t *at;
    int64_t count, room;
    int32_t rank;
} fresh;

void fresh_sort(fresh *all, const uint8_t *kind);

/* What uses a processor or port, and until when. */
typedef struct {
    int64_t until;
    int32_t user; /* as dvsim_course.cause */
} resource;

struct dvsim_replay {
    dvsim_graph graph;
    dvsim_loggops costs;
    dvsim_fabric fabric;
    dvsim_course course;
    const int32_t *place;
    bool carried; /* by the fabric */
    int64_t operations, done, now, order, cpus, nics;
    int32_t *left;    /* [operations] edges that it still waits for */
    int32_t *rank;    /* [operations] */
    resource *cpu;    /* [ranks][cpus] */
    resource *sending, *receiving; /* [ranks][nics] */
    agenda agenda;
    matching matching;
    fresh freed[2]; /* of the rank of an event, and of the other */
    int failed;
};

/* The sets of resources: of receives, which need none, and for each processor and port of computing, of sends
 * and of messages that arrive. */
enum { SET_RECEIVE, SET_COMPUTE, SET_SEND, SET_MESSAGE, SETS };

static inline int64_t set_of(const dvsim_replay *replay, int kind, int32_t operation)
{
    if (kind == SET_RECEIVE) {
        return 0;
    }
    int64_t pair = replay->graph.cpu[operation] * replay->nics + replay->graph.nic[operation];
    return 1 + 3 * pair + (kind - SET_COMPUTE);
}

/* When the resources of a set are free. */
static inline int64_t resources_free(const dvsim_replay *replay, int32_t rank, int64_t set)
{
    if (set == 0) {
        return INT64_MIN;
    }
    int64_t kind = SET_COMPUTE + (set - 1) % 3, pair = (set - 1) / 3, nic = 0, cpu = pair;
    if (replay->nics > 1) {
        nic = pair % replay->nics;
        cpu = pair / replay->nics;
    }
    int64_t free = replay->cpu[rank * replay->cpus + cpu].until, port = free;
    if (kind == SET_SEND) {
        port = replay->sending[rank * replay->nics + nic].until;
    } else if (kind == SET_MESSAGE) {
        port = replay->receiving[rank * replay->nics + nic].until;
    }
    return port > free ? port : free;
}

/* (bytes - 1) times a cost in femtoseconds, in picoseconds; negative for no bytes, as LogGOPSim has it. */
static inline int64_t beyond_first(int64_t bytes, int64_t byte_fs)
{
    dvsim_law law = {0, byte_fs};
    return bytes ? dvsim_law_ps(law, bytes - 1) : -dvsim_law_ps(law, 1);
}

#endif
