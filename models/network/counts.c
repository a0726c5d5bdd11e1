/* counts.c: what the parts counted, together. */
#include <string.h>

#include "network/internal.h"

void dvsim_network_reset_counts(dvsim_network *net)
{
    if (net == NULL || net->pending > 0) {
        return;
    }
    for (int64_t i = 0; i < net->part_count; i++) {
        dvsim_part *p = &net->parts[i];
        const size_t hosts = (size_t)(p->planes * net->params.ports) * sizeof(int64_t);
        memset(p->offered, 0, hosts);
        memset(p->accepted, 0, hosts);
        memset(p->delivered_at, 0, hosts);
        if (p->hops_length > 0) {
            memset(p->hops, 0, (size_t)p->hops_length * sizeof *p->hops);
        }
        if (p->latency_length > 0) {
            memset(p->latency, 0, (size_t)p->latency_length * sizeof *p->latency);
        }
        p->delivered = 0;
        for (int64_t s = 0; s < p->first_stage[net->params.levels + 1]; s++) {
            memset(p->stages[s].held_sum, 0, sizeof p->stages[s].held_sum);
            memset(p->stages[s].peak, 0, sizeof p->stages[s].peak);
            if (p->stages[s].vortex != NULL) {
                dvsim_vortex_reset_counts(p->stages[s].vortex);
            }
        }
    }
    net->counted_from = net->now;
}

static int64_t add(int64_t *to, const int64_t *from, int64_t length)
{
    int64_t total = 0;
    for (int64_t k = 0; k < length; k++) {
        to[k] += from[k];
        total += from[k];
    }
    return total;
}

/* From the order of hosts to [plane][port]. */
static int64_t add_hosts(const dvsim_part *p, int64_t *to, const int64_t *from)
{
    const dvsim_network *net = p->network;
    const int64_t boxes = net->levels[0].switches;
    int64_t total = 0;
    for (int64_t i = 0; i < p->first_stage[1]; i++) {
        const dvsim_stage *leaves = &p->stages[i];
        for (int64_t q = 0; q < net->down; q++) {
            for (int64_t number = leaves->first; number < leaves->first + leaves->replications; number++, from++) {
                to[number / boxes * net->params.ports + number % boxes * net->down + q] = *from;
                total += *from;
            }
        }
    }
    return total;
}

static int64_t used(const int64_t *histogram, int64_t length)
{
    while (length > 0 && histogram[length - 1] == 0) {
        length--;
    }
    return length;
}

static int make_room(dvsim_network *net)
{
    int64_t room = net->sum_room;
    for (int64_t i = 0; i < net->part_count; i++) {
        const dvsim_part *p = &net->parts[i];
        room = p->hops_length > room ? p->hops_length : room;
        room = p->latency_length > room ? p->latency_length : room;
    }
    if (room == net->sum_room) {
        return 1;
    }
    int64_t *hops = dvsim_network_longer(net->sum_hops, net->sum_room, room, sizeof *hops);
    if (hops != NULL) {
        net->sum_hops = hops;
    }
    int64_t *latency = dvsim_network_longer(net->sum_latency, net->sum_room, room, sizeof *latency);
    if (latency != NULL) {
        net->sum_latency = latency;
    }
    if (hops == NULL || latency == NULL) {
        return 0;
    }
    net->sum_room = room;
    return 1;
}

static int64_t waiting(const dvsim_network *net, const dvsim_part *p)
{
    if (net->params.injection == DVSIM_INJECT_GIVEN) {
        return dvsim_network_words_waiting(p);
    }
    int64_t total = 0;
    for (int64_t k = 0; p->waiting != NULL && k < p->planes * net->params.ports; k++) {
        total += p->waiting[k];
    }
    return total;
}

/* Packets that wait for a switch or a port, or are on the way there. */
static int64_t on_links(const dvsim_stage *stage, int64_t turns)
{
    int64_t total = 0;
    for (int way = 0; way < 2; way++) {
        total += stage->held[way];
        for (int64_t k = 0; stage->wires[way] != NULL && k < turns; k++) {
            total += stage->wires[way][k].put - stage->wires[way][k].taken;
        }
    }
    return total;
}

