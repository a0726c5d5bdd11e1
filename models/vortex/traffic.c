/* Who sends to whom, and when: patterns, bursts, traces. */
#include "vortex/traffic.h"

#include <stddef.h>

#include "vortex/packet.h"

/* The keys of bursts and hot spots are those of arrivals with a word mixed in. */
static const uint64_t BURST = UINT64_C(0x6275727374), HOT = UINT64_C(0x686f74);

/* The entry of the trace for a port and slot, -1 for none: slots ascend, so halve. */
static int64_t traced(const dvsim_traffic *t, uint64_t port, int64_t slot)
{
    int64_t low = t->trace_start[port], high = t->trace_start[port + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (t->trace_slot[middle] < slot) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < t->trace_start[port + 1] && t->trace_slot[low] == slot ? low : -1;
}

int dvsim_traffic_arrival(const dvsim_traffic *t, uint64_t seed, uint64_t port, int64_t slot, uint64_t *to)
{
    if (t->trace_start != NULL) {
        int64_t entry = traced(t, port, slot);
        *to = entry < 0 ? 0 : t->trace_to[entry];
        return entry >= 0;
    }
    const uint64_t index = (uint64_t)slot * t->ports + port;
    const uint64_t x = dvsim_draw(dvsim_mix(seed), index);
    uint64_t low = x & UINT32_MAX;
    int arrives = (x >> 32) < t->arrival_threshold;
    if (t->burst_slots > 0) {
        uint64_t frame = (uint64_t)(slot / t->burst_slots) * t->ports + port;
        uint64_t z = dvsim_draw(dvsim_mix(seed ^ BURST), frame);
        arrives &= (z >> 32) < t->burst_threshold;
        low = z & UINT32_MAX;
    }
    uint64_t address = (low * t->outputs) >> 32;
    if (t->destination != NULL) {
        address = (port & t->kept) | t->destination[port & t->index];
    }
    if (t->hots > 0) {
        uint64_t y = dvsim_draw(dvsim_mix(seed ^ HOT), index);
        if ((y >> 32) < t->hot_threshold) {
            address = t->hot[((y & UINT32_MAX) * (uint64_t)t->hots) >> 32];
        }
    }
    *to = address;
    return arrives;
}

int64_t dvsim_traffic_next(const dvsim_traffic *t, uint64_t seed, uint64_t port, int64_t slot, int64_t last)
{
    uint64_t to;
    while (++slot <= last) {
        if (dvsim_traffic_arrival(t, seed, port, slot, &to)) {
            return slot;
        }
    }
    return -1;
}

static int good_trace(const dvsim_traffic *t)
{
    if (t->trace_start == NULL) {
        return 1;
    }
    if (t->trace_start[0] < 0 || t->trace_slot == NULL || t->trace_to == NULL) {
        return 0;
    }
    for (uint64_t port = 0; port < t->ports; port++) {
        if (t->trace_start[port + 1] < t->trace_start[port]) {
            return 0;
        }
        for (int64_t i = t->trace_start[port]; i < t->trace_start[port + 1]; i++) {
            if (t->trace_slot[i] < 0 || t->trace_to[i] >= t->outputs ||
                (i > t->trace_start[port] && t->trace_slot[i] <= t->trace_slot[i - 1])) {
                return 0;
            }
        }
    }
    return 1;
}

int dvsim_traffic_is_good(const dvsim_traffic *t)
{
    const uint64_t always = UINT64_C(1) << 32;
    if (t->arrival_threshold > always || t->hot_threshold > always || t->burst_threshold > always ||
        t->hots < 0 || t->hots > (int64_t)always || (t->hots > 0 && t->hot == NULL) || t->burst_slots < 0) {
        return 0;
    }
    for (int64_t i = 0; i < t->hots; i++) {
        if (t->hot[i] >= t->outputs) {
            return 0;
        }
    }
    for (uint64_t i = 0; t->destination != NULL && i < t->ports && i <= t->index; i++) {
        if (t->destination[i] >= t->outputs) {
            return 0;
        }
    }
    return good_trace(t);
}
