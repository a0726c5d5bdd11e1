/* What enters the outermost cylinder: arrivals, queues, refusals. */
#include <string.h>

#include "vortex/switch.h"

static inline uint64_t packet_to(const dvsim_vortex *v, uint64_t to, int64_t arrived, int64_t now)
{
    return dvsim_packet(v->layout, (uint64_t)arrived, (uint64_t)now) | to;
}

void dvsim_add_tally(dvsim_shard *s)
{
    if (s->tallied > 0) {
        s->tallied = 0;
        dvsim_slices_tallied(s);
    }
}

void dvsim_close(dvsim_shard *s)
{
    const dvsim_vortex *v = s->vortex;
    dvsim_add_tally(s);
    if (v->sliced && v->histogram > 0) { /* no packet has waited: only the bits that count hops are fewer */
        const int64_t most = INT64_C(1) << v->layout.injected_bits;
        memset(s->hops, 0, (size_t)v->histogram * sizeof *s->hops);
        for (int64_t k = 0; k < v->histogram; k++) {
            s->hops[k & (most - 1)] += s->latency[k];
        }
    }
}

static int64_t whole_words(const dvsim_vortex_params *p, int64_t lanes)
{
    return (p->height * lanes + 63) / 64 * 64;
}

int64_t dvsim_drawn_bytes(const dvsim_vortex_params *p, int64_t lanes)
{
    const int64_t slices = 1 + dvsim_bits(p->height) + dvsim_phase_bits(p);
    return dvsim_draws_bytes(p, lanes, lanes) + slices * dvsim_slices_stride((p->height * lanes + 7) / 8) +
           8 * whole_words(p, lanes);
}

int dvsim_create_drawn(dvsim_shard *s)
{
    const dvsim_vortex_params *p = &s->vortex->params;
    const int64_t nodes = whole_words(p, s->lanes);
    if (!dvsim_draws_create(p, s->first, s->lanes, s->lanes, &s->draws)) {
        return 0;
    }
    s->arrivals = dvsim_slices_memory((1 + s->draws.height_bits + s->draws.phase_bits) * s->draws.stride);
    s->arrives = (uint32_t *)(void *)dvsim_slices_memory(4 * nodes);
    s->addresses = (uint32_t *)(void *)dvsim_slices_memory(4 * nodes);
    return s->arrivals && s->arrives && s->addresses;
}

/* Drawn arrivals are what load-latency curves are made of: no state, no branch on data. s->into holds the height of
 * each row. */
static void enter_drawn(dvsim_shard *s, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    const dvsim_draws *d = &s->draws;
    const int64_t first = s->first + now % v->params.angles * v->params.replications;
    const uint64_t outputs = d->angles << d->height_bits;
    s->kernel->draw(d, now, s->arrivals);
    for (int64_t x = 0; x < v->params.height * s->lanes; x += 64) {
        s->kernel->read(s->arrivals + x / 8, d->stride, 1, s->arrives + x);
        s->kernel->read(s->arrivals + d->stride + x / 8, d->stride, d->height_bits + d->phase_bits, s->addresses + x);
    }
    const dvsim_entrance entrance = {
        .rows = v->params.height,
        .lanes = s->lanes,
        .cells = s->cells,
        .heights = s->into,
        .arrives = s->arrives,
        .address = s->addresses,
        .allowed = s->allowed,
        .ahead = s->ahead,
        .outputs = outputs,
        .around = v->params.exit_rule == DVSIM_EXIT_ANGLE ? outputs : 0,
        .packet = dvsim_packet(v->layout, (uint64_t)now, (uint64_t)now),
        .offered = s->offered_at + first,
        .accepted = s->accepted_at + first,
        .counters_apart = 2 * v->columns,
    };
    s->kernel->enter(&entrance);
}

