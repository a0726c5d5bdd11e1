/* vortex.h: the Data Vortex switch, cycle-accurate.
 *
 * H heights (a power of two, n = log2 H), A angles, C = n + 1 cylinders; a node is (cylinder, angle,
 * height) and holds at most one packet. In every slot every packet moves one angle on:
 *
 *   cylinder n:      a packet leaves when it stands at its addressed angle (exit `angle`) or at once
 *                    (exit `any`); else it goes on along the ring, its height unchanged
 *   cylinder c < n:  a packet whose bit c (most significant first) of the height is that of its address
 *                    descends to cylinder c + 1 at the same height, unless a packet that stays on
 *                    cylinder c + 1 takes that node; else it stays and crosses to height G_c(h), which
 *                    flips that bit (wanted crossing or deflection)
 *   injection:       into cylinder 0, where no cylinder-0 packet arrives
 *
 * Two changes of coordinates make this fast; both are exact.
 *
 *   1. Heights are written bit-reversed, u = rev(h). Cylinder c then tests bit c of u, the heights that
 *      share the settled bits are u mod 2^c = g, and what a crossing permutes is R = u >> c:
 *      `brc` (bit-reversed counter) is R + 1, `xor` is R ^ 1, `random` a permutation that flips bit 0.
 *   2. Angles and heights move with the packets: a packet keeps its lane a - t (mod A), and a packet
 *      that stays keeps its storage row. So nothing is ever copied but a packet that descends.
 *
 * Storage of cylinder c: [row s][g][lane], rows of 2^c lanes-wide words, so a descent is one pass over
 * two contiguous runs of 64-bit words, eight bytes per node; or of slices of bits, where no packet waits and the
 * crossing is not `random` (slices.h), three bytes or less. There is no allocation while slots run but
 * for packets so old that their stamps must be longer, and no random state: the arrival at a port in a slot is
 * a function of (seed, port, slot), in draws.h for uniform traffic that is dropped when refused, in traffic.h for other
 * traffic. So results are the same for any number of threads and any instruction set.
 */
#ifndef DVSIM_VORTEX_VORTEX_H
#define DVSIM_VORTEX_VORTEX_H

#include "engine/law.h"

enum { DVSIM_CROSS_BRC = 0, DVSIM_CROSS_XOR = 1, DVSIM_CROSS_RANDOM = 2 };
enum { DVSIM_EXIT_ANGLE = 0, DVSIM_EXIT_ANY = 1 };
/* drop: a refused packet is gone. queue: it waits in an unbounded queue at its port. saturate: a packet
 * always waits. given: as drop, but the caller gives the packets of each slot (dvsim_vortex_give).
 * carried: the switches belong to a network, see carried.h. */
enum {
    DVSIM_INJECT_DROP = 0,
    DVSIM_INJECT_QUEUE = 1,
    DVSIM_INJECT_SATURATE = 2,
    DVSIM_INJECT_GIVEN = 3,
    DVSIM_INJECT_CARRIED = 4,
};

/* How packets are stored, which changes no result: as words, or as slices of bits where that can be done (slices.h);
 * the best is slices but for small switches, and of `carried` lists as long as packets are few (sparse.c). */
enum { DVSIM_LAYOUT_BEST = 0, DVSIM_LAYOUT_WORDS = 1, DVSIM_LAYOUT_SLICES = 2 };

/* Faults of a node (cylinder, angle, height). A node whose own packet cannot go on loses it. */
enum {
    DVSIM_FAULT_NODE = 1,  /* dead: nothing may enter; descents and injection see it as taken */
    DVSIM_FAULT_DOWN = 2,  /* the link to the next cylinder is dead: every packet is deflected */
    DVSIM_FAULT_STAY = 4,  /* the link along its own cylinder is dead: a packet that stays is lost */
    DVSIM_FAULT_BLOCK = 8, /* its deflection line is stuck at "taken": every packet is deflected */
    DVSIM_FAULT_FREE = 16, /* its deflection line is stuck at "free": it descends into a node that a packet
                              takes, and the packet that descends is lost; a dead node still stops it */
};
typedef struct {
    int32_t kind, cylinder;
    int64_t angle, height;
} dvsim_fault;

typedef struct {
    int64_t height;             /* H, a power of two, 2 .. 2^20 */
    int64_t angles;             /* A, 1 .. 4096 */
    int64_t replications;       /* independent switches side by side, at least 1; A * this <= 65536 */
    int32_t crossing, exit_rule, injection, layout;
    const uint8_t *injecting;   /* [A]: 1 where an angle has input ports */
    const uint32_t *order;      /* crossing random: next R of each R, cylinder 0 first; else NULL */
    uint64_t seed;              /* replication r is the switch of seed + r * 0x9e3779b97f4a7c15 */
    uint64_t arrival_threshold; /* an input has an arrival in a slot with probability this / 2^32 */
    const uint32_t *destination; /* [H] of bit-reversed heights for permutation traffic, else NULL */
    uint64_t hot_threshold;     /* probability / 2^32 that an arrival goes to a hot spot */
    const uint32_t *hot;        /* [hots] of angle * H + u */
    int64_t hots;
    int64_t burst_slots;        /* 0: none; else arrivals come in frames of so many slots, each frame */
    uint64_t burst_threshold;   /* "on" with this probability / 2^32 and to one destination */
    const int64_t *trace_start; /* [A * H + 1] or NULL: arrivals of port a * H + u are entries */
    const int64_t *trace_slot;  /*   trace_start[port] .. trace_start[port + 1] - 1 of these two, */
    const uint32_t *trace_to;   /*   slots ascending, addresses angle * H + u */
    const dvsim_fault *faults;
    int64_t fault_count;
    int64_t watched;            /* follow the first so many packets, see dvsim_vortex_events */
} dvsim_vortex_params;

