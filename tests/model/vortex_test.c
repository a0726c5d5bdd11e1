/* Checks of the switch that only C can make; built once with the address and undefined-behaviour
 * sanitizers and once with the thread sanitizer by test_core_c.py. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "vortex/packet.h"
#include "vortex/vortex.h"

/* Whether threads race shows in few slots, each of which takes the thread sanitizer ten times as long;
 * the other build has as many slots and states as it takes to count beyond a byte and to hit all parts, and does what
 * is for one thread alone. */
#ifdef __SANITIZE_THREAD__
enum { LONG = 40, MADE_UP = 20, ALONE = 0 };
#else
enum { LONG = 300, MADE_UP = 100, ALONE = 1 };
#endif

static const uint8_t ALL[13] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static dvsim_vortex_params params(int64_t height, int64_t angles)
{
    return (dvsim_vortex_params){
        .height = height,
        .angles = angles,
        .replications = 1,
        .injecting = ALL,
        .seed = 7,
        .arrival_threshold = UINT64_C(1) << 31,
        .layout = DVSIM_LAYOUT_SLICES, /* where that can be done */
    };
}

static void bad_parameters_are_refused(void)
{
    dvsim_vortex_params p = params(12, 3);
    CHECK(dvsim_vortex_create(&p, 1) == NULL && dvsim_vortex_bytes(&p, 1) == -1);
    p = params(8, 0);
    CHECK(dvsim_vortex_create(&p, 1) == NULL);
    p = params(8, 3);
    CHECK(dvsim_vortex_create(&p, 0) == NULL && dvsim_vortex_create(NULL, 1) == NULL);
    p.injecting = (const uint8_t[]){0, 0, 0};
    CHECK(dvsim_vortex_create(&p, 1) == NULL);
    p = params(8, 3);
    p.crossing = DVSIM_CROSS_RANDOM; /* without permutations */
    CHECK(dvsim_vortex_create(&p, 1) == NULL);
    p.order = (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7, 1, 0, 3, 2, 1, 0}; /* keeps bit 0 */
    CHECK(dvsim_vortex_create(&p, 1) == NULL);
    p.order = (const uint32_t[]){1, 0, 1, 0, 5, 4, 7, 6, 1, 0, 3, 2, 1, 0}; /* 0 and 2 both go to 1 */
    CHECK(dvsim_vortex_create(&p, 1) == NULL);
    p = params(8, 3);
    p.hot = (const uint32_t[]){24};
    p.hots = 1;
    CHECK(dvsim_vortex_create(&p, 1) == NULL);
    p = params(8, 3);
    p.faults = (const dvsim_fault[]){{DVSIM_FAULT_NODE, 4, 0, 0}};
    p.fault_count = 1;
    CHECK(dvsim_vortex_create(&p, 1) == NULL);
}

static void packets_are_conserved(int32_t injection, int64_t threads)
{
    dvsim_vortex_params p = params(64, 5);
    p.injection = injection;
    dvsim_vortex *v = dvsim_vortex_create(&p, threads);
    dvsim_vortex_counts k;
    CHECK(v != NULL && dvsim_vortex_run(v, 500) == DVSIM_OK);
    CHECK(dvsim_vortex_counts_now(v, &k) == DVSIM_OK);
    CHECK(k.accepted == k.delivered + k.in_flight + k.lost && k.delivered > 0 && k.lost == 0);
    if (injection == DVSIM_INJECT_QUEUE)
        CHECK(k.offered == k.accepted + k.waiting);
    int64_t hops = 0;
    for (int64_t i = 0; i < k.hops_length; i++)
        hops += k.hops[i];
    CHECK(hops == k.delivered);
    dvsim_vortex_free(v);
}

