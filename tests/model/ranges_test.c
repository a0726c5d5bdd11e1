/* Is each number refused that is out of its range, one at a time, all others good? Parameters of a switch, a
 * network, a card and a ring; under the sanitizers by test_core_c.py. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "network/network.h"
#include "vortex/carried.h"
#include "vortex/vortex.h"

static const uint8_t ALL[3] = {1, 1, 1}, MANY[3] = {1, 2, 0};
static const uint32_t TO[8] = {1, 2, 3, 4, 5, 6, 7, 24}, NEAR[8] = {1, 2, 3, 4, 5, 6, 7, 0};
static const int64_t ONE_LATE[25] = {1}, BACK[25] = {0, 1, 0};

static int no_switch(const dvsim_vortex_params *p)
{
    return dvsim_vortex_bytes(p, 1) == -1 && dvsim_vortex_create(p, 1) == NULL;
}

static void a_switch_outside_its_ranges_is_refused(void)
{
    dvsim_vortex_params good = {.height = 8,
                                      .angles = 3,
                                      .replications = 1,
                                      .injecting = ALL,
                                      .arrival_threshold = 1,
                                      .destination = NEAR,
                                      .hot = NEAR,
                                      .hots = 8};
    REFUSES(no_switch, good, height, 1);
    REFUSES(no_switch, good, height, INT64_C(1) << 21);
    REFUSES(no_switch, good, angles, 4097);
    REFUSES(no_switch, good, replications, 0);
    REFUSES(no_switch, good, replications, 65536 / 3 + 1);
    REFUSES(no_switch, good, injecting, NULL);
    REFUSES(no_switch, good, injecting, MANY);
    REFUSES(no_switch, good, crossing, -1);
    REFUSES(no_switch, good, crossing, DVSIM_CROSS_RANDOM + 1);
    REFUSES(no_switch, good, exit_rule, -1);
    REFUSES(no_switch, good, exit_rule, DVSIM_EXIT_ANY + 1);
    REFUSES(no_switch, good, injection, -1);
    REFUSES(no_switch, good, injection, DVSIM_INJECT_CARRIED + 1);
    REFUSES(no_switch, good, destination, TO);
    REFUSES(no_switch, good, arrival_threshold, (UINT64_C(1) << 32) + 1);
    REFUSES(no_switch, good, hot_threshold, (UINT64_C(1) << 32) + 1);
    REFUSES(no_switch, good, burst_threshold, (UINT64_C(1) << 32) + 1);
    REFUSES(no_switch, good, burst_slots, -1);
    REFUSES(no_switch, good, hots, -1);
    REFUSES(no_switch, good, hots, (INT64_C(1) << 32) + 1);
    REFUSES(no_switch, good, hot, NULL);
    REFUSES(no_switch, good, trace_start, ONE_LATE);
    REFUSES(no_switch, good, fault_count, -1);
    REFUSES(no_switch, good, fault_count, 1); /* and no list */
    REFUSES(no_switch, good, watched, -1);
    dvsim_vortex_params many = good;
    many.replications = 2;
    many.watched = 1; /* of which switch? */
    CHECK(no_switch(&many) && dvsim_vortex_create(&good, 65) == NULL);
    many.watched = 0;
    many.injection = DVSIM_INJECT_CARRIED;
    CHECK(!no_switch(&many) && dvsim_vortex_create(&many, 2) == NULL);
}

static void a_fault_of_no_node_or_kind_is_refused(void)
{
    static dvsim_fault fault; /* the list that `good` points to */
    const dvsim_fault sound = {DVSIM_FAULT_DOWN, 3, 2, 7};
    dvsim_vortex_params good = {
        .height = 8, .angles = 3, .replications = 1, .injecting = ALL, .faults = &fault, .fault_count = 1};
    const dvsim_fault bad[] = {{0, 3, 2, 7},  {32, 3, 2, 7}, {3, 3, 2, 7},  {2, -1, 2, 7}, {2, 4, 2, 7},
                               {2, 3, -1, 7}, {2, 3, 3, 7},  {2, 3, 2, -1}, {2, 3, 2, 8}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fault = sound;
        CHECK(!no_switch(&good));
        fault = bad[i];
        CHECK(no_switch(&good));
    }
}

static void a_trace_out_of_order_is_refused(void)
{
    int64_t start[25], slot[3] = {1, 4, 9};
    uint32_t to[3] = {0, 5, 23};
    for (int i = 0; i < 25; i++)
        start[i] = i == 0 ? 0 : 3; /* all at the first port */
    dvsim_vortex_params good = {.height = 8, .angles = 3, .replications = 1, .injecting = ALL};
    good.trace_start = start;
    good.trace_slot = slot;
    good.trace_to = to;
    REFUSES(no_switch, good, trace_slot, NULL);
    REFUSES(no_switch, good, trace_to, NULL);
    REFUSES(no_switch, good, trace_start, BACK);
    slot[1] = 1; /* two of one slot */
    CHECK(no_switch(&good));
    slot[1] = 4, slot[0] = -1;
    CHECK(no_switch(&good));
    slot[0] = 1, to[2] = 24;
    CHECK(no_switch(&good));
}

