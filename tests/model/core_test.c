/* Checks of the C core that only C can make; built with the address and undefined-behaviour
 * sanitizers by test_core_c.py. Ends at the first check that fails. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "card/card.h"
#include "check.h"
#include "host/host.h"

static dvsim_card_params params(void)
{
    return (dvsim_card_params){
        .sram_bytes = 32 << 20,
        .group_counters = 64,
        .fifo_words = 2,
        .dma_entries = 8192,
        .piece_words = 131,
        .pcie = {.engine_fs = 126904},
        .vic_to_dram = {270000, 1530000},
    };
}

/* A burst that takes 1 us to the SRAM, and then `port_ps` until its last word is in. */
static dvsim_arrival_flow flow(int64_t port_ps)
{
    return (dvsim_arrival_flow){0, 1000000, 1000000 + port_ps};
}

static void a_law_rounds_once_over_many_messages(void)
{
    dvsim_law law = {0, 227273}; /* 4.4 GB/s */
    CHECK(dvsim_law_ps(law, 8) == 1818);
    CHECK(dvsim_law_total_ps(law, 8, 1000) == 1818184);
    CHECK(dvsim_law_ps((dvsim_law){5, 0}, 1 << 20) == 5);
}

static void a_law_does_not_overflow_where_64_bits_would(void)
{
    dvsim_law law = {0, 3000000}; /* 3 ns/B: 1.2e20 fs in all */
    CHECK(dvsim_law_total_ps(law, 131072, 300000) == INT64_C(117964800000000));
    CHECK(dvsim_law_total_ps((dvsim_law){0, 1}, 1, INT64_MAX) == INT64_MAX / 1000 + 1); /* to the edge of 64 bits */
    CHECK(dvsim_law_total_ps((dvsim_law){0, 1}, 1, INT64_MAX - 500) == INT64_MAX / 1000);
}

static void published_sizes_have_the_published_pieces(void)
{
    static const int64_t want[][2] = {{0, 1}, {8, 1}, {256, 1}, {2048, 2}, {8192, 8}, {131072, 126}};
    dvsim_card_params p = params();
    dvsim_card card;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        CHECK(dvsim_card_init(&card, &p, want[i][0]) == DVSIM_OK);
        CHECK(dvsim_card_pieces(&card) == want[i][1]);
    }
}

static void a_large_message_is_counted_in_rounds_of_63(void)
{
    dvsim_card_params p = params();
    dvsim_card card;
    CHECK(dvsim_card_init(&card, &p, 131072) == DVSIM_OK);
    CHECK(dvsim_card_counted(&card, 62) == 0);
    CHECK(dvsim_card_counted(&card, 63) == 63);
    CHECK(dvsim_card_counted(&card, 125) == 63);
    CHECK(dvsim_card_counted(&card, 126) == 126);
    CHECK(dvsim_card_counted(&card, 126 + 62) == 126);
}

static void a_message_that_is_no_multiple_of_a_round_is_counted_whole_at_its_end(void)
{
    dvsim_card_params p = params();
    dvsim_card card;
    CHECK(dvsim_card_init(&card, &p, 100 * 131 * 8) == DVSIM_OK); /* 100 pieces */
    CHECK(dvsim_card_counted(&card, 99) == 63);
    CHECK(dvsim_card_counted(&card, 100) == 100);
    CHECK(dvsim_card_counted(&card, 162) == 100);
    CHECK(dvsim_card_counted(&card, 163) == 163);
}

static void a_small_message_is_counted_piece_by_piece(void)
{
    dvsim_card_params p = params();
    dvsim_card card;
    CHECK(dvsim_card_init(&card, &p, 8192) == DVSIM_OK);
    for (int64_t moved = 0; moved < 20; moved++)
        CHECK(dvsim_card_counted(&card, moved) == moved);
}

static void the_slower_of_port_and_dma_sets_the_end_of_a_burst(void)
{
    dvsim_card_params p = params();
    dvsim_card card;
    dvsim_burst burst;
    CHECK(dvsim_card_init(&card, &p, 2048) == DVSIM_OK);
    CHECK(dvsim_card_receive(&card, flow(100 * 465000), 100, &burst) == DVSIM_OK);
    CHECK(burst.first_ps == 1000000);
    CHECK(burst.last_ps == 1000000 + 100 * (270000 + 2048 * 1530));
    CHECK(burst.held_ps == 0);
    p.vic_to_dram = (dvsim_law){0, 0};
    p.pcie.engine_fs = 1;
    CHECK(dvsim_card_init(&card, &p, 2048) == DVSIM_OK);
    CHECK(dvsim_card_receive(&card, flow(100 * 465000), 100, &burst) == DVSIM_OK);
    CHECK(burst.last_ps == 1000000 + 100 * 465000);
}

