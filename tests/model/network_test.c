/* Checks of the network that only C can make; built with the sanitizers by test_core_c.py. What is for one thread alone
 * is not done under the thread sanitizer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "network/network.h"
#include "vortex/carried.h"
#include "vortex/packet.h"

#ifdef __SANITIZE_THREAD__
enum { ALONE = 0 };
#else
enum { ALONE = 1 };
#endif

static dvsim_network_params params(int64_t levels, int64_t ports)
{
    return (dvsim_network_params){
        .height = 8,
        .angles = 3,
        .exit_rule = DVSIM_EXIT_ANY,
        .levels = levels,
        .ports = ports,
        .planes = 3,
        .link_slots = 2,
        .seed = 7,
        .traffic = {.arrival_threshold = UINT64_C(1) << 31},
    };
}

static int refused(const dvsim_network_params *p)
{
    return dvsim_network_bytes(p) == -1 && dvsim_network_create(p, 1) == NULL;
}

static void bad_parameters_are_refused(void)
{
    CHECK(dvsim_network_create(NULL, 1) == NULL && dvsim_network_bytes(NULL) == -1);
    dvsim_network_params p = params(1, 16); /* a switch has 8 */
    CHECK(refused(&p));
    p = params(2, 24); /* 6 groups do not divide 8 links */
    CHECK(refused(&p));
    p = params(4, 128);
    CHECK(refused(&p));
    p = params(2, 32);
    CHECK(dvsim_network_create(&p, 0) == NULL);
    p.height = 6;
    CHECK(refused(&p));
    p = params(2, 32);
    p.injecting = 3;
    CHECK(refused(&p));
    p = params(2, 32);
    p.crossing = DVSIM_CROSS_RANDOM; /* without permutations */
    CHECK(refused(&p));
    p = params(2, 32);
    p.traffic.hot = (const uint32_t[]){32};
    p.traffic.hots = 1;
    CHECK(refused(&p));
    p = params(2, 32);
    p.traffic.trace_start = (const int64_t[97]){1};
    CHECK(refused(&p));
    p = params(1, 1 << 18);
    p.height = 1 << 18;
    p.angles = 64; /* no room in a word for the time */
    CHECK(refused(&p));
}

static int64_t total(const int64_t *counts, int64_t length)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < length; k++)
        sum += counts[k];
    return sum;
}

static void packets_are_conserved(int64_t levels, int64_t ports, int32_t injection, int64_t threads)
{
    dvsim_network_params p = params(levels, ports);
    p.injection = injection;
    p.together = 1;
    dvsim_network *net = dvsim_network_create(&p, threads);
    CHECK(net != NULL);
    for (int part = 0; part < 4; part++) {
        dvsim_network_counts k;
        CHECK(dvsim_network_run(net, 60) == DVSIM_OK && dvsim_network_counts_now(net, &k) == DVSIM_OK);
        CHECK(k.accepted == k.delivered + k.in_flight && k.delivered > 0);
        CHECK(total(k.hops, k.hops_length) == k.delivered && total(k.latency, k.latency_length) == k.delivered);
        CHECK(total(k.delivered_at, 3 * ports) == k.delivered);
        if (injection == DVSIM_INJECT_QUEUE)
            CHECK(k.offered == k.accepted + k.waiting);
        dvsim_network_totals t;
        CHECK(dvsim_network_totals_now(net, &t) == DVSIM_OK);
        CHECK(t.slots == k.slots && t.delivered == k.delivered && t.waiting == k.waiting);
    }
    dvsim_network_reset_counts(net);
    dvsim_network_counts k;
    CHECK(dvsim_network_counts_now(net, &k) == DVSIM_OK && k.slots == 0 && k.offered == 0 && k.in_flight > 0);
    dvsim_network_free(net);
}

static void a_run_in_pieces_is_the_same_run(int32_t injection)
{
    dvsim_network_params p = params(2, 16);
    p.injection = injection;
    p.together = 1;
    dvsim_network *whole = dvsim_network_create(&p, 1), *cut = dvsim_network_create(&p, 2);
    dvsim_network_counts a, b;
    dvsim_network_totals t;
    CHECK(dvsim_network_run(whole, 70) == DVSIM_OK);
    CHECK(dvsim_network_groups(cut) == 3 && dvsim_network_go_on(cut, 1) == 0);
    for (int part = 0; part < 7; part++) {
        CHECK(dvsim_network_begin(cut, 10) == DVSIM_OK && dvsim_network_begin(cut, 1) == DVSIM_ESTATE);
        CHECK(dvsim_network_go_on(cut, 2) == 1 && dvsim_network_slots_now(cut) == 10 * (part + 1));
        CHECK(dvsim_network_counts_now(cut, &b) == DVSIM_ESTATE);
        CHECK(dvsim_network_totals_now(cut, &t) == DVSIM_ESTATE && dvsim_network_run(cut, 1) == DVSIM_ESTATE);
        CHECK(dvsim_network_go_on(cut, 2) == 0);
    }
    CHECK(dvsim_network_counts_now(whole, &a) == DVSIM_OK && dvsim_network_counts_now(cut, &b) == DVSIM_OK);
    CHECK(a.slots == b.slots && a.delivered == b.delivered && a.in_flight == b.in_flight && a.waiting == b.waiting);
    CHECK(a.latency_length == b.latency_length &&
          memcmp(a.latency, b.latency, (size_t)a.latency_length * sizeof *a.latency) == 0);
    dvsim_network_free(whole);
    dvsim_network_free(cut);
}

