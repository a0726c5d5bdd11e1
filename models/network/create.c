/* create.c: a network is made and goes. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "network/internal.h"

/* Bytes of nodes, as words, that a part should keep to, half of a usual L2 cache; nodes that a stage should keep to; the
 * fewest switches of one, 2^8: with fewer it is not faster, and each stage has buffers of its own. */
enum { CACHE = 1 << 19, NODES = 1 << 18, LEAST_BITS = 8 };
static const uint64_t PLANE = UINT64_C(0x706c616e65), ROUTE = UINT64_C(0x726f757465);

void *dvsim_network_longer(void *list, int64_t used, int64_t room, size_t size)
{
    char *longer = realloc(list, (size_t)room * size);
    if (longer != NULL) {
        memset(longer + (size_t)used * size, 0, (size_t)(room - used) * size);
    }
    return longer;
}

/* Adds up the bytes that `zeros` takes, or would take: what is told before is what is taken after. */
typedef struct {
    int64_t bytes;
    int only_count, failed;
} ledger;

static void *zeros(ledger *l, int64_t count, size_t size)
{
    l->bytes += (count + 1) * (int64_t)size;
    if (l->only_count) {
        return NULL;
    }
    void *memory = calloc((size_t)count + 1, size);
    l->failed |= memory == NULL;
    return memory;
}

static void *copy_of(ledger *l, const void *from, int64_t count, size_t size)
{
    if (from == NULL) {
        return NULL;
    }
    void *to = zeros(l, count, size);
    if (to != NULL) {
        memcpy(to, from, (size_t)count * size);
    }
    return to;
}

static int64_t nodes_of_plane(const dvsim_network *net)
{
    int64_t switches = 0;
    for (int64_t l = 0; l <= net->top; l++) {
        switches += net->levels[l].switches;
    }
    return switches * (net->n + 1) * net->params.height * net->params.angles;
}

/* Planes in lockstep: as many as fill the cache, so that all threads have some. */
static int64_t together(const dvsim_network *net, int64_t threads)
{
    const dvsim_network_params *p = &net->params;
    int64_t most = p->planes, some = CACHE / (nodes_of_plane(net) * 8);
    for (int64_t l = 0; l <= net->top; l++) {
        const int64_t fit = DVSIM_MOST_LANES / (net->levels[l].switches * p->angles);
        most = fit < most ? fit : most;
        const int64_t places = (INT64_C(1) << 31) / ((int64_t)net->levels[l].switches * net->radix);
        most = places < most ? places : most;
    }
    if (p->together > 0) {
        return p->together < most ? p->together : most;
    }
    const int64_t each = (p->planes + threads - 1) / threads;
    some = some < 1 ? 1 : some;
    some = some < each ? some : each;
    return some < most ? some : most;
}

static dvsim_vortex_params switch_params(const dvsim_network *net, int64_t replications, const uint8_t *injecting)
{
    const dvsim_network_params *p = &net->params;
    return (dvsim_vortex_params){
        .height = p->height,
        .angles = p->angles,
        .replications = replications,
        .crossing = p->crossing,
        .exit_rule = p->exit_rule,
        .injection = DVSIM_INJECT_CARRIED,
        .layout = p->layout,
        .injecting = injecting,
        .order = p->order,
        .seed = p->seed,
    };
}

static dvsim_wire *make_wires(ledger *l, const dvsim_network *net, int64_t links)
{
    l->bytes += links * (net->params.link_slots + 1) * (int64_t)sizeof(dvsim_travel); /* they grow to that, or beyond */
    return zeros(l, net->turns, sizeof(dvsim_wire));
}

