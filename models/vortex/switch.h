/* switch.h: the inside of a switch, shared by the files of this folder only.
 *
 * A lane is one angle of one replication in the moving frame; lane i * replications + r stands at angle
 * (i + slot) mod A of replication r. A shard is the lanes of one thread. Per-port arrays are [u][column],
 * the column of replication r and angle a being a * replications + r.
 */
#ifndef DVSIM_VORTEX_SWITCH_H
#define DVSIM_VORTEX_SWITCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "vortex/carried.h"
#include "vortex/frame.h"
#include "vortex/kernel.h"
#include "vortex/packet.h"
#include "vortex/traffic.h"
#include "vortex/vortex.h"

enum { DVSIM_MATCHES = 1024, DVSIM_FEW_LANES = 64, DVSIM_MOST_THREADS = 64 };

typedef struct {
    uint64_t packet;
    uint32_t row, lane;
} dvsim_listed;
typedef struct {
    dvsim_listed *packets;
    int64_t count, room;
} dvsim_list;

typedef struct {
    dvsim_vortex *vortex;
    int64_t first, lanes;
    const dvsim_kernel *kernel;
    uint64_t *cells;   /* C cylinders of H * lanes words, or */
    dvsim_slices *slices; /* [strips] */
    int64_t strips;
    int64_t inside; /* packets, of `carried` */
    int sparse;     /* they are in lists, see sparse.c, which are there only then: */
    uint64_t *marks;   /* [C][H][lanes] bits, rows in whole words */
    dvsim_list *lists; /* [C + 1] */
    int64_t *counts;   /* [A] */
    /* or in pools, see pools.c: */
    uint8_t *all;   /* slices of all strips */
    uint64_t *pool; /* [replications][room] the word of each name */
    int64_t room;
    uint64_t *vacant; /* [replications][vacant_words] bits of names that are free */
    int64_t vacant_words;
    uint32_t values[3][64]; /* heights, phases, names of packets that are read or written */
    int64_t *angle;    /* [lanes] where the lane stands now */
    int64_t *column;   /* [lanes] angle * replications + replication */
    uint64_t *seeds;   /* [lanes] of the replication */
    uint64_t *leaving; /* [lanes] what an address must match to leave there */
    /* [H][2 * columns]: a lane counts as many columns further as angles have passed, without going round:
     * lanes that follow each other count at places that do, and the two places of an angle are added
     * up at the end */
    int64_t *offered_at, *accepted_at;
    int64_t tallied; /* slots whose counts are in tallies and ages of slices */
    dvsim_ages ages;
    /* without slices, where arrivals are drawn: their slices, and of each node whether there is one, and the address */
    dvsim_draws draws;
    uint8_t *arrivals;
    uint32_t *arrives, *addresses;
    uint64_t *allowed, *ahead; /* [lanes] 1 if it injects; the angle that phases count from, as in an address */
    int64_t *delivered_at, *lost_at; /* [H][columns] */
    int64_t *hops, *latency;
    dvsim_descents *cylinders; /* [C] */
    int failed; /* no memory */
    int64_t *into; /* [H] where the rows of a cylinder descend to; the heights of its rows */
    int32_t matches[DVSIM_MATCHES + DVSIM_MATCH_ROOM];
    /* of the first cylinders, see dvsim_stretch; around is 0 if their runs are not short */
    uint64_t wanted[3][8 * DVSIM_FEW_LANES + 8];
    int64_t around;
} dvsim_shard;

struct dvsim_vortex {
    dvsim_vortex_params params; /* pointers into copies */
    int n;
    int64_t ports;   /* A * H, whether they inject or not */
    int64_t columns; /* A * replications */
    int64_t now;     /* slots run since creation */
    int64_t counted_from;
    int64_t until;
    int sliced;         /* shards have slices, not cells */
    int64_t histogram;  /* length of hops and latency */
    int64_t room_until; /* before this slot no packet can be older than they are long */
    dvsim_traffic traffic;
    dvsim_packet_layout layout;
    dvsim_frame frame;
    dvsim_cycle *cycles;
    int64_t *head;    /* [H][columns] slot of arrival of the packet that waits first, if any */
    int64_t *waiting; /* [H][columns] packets that wait */
    int64_t threads;
    dvsim_shard *shards;
    atomic_int crew;       /* threads of this run, 0 until all of them are there */
    atomic_int arrived;    /* of them at the end of the slot */
    atomic_uint phase;     /* goes on with each slot */
    pthread_mutex_t door;  /* held to change the phase, and to fall asleep until it has changed */
    pthread_cond_t opens;
    int failed;            /* no memory for a longer list of events or deliveries */