static int no_network(const dvsim_network_params *p)
{
    return dvsim_network_bytes(p) == -1 && dvsim_network_create(p, 1) == NULL;
}

static void a_network_outside_its_ranges_is_refused(void)
{
    dvsim_network_params good = {
        .height = 8, .angles = 3, .exit_rule = DVSIM_EXIT_ANY, .levels = 2, .ports = 32, .planes = 1};
    REFUSES(no_network, good, crossing, -1);
    REFUSES(no_network, good, crossing, DVSIM_CROSS_RANDOM + 1);
    REFUSES(no_network, good, exit_rule, -1);
    REFUSES(no_network, good, exit_rule, DVSIM_EXIT_ANY + 1);
    REFUSES(no_network, good, injecting, -1);
    REFUSES(no_network, good, levels, 0);
    REFUSES(no_network, good, ports, 1);
    REFUSES(no_network, good, ports, 4);  /* one group */
    REFUSES(no_network, good, ports, 30); /* no whole group */
    REFUSES(no_network, good, ports, (INT64_C(1) << 24) + 1);
    REFUSES(no_network, good, planes, 0);
    REFUSES(no_network, good, planes, 257);
    REFUSES(no_network, good, link_slots, -1);
    REFUSES(no_network, good, link_slots, 65537);
    REFUSES(no_network, good, injection, -1);
    REFUSES(no_network, good, injection, DVSIM_INJECT_GIVEN + 1);
    REFUSES(no_network, good, together, -1);
    dvsim_network_params large = good;
    large.exit_rule = DVSIM_EXIT_ANGLE;
    large.levels = 1;
    large.height = INT64_C(1) << 20;
    large.angles = 4096; /* a radix of 2^32 */
    CHECK(no_network(&large));
    large = good;
    large.levels = 3;
    large.ports = 8; /* 16 are below one switch of the second level */
    CHECK(no_network(&large));
    large.height = 512;
    large.ports = INT64_C(1) << 24; /* 65,536 leaves of 3 angles */
    CHECK(no_network(&large));
    dvsim_network_counts counts;
    dvsim_network_totals totals;
    dvsim_network *net = dvsim_network_create(&good, 1);
    CHECK(net != NULL && dvsim_network_run(NULL, 1) == DVSIM_EINVAL && dvsim_network_begin(NULL, 1) == DVSIM_EINVAL);
    CHECK(dvsim_network_go_on(NULL, 1) == DVSIM_EINVAL && dvsim_network_go_on(net, 0) == DVSIM_EINVAL);
    CHECK(dvsim_network_groups(NULL) == 0 && dvsim_network_slots_now(NULL) == 0);
    CHECK(dvsim_network_counts_now(NULL, &counts) == DVSIM_EINVAL);
    CHECK(dvsim_network_counts_now(net, NULL) == DVSIM_EINVAL);
    CHECK(dvsim_network_totals_now(NULL, &totals) == DVSIM_EINVAL);
    CHECK(dvsim_network_totals_now(net, NULL) == DVSIM_EINVAL);
    CHECK(dvsim_network_send(net, 0, 1, 1, 7) == DVSIM_ESTATE); /* not `given` */
    dvsim_network_reset_counts(NULL);
    dvsim_network_free(net);
    dvsim_network_free(NULL);
}

static void words_from_or_to_no_port_are_refused(void)
{
    const dvsim_network_params p = {.height = 8,
                                    .angles = 3,
                                    .exit_rule = DVSIM_EXIT_ANY,
                                    .levels = 1,
                                    .ports = 8,
                                    .planes = 2,
                                    .injection = DVSIM_INJECT_GIVEN};
    dvsim_network *net = dvsim_network_create(&p, 1);
    CHECK(net != NULL && dvsim_network_send(NULL, 0, 1, 1, 7) == DVSIM_EINVAL);
    CHECK(dvsim_network_send(net, -1, 1, 1, 7) == DVSIM_EINVAL && dvsim_network_send(net, 8, 1, 1, 7) == DVSIM_EINVAL);
    CHECK(dvsim_network_send(net, 0, -1, 1, 7) == DVSIM_EINVAL && dvsim_network_send(net, 0, 8, 1, 7) == DVSIM_EINVAL);
    CHECK(dvsim_network_send(net, 0, 1, 0, 7) == DVSIM_EINVAL);
    CHECK(dvsim_network_send(net, 0, 1, (INT64_C(1) << 40) + 1, 7) == DVSIM_EINVAL);
    CHECK(dvsim_network_send_noted(net, 0, 1, 1, 7, NULL) == DVSIM_EINVAL && dvsim_network_waiting(net, 0) == 0);
    CHECK(dvsim_network_send(net, 0, 1, 5, 7) == DVSIM_OK && dvsim_network_waiting(net, 0) == 2); /* on both planes */
    CHECK(dvsim_network_waiting(net, 1) == 0);
    CHECK(dvsim_network_begin(net, 2) == DVSIM_OK && dvsim_network_send(net, 0, 1, 1, 7) == DVSIM_ESTATE);
    CHECK(dvsim_network_slots_now(net) == 2 && dvsim_network_go_on(net, 100) == 0);
    CHECK(dvsim_network_run_until(net, 1000) > 0 && dvsim_network_waiting(net, 0) == 0);
    dvsim_network_free(net);
}