static void add_level(dvsim_network *net, const dvsim_part *p, int64_t l, dvsim_network_counts *counts)
{
    const int64_t cylinders = net->n + 1, all = net->params.levels * cylinders;
    for (int64_t i = p->first_stage[l]; i < p->first_stage[l + 1]; i++) {
        const dvsim_descents *found;
        int64_t inside;
        dvsim_vortex_carried(p->stages[i].vortex, &found, &inside);
        counts->in_flight += inside;
        for (int64_t c = 0; c < cylinders; c++) {
            int64_t *to = net->sum_cylinders + l * cylinders + c;
            to[0] += found[c].wanted;
            to[all] += found[c].blocked;
            to[2 * all] += found[c].present;
        }
    }
    int64_t *peak = net->sum_queues + 2 * l, *sum = peak + 2 * net->params.levels;
    for (int way = 0; way < 2; way++) {
        if (way == DVSIM_UP && l == net->top) {
            continue;
        }
        const int64_t there = way == DVSIM_UP ? l + 1 : l == 0 ? net->params.levels : l - 1;
        for (int64_t i = p->first_stage[there]; i < p->first_stage[there + 1]; i++) {
            const dvsim_stage *stage = &p->stages[i];
            peak[way] = stage->peak[way] > peak[way] ? stage->peak[way] : peak[way];
            sum[way] += stage->held_sum[way];
        }
    }
}

int dvsim_network_counts_now(dvsim_network *net, dvsim_network_counts *counts)
{
    if (net == NULL || counts == NULL) {
        return DVSIM_EINVAL;
    }
    if (net->pending > 0) {
        return DVSIM_ESTATE;
    }
    if (!make_room(net)) {
        return DVSIM_ENOMEM;
    }
    const int64_t ports = net->params.ports, levels = net->params.levels, all = levels * (net->n + 1);
    *counts = (dvsim_network_counts){.slots = net->now - net->counted_from};
    for (int k = 0; k < 3; k++) {
        memset(net->sums[k], 0, (size_t)(net->params.planes * ports) * sizeof(int64_t));
    }
    if (net->sum_room > 0) {
        memset(net->sum_hops, 0, (size_t)net->sum_room * sizeof(int64_t));
        memset(net->sum_latency, 0, (size_t)net->sum_room * sizeof(int64_t));
    }
    memset(net->sum_cylinders, 0, (size_t)(3 * all) * sizeof(int64_t));
    memset(net->sum_queues, 0, (size_t)(4 * levels) * sizeof(int64_t));
    for (int64_t i = 0; i < net->part_count; i++) {
        const dvsim_part *p = &net->parts[i];
        const int64_t first = p->first * ports, hosts = p->planes * ports;
        counts->offered += add_hosts(p, net->sums[0] + first, p->offered);
        counts->accepted += add_hosts(p, net->sums[1] + first, p->accepted);
        counts->delivered += add(net->sums[2] + first, p->delivered_at, hosts);
        add(net->sum_hops, p->hops, p->hops_length);
        add(net->sum_latency, p->latency, p->latency_length);
        for (int64_t l = 0; l < levels; l++) {
            add_level(net, p, l, counts);
        }
        for (int64_t s = 0; s < p->first_stage[levels + 1]; s++) {
            counts->in_flight += on_links(&p->stages[s], net->turns);
        }
        counts->waiting += waiting(net, p);
    }
    counts->offered_at = net->sums[0];
    counts->accepted_at = net->sums[1];
    counts->delivered_at = net->sums[2];
    counts->hops = net->sum_hops;
    counts->latency = net->sum_latency;
    counts->hops_length = used(net->sum_hops, net->sum_room);
    counts->latency_length = used(net->sum_latency, net->sum_room);
    counts->wanted = net->sum_cylinders;
    counts->blocked = net->sum_cylinders + all;
    counts->present = net->sum_cylinders + 2 * all;
    counts->queue_peak = net->sum_queues;
    counts->queue_sum = net->sum_queues + 2 * levels;
    return DVSIM_OK;
}

int dvsim_network_totals_now(const dvsim_network *net, dvsim_network_totals *totals)
{
    if (net == NULL || totals == NULL) {
        return DVSIM_EINVAL;
    }
    if (net->pending > 0) {
        return DVSIM_ESTATE;
    }
    *totals = (dvsim_network_totals){.slots = net->now - net->counted_from};
    for (int64_t i = 0; i < net->part_count; i++) {
        totals->delivered += net->parts[i].delivered;
        totals->waiting += waiting(net, &net->parts[i]);
    }
    return DVSIM_OK;
}