static void make_stage(ledger *l, dvsim_network *net, dvsim_stage *stage, int64_t level, const uint8_t *injecting)
{
    const int is_port = level == net->params.levels;
    const int64_t rows = is_port ? 1 : net->rows, places = rows * stage->replications;
    stage->offers = zeros(l, places, sizeof *stage->offers);
    stage->queues = zeros(l, places, sizeof *stage->queues);
    stage->active = zeros(l, places, sizeof *stage->active);
    if (level > 0 && !is_port) {
        stage->wires[DVSIM_UP] = make_wires(l, net, places / 2);
    }
    if (level < net->top || is_port) {
        stage->wires[DVSIM_DOWN] = make_wires(l, net, is_port ? places : places / 2);
    }
    if (is_port) {
        return;
    }
    const dvsim_vortex_params params = switch_params(net, stage->replications, injecting);
    const int64_t bytes = dvsim_vortex_bytes(&params, 1);
    l->bytes += bytes;
    l->failed |= bytes < 0;
    if (!l->only_count) {
        l->failed |= (stage->vortex = dvsim_vortex_create(&params, 1)) == NULL;
    }
}

/* Switches of a level, or ports. */
static int64_t of_level(const dvsim_network *net, int64_t level)
{
    return level == net->params.levels ? net->params.ports : net->levels[level].switches;
}

static void make_stages(ledger *l, dvsim_network *net, dvsim_part *p, const uint8_t *injecting)
{
    const int64_t levels = net->params.levels;
    for (int64_t i = 0; i <= levels; i++) {
        const int64_t all = p->planes * of_level(net, i), most = INT64_C(1) << net->stage_bits[i];
        p->first_stage[i + 1] = p->first_stage[i] + (all + most - 1) / most;
    }
    p->stages = zeros(l, p->first_stage[levels + 1], sizeof *p->stages);
    for (int64_t i = 0; i <= levels; i++) {
        const int64_t all = p->planes * of_level(net, i), most = INT64_C(1) << net->stage_bits[i];
        for (int64_t k = 0; k * most < all && !l->failed; k++) {
            const int64_t rest = all - k * most;
            dvsim_stage counted, *stage = l->only_count ? &counted : &p->stages[p->first_stage[i] + k];
            *stage = (dvsim_stage){.first = k * most, .replications = rest < most ? rest : most};
            make_stage(l, net, stage, i, injecting);
        }
    }
}

static void make_part(ledger *l, dvsim_network *net, dvsim_part *p, const uint8_t *injecting)
{
    const int64_t ports = net->params.ports, hosts = p->planes * ports;
    const int32_t injection = net->params.injection;
    p->network = net;
    p->seeds = zeros(l, p->planes, sizeof *p->seeds);
    p->arrival_keys = zeros(l, p->planes, sizeof *p->arrival_keys);
    p->route_keys = zeros(l, p->planes, sizeof *p->route_keys);
    p->traffic = zeros(l, p->planes, sizeof *p->traffic);
    p->offered = zeros(l, hosts, sizeof *p->offered);
    p->accepted = zeros(l, hosts, sizeof *p->accepted);
    p->delivered_at = zeros(l, hosts, sizeof *p->delivered_at);
    p->fresh = zeros(l, hosts, sizeof *p->fresh);
    p->entered = zeros(l, net->rows, sizeof *p->entered);
    if (injection == DVSIM_INJECT_QUEUE) {
        p->head = zeros(l, hosts, sizeof *p->head);
        p->waiting = zeros(l, hosts, sizeof *p->waiting);
    }
    if (injection == DVSIM_INJECT_GIVEN) {
        p->sending = zeros(l, hosts, sizeof *p->sending);
        p->senders = zeros(l, hosts, sizeof *p->senders);
        p->waits = zeros(l, ports, sizeof *p->waits);
        p->free_flight = -1;
    }
    make_stages(l, net, p, injecting);
    if (l->only_count || l->failed) {
        return;
    }
    for (int64_t i = 0; i < p->planes; i++) {
        p->seeds[i] = dvsim_draw(dvsim_mix(net->params.seed ^ PLANE), (uint64_t)(p->first + i));
        p->arrival_keys[i] = dvsim_mix(p->seeds[i]);
        p->route_keys[i] = dvsim_mix(p->seeds[i] ^ ROUTE);
        p->traffic[i] = net->params.traffic;
        if (p->traffic[i].trace_start != NULL) {
            p->traffic[i].trace_start += (p->first + i) * ports;
        }
    }
}