static void a_full_sram_holds_the_sender_back_and_loses_nothing(void)
{
    dvsim_card_params p = params();
    p.sram_bytes = 64 * 1024;
    dvsim_card card;
    dvsim_burst burst;
    CHECK(dvsim_card_init(&card, &p, 8192) == DVSIM_OK);
    CHECK(dvsim_card_receive(&card, flow(INT64_C(1000) * 1862000), 1000, &burst) == DVSIM_OK);
    CHECK(card.sram_peak_bytes == 64 * 1024);
    CHECK(burst.held_ps > 0);
    CHECK(burst.sent_ps <= burst.last_ps);
    CHECK(card.messages == 1000);
}

static void the_dma_table_is_loaded_as_often_as_it_must(void)
{
    dvsim_card_params p = params();
    p.pcie.setup_ps = 7;
    p.dma_entries = 10;
    dvsim_card card;
    CHECK(dvsim_card_init(&card, &p, 8) == DVSIM_OK);
    int64_t ten = dvsim_card_move_ps(&card, 10), eleven = dvsim_card_move_ps(&card, 11);
    CHECK(eleven - ten == 270000 + 8 * 1530 + 7);
}

static void the_pace_is_that_of_the_fixed_cost_alone(void)
{
    dvsim_card_params p = params();
    p.pcie.setup_ps = 0;
    dvsim_card card;
    CHECK(dvsim_card_init(&card, &p, 1000) == DVSIM_OK);
    CHECK(dvsim_card_move_ps(&card, 100) == 100 * (270000 + 1530000));
    CHECK(dvsim_card_moved_in(&card, 100 * 1800000) == 100);
    CHECK(dvsim_card_pace(&card, 2000000) == DVSIM_OK);
    CHECK(dvsim_card_move_ps(&card, 100) == 100 * (540000 + 1530000));
    CHECK(dvsim_card_moved_in(&card, 99) == 1);
    CHECK(dvsim_card_pace(&card, 0) == DVSIM_OK);
    CHECK(dvsim_card_move_ps(&card, 100) == 100 * 1530000);
    CHECK(dvsim_card_pace(&card, -1) == DVSIM_EINVAL);
    CHECK(dvsim_card_pace(NULL, 1) == DVSIM_EINVAL);
    CHECK(dvsim_card_pace(&card, INT64_MAX) == DVSIM_OK);
    CHECK(dvsim_card_moved_in(&card, INT64_MAX) >= 1);
    CHECK(dvsim_card_pace(&card, 1000000) == DVSIM_OK);
    CHECK(dvsim_card_move_ps(&card, 100) == 100 * (270000 + 1530000));
    p.vic_to_dram = (dvsim_law){0, 0};
    p.pcie.engine_fs = 0;
    CHECK(dvsim_card_init(&card, &p, 8) == DVSIM_OK);
    CHECK(dvsim_card_moved_in(&card, 1) == INT64_C(1) << 40);
}

static void the_fifo_refuses_what_it_cannot_hold(void)
{
    dvsim_card_params p = params();
    dvsim_card card;
    CHECK(dvsim_card_init(&card, &p, 8) == DVSIM_OK);
    CHECK(dvsim_card_fifo_pop(&card) == DVSIM_ESTATE);
    CHECK(dvsim_card_fifo_push(&card) == DVSIM_OK);
    CHECK(dvsim_card_fifo_push(&card) == DVSIM_OK);
    CHECK(dvsim_card_fifo_push(&card) == DVSIM_ESTATE);
    CHECK(dvsim_card_fifo_pop(&card) == DVSIM_OK);
    CHECK(dvsim_card_fifo_push(&card) == DVSIM_OK);
}

