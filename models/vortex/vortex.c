#define _POSIX_C_SOURCE 200809L
#include "vortex/vortex.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "vortex/switch.h"

enum { MOST_HEIGHT_BITS = 20, MOST_ANGLES = 4096, MOST_COLUMNS = 65536, MOST_THREADS = 64, LEAST_HISTOGRAM = 1024 };

static int bits_of(int64_t height)
{
    int n = 0;
    while ((INT64_C(1) << n) < height)
        n++;
    return n;
}

static int good_shape(const dvsim_vortex_params *p)
{
    if (p->height < 2 || p->height > INT64_C(1) << MOST_HEIGHT_BITS || (p->height & (p->height - 1)) != 0 ||
        p->angles < 1 || p->angles > MOST_ANGLES || p->replications < 1 ||
        p->replications > MOST_COLUMNS / p->angles || p->injecting == NULL)
        return 0;
    int inputs = 0;
    for (int64_t a = 0; a < p->angles; a++) {
        if (p->injecting[a] > 1)
            return 0;
        inputs += p->injecting[a];
    }
    return inputs > 0 && p->crossing >= 0 && p->crossing <= DVSIM_CROSS_RANDOM && p->exit_rule >= 0 &&
           p->exit_rule <= DVSIM_EXIT_ANY && p->injection >= 0 && p->injection <= DVSIM_INJECT_GIVEN;
}

/* Outputs: with exit `any` the angle of an address is 0. */
static int good_address(const dvsim_vortex_params *p, int64_t to)
{
    return to >= 0 && to < (p->exit_rule == DVSIM_EXIT_ANY ? 1 : p->angles) * p->height;
}

static int good_trace(const dvsim_vortex_params *p)
{
    if (p->trace_start == NULL)
        return 1;
    if (p->trace_start[0] != 0 || p->trace_slot == NULL || p->trace_to == NULL)
        return 0;
    for (int64_t port = 0; port < p->angles * p->height; port++) {
        if (p->trace_start[port + 1] < p->trace_start[port])
            return 0;
        for (int64_t i = p->trace_start[port]; i < p->trace_start[port + 1]; i++)
            if (p->trace_slot[i] < 0 || !good_address(p, p->trace_to[i]) ||
                (i > p->trace_start[port] && p->trace_slot[i] <= p->trace_slot[i - 1]))
                return 0;
    }
    return 1;
}

static int good_traffic(const dvsim_vortex_params *p)
{
    const uint64_t always = UINT64_C(1) << 32;
    if (p->arrival_threshold > always || p->hot_threshold > always || p->burst_threshold > always ||
        p->hots < 0 || (p->hots > 0 && p->hot == NULL) || p->burst_slots < 0)
        return 0;
    for (int64_t i = 0; i < p->hots; i++)
        if (!good_address(p, p->hot[i]))
            return 0;
    for (int64_t u = 0; p->destination != NULL && u < p->height; u++)
        if (p->destination[u] >= p->height)
            return 0;
    return good_trace(p);
}

static int good_faults(const dvsim_vortex_params *p)
{
    if (p->fault_count < 0 || (p->fault_count > 0 && p->faults == NULL) || p->watched < 0)
        return 0;
    for (int64_t i = 0; i < p->fault_count; i++) {
        const dvsim_fault *f = &p->faults[i];
        if (f->kind < DVSIM_FAULT_NODE || f->kind > DVSIM_FAULT_FREE || (f->kind & (f->kind - 1)) != 0 ||
            f->cylinder < 0 || f->cylinder > bits_of(p->height) || f->angle < 0 || f->angle >= p->angles ||
            f->height < 0 || f->height >= p->height)
            return 0;
    }
    return 1;
}

static int is_careful(const dvsim_vortex_params *p)
{
    return p->fault_count > 0 || p->watched > 0 || p->injection == DVSIM_INJECT_GIVEN;
}

static int good(const dvsim_vortex_params *p, int64_t threads)
{
    return p != NULL && threads >= 1 && threads <= MOST_THREADS && good_shape(p) && good_traffic(p) &&
           good_faults(p) && (!is_careful(p) || p->replications == 1);
}

