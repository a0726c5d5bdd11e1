/* packetwise.c: the same slot, packet by packet, for faults, watched packets and packets of the caller. */
#include <stdlib.h>

#include "vortex/switch.h"

static unsigned flags(const dvsim_vortex *v, int c, int64_t a, int64_t u)
{
    return v->faults == NULL ? 0 : v->faults[(c * v->params.height + u) * v->params.angles + a];
}

int dvsim_may_enter(const dvsim_vortex *v, int c, int64_t a, int64_t u)
{
    return (flags(v, c, a, u) & DVSIM_FAULT_NODE) == 0;
}

/* Room for one more of `size` bytes, doubling; without memory the list ends here, and the run fails. */
static void *room(dvsim_vortex *v, void *list, int64_t count, int64_t *space, size_t size)
{
    if (count < *space || v->failed) {
        return list;
    }
    const int64_t more = *space > 0 ? 2 * *space : 1024;
    void *longer = realloc(list, (size_t)more * size);
    v->failed = longer == NULL;
    if (v->failed) {
        return list;
    }
    *space = more;
    return longer;
}

static void note(dvsim_vortex *v, int64_t cell, uint64_t packet, int64_t now, int32_t kind, int64_t by, int c,
                 int64_t a, int64_t u)
{
    if (v->names[cell] >= v->params.watched) {
        return;
    }
    v->events = room(v, v->events, v->event_count, &v->event_room, sizeof *v->events);
    if (v->failed) {
        return;
    }
    uint32_t to_u = (uint32_t)(packet & ((UINT64_C(1) << v->n) - 1));
    v->events[v->event_count++] = (dvsim_event){
        .slot = now,
        .packet = v->names[cell],
        .by = by,
        .kind = kind,
        .cylinder = c,
        .angle = a,
        .height = dvsim_reversed((uint32_t)u, v->n),
        .to_angle = (int64_t)(packet >> v->n & ((UINT64_C(1) << v->layout.angle_bits) - 1)),
        .to_height = dvsim_reversed(to_u, v->n),
    };
}

void dvsim_entered(dvsim_shard *s, int64_t cell, int64_t a, int64_t u, int64_t now, int64_t handle)
{
    dvsim_vortex *v = s->vortex;
    v->names[cell] = v->entered++;
    v->handles[cell] = handle;
    note(v, cell, s->cells[cell], now, DVSIM_EVENT_ENTER, -1, 0, a, u);
}

static void lose(dvsim_shard *s, int64_t lane, int64_t cell, int64_t now, int c, int64_t a, int64_t u)
{
    dvsim_vortex *v = s->vortex;
    uint64_t packet = s->cells[cell];
    int64_t to_u = (int64_t)(packet & ((UINT64_C(1) << v->n) - 1));
    int64_t to_a = (int64_t)(packet >> v->n & ((UINT64_C(1) << v->layout.angle_bits) - 1));
    s->lost_at[to_u * v->columns + s->column[lane] - s->angle[lane] + to_a]++;
    note(v, cell, packet, now, DVSIM_EVENT_LOSE, -1, c, a, u);
    s->cells[cell] = 0;
}

static void deliver(dvsim_shard *s, int64_t lane, int64_t cell, int64_t u, int64_t now)
{
    dvsim_vortex *v = s->vortex;
    uint64_t packet = s->cells[cell];
    int64_t a = s->angle[lane], hops = (int64_t)dvsim_packet_hops(v->layout, packet, (uint64_t)now);
    int64_t out = v->params.exit_rule == DVSIM_EXIT_ANY ? 0 : a;
    s->delivered_at[u * v->columns + s->column[lane] - a + out]++;
    s->hops[hops]++;
    s->latency[dvsim_packet_latency(v->layout, packet, (uint64_t)now)]++;
    note(v, cell, packet, now, DVSIM_EVENT_LEAVE, -1, v->n, a, u);
    if (v->given_to != NULL) {
        v->deliveries = room(v, v->deliveries, v->delivery_count, &v->delivery_room, sizeof *v->deliveries);
        if (!v->failed) {
            v->deliveries[v->delivery_count++] = (dvsim_delivery){
                v->handles[cell], now, out, dvsim_reversed((uint32_t)u, v->n), hops};
        }
    }
    s->cells[cell] = 0;
}

