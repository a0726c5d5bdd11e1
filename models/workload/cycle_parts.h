/* cycle_parts.h: what the files of the fabric `cycle` share. */
#ifndef DVSIM_WORKLOAD_CYCLE_PARTS_H
#define DVSIM_WORKLOAD_CYCLE_PARTS_H

#include "workload/cycle.h"

/* Things to come, the earliest first; those of one time in the order in which they were put in. */
typedef struct {
    int64_t at, serial, what;
} cycle_entry;
typedef struct {
    cycle_entry *entries;
    int64_t count, room, serial;
} cycle_queue;
int cycle_put(cycle_queue *queue, int64_t at, int64_t what); /* DVSIM_ENOMEM */
cycle_entry cycle_take(cycle_queue *queue);                  /* of one that is not empty */

/* A message under way. */
typedef struct {
    int64_t id, words, sent_ps;
    int32_t from, to;
    int64_t first_in_ps, each_ps; /* its first word is in the card, and the time from one to the next */
    int64_t aligned_ps;           /* from then to the slot in which it can leave */
    int64_t given, bursts;        /* words given to the network; bursts of them that are under way */
    int64_t first_slot, last_slot, way_slots;
    dvsim_arrival arrival;
    int64_t next_free;
} cycle_message;

struct dvsim_cycle {
    dvsim_cycle_params params;
    dvsim_fabric table;
    dvsim_pcie *pcie;               /* [ports] */
    dvsim_network *network, *alone; /* alone: for words that nothing meets */
    int64_t base;                   /* slot of the fabric in which the network's slot 0 would be */
    int64_t under_way;              /* bursts in the network */
    int64_t *stores_free, *sends_free, *reads_free; /* [ports] */
    int64_t *ways;                  /* [ports * ports] way_slots + 1 where known; NULL: too many */
    cycle_message *messages;
    int64_t room, free_message;     /* -1: none */
    cycle_queue leaving, coming;    /* at slots; at times */
    dvsim_cycle_counts counts;
};

/* cycle_card.c: how a message gets into its card; when its host has it, with its parts. */
void cycle_enter(dvsim_cycle *cycle, cycle_message *message);
void cycle_receive(dvsim_cycle *cycle, cycle_message *message);

#endif
