/* internal.h: the parts of a network, shared by the files of this folder only.
 *
 * A part is the planes that are run in lockstep by one thread. The switches of a level of it are numbered plane *
 * switches + switch, with planes counted in the part, and its ports plane * ports + port. Those that follow each other
 * make a stage: 2^stage_bits of them, so few that what is known of them stays in the caches. The switches of a stage
 * are the replications of one carried vortex. A "row" is an input of a switch in the order of the core,
 * angle * H + bit-reversed height, so a place where packets wait is row * replications + replication. A host is a
 * port of a plane of the part, in the order of stages, and in each input q of the leaf * replications + replication.
 *
 * What leaves a switch enters another one link_slots later. So a stage can do as many slots as that, at most
 * DVSIM_MOST_TURNS, before the next stage does the same ones.
 */
#ifndef DVSIM_NETWORK_INTERNAL_H
#define DVSIM_NETWORK_INTERNAL_H

#include <stddef.h>

#include "network/network.h"
#include "vortex/carried.h"
#include "vortex/packet.h"

enum { DVSIM_UP = 0, DVSIM_DOWN = 1 };
enum { DVSIM_AHEAD = 32 }; /* packets whose places are fetched before they are needed */
enum { DVSIM_MOST_LEVELS = 3, DVSIM_MOST_PARTS = 256, DVSIM_MOST_TURNS = 4 };

/* Where an output leads: an input of a switch of another level, or to the port `box`. */
typedef struct {
    uint32_t row, box;
} dvsim_peer;

typedef struct {
    uint32_t switches; /* of one plane */
    uint32_t group;    /* switches of a group: D^l, at the top all */
    uint32_t below;    /* ports below a group */
    uint32_t child;    /* ports below a down port; at the top: below a child group */
    uint32_t parallel; /* links to a child: 1, at the top p */
    uint64_t place;    /* of its first node, for draws */
    dvsim_peer *peers; /* [R][switches] */
    uint8_t *dead;     /* [planes][switches][D] 1 where the cable of an up link is dead; NULL: nowhere */
} dvsim_level;

/* Packets on the links towards a stage, which all take equally long, in the order in which they left: a ring buffer. */
typedef struct {
    uint64_t word;
    uint32_t at;   /* where it will wait */
    uint32_t left; /* slot, modulo 2^32 */
} dvsim_travel;
typedef struct {
    dvsim_travel *ring;
    int64_t room, put, taken; /* a power of two; counts since creation */
} dvsim_wire;

/* Packets that wait behind the one that is offered; 0 is no cell. */
typedef struct {
    uint64_t word;
    uint32_t next;
} dvsim_cell;
typedef struct {
    uint32_t first, last, length;
} dvsim_queue;

/* Where packets of a part wait: before some switches of a level, or before some ports. */
typedef struct {
    dvsim_vortex *vortex; /* NULL: the ports, of which each takes what comes */
    int64_t first, replications; /* the numbers of them */
    uint64_t *offers;     /* [rows][replications] the packet that wants to enter, 0 for none */
    dvsim_queue *queues;  /* [rows][replications] */
    uint32_t *active;     /* [rows * replications] queues that are not empty */
    int64_t active_count;
    /* of packets that go up and of those that go down; NULL: none do */
    dvsim_wire *wires[2]; /* [turns] of those that left in a slot with this remainder */
    int64_t held[2], held_sum[2], peak[2];
} dvsim_stage;

/* Words of a burst that wait at a port of a plane. */
typedef struct {
    int64_t burst, words, from_slot;
    int64_t *slot; /* NULL, or where the slot of the next word is noted; `planes` further that of the one after */
    uint32_t to, next;
} dvsim_batch;

/* A word on its way whose slot is noted. Its packet names it, from the top of what a packet can name downwards;
 * those that are not noted name their burst. */