static void threads_agree(int32_t injection)
{
    dvsim_vortex_params p = params(32, 6);
    p.injection = injection;
    dvsim_vortex *one = dvsim_vortex_create(&p, 1), *three = dvsim_vortex_create(&p, 3);
    CHECK(one != NULL && three != NULL);
    for (int part = 0; part < 5; part++) {
        CHECK(dvsim_vortex_run(one, 40) == DVSIM_OK && dvsim_vortex_run(three, 40) == DVSIM_OK);
        for (int64_t c = 0; c <= 5; c++)
            for (int64_t a = 0; a < 6; a++)
                for (int64_t h = 0; h < 32; h++)
                    CHECK(dvsim_vortex_at(one, c, a, h) == dvsim_vortex_at(three, c, a, h));
    }
    dvsim_vortex_free(one);
    dvsim_vortex_free(three);
}

static void a_saved_switch_goes_on_as_if_nothing_had_been(int32_t injection)
{
    dvsim_vortex_params p = params(16, 3);
    p.injection = injection;
    dvsim_vortex *whole = dvsim_vortex_create(&p, 1), *half = dvsim_vortex_create(&p, 3);
    CHECK(dvsim_vortex_run(whole, 300) == DVSIM_OK && dvsim_vortex_run(half, 123) == DVSIM_OK);
    int64_t length = dvsim_vortex_state_bytes(half);
    CHECK(length > 0);
    uint8_t *bytes = malloc((size_t)length);
    CHECK(dvsim_vortex_save(half, bytes) == DVSIM_OK);
    dvsim_vortex *other = dvsim_vortex_create(&p, 2);
    CHECK(dvsim_vortex_load(other, bytes, length - 8) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_load(other, bytes, length) == DVSIM_OK);
    CHECK(dvsim_vortex_run(other, 300 - 123) == DVSIM_OK);
    dvsim_vortex_counts a, b;
    CHECK(dvsim_vortex_counts_now(whole, &a) == DVSIM_OK && dvsim_vortex_counts_now(other, &b) == DVSIM_OK);
    CHECK(a.slots == b.slots && a.accepted == b.accepted && a.delivered == b.delivered &&
          a.waiting == b.waiting && a.in_flight == b.in_flight && a.hops_length == b.hops_length);
    CHECK(memcmp(a.hops, b.hops, (size_t)a.hops_length * sizeof *a.hops) == 0);
    CHECK(memcmp(a.delivered_at, b.delivered_at, 48 * sizeof *a.delivered_at) == 0);
    bytes[0] ^= 1;
    dvsim_vortex *fresh = dvsim_vortex_create(&p, 1);
    CHECK(dvsim_vortex_load(fresh, bytes, length) == DVSIM_EINVAL);
    free(bytes);
    dvsim_vortex_free(whole);
    dvsim_vortex_free(half);
    dvsim_vortex_free(other);
    dvsim_vortex_free(fresh);
}

static void no_slots_can_be_run_beyond_the_end_of_time(void)
{
    const dvsim_vortex_params p = params(8, 3);
    dvsim_vortex *v = dvsim_vortex_create(&p, 1);
    CHECK(dvsim_vortex_at(v, 0, 0, 0) == 0 && dvsim_vortex_at(v, 4, 0, 0) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_run(v, -1) == DVSIM_EINVAL && dvsim_vortex_run(v, INT64_MAX) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_run(v, 10) == DVSIM_OK);
    CHECK(dvsim_vortex_run(v, INT64_C(1) << 62) == DVSIM_EINVAL);
    dvsim_vortex_free(v);
}

/* As state.c sums up, so that what is damaged looks as if it had been saved. */
enum { SUM = 9 };
static void sum_up(uint8_t *bytes, int64_t length)
{
    uint64_t sum = 0, word;
    for (int64_t k = 0; k < length / 8; k++) {
        memcpy(&word, bytes + 8 * k, sizeof word);
        sum = k == SUM ? sum : dvsim_mix(sum ^ word) + DVSIM_DRAW_STEP;
    }
    memcpy(bytes + 8 * SUM, &sum, sizeof sum);
}

