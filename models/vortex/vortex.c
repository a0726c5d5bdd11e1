/* vortex.c: a switch is made and goes. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "vortex/switch.h"

/* Small arrays in cache lines of their own: what one thread counts must not share a line with what
 * another reads. Large ones by calloc, whose pages cost nothing until they are used. */
static void *zeros(int64_t count, size_t size)
{
    const size_t line = 128, bytes = ((size_t)count * size + line) / line * line;
    void *memory = NULL;
    if (bytes > (size_t)1 << 16) {
        return calloc((size_t)count, size);
    }
    if (posix_memalign(&memory, line, bytes) != 0) {
        return NULL;
    }
    return memset(memory, 0, bytes);
}

static void *copy_of(const void *from, int64_t count, size_t size, int *whole)
{
    if (from == NULL) {
        return NULL;
    }
    void *to = zeros(count, size);
    if (to == NULL) {
        *whole = 0;
    } else {
        memcpy(to, from, (size_t)count * size);
    }
    return to;
}

/* What lanes with traffic of their own need. */
static int create_lanes(dvsim_shard *s)
{
    s->angle = zeros(s->lanes, sizeof *s->angle);
    s->column = zeros(s->lanes, sizeof *s->column);
    s->seeds = zeros(s->lanes, sizeof *s->seeds);
    s->ahead = zeros(s->lanes, sizeof *s->ahead);
    s->allowed = zeros(s->lanes, sizeof *s->allowed);
    if (!s->ahead || !s->allowed || !s->angle || !s->column || !s->seeds) {
        return 0;
    }
    for (int64_t lane = 0; lane < s->lanes; lane++) {
        s->seeds[lane] = dvsim_seed_of(s->vortex, (s->first + lane) % s->vortex->params.replications);
        if (s->vortex->params.exit_rule == DVSIM_EXIT_ANGLE) {
            s->ahead[lane] = (uint64_t)((s->first + lane) / s->vortex->params.replications) << s->vortex->n;
        }
    }
    return 1;
}

static int create_shard(dvsim_vortex *v, dvsim_shard *s, int64_t first, int64_t lanes)
{
    const int64_t cells = dvsim_cylinders(v) * v->params.height * lanes;
    const int64_t columns = v->columns * v->params.height;
    s->vortex = v;
    s->first = first;
    s->lanes = lanes;
    if (v->sliced) {
        if (!(v->params.injection == DVSIM_INJECT_CARRIED ? dvsim_pools_create(s) : dvsim_slices_create(s))) {
            return 0;
        }
    } else {
        s->kernel = dvsim_kernel_choose();
        void *memory = NULL;
        if (posix_memalign(&memory, 64, (size_t)cells * sizeof *s->cells) != 0) {
            return 0;
        }
        s->cells = memset(memory, 0, (size_t)cells * sizeof *s->cells);
    }
    s->leaving = zeros(lanes, sizeof *s->leaving);
    s->into = zeros(v->params.height, sizeof *s->into);
    s->cylinders = zeros(dvsim_cylinders(v), sizeof *s->cylinders);
    if (!s->leaving || !s->into || !s->cylinders || (v->params.injection != DVSIM_INJECT_CARRIED && !create_lanes(s))) {
        return 0;
    }
    if (v->params.injection == DVSIM_INJECT_CARRIED) {
        if (v->params.layout == DVSIM_LAYOUT_BEST && !dvsim_sparse_create(s)) {
            return 0;
        }
        for (int64_t lane = 0; lane < lanes; lane++) {
            s->leaving[lane] = DVSIM_PRESENT; /* with exit `any`; else see carried.c */
        }
    } else {
        s->offered_at = zeros(2 * columns, sizeof(int64_t));
        s->accepted_at = zeros(2 * columns, sizeof(int64_t));
        s->delivered_at = zeros(columns, sizeof(int64_t));
        s->lost_at = zeros(columns, sizeof(int64_t));
        if (!s->offered_at || !s->accepted_at || !s->delivered_at || !s->lost_at) {
            return 0;
        }
    }
    if (dvsim_enters_drawn(&v->params) && !dvsim_create_drawn(s)) {
        return 0;
    }
    s->around = lanes <= DVSIM_FEW_LANES ? 8 * lanes : 0;
    for (int c = 0; c < 3 && s->around > 0; c++) {
        for (int64_t i = 0; i < s->around + 8; i++) {
            s->wanted[c][i] = DVSIM_PRESENT | (uint64_t)(i / (lanes << c) % 2) << c;
        }
    }
    return 1;
}

