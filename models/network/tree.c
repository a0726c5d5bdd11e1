/* tree.c: which networks there are, and where each output leads. */
#include "network/internal.h"

enum { MOST_PLANES = 256, MOST_LINK = 65536, LEAST_STAMPS = 24, MOST_HOPS_BITS = 16 };

static int good_switch(const dvsim_network_params *p)
{
    return dvsim_is_size(p->height, p->angles) && p->crossing >= 0 && p->crossing <= DVSIM_CROSS_RANDOM &&
           (p->crossing != DVSIM_CROSS_RANDOM || p->order != NULL) &&
           (p->exit_rule == DVSIM_EXIT_ANGLE ||
            (p->exit_rule == DVSIM_EXIT_ANY && p->injecting >= 0 && p->injecting < p->angles));
}

/* The fields of a word: u, angle, port, birth slot or burst, hops so far. */
static int lay_out(dvsim_network *net)
{
    const dvsim_network_params *p = &net->params;
    const int port_bits = dvsim_bits(p->ports);
    net->n = dvsim_bits(p->height);
    net->port_shift = net->n + dvsim_bits(p->angles);
    net->birth_shift = net->port_shift + port_bits;
    const int stamps = 63 - net->birth_shift;
    const int hops = stamps / 2 < MOST_HOPS_BITS ? stamps / 2 : MOST_HOPS_BITS;
    net->hops_shift = 63 - hops;
    net->port_mask = (UINT64_C(1) << port_bits) - 1;
    net->hops_mask = (UINT64_C(1) << hops) - 1;
    net->birth_mask = (UINT64_C(1) << (stamps - hops)) - 1;
    return stamps >= LEAST_STAMPS;
}

static int shape_levels(dvsim_network *net)
{
    const dvsim_network_params *p = &net->params;
    const int64_t radix = net->radix, half = net->half;
    int64_t child = 1;
    for (int64_t l = 0; l + 1 < p->levels; l++) {
        if (child * half > p->ports) {
            return 0;
        }
        net->levels[l] = (dvsim_level){
            .group = (uint32_t)child,
            .below = (uint32_t)(child * half),
            .child = (uint32_t)child,
            .parallel = 1,
        };
        child *= half;
    }
    if (p->ports % child != 0) {
        return 0;
    }
    const int64_t groups = p->ports / child;
    if (radix % groups != 0 || (p->levels > 1 && groups < 2)) {
        return 0;
    }
    const int64_t parallel = radix / groups;
    if (p->levels == 1 ? parallel != 1 : child % parallel != 0) {
        return 0;
    }
    for (int64_t l = 0; l + 1 < p->levels; l++) {
        net->levels[l].switches = (uint32_t)(p->ports / net->levels[l].below * net->levels[l].group);
    }
    net->levels[net->top] = (dvsim_level){
        .switches = (uint32_t)(p->ports / radix),
        .group = (uint32_t)(p->ports / radix),
        .below = (uint32_t)p->ports,
        .child = (uint32_t)child,
        .parallel = (uint32_t)parallel,
    };
    return 1;
}

int dvsim_network_shape(dvsim_network *net, const dvsim_network_params *params)
{
    if (params == NULL || !good_switch(params) || params->levels < 1 || params->levels > DVSIM_MOST_LEVELS ||
        params->ports < 2 || params->ports > INT64_C(1) << 24 || params->planes < 1 ||
        params->planes > MOST_PLANES || params->link_slots < 0 || params->link_slots > MOST_LINK ||
        params->injection < 0 || params->injection > DVSIM_INJECT_GIVEN || params->together < 0 ||
        params->layout < DVSIM_LAYOUT_BEST || params->layout > DVSIM_LAYOUT_SLICES) {
        return 0;
    }
    const int any = params->exit_rule == DVSIM_EXIT_ANY;
    const int64_t radix = any ? params->height : params->height * params->angles;
    if (radix > INT64_C(1) << 24) {
        return 0;
    }
    *net = (dvsim_network){.params = *params, .top = params->levels - 1};
    net->params.traffic = (dvsim_traffic){
        .ports = (uint64_t)params->ports,
        .outputs = (uint64_t)params->ports,
        .arrival_threshold = params->traffic.arrival_threshold,
        .index = UINT64_MAX,
        .hot_threshold = params->traffic.hot_threshold,
        .hots = params->traffic.hots,
        .burst_slots = params->traffic.burst_slots,
        .burst_threshold = params->traffic.burst_threshold,
    }; /* the lists are copied later */
    net->radix = net->rows = (uint32_t)radix;
    net->half = (uint32_t)(radix / 2);
    net->down = net->top == 0 ? net->radix : net->half;
    if (!lay_out(net) || !shape_levels(net)) {
        return 0;
    }
    net->places = (uint64_t)params->ports;
    for (int64_t l = 0; l < params->levels; l++) {
        dvsim_level *level = &net->levels[l];
        if (level->switches * params->angles > DVSIM_MOST_LANES) {
            return 0;
        }
        level->place = net->places;
        net->places += (uint64_t)level->switches * (uint64_t)(params->height * params->angles);
    }
    return 1;
}

/* Up link m of group g, and the down port at its other end. */
static void connect(dvsim_network *net, int64_t l, uint32_t g, uint32_t m)
{
    const dvsim_level *lower = &net->levels[l], *upper = &net->levels[l + 1];
    uint32_t box, port;
    if (l + 1 == net->top) {
        box = m / upper->parallel;
        port = g * upper->parallel + m % upper->parallel;
    } else {
        box = g / net->half * upper->group + m;
        port = g % net->half;
    }
    const uint32_t from = g * lower->group + m / net->half, up = net->half + m % net->half;
    lower->peers[up * lower->switches + from] = (dvsim_peer){net->row_of[port], box};
    upper->peers[port * upper->switches + box] = (dvsim_peer){net->row_of[up], from};
}

/* Port q = angle * H + height, with the height bit-reversed as the core has it. */
static void number_ports(dvsim_network *net)
{
    const uint32_t height = (uint32_t)net->params.height;
    for (uint32_t q = 0; q < net->radix; q++) {
        const uint32_t mirror = dvsim_reversed(q & (height - 1), net->n);
        const uint32_t angle = q / height, row = angle * height + mirror;
        net->row_of[q] = row;
        net->port_of[row] = q;
        net->address_of[q] = (uint64_t)angle << net->n | mirror;
        net->way_of[row] = q < net->half ? DVSIM_UP : DVSIM_DOWN;
    }
}

void dvsim_network_wire(dvsim_network *net)
{
    const dvsim_level *leaf = &net->levels[0];
    const uint32_t ports = (uint32_t)net->params.ports, down = net->down;
    number_ports(net);
    for (uint32_t port = 0; port < ports; port++) {
        leaf->peers[port % down * leaf->switches + port / down] = (dvsim_peer){0, port};
    }
    for (int64_t l = 0; l < net->top; l++) {
        const uint32_t links = net->levels[l].group * net->half;
        for (uint32_t g = 0; g < ports / net->levels[l].below; g++) {
            for (uint32_t m = 0; m < links; m++) {
                connect(net, l, g, m);
            }
        }
    }
}
