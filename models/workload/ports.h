/* ports.h: a Data Vortex at flow fidelity: cards, ports of a rate, first come first served, and ways between them.
 *
 *     host --PIO or DMA--> card --port --way--> port--> card --FIFO or DMA--> host
 *
 * Both ends are those of cycle.h, and cost the same (card_ends.h). Between them a message leaves its port when those
 * before it have left, its head travels over the way, and it enters the port of its receiver when those whose heads
 * came before have entered. Words leave in slots, one for each plane. Inside the fabric nothing is in the way: what
 * that leaves out is contention between ports.
 *
 * A way has crossings that its two ports tell, and in trees others that random links tell. The first and the last word
 * of a message come as the shortest and the longest way of its words let expect.
 */
#ifndef DVSIM_WORKLOAD_PORTS_H
#define DVSIM_WORKLOAD_PORTS_H

#include "host/pcie.h"
#include "workload/fabric.h"

enum { DVSIM_PORT_LEVELS = 4, DVSIM_PORT_DRAWS = 62 };

typedef struct {
    int64_t reach;  /* ports in a group: two ports are of the lowest level whose group has both; the last has all */
    int64_t below;  /* ports below each down port of its switches: groups by which heights are counted; */
    int64_t bits;   /* so many bits of a height are given by the two ports, and crossings (brc, vortex.h) with them */
    int64_t way_ps; /* of a word without these crossings, in the mean of all random links; both links at the ends, and */
                    /* the slot in which it comes out */
    int64_t draws;  /* crossings that are there or not, by random links */
} dvsim_port_level;

typedef struct {
    int64_t ports, planes, slot_ps; /* 1 to 2^24, 1 to 256, at least 1 */
    int64_t word_fs;                /* what a word takes at a port; 0: a slot for as many words as there are planes */
    int64_t levels;                 /* of the ways, 1 to DVSIM_PORT_LEVELS */
    dvsim_port_level level[DVSIM_PORT_LEVELS];
    int64_t piece_words; /* at least 1 */
    int lands_in_sram;   /* as in cycle.h */
    const dvsim_pcie *pcie; /* [ports] of each card; no time is below 0 or above 1 s, a look DVSIM_LATEST */
    int64_t cut_count;      /* cables that are dead; words take the planes that both ports reach, at least one */
    const dvsim_cable *cuts;
} dvsim_ports;

/* Fill a table of functions; what `shape` points to is copied. DVSIM_EINVAL for numbers out of range, DVSIM_ENOMEM. */
int dvsim_ports_create(const dvsim_ports *shape, dvsim_fabric *fabric);

void dvsim_ports_free(dvsim_fabric *fabric);

#endif
