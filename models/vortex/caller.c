/* caller.c: packets that the caller puts in, and what it may look at. */
#include "vortex/switch.h"

static int is_node(const dvsim_vortex *v, int64_t c, int64_t angle, int64_t height)
{
    return c >= 0 && c <= v->n && angle >= 0 && angle < v->params.angles && height >= 0 &&
           height < v->params.height;
}

int dvsim_vortex_give(dvsim_vortex *v, int64_t angle, int64_t height, int64_t to_angle, int64_t to_height,
                      int64_t handle)
{
    if (v == NULL || !is_node(v, 0, angle, height) || !is_node(v, 0, to_angle, to_height) ||
        !dvsim_is_address(&v->params, to_angle * v->params.height + to_height) || !v->params.injecting[angle]) {
        return DVSIM_EINVAL;
    }
    int64_t port = dvsim_reversed((uint32_t)height, v->n) * v->params.angles + angle;
    if (v->given_to == NULL || v->given_to[port] >= 0) {
        return DVSIM_ESTATE;
    }
    v->given_to[port] = to_angle << v->n | dvsim_reversed((uint32_t)to_height, v->n);
    v->given_handle[port] = handle;
    v->given_ports[v->given_count++] = port;
    return DVSIM_OK;
}

int64_t dvsim_vortex_deliveries(const dvsim_vortex *v, const dvsim_delivery **deliveries)
{
    *deliveries = v->deliveries;
    return v->delivery_count;
}

int64_t dvsim_vortex_refused(const dvsim_vortex *v, const int64_t **handles)
{
    *handles = v->refused;
    return v->refused_count;
}

int64_t dvsim_vortex_events(const dvsim_vortex *v, const dvsim_event **events)
{
    *events = v->events;
    return v->event_count;
}

int64_t dvsim_vortex_at(const dvsim_vortex *v, int64_t c, int64_t angle, int64_t height)
{
    if (v == NULL || v->params.injection == DVSIM_INJECT_CARRIED || !is_node(v, c, angle, height)) {
        return DVSIM_EINVAL;
    }
    if (v->now < 1) {
        return 0;
    }
    const int64_t u = dvsim_reversed((uint32_t)height, v->n);
    const int64_t back = (v->now - 1) % v->params.angles;
    const int64_t lane = (angle - back + v->params.angles) % v->params.angles * v->params.replications;
    const dvsim_shard *s = v->shards;
    while (lane >= s->first + s->lanes) {
        s++;
    }
    const int64_t groups = INT64_C(1) << c;
    const int64_t row = dvsim_frame_row(&v->frame, (int)c, u >> c, v->now);
    const uint64_t packet = dvsim_packet_at(s, (int)c, row * groups + (u & (groups - 1)), lane - s->first);
    if (packet == 0) {
        return 0;
    }
    const uint64_t to = packet & ((UINT64_C(1) << (v->n + v->layout.angle_bits)) - 1);
    const uint32_t to_u = (uint32_t)(to & ((UINT64_C(1) << v->n) - 1));
    return 1 + (int64_t)(to >> v->n) * v->params.height + dvsim_reversed(to_u, v->n);
}

const char *dvsim_vortex_simd(void)
{
    return dvsim_kernel_choose()->name;
}