    /* Only where packets must be told apart or nodes are faulty: one thread, packetwise.c. */
    int packetwise;
    uint8_t *faults;                /* [C][H][A] flags */
    int64_t *names, *handles;       /* like cells of the one shard */
    int64_t *given_to;              /* [H][A] address of the packet that is offered, -1 for none */
    int64_t *given_handle;
    int64_t *given_ports, given_count;
    int64_t entered;                /* packets that entered so far: the next name */
    dvsim_event *events;
    int64_t event_count, event_room;
    dvsim_delivery *deliveries;
    int64_t delivery_count, delivery_room;
    int64_t *refused;
    int64_t refused_count;

    /* carried.c */
    dvsim_left_fn *take;
    void *take_context;
    dvsim_left *left; /* [DVSIM_MATCHES] */

    /* sums over shards in natural order, made by dvsim_vortex_counts_now */
    int64_t *sums[4], *sum_hops, *sum_latency, *sum_cylinders;
};

static inline int dvsim_cylinders(const dvsim_vortex *v)
{
    return v->n + 1;
}

static inline uint64_t *dvsim_cylinder(const dvsim_shard *s, int c)
{
    return s->cells + c * (s->vortex->params.height * s->lanes);
}

uint64_t dvsim_slices_packet(const dvsim_shard *s, int c, int64_t row, int64_t lane, int64_t now);

/* What stands in a row of cylinder c, the rows of a group after each other: row * 2^c + group; 0 for none. */
static inline uint64_t dvsim_packet_at(const dvsim_shard *s, int c, int64_t row, int64_t lane)
{
    return s->vortex->sliced ? dvsim_slices_packet(s, c, row, lane, s->vortex->now)
                             : dvsim_cylinder(s, c)[row * s->lanes + lane];
}

static inline int64_t dvsim_per_port(const dvsim_vortex *v)
{
    return v->columns * v->params.height;
}

/* offered, accepted, delivered, lost */
static inline int64_t *dvsim_counters(const dvsim_shard *s, int which)
{
    int64_t *const counters[] = {s->offered_at, s->accepted_at, s->delivered_at, s->lost_at};
    return counters[which];
}

/* Counters of arrivals have two places for each port. */
static inline int64_t dvsim_places(int which)
{
    return which < 2 ? 2 : 1;
}

/* Length of a histogram without the zeros at its end. */
static inline int64_t dvsim_used(const int64_t *histogram, int64_t length)
{
    while (length > 0 && histogram[length - 1] == 0) {
        length--;
    }
    return length;
}

/* Bits of a phase, see slices.h. */
static inline int dvsim_phase_bits(const dvsim_vortex_params *p)
{
    return p->exit_rule == DVSIM_EXIT_ANY ? 0 : dvsim_bits(p->angles);
}

static inline uint64_t dvsim_seed_of(const dvsim_vortex *v, int64_t replication)
{
    return v->params.seed + (uint64_t)replication * DVSIM_DRAW_STEP;
}

/* Where a lane counts arrivals, wrapped: the first of the two places of its angle. */
static inline int64_t dvsim_counter(const dvsim_shard *s, int64_t lane, int64_t u)
{
    const dvsim_vortex *v = s->vortex;
    return 2 * u * v->columns + s->column[lane];
}

/* Whether a packet arrives at port (a, u) in a slot, and its address angle * H + u. */
static inline int dvsim_arrival(const dvsim_vortex *v, uint64_t seed, int64_t a, int64_t u, int64_t slot,
                                uint64_t *to)
{
    return dvsim_traffic_arrival(&v->traffic, seed, (uint64_t)(a * v->params.height + u), slot, to);
}

/* inject.c, slot.c, packetwise.c, carried.c: parts of one slot; positions before it are those of slot now - 1. */
void dvsim_inject(dvsim_shard *s, int64_t now);
int64_t dvsim_drawn_bytes(const dvsim_vortex_params *p, int64_t lanes);
int dvsim_create_drawn(dvsim_shard *s); /* 0: no memory */
void dvsim_add_tally(dvsim_shard *s); /* before bytes overflow */
void dvsim_close(dvsim_shard *s);     /* before counts are read */
void dvsim_move(dvsim_shard *s, int64_t now);
void dvsim_move_packetwise(dvsim_shard *s, int64_t now);
void dvsim_carry_out(dvsim_shard *s, int64_t now);
int64_t dvsim_angle_of(const dvsim_vortex *v, int64_t slot, int64_t place); /* of a lane / replications */
void dvsim_hand_out(dvsim_shard *s, int64_t count); /* the first of vortex.left */
int dvsim_may_enter(const dvsim_vortex *v, int c, int64_t a, int64_t u);
void dvsim_entered(dvsim_shard *s, int64_t cell, int64_t a, int64_t u, int64_t now, int64_t handle);

