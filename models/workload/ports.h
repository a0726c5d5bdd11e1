/* ports.h: a fabric at flow fidelity: ports of a rate, first come first served, and a latency between them.
 *
 * A message leaves its port when those before it have left, its head travels for the latency of the way, and
 * it enters the port of its receiver when those whose heads came before have entered. Both ports are in use
 * for as long as its bytes take there, at the same time where nothing is in the way. Inside the fabric nothing is:
 * what that leaves out is contention between ports.
 */
#ifndef DVSIM_WORKLOAD_PORTS_H
#define DVSIM_WORKLOAD_PORTS_H

#include "workload/fabric.h"

enum { DVSIM_PORT_LEVELS = 4 };

typedef struct {
    int64_t ports;
    int64_t byte_fs;    /* what a byte takes at a port */
    int64_t unit_bytes; /* sizes are rounded up to that, and at least that; 1 or more */
    int64_t levels;     /* of the ways, 1 to DVSIM_PORT_LEVELS */
    int64_t reach[DVSIM_PORT_LEVELS];      /* ports in a group: two ports are of the lowest level whose group has */
    int64_t latency_ps[DVSIM_PORT_LEVELS]; /* both; the last reaches all. And how long the head takes there */
    const int64_t *own_fs; /* [ports] what a byte takes at each, instead of byte_fs; NULL: the same at all */
} dvsim_ports;

/* Fill a table of functions. DVSIM_EINVAL for numbers out of range, DVSIM_ENOMEM. */
int dvsim_ports_create(const dvsim_ports *shape, dvsim_fabric *fabric);

void dvsim_ports_free(dvsim_fabric *fabric);

#endif