int64_t dvsim_vortex_bytes(const dvsim_vortex_params *p, int64_t threads)
{
    if (!good(p, threads))
        return -1;
    const int64_t ports = p->height * p->angles * p->replications, cylinders = bits_of(p->height) + 1;
    const int64_t parts = is_careful(p) ? 1 : threads;
    int64_t bytes = ports * 8 * cylinders + ports * 8 * (6 * parts + 4); /* nodes, counts per port */
    if (p->injection != DVSIM_INJECT_DROP)
        bytes += ports * 16; /* queues */
    if (is_careful(p))
        bytes += ports * (17 * cylinders + 48); /* names, handles, faults; what the caller gives */
    if (p->crossing == DVSIM_CROSS_RANDOM)
        bytes += dvsim_frame_entries(bits_of(p->height)) * (int64_t)sizeof(dvsim_cycle);
    if (p->trace_start != NULL)
        bytes += (p->height * p->angles + 1) * 8 + p->trace_start[p->height * p->angles] * 12;
    return bytes + p->height * 4 + p->hots * 4 + parts * (int64_t)sizeof(dvsim_shard);
}

/* --- running -------------------------------------------------------------------------------------- */

static void stand(dvsim_shard *s, int64_t lane, int64_t angle)
{
    const dvsim_vortex *v = s->vortex;
    s->angle[lane] = angle;
    s->column[lane] = (s->first + lane) / v->params.angles * v->params.angles + angle;
    s->place[lane] = (uint64_t)angle << v->n;
    s->allowed[lane] = v->params.injecting[angle] ? UINT64_MAX : 0;
    s->leaving[lane] = DVSIM_PRESENT;
    if (v->params.exit_rule == DVSIM_EXIT_ANGLE)
        s->leaving[lane] |= (uint64_t)angle << v->n;
}

/* Every lane goes on by one angle. */
static void turn(dvsim_shard *s)
{
    for (int64_t lane = 0; lane < s->lanes; lane++)
        stand(s, lane, s->angle[lane] + 1 == s->vortex->params.angles ? 0 : s->angle[lane] + 1);
}

/* A slot turns before it injects: in slot t lane i of a replication injects at angle i + t. */
void dvsim_set_time(dvsim_vortex *v, int64_t now, int64_t counted_from)
{
    const int64_t angles = v->params.angles;
    v->now = now;
    v->counted_from = counted_from;
    v->room_until = 0;
    for (int64_t i = 0; i < v->threads; i++)
        for (int64_t lane = 0; lane < v->shards[i].lanes; lane++)
            stand(&v->shards[i], lane, (v->shards[i].first + lane + now % angles + angles - 1) % angles);
}

/* Wait until every thread is at the end of the slot. */
static void meet(dvsim_vortex *v)
{
    int phase = atomic_load_explicit(&v->phase, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&v->arrived, 1, memory_order_acq_rel) + 1 == (int)v->threads) {
        atomic_store_explicit(&v->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&v->phase, phase + 1, memory_order_release);
        return;
    }
    for (int spins = 0; atomic_load_explicit(&v->phase, memory_order_acquire) == phase; spins++)
        if (spins > 1000)
            sched_yield();
}

static void *run_shard(void *argument)
{
    dvsim_shard *s = argument;
    dvsim_vortex *v = s->vortex;
    /* a queue is served by another lane in the next slot, and that lane may be another thread's */
    const int meeting = v->threads > 1 && v->params.injection != DVSIM_INJECT_DROP;
    for (int64_t now = v->now; now < v->until; now++) {
        if (v->careful)
            dvsim_move_carefully(s, now);
        else
            dvsim_move(s, now);
        turn(s);
        dvsim_inject(s, now);
        if (meeting)
            meet(v);
    }
    return NULL;
}

static int grow(int64_t **histogram, int64_t from, int64_t to)
{
    int64_t *longer = realloc(*histogram, (size_t)to * sizeof *longer);
    if (longer == NULL)
        return 0;
    memset(longer + from, 0, (size_t)(to - from) * sizeof *longer);
    *histogram = longer;
    return 1;
}

/* Half as much again, so that many short calls cost no more. */
int dvsim_grow_histograms(dvsim_vortex *v, int64_t needed)
{
    if (needed <= v->histogram)
        return 1;
    int64_t length = needed < LEAST_HISTOGRAM ? LEAST_HISTOGRAM : needed + needed / 2;
    int grown = grow(&v->sum_hops, v->histogram, length) && grow(&v->sum_latency, v->histogram, length);
    for (int64_t i = 0; grown && i < v->threads; i++)
        grown = grow(&v->shards[i].hops, v->histogram, length) &&
                grow(&v->shards[i].latency, v->histogram, length);
    if (grown)
        v->histogram = length;
    return grown;
}