static void bad_arguments_are_refused_and_change_nothing(void)
{
    dvsim_card_params p = params();
    dvsim_card card;
    dvsim_burst burst;
    CHECK(dvsim_card_init(NULL, &p, 8) == DVSIM_EINVAL);
    CHECK(dvsim_card_init(&card, NULL, 8) == DVSIM_EINVAL);
    CHECK(dvsim_card_init(&card, &p, -1) == DVSIM_EINVAL);
    p.group_counters = 1;
    CHECK(dvsim_card_init(&card, &p, 8) == DVSIM_EINVAL);
    p = params();
    p.sram_bytes = 1024;
    CHECK(dvsim_card_init(&card, &p, 2048) == DVSIM_OK);
    CHECK(dvsim_card_receive(&card, flow(0), 1, &burst) == DVSIM_EINVAL); /* larger than the SRAM */
    CHECK(dvsim_card_receive(&card, (dvsim_arrival_flow){-1, 0, 0}, 1, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_card_receive(&card, (dvsim_arrival_flow){2, 1, 3}, 1, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_card_receive(&card, (dvsim_arrival_flow){0, 2, 1}, 1, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_card_receive(&card, flow(0), 0, &burst) == DVSIM_EINVAL);
    CHECK(card.messages == 0);
}

/* A bridge that stands still until the buffer is full. */
static const dvsim_flow STILL = {.arrival_ps = 1, .drain_ps = 1000, .wait_ps = INT64_MAX, .stop_ppm = 1000000};

static void the_ring_counts_overruns_and_keeps_its_books(void)
{
    dvsim_host host;
    CHECK(dvsim_host_init(&host, 8000, 2, 5, 1) == DVSIM_OK);
    CHECK(dvsim_host_room(&host) == 1005);
    CHECK(dvsim_host_fill(&host, 1005, &STILL) == 1005);
    CHECK(host.overruns == 0);
    CHECK(dvsim_host_fill(&host, 1006, &STILL) == 1005);
    CHECK(host.overruns == 1);
    CHECK(dvsim_host_fill(&host, 1, &STILL) == DVSIM_ESTATE); /* both buffers are in use */
    CHECK(dvsim_host_check(&host));
    CHECK(dvsim_host_drain(&host, 2011) == DVSIM_ESTATE);
    CHECK(dvsim_host_drain(&host, 1005) == DVSIM_OK);
    CHECK(dvsim_host_fill(&host, 3, &STILL) == 3);
    CHECK(dvsim_host_check(&host));
    CHECK(host.held == 1008);
}

static void a_buffer_smaller_than_a_message_still_takes_what_the_threads_hold(void)
{
    dvsim_host host;
    CHECK(dvsim_host_init(&host, 1024, 2, 3, 16384) == DVSIM_OK);
    dvsim_flow early = STILL;
    early.stop_ppm = 0;
    CHECK(dvsim_host_fill(&host, 100, &STILL) == 3);
    CHECK(dvsim_host_fill(&host, 100, &early) == 1);
}

static void a_buffer_overruns_only_where_the_bridge_is_slower_than_the_network(void)
{
    dvsim_flow flow = {.arrival_ps = 10, .drain_ps = 10, .wait_ps = 0, .stop_ppm = 1000000};
    dvsim_host host;
    CHECK(dvsim_host_init(&host, 800, 2, 1, 1) == DVSIM_OK); /* room for 101 */
    CHECK(dvsim_host_fill(&host, 1000000, &flow) == 1000000);
    CHECK(host.overruns == 0);
    flow.drain_ps = 20; /* one leaves while two arrive: twice the room */
    CHECK(dvsim_host_fill(&host, 1000000, &flow) == 202);
    CHECK(host.overruns == 1);
    CHECK(dvsim_host_init(&host, 800, 1, 1, 1) == DVSIM_OK);
    flow.wait_ps = 505; /* half of the buffer is full before the first leaves */
    CHECK(dvsim_host_fill(&host, 1000000, &flow) == 152);
}

static void ranges_keep_products_from_overflowing(void)
{
    dvsim_card_params p = params();
    dvsim_card card;
    CHECK(dvsim_card_init(&card, &p, (INT64_C(1) << 40) + 1) == DVSIM_EINVAL);
    p.piece_words = INT64_MAX;
    CHECK(dvsim_card_init(&card, &p, 8) == DVSIM_EINVAL);
    p = params();
    p.dma_entries = INT64_C(1) << 50;
    p.sram_bytes = INT64_C(1) << 50;
    CHECK(dvsim_card_init(&card, &p, INT64_C(1) << 40) == DVSIM_OK);
    dvsim_burst burst;
    CHECK(dvsim_card_receive(&card, flow(INT64_C(1000) * 1862000), 1000, &burst) == DVSIM_OK);
    CHECK(dvsim_law_total_ps((dvsim_law){INT64_MAX, 0}, 8, 1000) == INT64_MAX);
}

int main(void)
{
    a_law_rounds_once_over_many_messages();
    a_law_does_not_overflow_where_64_bits_would();
    published_sizes_have_the_published_pieces();
    a_large_message_is_counted_in_rounds_of_63();
    a_message_that_is_no_multiple_of_a_round_is_counted_whole_at_its_end();
    a_small_message_is_counted_piece_by_piece();
    the_slower_of_port_and_dma_sets_the_end_of_a_burst();
    a_full_sram_holds_the_sender_back_and_loses_nothing();
    the_dma_table_is_loaded_as_often_as_it_must();
    the_pace_is_that_of_the_fixed_cost_alone();
    the_fifo_refuses_what_it_cannot_hold();
    bad_arguments_are_refused_and_change_nothing();
    the_ring_counts_overruns_and_keeps_its_books();
    a_buffer_smaller_than_a_message_still_takes_what_the_threads_hold();
    a_buffer_overruns_only_where_the_bridge_is_slower_than_the_network();
    ranges_keep_products_from_overflowing();
    puts("15 checks passed");
    return 0;
}