/* How large stages are, and how many slots each does in turn. */
static void shape_stages(dvsim_network *net)
{
    const int64_t of_switch = (net->n + 1) * net->params.height * net->params.angles;
    int bits = LEAST_BITS;
    while (of_switch << (bits + 1) <= NODES) {
        bits++;
    }
    for (int64_t i = 0; i < net->params.levels; i++) {
        net->stage_bits[i] = bits;
    }
    net->stage_bits[net->params.levels] = bits + dvsim_bits(net->down);
    net->turns = 1;
    while (2 * net->turns <= net->params.link_slots && net->turns < DVSIM_MOST_TURNS) {
        net->turns *= 2;
    }
}

static void make_parts(ledger *l, dvsim_network *net, const uint8_t *injecting)
{
    shape_stages(net);
    const int64_t planes = net->params.planes, each = together(net, net->threads);
    net->part_count = (planes + each - 1) / each;
    if (net->threads > net->part_count) {
        net->threads = net->part_count;
    }
    net->parts = zeros(l, net->part_count, sizeof *net->parts);
    for (int64_t i = 0, first = 0; i < net->part_count && !l->failed; i++) {
        const int64_t some = (planes - first) / (net->part_count - i);
        dvsim_part counted = {.first = first, .planes = some};
        if (!l->only_count) {
            net->parts[i] = counted;
        }
        make_part(l, net, l->only_count ? &counted : &net->parts[i], injecting);
        first += some;
    }
}

/* What belongs to the network as a whole. */
static void make_tables(ledger *l, dvsim_network *net, const dvsim_traffic *given)
{
    const dvsim_network_params *p = &net->params;
    dvsim_traffic *t = &net->params.traffic;
    const int64_t hosts = p->planes * p->ports, cylinders = net->n + 1;
    const int64_t entries = given->trace_start != NULL ? given->trace_start[hosts] : 0;
    t->destination = copy_of(l, given->destination, p->ports, sizeof *t->destination);
    t->hot = copy_of(l, given->hots > 0 ? given->hot : NULL, given->hots, sizeof *t->hot);
    t->trace_start = copy_of(l, given->trace_start, hosts + 1, sizeof *t->trace_start);
    t->trace_slot = copy_of(l, entries > 0 ? given->trace_slot : NULL, entries, sizeof *t->trace_slot);
    t->trace_to = copy_of(l, entries > 0 ? given->trace_to : NULL, entries, sizeof *t->trace_to);
    net->row_of = zeros(l, net->radix, sizeof *net->row_of);
    net->port_of = zeros(l, net->radix, sizeof *net->port_of);
    net->address_of = zeros(l, net->radix, sizeof *net->address_of);
    net->way_of = zeros(l, net->radix, sizeof *net->way_of);
    for (int64_t i = 0; i <= net->top; i++) {
        net->levels[i].peers = zeros(l, (int64_t)net->levels[i].switches * net->radix, sizeof(dvsim_peer));
    }
    for (int k = 0; k < 3; k++) {
        net->sums[k] = zeros(l, hosts, sizeof(int64_t));
    }
    net->sum_cylinders = zeros(l, 3 * p->levels * cylinders, sizeof(int64_t));
    net->sum_queues = zeros(l, 4 * p->levels, sizeof(int64_t));
    net->sent_words = zeros(l, p->ports, sizeof *net->sent_words);
    net->free_burst = -1;
}