typedef struct {
    int64_t burst, next_free; /* -1: the last one */
    int64_t *slot;
} dvsim_flight;
typedef struct {
    int64_t left, first, last; /* words to deliver on this part; slots */
} dvsim_share;

typedef struct {
    dvsim_network *network;
    int64_t first, planes;
    int64_t now;
    uint64_t *seeds, *arrival_keys, *route_keys; /* [planes] */
    dvsim_traffic *traffic;       /* [planes] */
    dvsim_stage *stages;
    int64_t first_stage[DVSIM_MOST_LEVELS + 2]; /* of each level, of the ports, and none */
    dvsim_cell *cells;
    uint32_t cell_room, cell_count, free_cell;
    uint32_t *fresh; /* ports of a stage that get a packet in this slot */
    int64_t fresh_count;
    int64_t *entered; /* [rows] of a stage in this slot */
    int64_t *head, *waiting;     /* [hosts] queue: as in vortex/switch.h */
    int64_t *offered, *accepted; /* [hosts] */
    int64_t *delivered_at;       /* [planes][ports] */
    int64_t *hops, *latency, hops_length, latency_length;
    int64_t delivered;
    /* given */
    dvsim_queue *sending; /* [planes * ports] batches */
    uint32_t *senders;    /* [planes * ports] those that have any */
    int64_t sender_count;
    int64_t *waits;       /* [ports] batches at a port, of all planes of the part */
    dvsim_batch *batches; /* 0 is none */
    uint32_t batch_room, batch_count, free_batch;
    dvsim_flight *flights;
    int64_t flight_room, free_flight; /* free_flight: -1 for none */
    dvsim_share *shares; /* [burst_room] */
    int64_t *ended;      /* [burst_room] bursts all of whose words on this part are delivered */
    int64_t ended_count, words_left;
    int failed; /* no memory */
} dvsim_part;

/* A burst on its way. */
typedef struct {
    int64_t handle, serial, sent, first, last;
    int64_t parts_left;
    int64_t next_free; /* -1: the last one */
} dvsim_burst;
typedef struct {
    dvsim_completion is;
    int64_t serial;
} dvsim_ended;

struct dvsim_network {
    dvsim_network_params params; /* pointers into copies */
    int n;
    uint32_t radix, half, rows;
    uint32_t down; /* ports of a leaf: half, or all if it is the top */
    int64_t top; /* the highest level */
    dvsim_level levels[DVSIM_MOST_LEVELS];
    uint64_t places;
    uint32_t *row_of, *port_of; /* [R]: row of each port of a switch, and back */
    uint64_t *address_of;       /* [R]: of each output, in a word */
    uint8_t *way_of;            /* [R]: which way what comes in by a row goes */
    uint64_t birth_mask, hops_mask;
    int port_shift, birth_shift, hops_shift;
    uint64_t port_mask;
    int stage_bits[DVSIM_MOST_LEVELS + 1]; /* of the levels, of the ports */
    int64_t turns; /* a power of two */
    int64_t threads, part_count;
    dvsim_part *parts;
    int64_t now, counted_from;
    int64_t pending, next_part; /* slots that have begun, and the first part that has not run them */
    /* given */
    int64_t *sent_words; /* [ports], modulo planes */
    uint8_t *cut;        /* [ports][planes] 1 where the cables are dead; NULL: nowhere */
    int broken;          /* a cable between switches is dead */
    dvsim_burst *bursts;
    int64_t burst_room, free_burst, serial; /* free_burst: -1 for none */
    dvsim_ended *ended;
    dvsim_completion *completions;
    int64_t completion_count, completion_room;
    /* counts of all parts */
    int64_t *sums[3], *sum_cylinders, *sum_queues; /* [planes][ports]; 3 [levels][C]; 2 [levels][2] */
    int64_t *sum_hops, *sum_latency, sum_room;
    int failed;
};

/* tree.c: the shape, 0 if there is no such network; numbers of ports, and where all outputs lead. */
int dvsim_network_shape(dvsim_network *net, const dvsim_network_params *params);
void dvsim_network_wire(dvsim_network *net);

