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

/* The first event of a rank. */
typedef struct {
    int64_t time; /* DVSIM_NEVER: there is none */
    int64_t order;
    int64_t what; /* as in `event` */
    int32_t rank;
    int32_t set : 31;   /* whose queue has it */
    uint32_t stale : 1; /* what the rank needs became busy since: it may be later, or not the first */
} standing;

typedef struct {
    queue *queues;  /* [ranks][sets] */
    standing *at;   /* [ranks] a heap with four children each */
    int32_t *place; /* [ranks] in that heap */
    int64_t ranks, sets;
} agenda;

int agenda_create(agenda *all, int64_t ranks, int64_t sets);
void agenda_free(agenda *all);
int agenda_put(dvsim_replay *replay, int32_t rank, int64_t set, event one);
int agenda_next(dvsim_replay *replay, int64_t *time); /* DVSIM_NEVER if there is none */
int agenda_take(dvsim_replay *replay, event *one);    /* 1, 0 if there is none, or DVSIM_ENOMEM */

/* What a rank needs becomes busy, at another event than one of its own. */
static inline void agenda_stale(agenda *all, int32_t rank)
{
    all->at[all->place[rank]].stale = 1;
}

/* An operation while it is replayed: all that an event looks at, in one line of the cache. */
typedef struct {
    int64_t size;  /* these as in dvsim_graph */
    int64_t start; /* of what waits for it, in `edges` */
    int32_t peer, tag;
    uint8_t kind, cpu, nic;
    int32_t rank;
    int32_t edges;         /* how many wait for it */
    int32_t left;          /* edges that it still waits for */
    int32_t channel;       /* of messages from one rank to one with one tag; -1 of a receive of any */
    int32_t next;          /* in the list that it is in */
    uint32_t turn;         /* when it was posted */
    int32_t behind, ahead; /* among all sends of a rank that came early */
} work;

/* Lists of operations through `next`; -1 ends one. */
typedef struct {
    int32_t head, tail;
} list;

/* Messages from one rank to one with one tag. */
typedef struct {
    list posted; /* receives */
    list early;  /* sends, whose messages came before their receive */
} channel;

typedef struct {
    channel *channels;
    list *wild; /* [ranks] posted receives of any; NULL if the graph has none */
    list *all;  /* [ranks] all sends whose messages came early, through `behind` and `ahead` */
    uint32_t turns;
} matching;

int matching_create(dvsim_replay *replay);
void matching_free(matching *all);
int32_t match_receive(dvsim_replay *replay, int32_t rank, int32_t receive);
int32_t match_message(dvsim_replay *replay, int32_t rank, int32_t send);

/* Operations that an event made free, of one rank. */
typedef struct {
    int32_t *at;
    int64_t count, room;
    int32_t rank;
} fresh;

void fresh_sort(fresh *all, const work *works);

/* What uses a processor or port, and until when. */
typedef struct {
    int64_t until;
    int32_t user; /* as dvsim_course.cause */
} resource;

struct dvsim_replay {
    dvsim_graph graph;
    dvsim_loggops costs;
    dvsim_fabric fabric;
    dvsim_course *course;
    int64_t *finish;
    const int32_t *place;
    bool carried; /* by the fabric */
    bool joined;  /* operations wait for what ends at other processors */
    int64_t operations, done, now, order, cpus, nics;
    work *works;         /* [operations] */
    int32_t *edges;      /* operations that wait: o for the end of another, ~o for its start */
    resource *resources; /* [ranks][cpus + 2 * nics]: processors, ports that send, ports that receive */
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
    int64_t pair = replay->works[operation].cpu * replay->nics + replay->works[operation].nic;
    return 1 + 3 * pair + (kind - SET_COMPUTE);
}

static inline resource *resources_of(const dvsim_replay *replay, int64_t rank)
{
    return &replay->resources[rank * (replay->cpus + 2 * replay->nics)];
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
    const resource *own = resources_of(replay, rank);
    int64_t free = own[cpu].until, port = free;
    if (kind == SET_SEND) {
        port = own[replay->cpus + nic].until;
    } else if (kind == SET_MESSAGE) {
        port = own[replay->cpus + replay->nics + nic].until;
    }
    return port > free ? port : free;
}

/* What so many bytes cost in picoseconds, at a cost in femtoseconds; one more than DVSIM_LATEST at most. */
static inline int64_t cost_of(int64_t bytes, int64_t byte_fs)
{
    int64_t cost = dvsim_law_ps((dvsim_law){0, byte_fs}, bytes);
    return cost > DVSIM_LATEST ? DVSIM_LATEST + 1 : cost;
}

/* The cost of the bytes behind the first; negative for no bytes, as LogGOPSim has it. */
static inline int64_t beyond_first(int64_t bytes, int64_t byte_fs)
{
    return bytes ? cost_of(bytes - 1, byte_fs) : -cost_of(1, byte_fs);
}

#endif