/* As one switch with the ports of all planes. */
static int good_traffic(const dvsim_network_params *p)
{
    dvsim_traffic all = p->traffic;
    all.ports = (uint64_t)(p->planes * p->ports);
    all.outputs = (uint64_t)p->ports;
    all.index = (uint64_t)p->ports - 1;
    return (all.trace_start == NULL || (all.trace_start[0] == 0 && p->injection != DVSIM_INJECT_GIVEN)) &&
           dvsim_traffic_is_good(&all);
}

/* Make it, or only count the bytes of it. */
static int make(ledger *l, dvsim_network *net, const dvsim_network_params *params, int64_t threads)
{
    uint8_t injecting[DVSIM_MOST_ANGLES];
    if (threads < 1 || threads > DVSIM_MOST_PARTS || !dvsim_network_shape(net, params) || !good_traffic(params)) {
        return 0;
    }
    net->threads = threads;
    for (int64_t a = 0; a < params->angles; a++) {
        injecting[a] = params->exit_rule == DVSIM_EXIT_ANGLE || a == params->injecting;
    }
    make_tables(l, net, &params->traffic);
    make_parts(l, net, injecting);
    net->params.order = NULL; /* the switches have it */
    return !l->failed;
}

int64_t dvsim_network_bytes(const dvsim_network_params *params)
{
    ledger l = {.only_count = 1};
    dvsim_network net;
    return make(&l, &net, params, 1) ? l.bytes : -1;
}

dvsim_network *dvsim_network_create(const dvsim_network_params *params, int64_t threads)
{
    ledger l = {0};
    dvsim_network *net = calloc(1, sizeof *net);
    if (net == NULL) {
        return NULL;
    }
    if (make(&l, net, params, threads)) {
        dvsim_network_wire(net);
        return net;
    }
    dvsim_network_free(net);
    return NULL;
}

static void free_stage(dvsim_stage *s, int64_t turns)
{
    dvsim_vortex_free(s->vortex);
    free(s->offers);
    free(s->queues);
    free(s->active);
    for (int way = 0; way < 2; way++) {
        for (int64_t k = 0; s->wires[way] != NULL && k < turns; k++) {
            free(s->wires[way][k].ring);
        }
        free(s->wires[way]);
    }
}

void dvsim_network_free(dvsim_network *net)
{
    if (net == NULL) {
        return;
    }
    for (int64_t i = 0; net->parts != NULL && i < net->part_count; i++) {
        dvsim_part *p = &net->parts[i];
        void *parts[] = {p->seeds,   p->arrival_keys, p->route_keys, p->traffic,      p->cells, p->fresh,
                         p->head,    p->waiting,      p->offered,    p->accepted,     p->hops,  p->latency,
                         p->sending, p->senders,      p->batches,    p->delivered_at, p->ended, p->shares,
                         p->flights, p->waits,        p->stages,     p->entered};
        for (int64_t s = 0; p->stages != NULL && s < p->first_stage[net->params.levels + 1]; s++) {
            free_stage(&p->stages[s], net->turns);
        }
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            free(parts[k]);
        }
    }
    const dvsim_traffic *t = &net->params.traffic;
    void *parts[] = {(void *)(uintptr_t)t->destination, (void *)(uintptr_t)t->hot,
                     (void *)(uintptr_t)t->trace_start, (void *)(uintptr_t)t->trace_slot,
                     (void *)(uintptr_t)t->trace_to,    net->row_of,
                     net->port_of,                      net->address_of,
                     net->way_of,                       net->levels[0].peers,
                     net->levels[1].peers,              net->levels[2].peers,
                     net->parts,                        net->sent_words,
                     net->cut,                          net->levels[0].dead,
                     net->levels[1].dead,
                     net->bursts,                       net->ended,
                     net->completions,                  net->sums[0],
                     net->sums[1],                      net->sums[2],
                     net->sum_cylinders,                net->sum_queues,
                     net->sum_hops,                     net->sum_latency};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        free(parts[k]);
    }
    free(net);
}
