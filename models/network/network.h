/* network.h: parallel networks ("planes") of vortex switches, cycle-accurate.
 *
 * Every port has one input and one output on each plane. A plane is one switch, or a folded Clos of 2 or 3
 * levels of switches of one radix R = 2 D: below the top D ports go down and D up, at the top all R go
 * down. A packet goes up by random links until its destination is below, and down by its address.
 *
 *   level l (0 = leaf) below the top: group g covers D^(l+1) ports and has D^l switches i. Up link u of
 *     switch (g, i) is link m = i D + u of its group.
 *   to a level below the top: link m of group g goes to switch m of group g / D, down port g mod D.
 *   to the top (one group of T = ports / R switches, over G = ports / D^(L-1) groups, with p = R / G
 *     parallel links from each group to each switch): link m of group g goes to switch m / p, down
 *     port g p + m mod p.
 *   down: at the top by a random one of the p links to group dest / D^(L-1); at level l by port
 *     (dest / D^l) mod D.
 *
 * A link is a queue: a packet that leaves a switch in slot t may enter the next one, or reach the port,
 * from slot t + link_slots on, one packet per slot and link, in order. It enters a switch when its node of
 * cylinder 0 is free. Queues have no bound: bounded ones that stop what is behind them can deadlock.
 * The link from a port to its leaf only delays.
 *
 * Switches are numbered g D^l + i, ports of a switch as its outputs: angle * H + height (exit `any`:
 * height; one angle injects), down ports first. Packets that leave by one output in one slot are queued in the
 * order of (angle + 1 - slot) mod A.
 *
 * Random choices are draws at (seed of the plane, slot, place), so that results do not depend on threads
 * or on how planes are grouped. No allocation per slot, once queues have been as long as they get.
 */
#ifndef DVSIM_NETWORK_NETWORK_H
#define DVSIM_NETWORK_NETWORK_H

#include "vortex/traffic.h"
#include "vortex/vortex.h"

typedef struct {
    int64_t height, angles;     /* of every switch; R = H for exit `any`, with one angle that injects, */
    int32_t crossing, exit_rule; /*   and A * H for exit `angle`, where all inject */
    int64_t injecting;          /* exit `any`: the angle that injects */
    const uint32_t *order;      /* crossing `random`, see vortex.h */
    int64_t levels;             /* L, 1 .. 3; above 1 R must be even */
    int64_t ports;              /* L = 1: R. Else a multiple of D^(L-1) such that G divides R, is at least 2,
                                   and p divides D^(L-1) */
    int64_t planes;             /* 1 .. 256 */
    int64_t link_slots;         /* 0 .. 65536 */
    int32_t injection;          /* DVSIM_INJECT_DROP, _QUEUE, _SATURATE; _GIVEN: dvsim_network_send */
    int32_t layout;             /* of the switches, as in vortex.h; no result changes */
    uint64_t seed;              /* each plane has a seed that is drawn from this one */
    int64_t together;           /* planes that are run in lockstep, 0: as it is fastest; no result changes */
    dvsim_traffic traffic;      /* `ports` and `outputs` are filled in; each input of each plane has its own
                                   arrivals. trace_start: [planes * ports + 1] of plane * ports + port */
} dvsim_network_params;

typedef struct dvsim_network dvsim_network;

/* Counts since the last reset. Arrays belong to the network and live until the next call. */
typedef struct {
    int64_t slots, offered, accepted, delivered;
    const int64_t *offered_at, *accepted_at, *delivered_at; /* [planes][ports]; delivered by destination */
    /* Histograms: nodes visited in all switches; slots from arrival at the port to delivery, links included.
     * Both modulo what a word has room for, at least 2^12 each; with `given` the latency is exact. */
    const int64_t *hops, *latency;
    int64_t hops_length, latency_length;
    const int64_t *wanted, *blocked, *present; /* [levels][C], all switches and planes */
    /* [levels][2]: queues at the up and at the down outputs of a level. Packets that have passed the
     * link, counted in each slot before they enter: the longest queue, and the sum over slots and links. */
    const int64_t *queue_peak, *queue_sum;
    int64_t in_flight, waiting; /* now: packets in switches and links; at the ports */
} dvsim_network_counts;

/* As dvsim_vortex_totals. */
typedef struct {
    int64_t slots, delivered, waiting;
} dvsim_network_totals;

/* A burst all of whose words have been delivered: the slots of the first and of the last of them. */
typedef struct {
    int64_t handle, first_slot, last_slot;
} dvsim_completion;

