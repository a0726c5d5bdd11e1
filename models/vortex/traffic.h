/* traffic.h: what arrives at the ports of a switch or of a network.
 *
 * An arrival is a function of (seed, port, slot), never of what happened before: a queue need not keep
 * its packets, results do not depend on threads, and the same seed offers the same packets to every
 * switch. (Uniform traffic that a switch drops when refused is drawn otherwise, see draws.h.)
 */
#ifndef DVSIM_VORTEX_TRAFFIC_H
#define DVSIM_VORTEX_TRAFFIC_H

#include <stdint.h>

typedef struct {
    uint64_t ports, outputs;     /* inputs, and addresses 0 .. outputs - 1; at most 2^32 */
    uint64_t arrival_threshold;  /* an input has an arrival in a slot with probability this / 2^32 */
    const uint32_t *destination; /* permutation traffic: port p sends to (p & kept) | destination[p & index] */
    uint64_t index, kept;
    uint64_t hot_threshold;      /* probability / 2^32 that an arrival goes to a hot spot */
    const uint32_t *hot;         /* [hots] addresses */
    int64_t hots;
    int64_t burst_slots;         /* 0: none; else arrivals come in frames of so many slots, each frame */
    uint64_t burst_threshold;    /* "on" with this probability / 2^32 and to one destination */
    const int64_t *trace_start;  /* [ports + 1] or NULL: arrivals of a port are entries */
    const int64_t *trace_slot;   /*   trace_start[port] .. trace_start[port + 1] - 1 of these two, */
    const uint32_t *trace_to;    /*   slots ascending */
} dvsim_traffic;

/* Whether a packet arrives at a port in a slot, and its address. */
int dvsim_traffic_arrival(const dvsim_traffic *traffic, uint64_t seed, uint64_t port, int64_t slot,
                          uint64_t *to);

/* The next slot after `slot`, up to `last`, in which a packet arrives at the port; -1 for none. */
int64_t dvsim_traffic_next(const dvsim_traffic *traffic, uint64_t seed, uint64_t port, int64_t slot,
                           int64_t last);

/* Whether all numbers are in range. */
int dvsim_traffic_is_good(const dvsim_traffic *traffic);

#endif