/* Slots for which the oldest packet has been in the switch or in its queue. */
static int64_t oldest(const dvsim_vortex *v)
{
    const uint64_t now = (uint64_t)v->now;
    uint64_t age = 0;
    for (int64_t i = 0; i < v->threads; i++)
        for (int64_t k = 0; k < dvsim_cylinders(v) * v->params.height * v->shards[i].lanes; k++) {
            uint64_t packet = v->shards[i].cells[k];
            if (packet == 0)
                continue;
            uint64_t hops = dvsim_packet_hops(v->layout, packet, now);
            uint64_t latency = dvsim_packet_latency(v->layout, packet, now);
            age = hops > age ? hops : age;
            age = latency > age ? latency : age;
        }
    for (int64_t k = 0; v->params.injection == DVSIM_INJECT_QUEUE && k < v->columns * v->params.height; k++)
        if (v->waiting[k] > 0 && now - (uint64_t)v->head[k] > age)
            age = now - (uint64_t)v->head[k];
    return (int64_t)age;
}

/* Histograms are as long as a packet can be old, not as the run is long. To look for the oldest one
 * takes as long as a slot, so that is done only when they might be too short. */
static int make_room(dvsim_vortex *v, int64_t slots)
{
    if (v->now + slots <= v->room_until)
        return 1;
    const int64_t age = oldest(v);
    if (!dvsim_grow_histograms(v, age + slots + 1))
        return 0;
    v->room_until = v->now + v->histogram - age - 1;
    return 1;
}

int dvsim_vortex_run(dvsim_vortex *v, int64_t slots)
{
    if (v == NULL || slots < 0)
        return DVSIM_EINVAL;
    if (!make_room(v, slots))
        return DVSIM_ENOMEM;
    v->until = v->now + slots;
    v->delivery_count = v->refused_count = 0;
    pthread_t workers[MOST_THREADS];
    int64_t started = 1;
    for (; started < v->threads; started++)
        if (pthread_create(&workers[started], NULL, run_shard, &v->shards[started]) != 0)
            break;
    if (started < v->threads && v->params.injection != DVSIM_INJECT_DROP)
        abort(); /* the others would wait for ever: only at the system's limit of threads */
    for (int64_t i = started; i < v->threads; i++)
        run_shard(&v->shards[i]);
    run_shard(&v->shards[0]);
    for (int64_t i = 1; i < started; i++)
        pthread_join(workers[i], NULL);
    v->now = v->until;
    return DVSIM_OK;
}

/* --- life ----------------------------------------------------------------------------------------- */

static void *zeros(int64_t count, size_t size)
{
    return calloc((size_t)(count > 0 ? count : 1), size);
}

static void *copy_of(const void *from, int64_t count, size_t size, int *whole)
{
    if (from == NULL)
        return NULL;
    void *to = zeros(count, size);
    if (to == NULL)
        *whole = 0;
    else
        memcpy(to, from, (size_t)count * size);
    return to;
}

static int create_shard(dvsim_vortex *v, dvsim_shard *s, int64_t first, int64_t lanes)
{
    const int64_t cells = dvsim_cylinders(v) * v->params.height * lanes;
    const int64_t columns = v->columns * v->params.height;
    s->vortex = v;
    s->first = first;
    s->lanes = lanes;
    s->kernel = dvsim_kernel_choose(lanes);
    if (posix_memalign((void **)&s->cells, 64, (size_t)cells * sizeof *s->cells) != 0)
        return 0;
    memset(s->cells, 0, (size_t)cells * sizeof *s->cells);
    s->angle = zeros(lanes, sizeof *s->angle);
    s->column = zeros(lanes, sizeof *s->column);
    s->seeds = zeros(lanes, sizeof *s->seeds);
    s->keys = zeros(lanes, sizeof *s->keys);
    s->leaving = zeros(lanes, sizeof *s->leaving);
    s->place = zeros(lanes, sizeof *s->place);
    s->allowed = zeros(lanes, sizeof *s->allowed);
    s->offered_at = zeros(2 * columns, sizeof(int64_t));
    s->accepted_at = zeros(2 * columns, sizeof(int64_t));
    s->delivered_at = zeros(columns, sizeof(int64_t));
    s->lost_at = zeros(columns, sizeof(int64_t));
    s->cylinders = zeros(dvsim_cylinders(v), sizeof *s->cylinders);
    if (!s->place || !s->allowed || !s->angle || !s->column || !s->seeds || !s->keys || !s->leaving || !s->offered_at ||
        !s->accepted_at || !s->delivered_at || !s->lost_at || !s->cylinders)
        return 0;
    for (int64_t lane = 0; lane < lanes; lane++) {
        uint64_t replication = (uint64_t)((first + lane) / v->params.angles);
        s->seeds[lane] = v->params.seed + replication * UINT64_C(0x9e3779b97f4a7c15);
        s->keys[lane] = dvsim_mix(s->seeds[lane]);
    }
    return 1;
}

