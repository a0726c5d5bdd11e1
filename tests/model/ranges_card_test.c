/* Is each number refused that is out of its range, one at a time? The card, its words, the ring and the node that
 * receives (ranges_test.c: switch and network); under the sanitizers by test_core_c.py. */
#include <stdint.h>
#include <string.h>

#include "card/card.h"
#include "card/vic.h"
#include "check.h"
#include "host/host.h"
#include "host/receiver.h"

static const int64_t LARGE = (INT64_C(1) << 50) + 1, LONG = INT64_C(1000000000000000001);
static const dvsim_pcie PCIE = {.crossing_ps = 400000, .load_ps = 1000000, .store_fs = 2000000, .look_ps = 50000,
                                .pop_ps = 10000, .setup_ps = 1000000, .engine_fs = 125000};

static int no_pcie(const dvsim_pcie *p)
{
    return !dvsim_pcie_is_good(p);
}

static void a_bus_outside_its_ranges_is_refused(void)
{
    dvsim_pcie good = PCIE;
    REFUSES(no_pcie, good, crossing_ps, 0);
    REFUSES(no_pcie, good, look_ps, 0);
    REFUSES(no_pcie, good, engine_fs, 0);
    REFUSES(no_pcie, good, load_ps, 799999);
    REFUSES(no_pcie, good, store_fs, -1);
    REFUSES(no_pcie, good, pop_ps, INT64_C(1000000000001));
}

static dvsim_card_params card_params(void)
{
    return (dvsim_card_params){.sram_bytes = 1 << 20,
                               .group_counters = 64,
                               .fifo_words = 64,
                               .dma_entries = 16,
                               .piece_words = 131,
                               .pcie = PCIE,
                               .vic_to_dram = {.fixed_ps = 1000, .per_byte_fs = 1000}};
}

static int no_card(const dvsim_card_params *p)
{
    dvsim_card card;
    return dvsim_card_init(&card, p, 8) == DVSIM_EINVAL;
}

static void a_card_outside_its_ranges_is_refused(void)
{
    dvsim_card_params good = card_params();
    dvsim_card card;
    REFUSES(no_card, good, sram_bytes, 7);
    REFUSES(no_card, good, sram_bytes, LARGE);
    REFUSES(no_card, good, group_counters, 1);
    REFUSES(no_card, good, group_counters, LARGE);
    REFUSES(no_card, good, fifo_words, 0);
    REFUSES(no_card, good, fifo_words, LARGE);
    REFUSES(no_card, good, dma_entries, 0);
    REFUSES(no_card, good, dma_entries, LARGE);
    REFUSES(no_card, good, piece_words, 0);
    REFUSES(no_card, good, piece_words, LARGE);
    REFUSES(no_card, good, pcie.setup_ps, -1);
    REFUSES(no_card, good, pcie.setup_ps, LONG);
    REFUSES(no_card, good, pcie.engine_fs, -1);
    REFUSES(no_card, good, pcie.engine_fs, LONG);
    REFUSES(no_card, good, vic_to_dram.fixed_ps, -1);
    REFUSES(no_card, good, vic_to_dram.fixed_ps, LONG);
    REFUSES(no_card, good, vic_to_dram.per_byte_fs, -1);
    REFUSES(no_card, good, vic_to_dram.per_byte_fs, LONG);
    CHECK(dvsim_card_init(NULL, &good, 8) == DVSIM_EINVAL && dvsim_card_init(&card, NULL, 8) == DVSIM_EINVAL);
    CHECK(dvsim_card_init(&card, &good, -1) == DVSIM_EINVAL);
    CHECK(dvsim_card_init(&card, &good, (INT64_C(1) << 40) + 1) == DVSIM_EINVAL);
}

