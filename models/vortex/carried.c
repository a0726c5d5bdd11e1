/* carried.c: packets of a network pass through. */
#include "vortex/carried.h"

#include <string.h>

#include "vortex/switch.h"

static int is_carried(const dvsim_vortex *v)
{
    return v != NULL && v->params.injection == DVSIM_INJECT_CARRIED;
}

/* In slot t lane i injects at angle i + t, and packets move from the angle before. */
static int64_t angle_of_lane_0(const dvsim_vortex *v, int64_t slot)
{
    return (slot % v->params.angles + v->params.angles) % v->params.angles;
}

/* With exit `angle`, what leaves is addressed to the angle where its lane stands. */
static void stand(dvsim_shard *s, int64_t first)
{
    const dvsim_vortex *v = s->vortex;
    const int64_t angles = v->params.angles, replications = v->params.replications;
    for (int64_t i = 0; i < angles; i++) {
        const int64_t angle = i + first < angles ? i + first : i + first - angles;
        for (int64_t r = 0; r < replications; r++) {
            s->leaving[i * replications + r] = DVSIM_PRESENT | (uint64_t)angle << v->n;
        }
    }
}

int64_t dvsim_angle_of(const dvsim_vortex *v, int64_t slot, int64_t place)
{
    const int64_t angle = place + angle_of_lane_0(v, slot);
    return angle < v->params.angles ? angle : angle - v->params.angles;
}

void dvsim_hand_out(dvsim_shard *s, int64_t count)
{
    dvsim_vortex *v = s->vortex;
    s->inside -= count;
    if (count > 0) {
        v->take(v->take_context, v->left, count);
    }
}

static void take_out(dvsim_shard *s, uint64_t *run, int64_t found, int64_t u, int64_t from, int64_t lanes,
                     int64_t first)
{
    dvsim_vortex *v = s->vortex;
    const uint32_t replications = (uint32_t)v->params.replications;
    for (int64_t i = 0; i < found; i++) {
        const uint32_t at = (uint32_t)s->matches[i], row = at / (uint32_t)lanes;
        const uint32_t lane = (uint32_t)from + at - row * (uint32_t)lanes, place = lane / replications;
        int64_t angle = place + first;
        if (angle >= v->params.angles) {
            angle -= v->params.angles;
        }
        v->left[i] = (dvsim_left){
            .word = run[at],
            .replication = (int32_t)(lane - place * replications),
            .node = (uint32_t)(angle * v->params.height + u + row),
        };
        run[at] = 0;
    }
    dvsim_hand_out(s, found);
}

void dvsim_carry_out(dvsim_shard *s, int64_t now)
{
    dvsim_vortex *v = s->vortex;
    const int any = v->params.exit_rule == DVSIM_EXIT_ANY;
    const uint64_t angle_mask = ((UINT64_C(1) << v->layout.angle_bits) - 1) << v->n;
    const uint64_t mask = DVSIM_PRESENT | (any ? 0 : angle_mask);
    const int64_t first = angle_of_lane_0(v, now - 1);
    /* as in leave(): whole rows at a time, or pieces of a long one */
    const int64_t width = s->lanes < DVSIM_MATCHES ? s->lanes : DVSIM_MATCHES;
    const int64_t rows = DVSIM_MATCHES / width;
    uint64_t *ring = dvsim_cylinder(s, v->n);
    if (!any) {
        stand(s, first);
    }
    for (int64_t u = 0; u < v->params.height; u += rows) {
        for (int64_t from = 0; from < s->lanes; from += width) {
            const int64_t lanes = s->lanes - from < width ? s->lanes - from : width;
            const int64_t some = v->params.height - u < rows ? v->params.height - u : rows;
            uint64_t *run = ring + u * s->lanes + from;
            const int64_t found = s->kernel->match(run, some * lanes, mask, s->leaving + from, lanes, s->matches,
                                                   &s->cylinders[v->n].present);
            take_out(s, run, found, u, from, lanes, first);
        }
    }
}

