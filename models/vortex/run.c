/* run.c: slots one after the other, on one thread or several. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "vortex/switch.h"

enum { LEAST_HISTOGRAM = 1024 };

/* `column` goes along with the angle: it starts as the replication, at angle 0. */
static void stand(dvsim_shard *s, int64_t lane, int64_t angle)
{
    const dvsim_vortex *v = s->vortex;
    s->column[lane] += (angle - s->angle[lane]) * v->params.replications;
    s->angle[lane] = angle;
    s->draws[lane] = s->keys[lane] + ((uint64_t)angle << v->n) * DVSIM_DRAW_STEP;
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
    const int64_t angles = v->params.angles, replications = v->params.replications;
    v->now = now;
    v->counted_from = counted_from;
    v->room_until = 0;
    for (int64_t i = 0; i < v->threads; i++) {
        dvsim_shard *s = &v->shards[i];
        for (int64_t lane = 0; lane < s->lanes; lane++) {
            s->angle[lane] = 0;
            s->column[lane] = (s->first + lane) % replications;
            stand(s, lane, ((s->first + lane) / replications + now % angles + angles - 1) % angles);
        }
    }
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
    if (v == NULL || slots < 0 || v->params.injection == DVSIM_INJECT_CARRIED)
        return DVSIM_EINVAL;
    if (!make_room(v, slots))
        return DVSIM_ENOMEM;
    v->until = v->now + slots;
    v->delivery_count = v->refused_count = 0;
    pthread_t workers[DVSIM_MOST_THREADS];
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
