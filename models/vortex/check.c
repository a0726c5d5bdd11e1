/* check.c: which parameters make a switch, and how much memory it takes. */
#include "vortex/switch.h"

enum { MOST_HEIGHT_BITS = 20, MOST_ANGLES = 4096, MOST_COLUMNS = 65536 };

int dvsim_bits(int64_t height)
{
    int n = 0;
    while ((INT64_C(1) << n) < height)
        n++;
    return n;
}

static int good_shape(const dvsim_vortex_params *p)
{
    if (p->height < 2 || p->height > INT64_C(1) << MOST_HEIGHT_BITS || (p->height & (p->height - 1)) != 0 ||
        p->angles < 1 || p->angles > MOST_ANGLES || p->replications < 1 ||
        p->replications > MOST_COLUMNS / p->angles || p->injecting == NULL)
        return 0;
    int inputs = 0;
    for (int64_t a = 0; a < p->angles; a++) {
        if (p->injecting[a] > 1)
            return 0;
        inputs += p->injecting[a];
    }
    return inputs > 0 && p->crossing >= 0 && p->crossing <= DVSIM_CROSS_RANDOM && p->exit_rule >= 0 &&
           p->exit_rule <= DVSIM_EXIT_ANY && p->injection >= 0 && p->injection <= DVSIM_INJECT_GIVEN;
}

/* Outputs: with exit `any` the angle of an address is 0. */
int dvsim_is_address(const dvsim_vortex_params *p, int64_t to)
{
    return to >= 0 && to < (p->exit_rule == DVSIM_EXIT_ANY ? 1 : p->angles) * p->height;
}

static int good_trace(const dvsim_vortex_params *p)
{
    if (p->trace_start == NULL)
        return 1;
    if (p->trace_start[0] != 0 || p->trace_slot == NULL || p->trace_to == NULL)
        return 0;
    for (int64_t port = 0; port < p->angles * p->height; port++) {
        if (p->trace_start[port + 1] < p->trace_start[port])
            return 0;
        for (int64_t i = p->trace_start[port]; i < p->trace_start[port + 1]; i++)
            if (p->trace_slot[i] < 0 || !dvsim_is_address(p, p->trace_to[i]) ||
                (i > p->trace_start[port] && p->trace_slot[i] <= p->trace_slot[i - 1]))
                return 0;
    }
    return 1;
}

static int good_traffic(const dvsim_vortex_params *p)
{
    const uint64_t always = UINT64_C(1) << 32;
    if (p->arrival_threshold > always || p->hot_threshold > always || p->burst_threshold > always ||
        p->hots < 0 || (p->hots > 0 && p->hot == NULL) || p->burst_slots < 0)
        return 0;
    for (int64_t i = 0; i < p->hots; i++)
        if (!dvsim_is_address(p, p->hot[i]))
            return 0;
    for (int64_t u = 0; p->destination != NULL && u < p->height; u++)
        if (p->destination[u] >= p->height)
            return 0;
    return good_trace(p);
}

static int good_faults(const dvsim_vortex_params *p)
{
    if (p->fault_count < 0 || (p->fault_count > 0 && p->faults == NULL) || p->watched < 0)
        return 0;
    for (int64_t i = 0; i < p->fault_count; i++) {
        const dvsim_fault *f = &p->faults[i];
        if (f->kind < DVSIM_FAULT_NODE || f->kind > DVSIM_FAULT_FREE || (f->kind & (f->kind - 1)) != 0 ||
            f->cylinder < 0 || f->cylinder > dvsim_bits(p->height) || f->angle < 0 || f->angle >= p->angles ||
            f->height < 0 || f->height >= p->height)
            return 0;
    }
    return 1;
}

int dvsim_is_careful(const dvsim_vortex_params *p)
{
    return p->fault_count > 0 || p->watched > 0 || p->injection == DVSIM_INJECT_GIVEN;
}

int dvsim_is_good(const dvsim_vortex_params *p, int64_t threads)
{
    return p != NULL && threads >= 1 && threads <= DVSIM_MOST_THREADS && good_shape(p) && good_traffic(p) &&
           good_faults(p) && (!dvsim_is_careful(p) || p->replications == 1);
}

int64_t dvsim_vortex_bytes(const dvsim_vortex_params *p, int64_t threads)
{
    if (!dvsim_is_good(p, threads))
        return -1;
    const int64_t ports = p->height * p->angles * p->replications, cylinders = dvsim_bits(p->height) + 1;
    const int64_t parts = dvsim_is_careful(p) ? 1 : threads;
    int64_t bytes = ports * 8 * cylinders + ports * 8 * (6 * parts + 4); /* nodes, counts per port */
    if (p->injection != DVSIM_INJECT_DROP)
        bytes += ports * 16; /* queues */
    if (dvsim_is_careful(p))
        bytes += ports * (17 * cylinders + 48); /* names, handles, faults; what the caller gives */
    if (p->crossing == DVSIM_CROSS_RANDOM)
        bytes += dvsim_frame_entries(dvsim_bits(p->height)) * (int64_t)sizeof(dvsim_cycle);
    if (p->trace_start != NULL)
        bytes += (p->height * p->angles + 1) * 8 + p->trace_start[p->height * p->angles] * 12;
    return bytes + p->height * 4 + p->hots * 4 + parts * (int64_t)sizeof(dvsim_shard);
}