static void what_has_no_counts_or_state_says_so(void)
{
    const dvsim_vortex_params p = {.height = 8, .angles = 3, .replications = 1, .injecting = ALL};
    dvsim_vortex_params carried = p, given = p;
    carried.injection = DVSIM_INJECT_CARRIED;
    given.injection = DVSIM_INJECT_GIVEN;
    given.injecting = (const uint8_t[]){1, 0, 1};
    given.exit_rule = DVSIM_EXIT_ANY;
    dvsim_vortex *v = dvsim_vortex_create(&p, 1), *c = dvsim_vortex_create(&carried, 1);
    dvsim_vortex *g = dvsim_vortex_create(&given, 1);
    dvsim_vortex_counts counts;
    dvsim_vortex_totals totals;
    uint8_t bytes[64] = {0};
    CHECK(v != NULL && c != NULL && g != NULL);
    CHECK(dvsim_vortex_counts_now(NULL, &counts) == DVSIM_EINVAL && dvsim_vortex_counts_now(v, NULL) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_counts_now(c, &counts) == DVSIM_EINVAL && dvsim_vortex_totals_now(c, &totals) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_totals_now(NULL, &totals) == DVSIM_EINVAL && dvsim_vortex_totals_now(v, NULL) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_run(NULL, 1) == DVSIM_EINVAL && dvsim_vortex_run(c, 1) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_skip(v, 1) == DVSIM_ESTATE && dvsim_vortex_skip(NULL, 1) == DVSIM_ESTATE);
    CHECK(dvsim_vortex_skip(c, -1) == DVSIM_EINVAL && dvsim_vortex_advance(c, NULL, NULL) == DVSIM_ESTATE);
    CHECK(dvsim_vortex_state_bytes(NULL) == -1 && dvsim_vortex_state_bytes(g) == -1);
    CHECK(dvsim_vortex_save(g, bytes) == DVSIM_EINVAL && dvsim_vortex_save(v, NULL) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_load(g, bytes, 64) == DVSIM_EINVAL && dvsim_vortex_load(v, NULL, 64) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_load(v, bytes, 8) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_give(NULL, 0, 0, 0, 0, 1) == DVSIM_EINVAL && dvsim_vortex_give(v, 0, 0, 0, 0, 1) == DVSIM_ESTATE);
    CHECK(dvsim_vortex_give(g, -1, 0, 0, 0, 1) == DVSIM_EINVAL && dvsim_vortex_give(g, 0, -1, 0, 0, 1) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_give(g, 0, 8, 0, 0, 1) == DVSIM_EINVAL && dvsim_vortex_give(g, 0, 0, 3, 0, 1) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_give(g, 0, 0, 1, 0, 1) == DVSIM_EINVAL && dvsim_vortex_give(g, 1, 0, 0, 0, 1) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_give(g, 0, 0, 0, 0, 1) == DVSIM_OK && dvsim_vortex_give(g, 0, 0, 0, 0, 1) == DVSIM_ESTATE);
    CHECK(dvsim_vortex_at(NULL, 0, 0, 0) == DVSIM_EINVAL && dvsim_vortex_at(v, 4, 0, 0) == DVSIM_EINVAL);
    CHECK(dvsim_vortex_at(v, -1, 0, 0) == DVSIM_EINVAL && dvsim_vortex_at(v, 0, 0, 0) == 0);
    dvsim_vortex_reset_counts(NULL);
    dvsim_vortex_free(v);
    dvsim_vortex_free(c);
    dvsim_vortex_free(g);
    dvsim_vortex_free(NULL);
}

int main(void)
{
    a_switch_outside_its_ranges_is_refused();
    a_fault_of_no_node_or_kind_is_refused();
    a_trace_out_of_order_is_refused();
    a_network_outside_its_ranges_is_refused();
    words_from_or_to_no_port_are_refused();
    what_has_no_counts_or_state_says_so();
    puts("checks passed");
    return 0;
}