static void bursts_arrive_whole_and_stop_the_run(int64_t threads)
{
    dvsim_network_params p = params(3, 128);
    p.injection = DVSIM_INJECT_GIVEN;
    p.together = 1;
    dvsim_network *net = dvsim_network_create(&p, threads), *other = dvsim_network_create(&p, 1);
    CHECK(net != NULL && other != NULL);
    CHECK(dvsim_network_send(net, 128, 0, 1, 0) == DVSIM_EINVAL);
    CHECK(dvsim_network_send(net, 0, 0, 0, 0) == DVSIM_EINVAL);
    CHECK(dvsim_network_send(net, 0, 0, INT64_MAX, 0) == DVSIM_EINVAL);
    CHECK(dvsim_network_run(net, INT64_MAX) == DVSIM_EINVAL && dvsim_network_run(net, -1) == DVSIM_EINVAL);
    const int64_t bursts = 300;
    for (int64_t i = 0; i < bursts; i++) {
        CHECK(dvsim_network_send(net, i % 128, i * 37 % 128, 1 + i % 50, i) == DVSIM_OK);
        CHECK(dvsim_network_send(other, i % 128, i * 37 % 128, 1 + i % 50, i) == DVSIM_OK);
    }
    const dvsim_completion *done, *same;
    CHECK(dvsim_network_run(net, 2000) == DVSIM_OK && dvsim_network_completions(net, &done) == bursts);
    int64_t seen = 0, now = 0;
    while (seen < bursts) {
        int64_t ran = dvsim_network_run_until(other, 1000000);
        CHECK(ran > 0);
        now += ran;
        int64_t some = dvsim_network_completions(other, &same);
        for (int64_t i = 0; i < some; i++, seen++) {
            CHECK(same[i].last_slot == now - 1 && same[i].first_slot <= same[i].last_slot);
            CHECK(memcmp(&same[i], &done[seen], sizeof *done) == 0);
        }
    }
    CHECK(dvsim_network_run_until(other, 1000000) == 1000000); /* there is nothing that could end */
    CHECK(dvsim_network_completions(other, &same) == 0);
    dvsim_network_free(net);
    dvsim_network_free(other);
}

/* What leaves stands at the height that it is addressed to. */
static void count_words(void *context, const dvsim_left *left, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        CHECK((left[i].word & 7) == (left[i].node & 7) && left[i].replication == 1);
    *(int64_t *)context += count;
}

static void a_carried_switch_takes_words_and_gives_them_back(void)
{
    const uint8_t first[3] = {1, 0, 0};
    dvsim_vortex_params p = {
        .height = 8,
        .angles = 3,
        .replications = 2,
        .exit_rule = DVSIM_EXIT_ANY,
        .injection = DVSIM_INJECT_CARRIED,
        .injecting = first,
    };
    CHECK(dvsim_vortex_create(&p, 2) == NULL); /* one thread */
    dvsim_vortex *v = dvsim_vortex_create(&p, 1);
    CHECK(v != NULL && dvsim_vortex_run(v, 1) == DVSIM_EINVAL);
    dvsim_vortex_counts counts;
    CHECK(dvsim_vortex_counts_now(v, &counts) == DVSIM_EINVAL && dvsim_vortex_state_bytes(v) == -1);
    uint64_t offers[8][2] = {{0}};
    int64_t entered[8], out = 0, in_flight, all = 0;
    const dvsim_descents *cylinders;
    for (uint64_t u = 0; u < 8; u++)
        offers[u][1] = DVSIM_PRESENT | UINT64_C(1234) << 5 | (7 - u);
    for (int slot = 0; slot < 60; slot++) {
        CHECK(dvsim_vortex_advance(v, count_words, &out) == DVSIM_OK);
        CHECK(dvsim_vortex_enter(v, &offers[0][0], 0, entered) == DVSIM_OK);
        all += total(entered, 8);
        CHECK(dvsim_vortex_carried(v, &cylinders, &in_flight) == DVSIM_OK && all == out + in_flight);
    }
    CHECK(out == 8 && all == 8 && dvsim_vortex_skip(v, 5) == DVSIM_OK);
    dvsim_vortex_free(v);
    p.injection = DVSIM_INJECT_DROP;
    v = dvsim_vortex_create(&p, 1);
    CHECK(dvsim_vortex_advance(v, count_words, &out) == DVSIM_ESTATE);
    CHECK(dvsim_vortex_enter(v, &offers[0][0], 0, entered) == DVSIM_ESTATE);
    CHECK(dvsim_vortex_skip(v, 1) == DVSIM_ESTATE && dvsim_vortex_carried(v, &cylinders, &in_flight) == DVSIM_ESTATE);
    dvsim_vortex_free(v);
}