static int create_careful(dvsim_vortex *v)
{
    const dvsim_vortex_params *p = &v->params;
    const int64_t cells = dvsim_cylinders(v) * v->ports;
    v->names = zeros(cells, sizeof *v->names);
    v->handles = zeros(cells, sizeof *v->handles);
    if (p->fault_count > 0 && (v->faults = zeros(cells, sizeof *v->faults)) == NULL)
        return 0;
    for (int64_t i = 0; i < p->fault_count; i++) {
        const dvsim_fault *f = &p->faults[i];
        int64_t u = dvsim_reversed((uint32_t)f->height, v->n);
        v->faults[(f->cylinder * p->height + u) * p->angles + f->angle] |= (uint8_t)f->kind;
    }
    if (p->injection == DVSIM_INJECT_GIVEN) {
        v->given_to = zeros(v->ports, sizeof *v->given_to);
        v->given_handle = zeros(v->ports, sizeof *v->given_handle);
        v->given_ports = zeros(v->ports, sizeof *v->given_ports);
        v->refused = zeros(v->ports, sizeof *v->refused);
        if (!v->given_to || !v->given_handle || !v->given_ports || !v->refused)
            return 0;
        for (int64_t port = 0; port < v->ports; port++)
            v->given_to[port] = -1;
    }
    return v->names && v->handles;
}

static int create_parts(dvsim_vortex *v)
{
    dvsim_vortex_params *p = &v->params;
    const int64_t columns = v->columns * p->height;
    int whole = 1;
    const uint32_t *order = p->order;
    p->order = NULL; /* turned into cycles */
    p->injecting = copy_of(p->injecting, p->angles, sizeof *p->injecting, &whole);
    p->destination = copy_of(p->destination, p->height, sizeof *p->destination, &whole);
    p->hot = copy_of(p->hots > 0 ? p->hot : NULL, p->hots, sizeof *p->hot, &whole);
    const int64_t entries = p->trace_start != NULL ? p->trace_start[v->ports] : 0;
    p->trace_start = copy_of(p->trace_start, v->ports + 1, sizeof *p->trace_start, &whole);
    p->trace_slot = copy_of(entries > 0 ? p->trace_slot : NULL, entries, sizeof *p->trace_slot, &whole);
    p->trace_to = copy_of(entries > 0 ? p->trace_to : NULL, entries, sizeof *p->trace_to, &whole);
    v->shards = zeros(v->threads, sizeof *v->shards);
    v->sum_cylinders = zeros(3 * dvsim_cylinders(v), sizeof(int64_t));
    whole = whole && v->shards && v->sum_cylinders;
    for (int k = 0; k < 4; k++)
        whole = (v->sums[k] = zeros(columns, sizeof(int64_t))) != NULL && whole;
    if (p->injection != DVSIM_INJECT_DROP) {
        v->head = zeros(columns, sizeof *v->head);
        v->waiting = zeros(columns, sizeof *v->waiting);
        whole = whole && v->head && v->waiting;
    }
    if (p->crossing == DVSIM_CROSS_RANDOM)
        whole = (v->cycles = zeros(dvsim_frame_entries(v->n), sizeof *v->cycles)) != NULL && whole;
    whole = whole && dvsim_frame_init(&v->frame, p->crossing, v->n, order, v->cycles);
    for (int64_t i = 0, first = 0; whole && i < v->threads; i++) {
        int64_t lanes = (v->columns - first) / (v->threads - i);
        whole = create_shard(v, &v->shards[i], first, lanes);
        first += lanes;
    }
    whole = whole && (!v->careful || create_careful(v));
    p->faults = NULL; /* turned into flags */
    return whole;
}