/* The packet stays on its cylinder and goes to height `to`; `by` keeps it from descending, if any. */
static void stay(dvsim_shard *s, int64_t lane, int64_t cell, int64_t now, int c, int64_t u, int64_t to,
                 int deflected, int64_t by)
{
    dvsim_vortex *v = s->vortex;
    int64_t a = s->angle[lane], on = (a + 1) % v->params.angles;
    if ((flags(v, c, a, u) & DVSIM_FAULT_STAY) || !dvsim_may_enter(v, c, on, to)) {
        lose(s, lane, cell, now, c, a, u);
        return;
    }
    note(v, cell, s->cells[cell], now, deflected ? DVSIM_EVENT_DEFLECT : DVSIM_EVENT_CROSS, by, c, on, to);
}

static void go_down(dvsim_shard *s, int64_t lane, int64_t cell, int64_t below, int64_t now, int c, int64_t u,
                    int64_t to)
{
    dvsim_vortex *v = s->vortex;
    const uint64_t packet = s->cells[cell];
    const int64_t a = s->angle[lane], on = (a + 1) % v->params.angles;
    const unsigned fault = flags(v, c, a, u);
    const int right = ((packet ^ (uint64_t)u) >> c & 1) == 0, taken = s->cells[below] != 0;
    s->cylinders[c].present++;
    s->cylinders[c].wanted += right;
    if (right && !(fault & (DVSIM_FAULT_DOWN | DVSIM_FAULT_BLOCK)) && dvsim_may_enter(v, c + 1, on, u) &&
        (!taken || (fault & DVSIM_FAULT_FREE))) {
        if (taken) {
            lose(s, lane, cell, now, c, a, u);
            return;
        }
        s->cells[below] = packet;
        v->names[below] = v->names[cell];
        v->handles[below] = v->handles[cell];
        s->cells[cell] = 0;
        note(v, below, packet, now, DVSIM_EVENT_DESCEND, -1, c + 1, on, u);
        return;
    }
    s->cylinders[c].blocked += right;
    stay(s, lane, cell, now, c, u, to, right, right && taken ? v->names[below] : -1);
}

void dvsim_move_packetwise(dvsim_shard *s, int64_t now)
{
    dvsim_vortex *v = s->vortex;
    const int any = v->params.exit_rule == DVSIM_EXIT_ANY;
    const int64_t ring = v->n * v->params.height * s->lanes;
    for (int64_t u = 0; u < v->params.height; u++) {
        for (int64_t lane = 0; lane < s->lanes; lane++) {
            int64_t cell = ring + u * s->lanes + lane;
            if (s->cells[cell] == 0) {
                continue;
            }
            s->cylinders[v->n].present++;
            uint64_t angle = s->cells[cell] >> v->n & ((UINT64_C(1) << v->layout.angle_bits) - 1);
            if (any || (int64_t)angle == s->angle[lane]) {
                deliver(s, lane, cell, u, now);
            } else {
                stay(s, lane, cell, now, v->n, u, u, 0, -1);
            }
        }
    }
    for (int c = v->n - 1; c >= 0; c--) {
        const int64_t rows = INT64_C(1) << (v->n - c), groups = INT64_C(1) << c;
        const int64_t outer = c * v->params.height * s->lanes, inner = outer + v->params.height * s->lanes;
        for (int64_t row = 0; row < rows; row++) {
            int64_t value = dvsim_frame_value(&v->frame, c, row, now);
            int64_t next = dvsim_frame_value(&v->frame, c, row, now + 1);
            int64_t below = dvsim_frame_row(&v->frame, c + 1, value >> 1, now + 1);
            for (int64_t g = 0; g < groups; g++) {
                for (int64_t lane = 0; lane < s->lanes; lane++) {
                    int64_t cell = outer + (row * groups + g) * s->lanes + lane;
                    int64_t under = inner + ((2 * below + (value & 1)) * groups + g) * s->lanes + lane;
                    if (s->cells[cell] != 0) {
                        go_down(s, lane, cell, under, now, c, value << c | g, next << c | g);
                    }
                }
            }
        }
    }
}