int dvsim_vortex_advance(dvsim_vortex *v, dvsim_left_fn *take, void *context)
{
    if (!is_carried(v) || take == NULL) {
        return DVSIM_ESTATE;
    }
    v->take = take;
    v->take_context = context;
    if (!dvsim_sparse_choose(v->shards)) {
        return DVSIM_ENOMEM;
    }
    if (v->shards->sparse) {
        dvsim_sparse_move(v->shards, v->now);
    } else if (v->sliced) {
        dvsim_pools_move(v->shards, v->now);
    } else {
        dvsim_move(v->shards, v->now);
    }
    return DVSIM_OK;
}

/* The lanes of one angle follow each other, and so do the offers of one port. */
static int64_t enter(uint64_t *restrict cells, uint64_t *restrict offers, int64_t count, uint64_t stamp)
{
    int64_t entered = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t offer = offers[i], open = -(uint64_t)((cells[i] == 0) & (offer != 0));
        cells[i] |= ((offer + stamp) | DVSIM_PRESENT) & open;
        offers[i] = offer & ~open;
        entered -= (int64_t)open;
    }
    return entered;
}

/* The same where few offer, into the lists; -1 without memory. */
static int64_t enter_some(dvsim_shard *s, int64_t row, int64_t lane, uint64_t *offers, uint64_t stamp)
{
    const int64_t count = s->vortex->params.replications;
    int64_t entered = 0;
    for (int64_t i = 0; i < count; i++) {
        for (const uint64_t *o = offers + i; i + 4 <= count && (o[0] | o[1] | o[2] | o[3]) == 0; o += 4) {
            i += 4;
        }
        if (i < count && offers[i] != 0 && !dvsim_sparse_is_taken(s, row, lane + i)) {
            if (!dvsim_sparse_put(s, 0, row, lane + i, (offers[i] + stamp) | DVSIM_PRESENT)) {
                return -1;
            }
            offers[i] = 0;
            entered++;
        }
    }
    return entered;
}

/* As dvsim_pools_enter. */
static int enter_rows(dvsim_shard *s, int64_t first, uint64_t *offers, uint64_t stamp, int64_t *entered)
{
    const dvsim_vortex_params *p = &s->vortex->params;
    for (int64_t a = 0, port = 0; a < p->angles; a++) {
        if (!p->injecting[a]) {
            continue;
        }
        const int64_t lane = (a - first + p->angles) % p->angles * p->replications;
        for (int64_t row = 0; row < p->height; row++) {
            uint64_t *some = offers + (port + s->into[row]) * p->replications;
            const int64_t count = s->sparse ? enter_some(s, row, lane, some, stamp)
                                            : enter(s->cells + row * s->lanes + lane, some, p->replications, stamp);
            if (count < 0) {
                return 0;
            }
            entered[port + s->into[row]] = count;
        }
        port += p->height;
    }
    return 1;
}

int dvsim_vortex_enter(dvsim_vortex *v, uint64_t *offers, uint64_t stamp, int64_t *entered)
{
    if (!is_carried(v)) {
        return DVSIM_ESTATE;
    }
    dvsim_shard *s = v->shards;
    const int64_t first = angle_of_lane_0(v, v->now);
    int64_t ports = 0;
    for (int64_t a = 0; a < v->params.angles; a++) {
        ports += v->params.injecting[a] ? v->params.height : 0;
    }
    memset(entered, 0, (size_t)ports * sizeof *entered);
    dvsim_frame_values(&v->frame, 0, v->now + 1, s->into);
    const int whole = v->sliced && !s->sparse ? dvsim_pools_enter(s, first, offers, stamp, entered)
                                              : enter_rows(s, first, offers, stamp, entered);
    for (int64_t port = 0; port < ports; port++) {
        s->inside += entered[port];
    }
    v->now++;
    return whole ? DVSIM_OK : DVSIM_ENOMEM;
}

int dvsim_vortex_skip(dvsim_vortex *v, int64_t slots)
{
    if (!is_carried(v)) {
        return DVSIM_ESTATE;
    }
    if (!dvsim_has_time(v->now, slots)) {
        return DVSIM_EINVAL;
    }
    v->now += slots;
    return DVSIM_OK;
}

int dvsim_vortex_carried(const dvsim_vortex *v, const dvsim_descents **cylinders, int64_t *in_flight)
{
    if (!is_carried(v)) {
        return DVSIM_ESTATE;
    }
    *cylinders = v->shards->cylinders;
    *in_flight = v->shards->inside;
    return DVSIM_OK;
}