dvsim_vortex *dvsim_vortex_create(const dvsim_vortex_params *params, int64_t threads)
{
    if (!good(params, threads))
        return NULL;
    dvsim_vortex *v = zeros(1, sizeof *v);
    if (v == NULL)
        return NULL;
    v->params = *params;
    v->n = bits_of(params->height);
    v->ports = params->height * params->angles;
    v->columns = params->angles * params->replications;
    v->careful = is_careful(params);
    v->threads = v->careful ? 1 : threads < v->columns ? threads : v->columns;
    v->layout = dvsim_packet_layout_of(v->n, params->angles);
    if (!create_parts(v)) {
        dvsim_vortex_free(v);
        return NULL;
    }
    dvsim_set_time(v, 0, 0);
    return v;
}

void dvsim_vortex_free(dvsim_vortex *v)
{
    if (v == NULL)
        return;
    for (int64_t i = 0; v->shards != NULL && i < v->threads; i++) {
        dvsim_shard *s = &v->shards[i];
        void *parts[] = {s->place, s->allowed, s->cells,       s->angle,        s->column,  s->seeds, s->keys,    s->leaving,  s->offered_at,
                         s->accepted_at, s->delivered_at, s->lost_at, s->hops,  s->latency, s->cylinders};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            free(parts[k]);
    }
    void *parts[] = {(void *)(uintptr_t)v->params.injecting,   (void *)(uintptr_t)v->params.destination,
                     (void *)(uintptr_t)v->params.hot,         (void *)(uintptr_t)v->params.trace_start,
                     (void *)(uintptr_t)v->params.trace_slot,  (void *)(uintptr_t)v->params.trace_to,
                     v->cycles,     v->head,         v->waiting,     v->shards,     v->faults,
                     v->names,      v->handles,      v->given_to,    v->given_handle, v->given_ports,
                     v->events,     v->deliveries,   v->refused,     v->sums[0],    v->sums[1],
                     v->sums[2],    v->sums[3],      v->sum_hops,    v->sum_latency, v->sum_cylinders};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        free(parts[k]);
    free(v);
}

/* --- packets of the caller, and looks inside -------------------------------------------------------- */

static int is_node(const dvsim_vortex *v, int64_t c, int64_t angle, int64_t height)
{
    return c >= 0 && c <= v->n && angle >= 0 && angle < v->params.angles && height >= 0 &&
           height < v->params.height;
}

int dvsim_vortex_give(dvsim_vortex *v, int64_t angle, int64_t height, int64_t to_angle, int64_t to_height,
                      int64_t handle)
{
    if (v == NULL || !is_node(v, 0, angle, height) || !is_node(v, 0, to_angle, to_height) ||
        !good_address(&v->params, to_angle * v->params.height + to_height) || !v->params.injecting[angle])
        return DVSIM_EINVAL;
    int64_t port = dvsim_reversed((uint32_t)height, v->n) * v->params.angles + angle;
    if (v->given_to == NULL || v->given_to[port] >= 0)
        return DVSIM_ESTATE;
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
    if (v == NULL || v->now < 1 || !is_node(v, c, angle, height))
        return DVSIM_EINVAL;
    const int64_t u = dvsim_reversed((uint32_t)height, v->n);
    const int64_t back = (v->now - 1) % v->params.angles;
    const int64_t lane = (angle - back + v->params.angles) % v->params.angles;
    const dvsim_shard *s = v->shards;
    while (lane >= s->first + s->lanes)
        s++;
    const int64_t groups = INT64_C(1) << c;
    const int64_t row = dvsim_frame_row(&v->frame, (int)c, u >> c, v->now);
    const int64_t cell = (row * groups + (u & (groups - 1))) * s->lanes + lane - s->first;
    const uint64_t packet = dvsim_cylinder(s, (int)c)[cell];
    if (packet == 0)
        return 0;
    const uint64_t to = packet & ((UINT64_C(1) << (v->n + v->layout.angle_bits)) - 1);
    const uint32_t to_u = (uint32_t)(to & ((UINT64_C(1) << v->n) - 1));
    return 1 + (int64_t)(to >> v->n) * v->params.height + dvsim_reversed(to_u, v->n);
}

const char *dvsim_vortex_simd(void)
{
    return dvsim_kernel_choose(8)->name;
}