/* The sanitizers look on. */
static void a_state_that_was_tampered_with_is_refused_or_harmless(int32_t injection, int32_t exit_rule)
{
    static const dvsim_fault faults[] = {{DVSIM_FAULT_STAY, 3, 0, 0}};
    dvsim_vortex_params p = params(8, 3);
    p.injection = injection;
    p.exit_rule = exit_rule;
    uint64_t random = 1;
    int taken = 0;
    for (int i = 0; i < MADE_UP; i++) {
        p.faults = faults;
        p.fault_count = i % 2;
        dvsim_vortex *v = dvsim_vortex_create(&p, 2), *other = dvsim_vortex_create(&p, 2);
        CHECK(v != NULL && other != NULL && dvsim_vortex_run(v, 50) == DVSIM_OK);
        const int64_t length = dvsim_vortex_state_bytes(v);
        uint8_t *bytes = malloc((size_t)length);
        CHECK(bytes != NULL && dvsim_vortex_save(v, bytes) == DVSIM_OK);
        random = dvsim_draw(random, (uint64_t)i);
        const uint64_t cells = 10 * 8, some = i % 4 ? 4 * 24 * 8 : (uint64_t)length - cells;
        bytes[cells + (random >> 16) % some] ^= (uint8_t)(1 + random % 255);
        CHECK(dvsim_vortex_load(other, bytes, length) == DVSIM_EINVAL);
        sum_up(bytes, length);
        if (dvsim_vortex_load(other, bytes, length) == DVSIM_OK) {
            dvsim_vortex_counts k;
            CHECK(dvsim_vortex_run(other, 50) == DVSIM_OK && dvsim_vortex_counts_now(other, &k) == DVSIM_OK);
            taken++;
        }
        free(bytes);
        dvsim_vortex_free(v);
        dvsim_vortex_free(other);
    }
    CHECK(taken < MADE_UP);
}

static void same(dvsim_vortex *whole, dvsim_vortex *careful, int64_t angles)
{
    dvsim_vortex_counts a, b;
    CHECK(dvsim_vortex_counts_now(whole, &a) == DVSIM_OK && dvsim_vortex_counts_now(careful, &b) == DVSIM_OK);
    const size_t ports = (size_t)(1024 * angles) * sizeof(int64_t), cylinders = 11 * sizeof(int64_t);
    CHECK(memcmp(a.offered_at, b.offered_at, ports) == 0 && memcmp(a.accepted_at, b.accepted_at, ports) == 0);
    CHECK(memcmp(a.delivered_at, b.delivered_at, ports) == 0);
    CHECK(memcmp(a.wanted, b.wanted, cylinders) == 0 && memcmp(a.blocked, b.blocked, cylinders) == 0);
    CHECK(memcmp(a.present, b.present, cylinders) == 0 && a.hops_length == b.hops_length);
    CHECK(memcmp(a.hops, b.hops, (size_t)a.hops_length * sizeof *a.hops) == 0);
    for (int64_t c = 0; c <= 10; c++)
        for (int64_t place = 0; place < 1024 * angles; place++)
            CHECK(dvsim_vortex_at(whole, c, place % angles, place / angles) ==
                  dvsim_vortex_at(careful, c, place % angles, place / angles));
}

/* Cylinders of more words than go down at once, and more slots than a byte can count. */
static void a_large_switch_agrees_with_the_one_that_goes_packet_by_packet(int64_t angles, int64_t threads)
{
    static const char *const kernels[] = {"portable", "avx2", "avx512"};
    dvsim_vortex_params p = params(1024, angles);
    p.watched = 1;
    dvsim_vortex *careful = dvsim_vortex_create(&p, 1);
    p.watched = 0;
    CHECK(careful != NULL && dvsim_vortex_run(careful, LONG) == DVSIM_OK);
    for (int k = 0; k < 3; k++) {
        CHECK(setenv("DVSIM_SIMD", kernels[k], 1) == 0);
        for (p.layout = DVSIM_LAYOUT_WORDS; p.layout <= DVSIM_LAYOUT_SLICES; p.layout++) {
            dvsim_vortex *whole = dvsim_vortex_create(&p, threads);
            CHECK(whole != NULL && dvsim_vortex_run(whole, LONG) == DVSIM_OK);
            same(whole, careful, angles);
            dvsim_vortex_free(whole);
        }
    }
    CHECK(unsetenv("DVSIM_SIMD") == 0);
    dvsim_vortex_free(careful);
}