/* Bytes that such a network will allocate, with room for a few packets on each link; -1: out of range. */
int64_t dvsim_network_bytes(const dvsim_network_params *params);

/* A network without packets. Copies what the parameters point to. NULL: out of range, or no memory. */
dvsim_network *dvsim_network_create(const dvsim_network_params *params, int64_t threads);
void dvsim_network_free(dvsim_network *network);

/* Run so many slots. DVSIM_EINVAL: fewer than none, or more than 2^62 in all. DVSIM_ENOMEM: no memory for a
 * longer queue or histogram; the network cannot go on. */
int dvsim_network_run(dvsim_network *network, int64_t slots);

/* The same in several calls, for networks so large that a slot takes long: begin, then go on until it
 * returns 0, each time with so many of the groups of planes that are run in lockstep. Returns how many
 * groups are to go, or a code below 0. Until then all other calls but _free give DVSIM_ESTATE, or nothing. */
int dvsim_network_begin(dvsim_network *network, int64_t slots);
int64_t dvsim_network_go_on(dvsim_network *network, int64_t groups);
int64_t dvsim_network_groups(const dvsim_network *network);

/* Slots since the last reset, those that have only begun counted; any time. */
int64_t dvsim_network_slots_now(const dvsim_network *network);

/* Run until the end of a slot in which a burst is completed, at most so many slots; on one thread. Returns
 * the slots that were run, or a code below 0. */
int64_t dvsim_network_run_until(dvsim_network *network, int64_t slots);

/* Set all counts to zero; packets stay. */
void dvsim_network_reset_counts(dvsim_network *network);
int dvsim_network_counts_now(dvsim_network *network, dvsim_network_counts *counts);
int dvsim_network_totals_now(const dvsim_network *network, dvsim_network_totals *totals);

/* Injection `given`: a burst of words from port `from` to port `to`, sent at the end of the last slot. Word k of
 * all that a port sends goes by plane (from + k) mod planes; each plane takes one word per slot and keeps
 * the order of the bursts of a port. DVSIM_EINVAL: no such port, no words, or more than 2^40. DVSIM_ESTATE: not
 * `given`, or as many bursts are on their way as a packet can name (2^22 at 65,536 ports). DVSIM_ENOMEM: no
 * room for one more; nothing was sent. */
int dvsim_network_send(dvsim_network *network, int64_t from, int64_t to, int64_t words, int64_t handle);

/* The same, and the slot in which word k is delivered is written to slots[k], which must live until the burst
 * is completed. DVSIM_EINVAL: also if `slots` is NULL. */
int dvsim_network_send_noted(dvsim_network *network, int64_t from, int64_t to, int64_t words, int64_t handle,
                             int64_t *slots);

/* Injection `given`: the cables between a port and a plane are dead. Bursts that are sent later take the planes that
 * both their ports reach: word k number (from + k) of these. From then on dvsim_network_send gives DVSIM_EINVAL for
 * ports that have no plane in common, dvsim_network_send_noted DVSIM_ESTATE. DVSIM_EINVAL: no such port or plane;
 * DVSIM_ENOMEM. */
int dvsim_network_cut(dvsim_network *network, int64_t port, int64_t plane);

/* The cable from up link `up` of switch `box` of a level, on a plane, to the switch above. */
typedef struct {
    int64_t level, box, up, plane;
} dvsim_dead_link;

/* Injection `given`: such a cable is dead, both ways. Packets take the other links up, and down at the top, by which
 * their ports can still be reached, at random; bursts take the planes that have such a way, as with dvsim_network_cut,
 * of which the same errors hold. A packet already in the network still crosses a dead cable if no other link is left to it.
 * DVSIM_EINVAL: no such cable, as in networks of one level; DVSIM_ESTATE: not `given`; DVSIM_ENOMEM. */
int dvsim_network_break(dvsim_network *network, const dvsim_dead_link *link);

/* Planes by which words go from one port to another, both of which there are. */
int64_t dvsim_network_ways(const dvsim_network *network, int64_t from, int64_t to);

/* Injection `given`: bursts that have words waiting at a port, summed over the planes. */
int64_t dvsim_network_waiting(const dvsim_network *network, int64_t port);

/* Bursts completed in the last run, by last slot and then in the order of sending. */
int64_t dvsim_network_completions(const dvsim_network *network, const dvsim_completion **completions);

#endif
