/* What if there is no memory? Linked with --wrap, so that the k-th allocation of a life (made, run, counted,
 * saved, freed) fails, for each k; under the sanitizers by test_core_c.py. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "host/receiver.h"
#include "network/network.h"
#include "vortex/vortex.h"

static _Atomic int64_t until_failure, asked; /* 0: none fails */
static int threads_fail;

static int fails(void)
{
    asked++;
    return until_failure > 0 && --until_failure == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *with);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    return fails() ? 12 : __real_posix_memalign(memory, alignment, size);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *with)
{
    return threads_fail ? 11 : __real_pthread_create(thread, how, run, with);
}

/* Each returns 1 if all went well, 0 if something was said to have failed. */
static int life_of_a_switch(int32_t injection)
{
    static const uint8_t all[3] = {1, 1, 1};
    static const uint32_t order[] = {1, 0, 3, 2, 5, 4, 7, 6, 1, 0, 3, 2, 1, 0}, hot[] = {7};
    static const dvsim_fault fault = {DVSIM_FAULT_NODE, 1, 0, 3};
    const int given = injection == DVSIM_INJECT_GIVEN;
    const dvsim_vortex_params p = {
        .height = 8,
        .angles = 3,
        .replications = 1,
        .crossing = DVSIM_CROSS_RANDOM,
        .injection = injection,
        .injecting = all,
        .order = order,
        .arrival_threshold = UINT64_C(1) << 31,
        .hot = hot,
        .hots = 1,
        .hot_threshold = UINT64_C(1) << 30,
        .faults = &fault,
        .fault_count = given,
        .watched = given ? 1000000 : 0,
    };
    dvsim_vortex *v = dvsim_vortex_create(&p, 3);
    if (v == NULL)
        return 0;
    int well = 1;
    for (int part = 0; part < 70; part++) {
        for (int64_t port = 0; given && port < 24; port++)
            well &= dvsim_vortex_give(v, port % 3, port / 3, 0, port / 3 ^ 5, port) == DVSIM_OK;
        well &= dvsim_vortex_run(v, given ? 1 : 30) == DVSIM_OK;
    }
    dvsim_vortex_counts counts;
    CHECK(dvsim_vortex_counts_now(v, &counts) == DVSIM_OK);
    const int64_t length = dvsim_vortex_state_bytes(v);
    uint8_t *bytes = length > 0 ? __real_malloc((size_t)length) : NULL;
    if (bytes != NULL)
        well &= dvsim_vortex_save(v, bytes) == DVSIM_OK && dvsim_vortex_load(v, bytes, length) == DVSIM_OK;
    free(bytes);
    dvsim_vortex_free(v);
    return well;
}

static int life_of_a_network(int32_t injection)
{
    static const uint32_t hot[] = {3};
    static int64_t slots[100][20];
    const dvsim_network_params p = {
        .height = 4,
        .angles = 3,
        .exit_rule = DVSIM_EXIT_ANY,
        .levels = 2,
        .ports = 8,
        .planes = 2,
        .link_slots = 2,
        .injection = injection,
        .together = 1,
        .traffic = {.arrival_threshold = UINT64_C(1) << 31, .hot = hot, .hots = 1, .hot_threshold = UINT64_C(1) << 31},
    };
    dvsim_network *net = dvsim_network_create(&p, 2);
    if (net == NULL)
        return 0;
    int well = 1;
    dvsim_network_counts counts;
    for (int part = 0; part < 2; part++) {
        for (int64_t i = 0; injection == DVSIM_INJECT_GIVEN && i < 100; i++)
            well &= (i % 2 ? dvsim_network_send(net, i % 8, i % 3, 20, i)
                           : dvsim_network_send_noted(net, i % 8, i % 3, 20, i, slots[i])) == DVSIM_OK;
        well &= dvsim_network_run(net, 600) == DVSIM_OK;
        well &= dvsim_network_counts_now(net, &counts) == DVSIM_OK;
        dvsim_network_reset_counts(net);
    }
    dvsim_network_free(net);
    return well;
}

static int life_of_a_receiver(int32_t times)
{
    enum { MESSAGES = 70, WORDS = 5 * MESSAGES };
    static int64_t slots[WORDS], pieces[3 * MESSAGES];
    const dvsim_card_params p = {
        .sram_bytes = 100 * WORDS,
        .group_counters = 64,
        .fifo_words = 2,
        .dma_entries = 50,
        .piece_words = 2,
        .pcie = {.crossing_ps = 4000, .load_ps = 9000, .store_fs = 2000, .look_ps = 50, .setup_ps = 10, .engine_fs = 125},
    };
    dvsim_receiver *r = dvsim_receiver_create(&p, 40, 3);
    if (r == NULL)
        return 0;
    int well = 1;
    for (int i = 0; i < WORDS; i++)
        slots[i] = i / 8;
    for (int32_t i = 1; well && i <= times; i++) {
        const dvsim_arrival_words arrival = {slots, 1000 * i, 100, 0};
        const dvsim_window window = {WORDS, 0, 0, 5};
        dvsim_burst burst;
        well &= dvsim_receiver_take(r, &arrival, i * MESSAGES / times, &window, pieces, &burst) == DVSIM_OK;
        well &= !well || dvsim_receiver_check(r);
    }
    dvsim_receiver_free(r);
    return well;
}

static void every_failure_is_told(int (*life)(int32_t), int32_t injection)
{
    until_failure = asked = 0;
    CHECK(life(injection));
    const int64_t all = asked;
    CHECK(all > 20);
    for (int64_t k = 1; k <= all; k++) {
        until_failure = k;
        CHECK(!life(injection));
    }
}

/* Whatever is left of the crew does the work of all. */
static void without_threads_it_runs_all_the_same(int32_t injection)
{
    threads_fail = 1;
    until_failure = 0;
    CHECK(life_of_a_switch(injection) && life_of_a_network(injection));
    threads_fail = 0;
}

int main(void)
{
    for (int32_t injection = DVSIM_INJECT_DROP; injection <= DVSIM_INJECT_GIVEN; injection++) {
        every_failure_is_told(life_of_a_switch, injection);
        every_failure_is_told(life_of_a_network, injection);
        without_threads_it_runs_all_the_same(injection);
    }
    every_failure_is_told(life_of_a_receiver, 3);
    puts("all checks passed");
    return 0;
}
