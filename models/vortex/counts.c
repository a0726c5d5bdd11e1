/* counts.c: what the shards counted, together and in natural order. */
#include <string.h>

#include "vortex/switch.h"

void dvsim_vortex_reset_counts(dvsim_vortex *v)
{
    if (v == NULL) {
        return;
    }
    for (int64_t i = 0; i < v->threads; i++) {
        dvsim_shard *s = &v->shards[i];
        dvsim_add_tally(s);
        for (int k = 0; k < 4 && v->params.injection != DVSIM_INJECT_CARRIED; k++) {
            memset(dvsim_counters(s, k), 0, (size_t)(dvsim_places(k) * dvsim_per_port(v)) * sizeof(int64_t));
        }
        memset(s->cylinders, 0, (size_t)dvsim_cylinders(v) * sizeof *s->cylinders);
        if (v->histogram > 0) {
            memset(s->hops, 0, (size_t)v->histogram * sizeof(int64_t));
            memset(s->latency, 0, (size_t)v->histogram * sizeof(int64_t));
        }
    }
    v->counted_from = v->now;
}

int64_t dvsim_in_flight(const dvsim_shard *s)
{
    const dvsim_vortex *v = s->vortex;
    int64_t packets = 0;
    for (int64_t i = 0; v->sliced && i < s->strips; i++) {
        for (int c = 0; c <= v->n; c++) {
            packets += s->slices[i].population[c];
        }
    }
    for (int64_t k = 0; !v->sliced && k < dvsim_cylinders(v) * v->params.height * s->lanes; k++) {
        packets += s->cells[k] != 0;
    }
    return packets;
}

/* Add a counter to [replication][angle][height]; returns the sum of all. */
static int64_t add_ports(const dvsim_vortex *v, const int64_t *from, int64_t several, int64_t *to)
{
    const int64_t height = v->params.height, angles = v->params.angles;
    int64_t total = 0;
    for (int64_t u = 0; u < height; u++) {
        int64_t h = dvsim_reversed((uint32_t)u, v->n);
        for (int64_t place = 0; place < several * v->columns; place++) {
            int64_t count = from[u * several * v->columns + place];
            int64_t replication = place % v->params.replications;
            int64_t angle = place / v->params.replications % angles;
            to[(replication * angles + angle) * height + h] += count;
            total += count;
        }
    }
    return total;
}

int dvsim_vortex_counts_now(dvsim_vortex *v, dvsim_vortex_counts *counts)
{
    if (v == NULL || counts == NULL || v->params.injection == DVSIM_INJECT_CARRIED) {
        return DVSIM_EINVAL;
    }
    const int64_t cylinders = dvsim_cylinders(v);
    int64_t *wanted = v->sum_cylinders, *blocked = wanted + cylinders, *present = blocked + cylinders;
    int64_t totals[4] = {0};
    *counts = (dvsim_vortex_counts){.slots = v->now - v->counted_from};
    for (int k = 0; k < 4; k++) {
        memset(v->sums[k], 0, (size_t)dvsim_per_port(v) * sizeof(int64_t));
    }
    memset(v->sum_cylinders, 0, (size_t)(3 * cylinders) * sizeof(int64_t));
    if (v->histogram > 0) {
        memset(v->sum_hops, 0, (size_t)v->histogram * sizeof(int64_t));
        memset(v->sum_latency, 0, (size_t)v->histogram * sizeof(int64_t));
    }
    for (int64_t i = 0; i < v->threads; i++) {
        dvsim_shard *s = &v->shards[i];
        dvsim_close(s);
        for (int k = 0; k < 4; k++) {
            totals[k] += add_ports(v, dvsim_counters(s, k), dvsim_places(k), v->sums[k]);
        }
        for (int64_t c = 0; c < cylinders; c++) {
            wanted[c] += s->cylinders[c].wanted;
            blocked[c] += s->cylinders[c].blocked;
            present[c] += s->cylinders[c].present;
        }
        for (int64_t k = 0; k < v->histogram; k++) {
            v->sum_hops[k] += s->hops[k];
            v->sum_latency[k] += s->latency[k];
        }
        counts->in_flight += dvsim_in_flight(s);
    }
    for (int64_t k = 0; v->params.injection == DVSIM_INJECT_QUEUE && k < dvsim_per_port(v); k++) {
        counts->waiting += v->waiting[k];
    }
    counts->offered = totals[0];
    counts->accepted = totals[1];
    counts->delivered = totals[2];
    counts->lost = totals[3];
    counts->offered_at = v->sums[0];
    counts->accepted_at = v->sums[1];
    counts->delivered_at = v->sums[2];
    counts->lost_at = v->sums[3];
    counts->hops = v->sum_hops;
    counts->latency = v->sum_latency;
    counts->hops_length = dvsim_used(v->sum_hops, v->histogram);
    counts->latency_length = dvsim_used(v->sum_latency, v->histogram);
    counts->wanted = wanted;
    counts->blocked = blocked;
    counts->present = present;
    return DVSIM_OK;
}

int dvsim_vortex_totals_now(const dvsim_vortex *v, dvsim_vortex_totals *totals)
{
    if (v == NULL || totals == NULL || v->params.injection == DVSIM_INJECT_CARRIED) {
        return DVSIM_EINVAL;
    }
    *totals = (dvsim_vortex_totals){.slots = v->now - v->counted_from};
    for (int64_t i = 0; i < v->threads; i++) {
        dvsim_add_tally(&v->shards[i]);
        for (int64_t k = 0; k < dvsim_per_port(v); k++) {
            totals->delivered += v->shards[i].delivered_at[k];
        }
    }
    for (int64_t k = 0; v->params.injection == DVSIM_INJECT_QUEUE && k < dvsim_per_port(v); k++) {
        totals->waiting += v->waiting[k];
    }
    return DVSIM_OK;
}