static inline uint64_t dvsim_network_rand(const dvsim_part *p, int64_t plane, uint64_t place, uint64_t choices)
{
    uint64_t index = (uint64_t)p->now * p->network->places + place;
    return ((dvsim_draw(p->route_keys[plane], index) & UINT32_MAX) * choices) >> 32;
}

/* Whether the group of switch `box` has port `to` below it. */
static inline int dvsim_network_below(const dvsim_level *at, uint32_t box, uint32_t to)
{
    return to / at->below == box / at->group;
}

/* dead_cables.c: whether a plane has a way from one port to another; the same as dvsim_network_output where cables are
 * dead. */
int dvsim_network_leads(const dvsim_network *net, int64_t plane, int64_t from, int64_t to);
uint32_t dvsim_network_detour(const dvsim_part *p, int64_t level, uint32_t box, uint32_t to, int64_t plane,
                              uint64_t place);

/* The output by which a packet for `to` leaves switch `box` of a level; `place` is where the choice is
 * made. What comes down has `to` below it. */
static inline uint32_t dvsim_network_output(const dvsim_part *p, int64_t level, uint32_t box, uint32_t to,
                                            int64_t plane, uint64_t place, int comes_down)
{
    const dvsim_network *net = p->network;
    const dvsim_level *at = &net->levels[level];
    const uint32_t child = to / at->child;
    if (net->broken) {
        return dvsim_network_detour(p, level, box, to, plane, place);
    }
    if (level == net->top) {
        return at->parallel == 1
                   ? child
                   : child * at->parallel + (uint32_t)dvsim_network_rand(p, plane, place, at->parallel);
    }
    if (comes_down || dvsim_network_below(at, box, to)) {
        return child % net->half;
    }
    return net->half + (uint32_t)dvsim_network_rand(p, plane, place, net->half);
}

/* A packet at a port that has not entered its leaf. */
static inline uint64_t dvsim_network_packet(const dvsim_part *p, uint32_t box, uint32_t to, uint64_t birth,
                                            int64_t plane, uint64_t place)
{
    const dvsim_network *net = p->network;
    return DVSIM_PRESENT | net->address_of[dvsim_network_output(p, 0, box, to, plane, place, 0)] |
           (uint64_t)to << net->port_shift | (birth & net->birth_mask) << net->birth_shift;
}

/* links.c: more room for packets on links, 0 without memory; let those arrive whose time it is. */
int dvsim_network_widen(dvsim_part *p, dvsim_wire *wire);
void dvsim_network_arrive(dvsim_part *p, dvsim_stage *stage);

/* hosts.c: before and after packets enter the leaves of a stage. */
void dvsim_network_offer(dvsim_part *p, const dvsim_stage *leaves);
void dvsim_network_offered(dvsim_part *p, const dvsim_stage *leaves);

/* bursts.c */
void dvsim_network_offer_given(dvsim_part *p);
void dvsim_network_offered_given(dvsim_part *p);
void dvsim_network_word_ended(dvsim_part *p, uint64_t burst);
int64_t dvsim_network_words_waiting(const dvsim_part *p);
int dvsim_network_collect(dvsim_network *net); /* shares that have ended, into completions */

/* flights.c: what a packet with the next word of a batch is called, 0 if it must wait until there is a name; the
 * burst of a noted word that is there; the names of the part that has most. */
int dvsim_network_name(dvsim_part *p, dvsim_batch *batch, uint64_t *birth);
uint64_t dvsim_network_noted(dvsim_part *p, uint64_t birth);
int64_t dvsim_network_most_noted(const dvsim_network *net);

/* slot.c */
void dvsim_network_slots(dvsim_part *p, int64_t slots);

/* create.c: more memory for a list, zeros behind what it holds; NULL: none, and the list is as it was. */
void *dvsim_network_longer(void *list, int64_t used, int64_t room, size_t size);

#endif
