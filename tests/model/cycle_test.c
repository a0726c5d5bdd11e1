/* cycle_test.c: does the fabric of words keep the contract of fabric.h, and is all memory given back? */
#include "check.h"
#include "workload/cycle.h"

static dvsim_cycle_params usual = {
    .network = {.height = 8, .angles = 6, .exit_rule = DVSIM_EXIT_ANY, .levels = 1, .ports = 8, .planes = 16,
                .link_slots = 1, .seed = 1},
    .slot_ps = 29091,
    .pcie = {400000, 1000000, 2000000, 50000, 10000, 1000000, 126904},
    .piece_words = 131,
};

static int refuses(const dvsim_cycle_params *params)
{
    dvsim_cycle *cycle = dvsim_cycle_create(params);
    dvsim_cycle_free(cycle);
    return cycle == NULL;
}

static void wrong_parameters_are_refused(void)
{
    REFUSES(refuses, usual, slot_ps, 0);
    REFUSES(refuses, usual, piece_words, 0);
    REFUSES(refuses, usual, pcie.crossing_ps, 0);
    REFUSES(refuses, usual, network.height, 3);
    CHECK(dvsim_cycle_create(NULL) == NULL);
    dvsim_cycle_free(NULL);
}

static void messages_come_in_order_and_no_sooner_than_asked(void)
{
    dvsim_cycle *cycle = dvsim_cycle_create(&usual);
    const dvsim_fabric *fabric = dvsim_cycle_fabric(cycle);
    dvsim_arrival arrivals[3];
    CHECK(fabric->next(fabric->self) == DVSIM_NEVER);
    CHECK(fabric->advance(fabric->self, 1000000, arrivals, 3) == 0);
    CHECK(fabric->advance(fabric->self, DVSIM_NEVER, arrivals, 3) == 0);
    for (int64_t id = 0; id < 1000; id++) {
        dvsim_message message = {id, (int32_t)(id % 8), (int32_t)(id / 8 % 8), id % 7 == 0 ? 20000 : id};
        CHECK(fabric->send(fabric->self, &message, 2000000 + id) == DVSIM_OK);
    }
    int64_t came = 0, last = 0, until = 2001000;
    while (fabric->next(fabric->self) != DVSIM_NEVER) {
        until += 500000;
        for (int64_t count; (count = fabric->advance(fabric->self, until, arrivals, 3)) > 0; came += count) {
            CHECK(count <= 3);
            for (int64_t one = 0; one < count; one++) {
                const dvsim_arrival *is = &arrivals[one];
                CHECK(is->time_ps >= last && is->time_ps <= until && is->time_ps > until - 500000);
                CHECK(is->latency_ps > 0 && is->serial_ps >= 0);
                CHECK(is->latency_ps + is->serial_ps <= is->time_ps - 2000000 - is->id);
                last = is->time_ps;
            }
        }
        CHECK(fabric->next(fabric->self) > until);
    }
    CHECK(came == 1000);
    const dvsim_cycle_counts counts = dvsim_cycle_counts_now(cycle);
    CHECK(counts.messages == 1000 && counts.words > 1000 && counts.slots > 0 && counts.skipped > 0);
    dvsim_message later = {5, 0, 1, 100000}, wrong = {0, 0, 8, 8};
    CHECK(fabric->send(fabric->self, &later, until) == DVSIM_OK);
    CHECK(fabric->advance(fabric->self, DVSIM_NEVER, arrivals, 3) == 1 && arrivals[0].id == 5);
    CHECK(fabric->advance(fabric->self, DVSIM_NEVER, arrivals, 3) == 0);
    CHECK(fabric->send(fabric->self, &wrong, until) == DVSIM_EINVAL);
    dvsim_cycle_free(cycle);
}

/* When a message alone is there. */
static int64_t there(const dvsim_cycle_params *params, int32_t from, int32_t to, int64_t bytes)
{
    dvsim_cycle *cycle = dvsim_cycle_create(params);
    const dvsim_fabric *fabric = dvsim_cycle_fabric(cycle);
    dvsim_arrival one = {0};
    dvsim_message message = {0, from, to, bytes};
    CHECK(fabric->send(fabric->self, &message, 0) == DVSIM_OK);
    CHECK(fabric->advance(fabric->self, DVSIM_NEVER, &one, 1) == 1);
    CHECK(one.latency_ps + one.serial_ps <= one.time_ps);
    dvsim_cycle_free(cycle);
    return one.time_ps;
}

static void dead_cables_and_slow_cards_take_longer(void)
{
    dvsim_cable cuts[12], none[32];
    for (int64_t plane = 0; plane < 12; plane++) {
        cuts[plane] = (dvsim_cable){0, plane};
    }
    for (int64_t one = 0; one < 16; one++) {
        none[one] = (dvsim_cable){0, one};
    }
    dvsim_cycle_params cut = usual, all = usual, slow = usual, bad = usual;
    cut.cuts = cuts, cut.cut_count = 12;
    const int64_t sound = there(&usual, 0, 1, 80000), four = there(&cut, 0, 1, 80000);
    CHECK(four > 3 * sound && four < 4 * sound && there(&cut, 1, 0, 80000) > 3 * sound);
    CHECK(there(&cut, 2, 1, 80000) == there(&usual, 2, 1, 80000));
    const double factors[8] = {2, 1, 1, 1, 1, 1, 1, 1}, wrong[8] = {0.5, 1, 1, 1, 1, 1, 1, 1};
    slow.slow = factors;
    CHECK(there(&slow, 0, 1, 80000) > sound && there(&slow, 1, 0, 80000) > sound);
    CHECK(there(&slow, 2, 1, 80000) == there(&usual, 2, 1, 80000));
    bad.slow = wrong;
    CHECK(refuses(&bad));
    cuts[3].plane = 16;
    CHECK(refuses(&cut));
    all.cuts = none, all.cut_count = 16;
    dvsim_cycle *cycle = dvsim_cycle_create(&all);
    dvsim_message message = {0, 0, 1, 8};
    CHECK(dvsim_cycle_fabric(cycle)->send(dvsim_cycle_fabric(cycle)->self, &message, 0) == DVSIM_EINVAL);
    dvsim_cycle_free(cycle);
}

/* In SRAM a word is seen a crossing and a look later, whatever else came; what is behind it in memory takes longer. */
static void messages_may_stay_in_sram(void)
{
    dvsim_cycle_params stays = usual;
    stays.lands_in_sram = 1;
    CHECK(there(&stays, 0, 1, 8) == there(&usual, 0, 1, 8) - usual.pcie.pop_ps);
    const int64_t words = 10000, last_piece = words - (words - 1) / usual.piece_words * usual.piece_words;
    const int64_t behind = 2 * usual.pcie.crossing_ps + usual.pcie.look_ps + dvsim_pcie_store_ps(&usual.pcie, 2) +
                           dvsim_pcie_engine_ps(&usual.pcie, last_piece, 1);
    CHECK(there(&stays, 0, 1, 8 * words) <= there(&usual, 0, 1, 8 * words) - behind);
}

int main(void)
{
    wrong_parameters_are_refused();
    messages_come_in_order_and_no_sooner_than_asked();
    dead_cables_and_slow_cards_take_longer();
    messages_may_stay_in_sram();
    puts("checks passed");
    return 0;
}
