/* run.c: slots one after the other, on one thread or several. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "vortex/switch.h"

enum { LEAST_HISTOGRAM = 1024, MOST_SPINS = 20000 };

/* `column` goes along with the angle: it starts as the replication, at angle 0. */
static void stand(dvsim_shard *s, int64_t lane, int64_t angle)
{
    const dvsim_vortex *v = s->vortex;
    s->column[lane] += (angle - s->angle[lane]) * v->params.replications;
    s->angle[lane] = angle;
    s->allowed[lane] = v->params.injecting[angle];
    s->leaving[lane] = DVSIM_PRESENT;
    if (v->params.exit_rule == DVSIM_EXIT_ANGLE) {
        s->leaving[lane] |= (uint64_t)angle << v->n;
    }
}

/* Every lane goes on by one angle. */
static void turn(dvsim_shard *s)
{
    for (int64_t lane = 0; lane < s->lanes; lane++) {
        stand(s, lane, s->angle[lane] + 1 == s->vortex->params.angles ? 0 : s->angle[lane] + 1);
    }
}

/* A slot turns before it injects: in slot t lane i of a replication injects at angle i + t. */
void dvsim_set_time(dvsim_vortex *v, int64_t now, int64_t counted_from)
{
    const int64_t angles = v->params.angles, replications = v->params.replications;
    v->now = now;
    v->counted_from = counted_from;
    v->room_until = 0;
    for (int64_t i = 0; i < v->threads && v->params.injection != DVSIM_INJECT_CARRIED; i++) {
        dvsim_shard *s = &v->shards[i];
        if (v->sliced) {
            dvsim_slices_stand(s, now);
            continue;
        }
        for (int64_t lane = 0; lane < s->lanes; lane++) {
            s->angle[lane] = 0;
            s->column[lane] = (s->first + lane) % replications;
            stand(s, lane, ((s->first + lane) / replications + now % angles + angles - 1) % angles);
        }
    }
}

/* Wait until every thread is at the end of the slot: awake while the others should be nearly there,
 * then asleep, so that a thread which waits for a core on a busy machine gets this one. */
static void meet(dvsim_vortex *v, int crew)
{
    const unsigned phase = atomic_load_explicit(&v->phase, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&v->arrived, 1, memory_order_acq_rel) + 1 == crew) {
        atomic_store_explicit(&v->arrived, 0, memory_order_relaxed);
        pthread_mutex_lock(&v->door);
        atomic_store_explicit(&v->phase, phase + 1, memory_order_release);
        pthread_mutex_unlock(&v->door);
        pthread_cond_broadcast(&v->opens);
        return;
    }
    for (int spins = 0; spins < MOST_SPINS; spins++) {
        if (atomic_load_explicit(&v->phase, memory_order_acquire) != phase) {
            return;
        }
    }
    pthread_mutex_lock(&v->door);
    while (atomic_load_explicit(&v->phase, memory_order_acquire) == phase) {
        pthread_cond_wait(&v->opens, &v->door);
    }
    pthread_mutex_unlock(&v->door);
}

static void run_slot(dvsim_shard *s, int64_t now)
{
    if (s->vortex->packetwise) {
        dvsim_move_packetwise(s, now);
    } else {
        dvsim_move(s, now);
    }
    turn(s);
    dvsim_inject(s, now);
}

/* Thread i of a crew runs shards i, i + crew, ..: one each, unless the system gave fewer threads. */
static void *run_shards(void *argument)
{
    dvsim_shard *first = argument;
    dvsim_vortex *v = first->vortex;
    int crew;
    while ((crew = atomic_load_explicit(&v->crew, memory_order_acquire)) == 0) {
        sched_yield();
    }
    /* a queue is served by another lane in the next slot, and that lane may be another thread's */
    for (int64_t i = first - v->shards; v->sliced && i < v->threads; i += crew) {
        v->shards[i].failed |= !dvsim_slices_run(&v->shards[i], v->now, v->until);
    }
    const int meeting = crew > 1 && v->params.injection != DVSIM_INJECT_DROP;
    for (int64_t now = v->now; !v->sliced && now < v->until; now++) {
        for (int64_t i = first - v->shards; i < v->threads; i += crew) {
            run_slot(&v->shards[i], now);
        }
        if (meeting) {
            meet(v, crew);
        }
    }
    return NULL;
}

