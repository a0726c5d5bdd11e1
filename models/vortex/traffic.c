#include "vortex/switch.h"

/* The keys of bursts and hot spots are those of arrivals with a word mixed in. */
static const uint64_t BURST = UINT64_C(0x6275727374), HOT = UINT64_C(0x686f74);

/* The entry of the trace for a port and slot, -1 for none: slots ascend, so halve. */
static int64_t traced(const dvsim_vortex_params *p, int64_t port, int64_t slot)
{
    int64_t low = p->trace_start[port], high = p->trace_start[port + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (p->trace_slot[middle] < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->trace_start[port + 1] && p->trace_slot[low] == slot ? low : -1;
}

int dvsim_arrival(const dvsim_vortex *v, uint64_t seed, int64_t a, int64_t u, int64_t slot, uint64_t *to)
{
    const dvsim_vortex_params *p = &v->params;
    const uint64_t port = (uint64_t)(a * p->height + u), ports = (uint64_t)v->ports;
    if (p->trace_start != NULL) {
        int64_t entry = traced(p, (int64_t)port, slot);
        *to = entry < 0 ? 0 : p->trace_to[entry];
        return entry >= 0;
    }
    const uint64_t index = (uint64_t)slot * ports + port;
    const uint64_t x = dvsim_draw(dvsim_mix(seed), index);
    uint64_t low = x & UINT32_MAX;
    int arrives = (x >> 32) < p->arrival_threshold;
    if (p->burst_slots > 0) {
        uint64_t frame = (uint64_t)(slot / p->burst_slots) * ports + port;
        uint64_t z = dvsim_draw(dvsim_mix(seed ^ BURST), frame);
        arrives &= (z >> 32) < p->burst_threshold;
        low = z & UINT32_MAX;
    }
    const uint64_t outputs = p->exit_rule == DVSIM_EXIT_ANGLE ? ports : (uint64_t)p->height;
    uint64_t address = (low * outputs) >> 32; /* H is a power of two: angle * H + u as bits */
    if (p->destination != NULL)
        address = (p->exit_rule == DVSIM_EXIT_ANGLE ? (uint64_t)a << v->n : 0) | p->destination[u];
    if (p->hots > 0) {
        uint64_t y = dvsim_draw(dvsim_mix(seed ^ HOT), index);
        if ((y >> 32) < p->hot_threshold)
            address = p->hot[((y & UINT32_MAX) * (uint64_t)p->hots) >> 32];
    }
    *to = address;
    return arrives;
}