static void the_slot_of_every_word_is_noted(int64_t threads)
{
    enum { BURSTS = 300, MOST = 50 };
    static int64_t slots[BURSTS][MOST];
    memset(slots, 0xff, sizeof slots);
    dvsim_network_params p = params(3, 128);
    p.injection = DVSIM_INJECT_GIVEN;
    p.together = 1;
    dvsim_network *net = dvsim_network_create(&p, threads), *plain = dvsim_network_create(&p, 1);
    CHECK(net != NULL && plain != NULL);
    CHECK(dvsim_network_send_noted(net, 0, 1, 1, 0, NULL) == DVSIM_EINVAL);
    for (int64_t i = 0; i < BURSTS; i++) { /* every third is not noted */
        int64_t *noted = i % 3 ? slots[i] : NULL;
        CHECK((noted ? dvsim_network_send_noted(net, i % 128, i * 37 % 128, 1 + i % MOST, i, noted)
                     : dvsim_network_send(net, i % 128, i * 37 % 128, 1 + i % MOST, i)) == DVSIM_OK);
        CHECK(dvsim_network_send(plain, i % 128, i * 37 % 128, 1 + i % MOST, i) == DVSIM_OK);
    }
    CHECK(dvsim_network_run(net, 2000) == DVSIM_OK && dvsim_network_run(plain, 2000) == DVSIM_OK);
    const dvsim_completion *done, *same;
    CHECK(dvsim_network_completions(net, &done) == BURSTS && dvsim_network_completions(plain, &same) == BURSTS);
    CHECK(memcmp(done, same, BURSTS * sizeof *done) == 0); /* to note changes nothing */
    for (int64_t i = 0; i < BURSTS; i++) {
        const int64_t burst = done[i].handle, words = 1 + burst % MOST;
        int64_t first = INT64_MAX, last = -1;
        for (int64_t k = 0; k < words && burst % 3; k++) {
            first = slots[burst][k] < first ? slots[burst][k] : first;
            last = slots[burst][k] > last ? slots[burst][k] : last;
            CHECK(k < 3 || slots[burst][k] != slots[burst][k - 3]); /* of one plane: one in a slot */
        }
        CHECK(burst % 3 == 0 || (first == done[i].first_slot && last == done[i].last_slot));
        CHECK(words == MOST || slots[burst][words] == -1);
    }
    dvsim_network_free(net);
    dvsim_network_free(plain);
}

typedef struct {
    dvsim_left left[4096];
    int64_t count;
} outs;

static void append(void *context, const dvsim_left *left, int64_t count)
{
    outs *all = context;
    memcpy(all->left + all->count, left, (size_t)count * sizeof *left);
    all->count += count;
}

/* The order of those that leave by one output of a switch is given, that of outputs is not. */
static int is_before(const dvsim_left *x, const dvsim_left *y, uint32_t outputs)
{
    return x->replication != y->replication ? x->replication < y->replication
                                            : x->node % outputs < y->node % outputs;
}

static void sort(outs *out, uint32_t outputs)
{
    for (int64_t i = 1; i < out->count; i++) { /* in order where they are equal, and nearly sorted */
        const dvsim_left one = out->left[i];
        int64_t k = i;
        for (; k > 0 && is_before(&one, &out->left[k - 1], outputs); k--)
            out->left[k] = out->left[k - 1];
        out->left[k] = one;
    }
}

/* How packets are stored changes nothing: not what leaves, nor its order, nor the counts, with few packets or many, and
 * where few become many and many few. */