typedef struct dvsim_vortex dvsim_vortex;

/* Counts since the last dvsim_vortex_reset_counts, all replications together but for the arrays per
 * port. Arrays belong to the switch and live until the next call. */
typedef struct {
    int64_t slots, offered, accepted, delivered, lost;
    /* [replications][A][H], heights in natural order; delivered_at and lost_at by address, where exit
     * `any` uses only angle 0 */
    const int64_t *offered_at, *accepted_at, *delivered_at, *lost_at;
    const int64_t *hops, *latency;              /* histograms: index = value; modulo what packet.h says */
    int64_t hops_length, latency_length;
    const int64_t *wanted, *blocked, *present;  /* [C]: descents wanted, blocked; packets, over slots */
    int64_t in_flight, waiting;                 /* now: packets in the switch, packets in the queues */
} dvsim_vortex_counts;

/* What happened to a watched packet. */
enum {
    DVSIM_EVENT_ENTER = 0,   /* injected at this node */
    DVSIM_EVENT_CROSS = 1,   /* stayed, because its bit was wrong (or: went round the ring) */
    DVSIM_EVENT_DEFLECT = 2, /* stayed, because the node below was taken by packet `by` */
    DVSIM_EVENT_DESCEND = 3,
    DVSIM_EVENT_LEAVE = 4,   /* left at this node */
    DVSIM_EVENT_LOSE = 5,    /* lost to a fault on the way from this node */
};
/* The node is where the packet stands after the event. A packet is named by the order in which packets
 * entered, from 0; `by` is -1 where there is none, as with a fault. */
typedef struct {
    int64_t slot, packet, by;
    int32_t kind, cylinder;
    int64_t angle, height, to_angle, to_height;
} dvsim_event;

/* A packet that left in the last call of dvsim_vortex_run, for injection `given`. */
typedef struct {
    int64_t handle, slot, angle, height, hops;
} dvsim_delivery;

/* Bytes that a switch with these parameters will allocate, -1 if they are out of range. */
int64_t dvsim_vortex_bytes(const dvsim_vortex_params *params, int64_t threads);

/* A switch without packets. Copies what the parameters point to. NULL: out of range, or no memory. */
dvsim_vortex *dvsim_vortex_create(const dvsim_vortex_params *params, int64_t threads);
void dvsim_vortex_free(dvsim_vortex *vortex);

/* Run so many slots. DVSIM_EINVAL: fewer than none, or more than 2^62 in all. DVSIM_ENOMEM: no room for a
 * longer histogram, and nothing was run; or for a longer list of events or deliveries, which then ends
 * early, or for stamps of old packets, and the switch cannot go on. */
int dvsim_vortex_run(dvsim_vortex *vortex, int64_t slots);

void dvsim_vortex_reset_counts(dvsim_vortex *vortex);
int dvsim_vortex_counts_now(dvsim_vortex *vortex, dvsim_vortex_counts *counts);

/* How a run goes, without the arrays of all counts: slots and packets delivered since the last
 * dvsim_vortex_reset_counts, packets that wait now. */
typedef struct {
    int64_t slots, delivered, waiting;
} dvsim_vortex_totals;
int dvsim_vortex_totals_now(const dvsim_vortex *vortex, dvsim_vortex_totals *totals);

/* Injection `given`: offer a packet at an input in the next slot; handle is the caller's. DVSIM_EINVAL:
 * no such port or address. DVSIM_ESTATE: another packet is offered there already, or not `given`. */
int dvsim_vortex_give(dvsim_vortex *vortex, int64_t angle, int64_t height, int64_t to_angle,
                      int64_t to_height, int64_t handle);

/* What left in the last call of dvsim_vortex_run, and the handles of what was refused in it. Both arrays
 * belong to the switch. Only for injection `given`. */
int64_t dvsim_vortex_deliveries(const dvsim_vortex *vortex, const dvsim_delivery **deliveries);
int64_t dvsim_vortex_refused(const dvsim_vortex *vortex, const int64_t **handles);

/* Events of the watched packets since creation, in the order of slots. */
int64_t dvsim_vortex_events(const dvsim_vortex *vortex, const dvsim_event **events);

/* State of the switch as bytes that do not depend on threads or instruction set; -1: not for `given` or
 * with watched packets. `load` wants a switch made from the same parameters. DVSIM_EINVAL: the bytes are not
 * those that `save` gave, or of a switch of another kind; nothing was changed. Bytes that were made up may
 * put packets where none could be, but no access goes astray. */
int64_t dvsim_vortex_state_bytes(const dvsim_vortex *vortex);
int dvsim_vortex_save(const dvsim_vortex *vortex, uint8_t *bytes);
int dvsim_vortex_load(dvsim_vortex *vortex, const uint8_t *bytes, int64_t length);

/* The packet at a node of replication 0: 0 for none, else 1 + angle * H + height of its address.
 * DVSIM_EINVAL: no such node, or `carried`. */
int64_t dvsim_vortex_at(const dvsim_vortex *vortex, int64_t cylinder, int64_t angle, int64_t height);

/* Instruction set of the inner loops of a switch that is made now: "avx512", "avx2" or "portable". The
 * environment variable DVSIM_SIMD forces one; one that is unknown or that this machine lacks is ignored. */
const char *dvsim_vortex_simd(void);

#endif