static int grow(int64_t **histogram, int64_t from, int64_t to)
{
    int64_t *longer = realloc(*histogram, (size_t)to * sizeof *longer);
    if (longer == NULL) {
        return 0;
    }
    memset(longer + from, 0, (size_t)(to - from) * sizeof *longer);
    *histogram = longer;
    return 1;
}

/* Half as much again, so that many short calls cost no more. */
int dvsim_grow_histograms(dvsim_vortex *v, int64_t needed)
{
    if (needed <= v->histogram) {
        return 1;
    }
    int64_t length = needed < LEAST_HISTOGRAM ? LEAST_HISTOGRAM : needed + needed / 2;
    int grown = grow(&v->sum_hops, v->histogram, length) && grow(&v->sum_latency, v->histogram, length);
    for (int64_t i = 0; grown && i < v->threads; i++) {
        grown = grow(&v->shards[i].hops, v->histogram, length) &&
                grow(&v->shards[i].latency, v->histogram, length);
    }
    if (grown) {
        v->histogram = length;
    }
    return grown;
}

/* Slots for which the oldest packet has been in the switch or in its queue. */
static int64_t oldest(const dvsim_vortex *v)
{
    const uint64_t now = (uint64_t)v->now;
    uint64_t age = 0;
    for (int64_t i = 0; i < v->threads; i++) {
        for (int64_t k = 0; v->sliced && k < v->shards[i].strips; k++) {
            const uint64_t most = (UINT64_C(1) << v->shards[i].slices[k].stamp_bits) - 1;
            age = most > age ? most : age;
        }
        for (int64_t k = 0; !v->sliced && k < dvsim_cylinders(v) * v->params.height * v->shards[i].lanes; k++) {
            uint64_t packet = v->shards[i].cells[k];
            if (packet == 0) {
                continue;
            }
            uint64_t hops = dvsim_packet_hops(v->layout, packet, now);
            uint64_t latency = dvsim_packet_latency(v->layout, packet, now);
            age = hops > age ? hops : age;
            age = latency > age ? latency : age;
        }
    }
    for (int64_t k = 0; v->params.injection == DVSIM_INJECT_QUEUE && k < v->columns * v->params.height; k++) {
        if (v->waiting[k] > 0 && now - (uint64_t)v->head[k] > age) {
            age = now - (uint64_t)v->head[k];
        }
    }
    return (int64_t)age;
}

/* Histograms are as long as a packet can be old, or as stamps can tell, not as the run is long. To look
 * for the oldest one takes as long as a slot, so that is done only when they might be too short. */
static int make_room(dvsim_vortex *v, int64_t slots)
{
    const int64_t most = INT64_C(1) << v->layout.arrived_bits;
    if (v->now + slots <= v->room_until) {
        return 1;
    }
    const int64_t age = oldest(v), needed = age + slots + 1;
    if (!dvsim_grow_histograms(v, needed < most ? needed : most)) {
        return 0;
    }
    v->room_until = v->histogram < most ? v->now + v->histogram - age - 1 : INT64_MAX;
    return 1;
}

int dvsim_vortex_run(dvsim_vortex *v, int64_t slots)
{
    if (v == NULL || v->params.injection == DVSIM_INJECT_CARRIED || !dvsim_has_time(v->now, slots)) {
        return DVSIM_EINVAL;
    }
    if (v->failed || !make_room(v, slots)) {
        return DVSIM_ENOMEM;
    }
    v->until = v->now + slots;
    v->delivery_count = v->refused_count = 0;
    pthread_t workers[DVSIM_MOST_THREADS];
    int crew = 1;
    atomic_store_explicit(&v->crew, 0, memory_order_relaxed);
    while (crew < v->threads && pthread_create(&workers[crew], NULL, run_shards, &v->shards[crew]) == 0) {
        crew++;
    }
    atomic_store_explicit(&v->crew, crew, memory_order_release);
    run_shards(&v->shards[0]);
    for (int i = 1; i < crew; i++) {
        pthread_join(workers[i], NULL);
    }
    v->now = v->until;
    for (int64_t i = 0; i < v->threads; i++) {
        v->failed |= v->shards[i].failed;
    }
    return v->failed ? DVSIM_ENOMEM : DVSIM_OK;
}