static void a_burst_outside_its_ranges_is_refused_and_not_counted(void)
{
    const dvsim_card_params p = card_params();
    const dvsim_arrival_flow good = {.sent_ps = 5, .first_ps = 10, .last_ps = 20};
    const dvsim_arrival_flow early = {-1, 10, 20}, first = {15, 10, 20}, last = {5, 10, 9};
    dvsim_card card;
    dvsim_burst burst;
    CHECK(dvsim_card_init(&card, &p, 8) == DVSIM_OK);
    CHECK(dvsim_card_receive(NULL, good, 1, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_card_receive(&card, good, 1, NULL) == DVSIM_EINVAL);
    CHECK(dvsim_card_receive(&card, good, 0, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_card_receive(&card, good, (INT64_C(1) << 40) + 1, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_card_receive(&card, early, 1, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_card_receive(&card, first, 1, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_card_receive(&card, last, 1, &burst) == DVSIM_EINVAL && card.messages == 0);
    CHECK(dvsim_card_receive(&card, good, 1, &burst) == DVSIM_OK && card.messages == 1);
    CHECK(dvsim_card_pace(NULL, 1) == DVSIM_EINVAL && dvsim_card_pace(&card, -1) == DVSIM_EINVAL);
    int64_t moved[] = {1, 2, 3};
    dvsim_card_counted_many(&card, moved, 3); /* a message is a piece: each is seen when it is there */
    CHECK(moved[0] == 1 && moved[1] == 2 && moved[2] == 3);
}

static void a_host_outside_its_ranges_is_refused(void)
{
    dvsim_host host;
    dvsim_flow flow = {.arrival_ps = 10, .drain_ps = 20, .wait_ps = 0, .stop_ppm = 1000000};
    CHECK(dvsim_host_init(NULL, 64, 2, 1, 1) == DVSIM_EINVAL && dvsim_host_init(&host, -1, 2, 1, 1) == DVSIM_EINVAL);
    CHECK(dvsim_host_init(&host, LARGE, 2, 1, 1) == DVSIM_EINVAL);
    CHECK(dvsim_host_init(&host, 64, 0, 1, 1) == DVSIM_EINVAL && dvsim_host_init(&host, 64, 2, 0, 1) == DVSIM_EINVAL);
    CHECK(dvsim_host_init(&host, 64, 2, LARGE, 1) == DVSIM_EINVAL);
    CHECK(dvsim_host_init(&host, 64, 2, 1, 0) == DVSIM_EINVAL);
    CHECK(dvsim_host_init(&host, 64, 2, 1, LARGE) == DVSIM_EINVAL);
    CHECK(dvsim_host_init(&host, 64, 2, 1, 1) == DVSIM_OK && dvsim_host_room(&host) == 9);
    CHECK(dvsim_host_fill(NULL, 1, &flow) == DVSIM_EINVAL && dvsim_host_fill(&host, 1, NULL) == DVSIM_EINVAL);
    CHECK(dvsim_host_fill(&host, 0, &flow) == DVSIM_EINVAL);
    int64_t *const numbers[] = {&flow.arrival_ps, &flow.drain_ps, &flow.wait_ps, &flow.stop_ppm};
    for (int i = 0; i < 4; i++) {
        const int64_t before = *numbers[i];
        *numbers[i] = -1;
        CHECK(dvsim_host_fill(&host, 1, &flow) == DVSIM_EINVAL);
        *numbers[i] = before;
    }
    CHECK(dvsim_host_fill(&host, 5, &flow) == 5 && dvsim_host_check(&host));
    CHECK(dvsim_host_drain(NULL, 1) == DVSIM_ESTATE && dvsim_host_drain(&host, 0) == DVSIM_ESTATE);
    CHECK(dvsim_host_drain(&host, 6) == DVSIM_ESTATE && dvsim_host_drain(&host, 5) == DVSIM_OK);
    int64_t *const books[] = {&host.held, &host.in_use, &host.filled};
    for (int i = 0; i < 3; i++) { /* books that do not balance are seen */
        *books[i] -= 1;
        CHECK(!dvsim_host_check(&host));
        *books[i] += 1;
    }
    host.in_use = 3;
    CHECK(!dvsim_host_check(&host));
}

static void a_window_outside_its_ranges_is_refused(void)
{
    const dvsim_window good = {.room = 4, .begin_ps = 0, .drain_ps = 10, .unit_words = 1};
    CHECK(dvsim_ring_create(0) == NULL && dvsim_ring_create((1 << 20) + 1) == NULL);
    dvsim_ring *ring = dvsim_ring_create(1);
    CHECK(dvsim_ring_open(NULL, &good, 1) == DVSIM_EINVAL && dvsim_ring_open(ring, NULL, 1) == DVSIM_EINVAL);
    CHECK(dvsim_ring_open(ring, &good, 0) == DVSIM_EINVAL && dvsim_ring_open(ring, &good, LARGE) == DVSIM_EINVAL);
    const dvsim_window bad[] = {{0, 0, 10, 1}, {LARGE, 0, 10, 1}, {4, 0, -1, 1}, {4, 0, 10, 0}};
    for (int i = 0; i < 4; i++)
        CHECK(dvsim_ring_open(ring, &bad[i], 1) == DVSIM_EINVAL);
    CHECK(dvsim_ring_counts_now(ring).windows == 0 && dvsim_ring_open(ring, &good, 2) == DVSIM_OK);
    CHECK(dvsim_ring_put(ring, 1) == DVSIM_OK && dvsim_ring_put(ring, 2) == DVSIM_OK);
    CHECK(dvsim_ring_put(ring, 3) == DVSIM_ESTATE); /* of 4 places, but of 2 words */
    dvsim_ring_free(ring);
    dvsim_ring_free(NULL);
}

static uint64_t sram[64];

static int no_vic(const dvsim_vic_params *p)
{
    dvsim_vic *vic = dvsim_vic_create(p);
    dvsim_vic_free(vic);
    return vic == NULL;
}

static dvsim_vic_params vic_params(void)
{
    return (dvsim_vic_params){.cards = 2, .sram = sram, .sram_words = 64, .counters = 6, .fifo_words = 2,
                              .send_words = 4, .engine_slow = 1, .pcie = PCIE};
}

static void a_card_of_words_outside_its_ranges_is_refused(void)
{
    dvsim_vic_params good = vic_params();
    REFUSES(no_vic, good, sram, NULL);
    REFUSES(no_vic, good, sram_words, 0);
    REFUSES(no_vic, good, fifo_words, (1 << 24) + 1);
    REFUSES(no_vic, good, send_words, 0);
    REFUSES(no_vic, good, send_words, (1 << 24) + 1);
    REFUSES(no_vic, good, engine_slow, 1.1e6);
    REFUSES(no_vic, good, pcie.look_ps, 0);
}

static uint64_t header(uint32_t dest, uint32_t op, uint32_t addr, uint32_t counter)
{
    return (uint64_t)dest << 32 | (uint64_t)op << 28 | (uint64_t)counter << 22 | addr;
}

static void what_the_card_cannot_send_is_told_apart(void)
{
    const dvsim_vic_params p = vic_params(); /* counters 1 and 2 */
    const uint64_t good = header(1, DVSIM_OP_WRITE, 63, 2), query = header(1, DVSIM_OP_QUERY, 63, 2);
    dvsim_vic *vic = dvsim_vic_create(&p);
    CHECK(dvsim_vic_can_send(vic, good, 0) && dvsim_vic_can_send(vic, query, good));
    CHECK(!dvsim_vic_can_send(vic, good | UINT64_C(1) << 48, 0));
    CHECK(!dvsim_vic_can_send(vic, header(1, DVSIM_OPS, 0, 2), 0));
    CHECK(!dvsim_vic_can_send(vic, header(2, DVSIM_OP_WRITE, 0, 2), 0));
    CHECK(!dvsim_vic_can_send(vic, header(1, DVSIM_OP_WRITE, 64, 2), 0));
    CHECK(!dvsim_vic_can_send(vic, header(1, DVSIM_OP_QUERY, 64, 2), good));
    CHECK(dvsim_vic_can_send(vic, header(1, DVSIM_OP_FIFO, 64, 2), 0)); /* has no address */
    CHECK(!dvsim_vic_can_send(vic, header(1, DVSIM_OP_WRITE, 0, 3), 0));
    CHECK(!dvsim_vic_can_send(vic, query, query) && !dvsim_vic_can_send(vic, query, good | UINT64_C(1) << 48));
    CHECK(dvsim_vic_store(vic, 64, 1) == DVSIM_EINVAL && dvsim_vic_store(vic, 63, 1) == DVSIM_OK && sram[63] == 1);
    CHECK(dvsim_vic_preset(vic, 0, 3, 1) == DVSIM_EINVAL && dvsim_vic_preset(vic, 0, 64, 1) == DVSIM_EINVAL);
    CHECK(dvsim_vic_engine_send(vic, 0, 0, 63, sram, 2) == DVSIM_EINVAL);
    CHECK(dvsim_vic_engine_send(vic, 0, 0, 65, sram, 0) == DVSIM_EINVAL);
    CHECK(dvsim_vic_engine_send(vic, 0, 0, 64, NULL, 0) == DVSIM_OK); /* nothing is good, and is done */
    CHECK(dvsim_vic_engine_put(vic, 0, 0, good, sram, 0) == DVSIM_OK && !dvsim_vic_waits(vic));
    dvsim_vic_move(vic, PCIE.setup_ps * 3);
    CHECK(dvsim_vic_due_ps(vic) == INT64_MAX && !dvsim_vic_waits(vic));
    dvsim_vic_free(vic);
}

static void a_node_takes_no_words_out_of_range(void)
{
    const dvsim_card_params p = card_params();
    int64_t slots[1] = {5}, pieces[1];
    const dvsim_window window = {.room = 64, .begin_ps = 0, .drain_ps = 0, .unit_words = 1};
    dvsim_arrival_words good = {slots, 1, 1000, 0};
    dvsim_burst burst;
    dvsim_receiver *r = dvsim_receiver_create(&p, 8, 2);
    CHECK(r != NULL && dvsim_receiver_take(NULL, &good, 1, &window, pieces, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_receiver_take(r, NULL, 1, &window, pieces, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_receiver_take(r, &good, 1, &window, NULL, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_receiver_take(r, &good, 1, &window, pieces, NULL) == DVSIM_EINVAL);
    CHECK(dvsim_receiver_take(r, &good, INT64_C(1) << 41, &window, pieces, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_receiver_take(r, &good, INT64_C(1) << 32, &window, pieces, &burst) == DVSIM_EINVAL);
    const dvsim_arrival_words bad[] = {{NULL, 1, 1000, 0}, {slots, 1, 0, 0}, {slots, 1, 1000, -1},
                                       {slots, 1, 1000, (INT64_C(1) << 61) + 1},
                                       {slots, INT64_MAX, 1000, 0}, {slots, INT64_MIN, 1000, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(dvsim_receiver_take(r, &bad[i], 1, &window, pieces, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_receiver_pace(r, -1) == DVSIM_EINVAL && dvsim_receiver_pace(r, 1000000) == DVSIM_OK);
    CHECK(dvsim_receiver_take(r, &good, 1, &window, pieces, &burst) == DVSIM_OK && dvsim_receiver_check(r));
    dvsim_receiver_free(r);
}

int main(void)
{
    a_bus_outside_its_ranges_is_refused();
    a_card_outside_its_ranges_is_refused();
    a_burst_outside_its_ranges_is_refused_and_not_counted();
    a_host_outside_its_ranges_is_refused();
    a_window_outside_its_ranges_is_refused();
    a_card_of_words_outside_its_ranges_is_refused();
    what_the_card_cannot_send_is_told_apart();
    a_node_takes_no_words_out_of_range();
    puts("checks passed");
    return 0;
}
