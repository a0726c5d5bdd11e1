/* run.c: parts on threads. Planes never meet, so a part goes all its slots alone. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>

#include "network/internal.h"

typedef struct {
    dvsim_network *network;
    int64_t slots, end;
    atomic_llong next;
} work;

static void *run_parts(void *argument)
{
    work *w = argument;
    for (int64_t i; (i = atomic_fetch_add(&w->next, 1)) < w->end;) {
        dvsim_network_slots(&w->network->parts[i], w->slots);
    }
    return NULL;
}

static void run_on_threads(dvsim_network *net, int64_t end, int64_t threads)
{
    pthread_t workers[DVSIM_MOST_PARTS];
    work w = {net, net->pending, end, net->next_part};
    int64_t started = 1;
    for (; started < threads && started < end - net->next_part; started++) {
        if (pthread_create(&workers[started], NULL, run_parts, &w) != 0) {
            break; /* then fewer do the same */
        }
    }
    run_parts(&w);
    for (int64_t i = 1; i < started; i++) {
        pthread_join(workers[i], NULL);
    }
    net->next_part = end;
}

/* All parts have run the slots. */
static int finish(dvsim_network *net)
{
    for (int64_t i = 0; i < net->part_count; i++) {
        net->failed |= net->parts[i].failed;
    }
    net->now += net->pending;
    net->pending = net->next_part = 0;
    net->failed |= !dvsim_network_collect(net);
    return net->failed ? DVSIM_ENOMEM : DVSIM_OK;
}

static int can_run(const dvsim_network *net, int64_t slots)
{
    if (net == NULL || !dvsim_has_time(net->now, slots)) {
        return DVSIM_EINVAL;
    }
    return net->failed ? DVSIM_ENOMEM : net->pending > 0 ? DVSIM_ESTATE : DVSIM_OK;
}

int dvsim_network_begin(dvsim_network *net, int64_t slots)
{
    const int code = can_run(net, slots);
    if (code != DVSIM_OK) {
        return code;
    }
    net->completion_count = 0;
    net->pending = slots;
    return DVSIM_OK;
}

int64_t dvsim_network_go_on(dvsim_network *net, int64_t groups)
{
    if (net == NULL || groups < 1) {
        return DVSIM_EINVAL;
    }
    if (net->failed) {
        return DVSIM_ENOMEM;
    }
    if (net->pending == 0) {
        return 0;
    }
    const int64_t left = net->part_count - net->next_part;
    run_on_threads(net, net->next_part + (groups < left ? groups : left), net->threads);
    if (net->next_part < net->part_count) {
        return net->part_count - net->next_part;
    }
    return finish(net);
}

int64_t dvsim_network_groups(const dvsim_network *net)
{
    return net == NULL ? 0 : net->part_count;
}

int64_t dvsim_network_slots_now(const dvsim_network *net)
{
    return net == NULL ? 0 : net->now + net->pending - net->counted_from;
}

int dvsim_network_run(dvsim_network *net, int64_t slots)
{
    const int code = dvsim_network_begin(net, slots);
    return code != DVSIM_OK ? code : (int)dvsim_network_go_on(net, net->part_count);
}

int64_t dvsim_network_run_until(dvsim_network *net, int64_t slots)
{
    const int code = can_run(net, slots);
    if (code != DVSIM_OK) {
        return code;
    }
    net->completion_count = 0;
    int64_t ran = 0;
    while (ran < slots && net->completion_count == 0) {
        int64_t words = 0;
        for (int64_t i = 0; i < net->part_count; i++) {
            words += net->parts[i].words_left;
        }
        net->pending = words > 0 ? 1 : slots - ran; /* or nothing can end */
        ran += net->pending;
        run_on_threads(net, net->part_count, 1);
        if (finish(net) != DVSIM_OK) {
            return DVSIM_ENOMEM;
        }
    }
    return ran;
}