/* sparse.c: few packets, of `carried`. 0: no memory. */
int64_t dvsim_sparse_bytes(const dvsim_vortex_params *p, int64_t lanes);
int dvsim_sparse_create(dvsim_shard *s);
void dvsim_sparse_free(dvsim_shard *s);
int dvsim_sparse_choose(dvsim_shard *s); /* whether the next slot is sparse */
void dvsim_sparse_move(dvsim_shard *s, int64_t now); /* as dvsim_move */
int dvsim_sparse_is_taken(dvsim_shard *s, int64_t row, int64_t lane); /* on cylinder 0 */
int dvsim_sparse_put(dvsim_shard *s, int c, int64_t row, int64_t lane, uint64_t packet);

/* pools.c, pools_slot.c: many packets, of `carried`, as slices. 0: no memory. */
int64_t dvsim_pools_bytes(const dvsim_vortex_params *p);
int dvsim_pools_create(dvsim_shard *s);
void dvsim_pools_free(dvsim_shard *s);
void dvsim_pools_clear(dvsim_shard *s);
void dvsim_pools_move(dvsim_shard *s, int64_t now);
int dvsim_pools_enter(dvsim_shard *s, int64_t first, uint64_t *offers, uint64_t stamp, int64_t *entered);
int dvsim_pools_put(dvsim_shard *s, int c, int64_t row, int64_t lane, uint64_t packet);
int dvsim_pools_list(dvsim_shard *s); /* packets stay, and are put into lists */

/* check.c */
int dvsim_is_address(const dvsim_vortex_params *p, int64_t to); /* angle * H + height of an output */
int dvsim_is_sliced(const dvsim_vortex_params *p);
int dvsim_is_packetwise(const dvsim_vortex_params *p);
int dvsim_is_drawn(const dvsim_vortex_params *p); /* arrivals are those of draws.h */
int dvsim_enters_drawn(const dvsim_vortex_params *p); /* and shards of words draw them together */
int dvsim_has_queues(const dvsim_vortex_params *p);
int64_t dvsim_threads_of(const dvsim_vortex_params *p, int64_t threads); /* no more than there are lanes */
int dvsim_is_good(const dvsim_vortex_params *p, int64_t threads);
dvsim_traffic dvsim_traffic_of(const dvsim_vortex_params *p);

/* slices.c, slices_slot.c: 0 without memory. A packet is a word, 0 for none; what is put in must not be older than
 * the stamps can tell. */
int64_t dvsim_slices_bytes(const dvsim_vortex_params *p, int64_t lanes);
int dvsim_slices_create(dvsim_shard *s);
int dvsim_slices_share(const dvsim_vortex *v, dvsim_slices *k); /* what all strips have */
uint8_t *dvsim_slices_memory(int64_t bytes);
void dvsim_slices_give_back(void *memory, int64_t bytes);
int64_t dvsim_slices_stride(int64_t size);
int64_t dvsim_slices_before(int n, int c, int rest); /* slices of cylinders before c; `rest`: phase and stamps */
void dvsim_slices_free(dvsim_shard *s);
void dvsim_slices_stand(dvsim_shard *s, int64_t now);
void dvsim_slices_open(const dvsim_shard *s, dvsim_slices *k, int64_t now); /* inputs, of the angles of a slot */
uint8_t *dvsim_slices_of(const dvsim_vortex *v, const dvsim_slices *k, int c);
void dvsim_slices_put(dvsim_shard *s, int c, int64_t row, int64_t lane, uint64_t packet);
int dvsim_slices_lengthen(dvsim_shard *s, int stamp_bits, int64_t now);
int dvsim_slices_check(const dvsim_vortex *v, dvsim_slices *k, int64_t now);
int dvsim_slices_run(dvsim_shard *s, int64_t from, int64_t until);
int64_t dvsim_slices_leave(dvsim_shard *s, dvsim_slices *k, int64_t now, dvsim_ages *ages); /* how many */
void dvsim_slices_descend(dvsim_shard *s, dvsim_slices *k, int64_t now);
void dvsim_slices_close(dvsim_shard *s, dvsim_slices *k, int64_t now); /* nothing enters */
void dvsim_slices_tallied(dvsim_shard *s);

int64_t dvsim_in_flight(const dvsim_shard *s); /* counts.c */

/* run.c: also for counts.c, which puts a saved state back. */
int dvsim_grow_histograms(dvsim_vortex *v, int64_t needed);
void dvsim_set_time(dvsim_vortex *v, int64_t now, int64_t counted_from);

#endif