/* Whether a packet wants to enter at a port, its address, and the slot in which it arrived there. */
static int candidate(dvsim_shard *s, int64_t lane, int64_t u, int64_t now, uint64_t *to, int64_t *arrived)
{
    dvsim_vortex *v = s->vortex;
    int64_t a = s->angle[lane], port = u * v->columns + s->column[lane];
    int64_t *offered = &s->offered_at[dvsim_counter(s, lane, u)];
    uint64_t seed = s->seeds[lane];
    *arrived = now;
    if (!v->params.injecting[a]) {
        return 0;
    }
    switch (v->params.injection) {
    case DVSIM_INJECT_GIVEN:
        *to = (uint64_t)v->given_to[u * v->params.angles + a];
        *offered += v->given_to[u * v->params.angles + a] >= 0;
        return v->given_to[u * v->params.angles + a] >= 0;
    case DVSIM_INJECT_SATURATE: /* its address was drawn when it came to the head */
        ++*offered;
        (void)dvsim_arrival(v, seed, a, u, v->head[port], to);
        return 1;
    case DVSIM_INJECT_QUEUE: /* only the slot of the first packet is kept: arrivals can be found again */
        if (dvsim_arrival(v, seed, a, u, now, to)) {
            ++*offered;
            if (v->waiting[port]++ == 0) {
                v->head[port] = now;
            }
        }
        if (v->waiting[port] == 0) {
            return 0;
        }
        *arrived = v->head[port];
        return dvsim_arrival(v, seed, a, u, v->head[port], to);
    default: {
        const int arrives = dvsim_is_drawn(&v->params)
                                ? dvsim_draws_arrival(&v->params, seed, a, u, now, to)
                                : dvsim_arrival(v, seed, a, u, now, to);
        *offered += arrives;
        return arrives;
    }
    }
}

static void general(dvsim_shard *s, int64_t now, int64_t u, uint64_t *cells)
{
    dvsim_vortex *v = s->vortex;
    for (int64_t lane = 0; lane < s->lanes; lane++) {
        int64_t a = s->angle[lane], port = u * v->columns + s->column[lane], arrived;
        int64_t given = u * v->params.angles + a;
        uint64_t to;
        if (!candidate(s, lane, u, now, &to, &arrived)) {
            continue;
        }
        if (cells[lane] != 0 || (v->faults != NULL && !dvsim_may_enter(v, 0, a, u))) {
            if (v->given_to != NULL) {
                v->refused[v->refused_count++] = v->given_handle[given];
            }
            continue;
        }
        cells[lane] = packet_to(v, to, arrived, now);
        s->accepted_at[dvsim_counter(s, lane, u)]++;
        if (v->packetwise) {
            dvsim_entered(s, &cells[lane] - s->cells, a, u, now,
                          v->given_to != NULL ? v->given_handle[given] : 0);
        }
        if (v->params.injection == DVSIM_INJECT_SATURATE) {
            v->head[port] = now + 1;
        } else if (v->params.injection == DVSIM_INJECT_QUEUE) {
            v->head[port] = --v->waiting[port] > 0
                                ? dvsim_traffic_next(&v->traffic, s->seeds[lane],
                                                     (uint64_t)(a * v->params.height + u), arrived, now)
                                : 0;
        }
    }
}

void dvsim_inject(dvsim_shard *s, int64_t now)
{
    dvsim_vortex *v = s->vortex;
    const dvsim_vortex_params *p = &v->params;
    dvsim_frame_values(&v->frame, 0, now + 1, s->into);
    if (dvsim_enters_drawn(p)) {
        enter_drawn(s, now);
    } else {
        for (int64_t row = 0; row < p->height; row++) {
            general(s, now, s->into[row], s->cells + row * s->lanes);
    }
    }
    if (v->given_to == NULL) {
        return;
    }
    for (int64_t i = 0; i < v->given_count; i++) {
        v->given_to[v->given_ports[i]] = -1;
    }
    v->given_count = 0;
}