static void packets_go_alike_in_all_layouts(int32_t crossing, int32_t exit_rule, int64_t replications)
{
    enum { H = 8, A = 3, SLOTS = 600, MOST = 70 };
    static const int32_t layouts[] = {DVSIM_LAYOUT_WORDS, DVSIM_LAYOUT_BEST, DVSIM_LAYOUT_SLICES};
    static const uint8_t injecting[A] = {1, 1, 1};
    static const uint32_t order[] = {1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 0}; /* as brc, but by a table */
    static uint64_t offers[3][H * A * MOST];
    static outs out[3];
    int64_t entered[3][H * A], in_flight[3], few = 0, many = 0;
    const dvsim_descents *cylinders[3];
    dvsim_vortex *v[3];
    for (int k = 0; k < 3; k++) {
        const dvsim_vortex_params p = {.height = H, .angles = A, .replications = replications, .crossing = crossing,
                                       .exit_rule = exit_rule, .injection = DVSIM_INJECT_CARRIED, .order = order,
                                       .injecting = injecting, .layout = layouts[k]};
        v[k] = dvsim_vortex_create(&p, 1);
        CHECK(v[k] != NULL && dvsim_vortex_at(v[k], 0, 0, 0) == DVSIM_EINVAL);
        memset(offers[k], 0, sizeof offers[k]);
    }
    for (int64_t slot = 0; slot < SLOTS; slot++) {
        for (int64_t at = 0; at < H * A * replications; at++) {
            const uint64_t x = dvsim_draw(17, (uint64_t)(slot * H * A * MOST + at));
            const uint64_t angle = exit_rule == DVSIM_EXIT_ANY ? 0 : x / 8 % A;
            if (offers[0][at] == 0 && x >> 40 < (slot / 100 % 2 ? UINT64_C(1) << 23 : UINT64_C(1) << 16)) {
                for (int k = 0; k < 3; k++)
                    offers[k][at] = DVSIM_PRESENT | (x >> 20) << 5 | angle << 3 | x % 8;
            }
        }
        for (int k = 0; k < 3; k++) {
            out[k].count = 0;
            CHECK(dvsim_vortex_advance(v[k], append, &out[k]) == DVSIM_OK);
            CHECK(dvsim_vortex_enter(v[k], offers[k], 32, entered[k]) == DVSIM_OK);
            CHECK(dvsim_vortex_carried(v[k], &cylinders[k], &in_flight[k]) == DVSIM_OK);
            sort(&out[k], exit_rule == DVSIM_EXIT_ANY ? H : H * A);
        }
        for (int k = 1; k < 3; k++) {
            CHECK(out[0].count == out[k].count && in_flight[0] == in_flight[k]);
            for (int64_t i = 0; i < out[0].count; i++) {
                const dvsim_left *a = &out[0].left[i], *b = &out[k].left[i];
                CHECK(a->word == b->word && a->replication == b->replication && a->node == b->node);
            }
            CHECK(memcmp(offers[0], offers[k], sizeof offers[0]) == 0);
            CHECK(memcmp(entered[0], entered[k], sizeof entered[0]) == 0);
            CHECK(memcmp(cylinders[0], cylinders[k], 4 * sizeof *cylinders[0]) == 0);
        }
        few += in_flight[0] > 0 && in_flight[0] < 4 * H * A * replications / (replications < 32 ? 32 : 128);
        many += in_flight[0] > 4 * H * A * replications / 8;
    }
    CHECK(few > 50 && many > 50);
    for (int k = 0; k < 3; k++)
        dvsim_vortex_free(v[k]);
}

int main(void)
{
    for (int32_t injection = DVSIM_INJECT_DROP; injection <= DVSIM_INJECT_SATURATE; injection++) {
        packets_are_conserved(2, 16, injection, 2);
        packets_are_conserved(3, 128, injection, 3);
        a_run_in_pieces_is_the_same_run(injection);
    }
    bursts_arrive_whole_and_stop_the_run(3);
    the_slot_of_every_word_is_noted(3);
    if (ALONE) {
        bad_parameters_are_refused();
        for (int32_t injection = DVSIM_INJECT_DROP; injection <= DVSIM_INJECT_SATURATE; injection++)
            packets_are_conserved(1, 8, injection, 1);
        bursts_arrive_whole_and_stop_the_run(1);
        the_slot_of_every_word_is_noted(1);
        a_carried_switch_takes_words_and_gives_them_back();
        for (int32_t crossing = DVSIM_CROSS_BRC; crossing <= DVSIM_CROSS_RANDOM; crossing++) {
            for (int32_t exit_rule = DVSIM_EXIT_ANGLE; exit_rule <= DVSIM_EXIT_ANY; exit_rule++) {
                packets_go_alike_in_all_layouts(crossing, exit_rule, 1);
                packets_go_alike_in_all_layouts(crossing, exit_rule, 70);
            }
        }
    }
    puts("all checks passed");
    return 0;
}
