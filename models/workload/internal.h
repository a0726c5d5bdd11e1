/* internal.h: the state of a replay, shared by the files of this folder only. */
#ifndef DVSIM_WORKLOAD_INTERNAL_H
#define DVSIM_WORKLOAD_INTERNAL_H

#include <stdbool.h>

#include "workload/replay.h"

/* What comes next: earlier times first; at equal times what was new earlier. */
typedef struct {
    int64_t time;
    int64_t order;
    int64_t what; /* twice the operation; one more: its message arrives */
} event;

typedef struct {
    event *at; /* a heap with four children each */
    int64_t count, room;
    bool hole; /* the first was taken out, its place is not filled yet */
} agenda;

int agenda_push(agenda *all, event one);
bool agenda_pop(agenda *all, event *one);
int64_t agenda_next(agenda *all); /* its time, DVSIM_NEVER if there is none */

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

/* (bytes - 1) times a cost in femtoseconds, in picoseconds; negative for no bytes, as LogGOPSim has it. */
static inline int64_t beyond_first(int64_t bytes, int64_t byte_fs)
{
    dvsim_law law = {0, byte_fs};
    return bytes ? dvsim_law_ps(law, bytes - 1) : -dvsim_law_ps(law, 1);
}

#endif