static int create_packetwise(dvsim_vortex *v)
{
    const dvsim_vortex_params *p = &v->params;
    const int64_t cells = dvsim_cylinders(v) * v->ports;
    v->names = zeros(cells, sizeof *v->names);
    v->handles = zeros(cells, sizeof *v->handles);
    if (p->fault_count > 0 && (v->faults = zeros(cells, sizeof *v->faults)) == NULL) {
        return 0;
    }
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
        if (!v->given_to || !v->given_handle || !v->given_ports || !v->refused) {
            return 0;
        }
        for (int64_t port = 0; port < v->ports; port++) {
            v->given_to[port] = -1;
        }
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
    v->traffic = dvsim_traffic_of(p);
    if (p->injection == DVSIM_INJECT_CARRIED) {
        whole = (v->left = zeros(DVSIM_MATCHES, sizeof *v->left)) != NULL && whole;
    }
    for (int k = 0; k < 4 && p->injection != DVSIM_INJECT_CARRIED; k++) {
        whole = (v->sums[k] = zeros(columns, sizeof(int64_t))) != NULL && whole;
    }
    if (dvsim_has_queues(p)) {
        v->head = zeros(columns, sizeof *v->head);
        v->waiting = zeros(columns, sizeof *v->waiting);
        whole = whole && v->head && v->waiting;
    }
    if (p->crossing == DVSIM_CROSS_RANDOM) {
        whole = (v->cycles = zeros(dvsim_frame_entries(v->n), sizeof *v->cycles)) != NULL && whole;
    }
    whole = whole && dvsim_frame_init(&v->frame, p->crossing, v->n, order, v->cycles);
    for (int64_t i = 0, first = 0; whole && i < v->threads; i++) {
        int64_t lanes = (v->columns - first) / (v->threads - i);
        whole = create_shard(v, &v->shards[i], first, lanes);
        first += lanes;
    }
    whole = whole && (!v->packetwise || create_packetwise(v));
    p->faults = NULL; /* turned into flags */
    return whole;
}

dvsim_vortex *dvsim_vortex_create(const dvsim_vortex_params *params, int64_t threads)
{
    if (!dvsim_is_good(params, threads)) {
        return NULL;
    }
    dvsim_vortex *v = zeros(1, sizeof *v);
    if (v == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&v->door, NULL) != 0) {
        free(v);
        return NULL;
    }
    if (pthread_cond_init(&v->opens, NULL) != 0) {
        pthread_mutex_destroy(&v->door);
        free(v);
        return NULL;
    }
    v->params = *params;
    v->n = dvsim_bits(params->height);
    v->ports = params->height * params->angles;
    v->columns = params->angles * params->replications;
    v->sliced = dvsim_is_sliced(params);
    v->packetwise = dvsim_is_packetwise(params);
    v->threads = dvsim_threads_of(params, threads);
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
    if (v == NULL) {
        return;
    }
    for (int64_t i = 0; v->shards != NULL && i < v->threads; i++) {
        dvsim_shard *s = &v->shards[i];
        void *parts[] = {s->cells,      s->angle,       s->column,       s->seeds,   s->ahead,    s->leaving,
                         s->allowed,    s->into,        s->arrivals, s->arrives, s->addresses,
                         s->hops,       s->latency,     s->offered_at, s->accepted_at, s->delivered_at, s->lost_at, s->cylinders};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            free(parts[k]);
        }
        dvsim_draws_free(&s->draws);
        dvsim_slices_free(s);
        dvsim_sparse_free(s);
        dvsim_pools_free(s);
    }
    void *parts[] = {(void *)(uintptr_t)v->params.injecting,   (void *)(uintptr_t)v->params.destination,
                     (void *)(uintptr_t)v->params.hot,         (void *)(uintptr_t)v->params.trace_start,
                     (void *)(uintptr_t)v->params.trace_slot,  (void *)(uintptr_t)v->params.trace_to,
                     v->cycles,     v->head,         v->waiting,     v->shards,     v->faults,
                     v->names,      v->handles,      v->given_to,    v->given_handle, v->given_ports,
                     v->events,     v->deliveries,   v->refused,     v->sums[0],    v->sums[1],
                     v->sums[2],    v->sums[3],      v->sum_hops,    v->sum_latency, v->sum_cylinders,
                     v->left};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        free(parts[k]);
    }
    pthread_cond_destroy(&v->opens);
    pthread_mutex_destroy(&v->door);
    free(v);
}