static void given_packets_arrive_with_their_handles(void)
{
    dvsim_vortex_params p = params(8, 2);
    p.injection = DVSIM_INJECT_GIVEN;
    dvsim_vortex *v = dvsim_vortex_create(&p, 2);
    CHECK(v != NULL);
    CHECK(dvsim_vortex_give(v, 2, 0, 0, 0, 1) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_give(v, 0, 3, 1, 5, 42) == DVSIM_OK);
    CHECK(dvsim_vortex_give(v, 0, 3, 1, 6, 43) == DVSIM_ESTATE);
    int64_t slots = 0, got = 0;
    const dvsim_delivery *out;
    while (got == 0 && slots++ < 50) {
        CHECK(dvsim_vortex_run(v, 1) == DVSIM_OK);
        got = dvsim_vortex_deliveries(v, &out);
    }
    CHECK(got == 1 && out->handle == 42 && out->angle == 1 && out->height == 5);
    CHECK(out->hops == slots - 1); /* it entered in the first slot */
    dvsim_vortex_free(v);
}

static void a_lost_packet_is_counted(void)
{
    static const dvsim_fault faults[] = {{DVSIM_FAULT_STAY, 3, 0, 0}, {DVSIM_FAULT_FREE, 1, 1, 2}};
    dvsim_vortex_params p = params(8, 3);
    p.faults = faults;
    p.fault_count = 2;
    p.watched = 50;
    dvsim_vortex *v = dvsim_vortex_create(&p, 1);
    dvsim_vortex_counts k;
    const dvsim_event *events;
    CHECK(v != NULL && dvsim_vortex_run(v, 400) == DVSIM_OK);
    CHECK(dvsim_vortex_counts_now(v, &k) == DVSIM_OK);
    CHECK(k.lost > 0 && k.accepted == k.delivered + k.lost + k.in_flight);
    int64_t count = dvsim_vortex_events(v, &events), ends = 0;
    for (int64_t i = 0; i < count; i++)
        ends += events[i].kind == DVSIM_EVENT_LEAVE || events[i].kind == DVSIM_EVENT_LOSE;
    CHECK(ends == 50);
    dvsim_vortex_free(v);
}

int main(void)
{
    for (int32_t injection = DVSIM_INJECT_DROP; injection <= DVSIM_INJECT_SATURATE; injection++) {
        packets_are_conserved(injection, 4);
        threads_agree(injection);
        a_saved_switch_goes_on_as_if_nothing_had_been(injection);
        a_state_that_was_tampered_with_is_refused_or_harmless(injection, DVSIM_EXIT_ANGLE);
        a_state_that_was_tampered_with_is_refused_or_harmless(injection, DVSIM_EXIT_ANY);
    }
    a_large_switch_agrees_with_the_one_that_goes_packet_by_packet(8, 2);
    a_large_switch_agrees_with_the_one_that_goes_packet_by_packet(13, 2);
    given_packets_arrive_with_their_handles();
    if (ALONE) {
        bad_parameters_are_refused();
        for (int32_t injection = DVSIM_INJECT_DROP; injection <= DVSIM_INJECT_SATURATE; injection++)
            packets_are_conserved(injection, 1);
        no_slots_can_be_run_beyond_the_end_of_time();
        a_large_switch_agrees_with_the_one_that_goes_packet_by_packet(3, 1);
        a_large_switch_agrees_with_the_one_that_goes_packet_by_packet(4, 1);
        a_lost_packet_is_counted();
    }
    puts("all checks passed");
    return 0;
}
