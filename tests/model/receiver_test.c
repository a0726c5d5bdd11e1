/* Checks of a receiving node word by word: mirror, ring, bursts; built with the sanitizers by test_core_c.py. */
#include <string.h>

#include "check.h"
#include "host/mirror.h"
#include "host/receiver.h"

enum { MOST = 1 << 17, SLOT = 29091, PLANES = 16 };
static int64_t slots[MOST], pieces[MOST];

static dvsim_card_params params(void)
{
    return (dvsim_card_params){
        .sram_bytes = 32 << 20,
        .group_counters = 64,
        .fifo_words = 2,
        .dma_entries = 8192,
        .piece_words = 131,
        .pcie = {.crossing_ps = 400000, .load_ps = 1000000, .store_fs = 2000000, .look_ps = 50000, .pop_ps = 10000,
                 .setup_ps = 1000000, .engine_fs = 126904},
        .vic_to_dram = {287000, 1490000},
    };
}

static const dvsim_window ROOMY = {.room = INT64_C(1) << 40, .unit_words = 1};

static dvsim_receiver *make(const dvsim_card_params *p, int64_t bytes)
{
    dvsim_receiver *r = dvsim_receiver_create(p, bytes, 2);
    CHECK(r != NULL);
    return r;
}

/* A burst at the full rate of the port, from slot 8 on. */
static dvsim_burst take(dvsim_receiver *r, int64_t words, int64_t messages, const dvsim_window *window)
{
    const dvsim_arrival_words arrival = {slots, 1, SLOT, 0};
    dvsim_burst burst;
    CHECK(words * messages <= MOST);
    for (int64_t i = 0; i < words * messages; i++)
        slots[i] = 8 + i / PLANES;
    CHECK(dvsim_receiver_take(r, &arrival, messages, window, pieces, &burst) == DVSIM_OK);
    CHECK(dvsim_receiver_check(r));
    return burst;
}

static void the_mirror_is_a_crossing_behind(void)
{
    dvsim_mirror m = {0};
    CHECK(dvsim_mirror_zero_ps(&m) == INT64_MAX && dvsim_mirror_look(&m, 1000) == -1);
    dvsim_mirror_observe(&m, 10, DVSIM_VIC_PRESET, 5, 2);
    dvsim_mirror_observe(&m, 15, DVSIM_VIC_PRESET, 6, 0); /* has counted nothing */
    dvsim_mirror_observe(&m, 20, DVSIM_VIC_COUNTER, 5, 1);
    dvsim_mirror_observe(&m, 20, DVSIM_VIC_FIFO, 0, 77);
    dvsim_mirror_observe(&m, 25, DVSIM_VIC_MOVED, 0, 0); /* that is in the ring */
    dvsim_mirror_observe(&m, 30, DVSIM_VIC_COUNTER, 5, 0);
    dvsim_mirror_observe(&m, 30, DVSIM_VIC_COUNTER, 7, (uint64_t)-3);
    CHECK(dvsim_mirror_zero_ps(&m) == 30);
    CHECK(dvsim_mirror_look(&m, 19) == -1 && m.counter[5] == 2 && m.fifo_words == 0);
    CHECK(dvsim_mirror_look(&m, 29) == -1 && m.counter[5] == 1 && m.fifo_words == 1 && m.fifo_last == 77);
    CHECK(dvsim_mirror_look(&m, 30) == 5 && m.counter[7] == 0);
    CHECK(dvsim_mirror_zero_ps(&m) == INT64_MAX);
    CHECK(dvsim_mirror_look(&m, 30) == -1 && m.counter[7] == -3);
    for (int64_t i = 0; i < 1000; i++)
        dvsim_mirror_observe(&m, 40 + i, DVSIM_VIC_COUNTER, 9, (uint64_t)(999 - i));
    CHECK(dvsim_mirror_look(&m, 5000) == 9 && !m.failed);
    dvsim_mirror_free(&m);
}

static void the_ring_takes_no_more_than_it_has_slots(void)
{
    dvsim_ring *ring = dvsim_ring_create(2);
    const dvsim_window window = {.room = 3, .begin_ps = 100, .drain_ps = 20, .unit_words = 2};
    CHECK(dvsim_ring_create(0) == NULL && dvsim_ring_put(ring, 1) == DVSIM_ESTATE);
    CHECK(dvsim_ring_open(ring, &window, 10) == DVSIM_OK);
    for (uint64_t i = 0; i < 3; i++)
        CHECK(dvsim_ring_put(ring, 10 + i) == DVSIM_OK);
    CHECK(dvsim_ring_put(ring, 13) == DVSIM_ESTATE && dvsim_ring_check(ring));
    CHECK(dvsim_ring_next_ps(ring) == 110); /* two words in 20 ps, from 100 on */
    CHECK(dvsim_ring_left(ring, 109) == 0 && dvsim_ring_left(ring, 110) == 1);
    CHECK(dvsim_ring_put(ring, 13) == DVSIM_OK && dvsim_ring_put(ring, 14) == DVSIM_ESTATE);
    CHECK(dvsim_ring_left(ring, 1000) == 4); /* no more than were there */
    CHECK(dvsim_ring_put(ring, 14) == DVSIM_OK);
    CHECK(dvsim_ring_open(ring, &window, 10) == DVSIM_OK);
    CHECK(dvsim_ring_open(ring, &window, 10) == DVSIM_ESTATE);
    CHECK(dvsim_ring_put(ring, 99) == DVSIM_OK && dvsim_ring_check(ring));
    CHECK(dvsim_ring_counts_now(ring).held == 2 && dvsim_ring_counts_now(ring).peak == 3);
    CHECK(dvsim_ring_release(ring) == 5 && dvsim_ring_release(ring) == 1 && dvsim_ring_release(ring) == DVSIM_ESTATE);
    const dvsim_ring_counts end = dvsim_ring_counts_now(ring);
    const dvsim_window small = {.room = 1, .begin_ps = 100, .drain_ps = 20, .unit_words = 2};
    CHECK(end.filled == 6 && end.drained == 6 && end.held == 0 && end.windows == 2 && dvsim_ring_check(ring));
    CHECK(dvsim_ring_open(ring, &small, 10) == DVSIM_OK && dvsim_ring_put(ring, 1) == DVSIM_OK);
    CHECK(dvsim_ring_put(ring, 1) == DVSIM_ESTATE); /* though the buffer has been larger */
    dvsim_ring_free(ring);
}

static void bad_arguments_are_refused(void)
{
    dvsim_card_params p = params();
    CHECK(dvsim_receiver_create(NULL, 8, 2) == NULL && dvsim_receiver_create(&p, -1, 2) == NULL);
    CHECK(dvsim_receiver_create(&p, 8, 0) == NULL && dvsim_receiver_create(&p, (32 << 20) + 1, 2) == NULL);
    p.group_counters = 65; /* a header names 64 */
    CHECK(dvsim_receiver_create(&p, 8, 2) == NULL);
    p = params();
    p.sram_bytes = (32 << 20) + 8;
    CHECK(dvsim_receiver_create(&p, 8, 2) == NULL);
    p = params();
    p.pcie.load_ps = 700000; /* less than two crossings */
    CHECK(dvsim_receiver_create(&p, 8, 2) == NULL);
    p = params();
    dvsim_receiver *r = make(&p, 8);
    dvsim_arrival_words arrival = {slots, 1, SLOT, 0};
    dvsim_window window = ROOMY;
    dvsim_burst burst;
    slots[0] = 5;
    CHECK(dvsim_receiver_take(r, &arrival, 0, &window, pieces, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_receiver_take(r, &arrival, 1, NULL, pieces, &burst) == DVSIM_EINVAL);
    window.room = 0;
    CHECK(dvsim_receiver_take(r, &arrival, 1, &window, pieces, &burst) == DVSIM_EINVAL);
    slots[0] = INT64_MAX;
    CHECK(dvsim_receiver_take(r, &arrival, 1, &ROOMY, pieces, &burst) == DVSIM_EINVAL);
    slots[0] = -5; /* before it was sent */
    CHECK(dvsim_receiver_take(r, &arrival, 1, &ROOMY, pieces, &burst) == DVSIM_EINVAL);
    CHECK(dvsim_receiver_check(r) && dvsim_receiver_counts_now(r).words == 0);
    CHECK(dvsim_receiver_release(r) == DVSIM_ESTATE);
    dvsim_receiver_free(r);
    dvsim_receiver_free(NULL);
}

static void one_word_takes_every_step_of_its_way(void)
{
    dvsim_card_params p = params();
    dvsim_receiver *r = make(&p, 8);
    const dvsim_burst burst = take(r, 1, 1, &ROOMY);
    const int64_t arrived = 9 * SLOT;
    /* the host, looking all the time, sees the counter at zero; loads the table; one word; a crossing */
    const int64_t seen = dvsim_pcie_look_from(&p.pcie, 0, arrived + p.pcie.crossing_ps);
    CHECK(burst.first_ps == seen);
    CHECK(pieces[0] == seen + p.pcie.setup_ps + dvsim_pcie_engine_ps(&p.pcie, 1, 1) + p.pcie.crossing_ps);
    CHECK(burst.last_ps == pieces[0]); /* the law is done before */
    CHECK(burst.sent_ps == 0 && burst.held_ps == 0);
    dvsim_receiver_free(r);
}

static void a_burst_takes_what_the_flow_law_says_and_some_crossings(void)
{
    static const int64_t cases[][3] = {{8, 1, 2700}, {2048, 256, 400}, {131072, 16384, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dvsim_card_params p = params();
        const int64_t bytes = cases[i][0], words = cases[i][1], messages = cases[i][2];
        dvsim_receiver *r = make(&p, bytes);
        dvsim_card flow;
        dvsim_burst line;
        const dvsim_burst exact = take(r, words, messages, &ROOMY);
        CHECK(dvsim_card_init(&flow, &p, bytes) == DVSIM_OK);
        const dvsim_arrival_flow arrival = {0, 9 * SLOT, (9 + (words * messages - 1) / PLANES) * SLOT};
        CHECK(dvsim_card_receive(&flow, arrival, messages, &line) == DVSIM_OK);
        CHECK(exact.last_ps >= line.last_ps && exact.last_ps - line.last_ps < 1000000);
        CHECK(exact.first_ps >= line.first_ps && exact.first_ps - line.first_ps < 1000000);
        if (bytes > 8) /* the software is never idle, and done after the engine */
            CHECK(exact.last_ps - exact.first_ps == dvsim_card_move_ps(&flow, messages));
        const int64_t count = messages * dvsim_card_pieces(&flow), all = line.last_ps - line.first_ps;
        for (int64_t k = 0; k < count; k++) {
            const int64_t on_the_line = line.first_ps + all / count * (k + 1);
            CHECK(pieces[k] - on_the_line < 2000000 && on_the_line - pieces[k] < 2000000);
            CHECK(k == 0 || pieces[k] > pieces[k - 1]);
        }
        const dvsim_receiver_counts counts = dvsim_receiver_counts_now(r);
        const int64_t peak = counts.sram_peak_words * DVSIM_WORD_BYTES;
        CHECK(peak > flow.sram_peak_bytes * 95 / 100 && peak < flow.sram_peak_bytes * 101 / 100);
        CHECK(counts.messages == messages && counts.words == words * messages && counts.loadings == 1);
        CHECK(counts.held_ring_ps == 0 && counts.port_busy_ps == arrival.last_ps - arrival.first_ps);
        CHECK((counts.held_counters_ps > 0) == (bytes == 8)); /* 63 words are on the way for a crossing and back */
        dvsim_receiver_free(r);
    }
}

static void a_counter_is_set_again_when_it_was_seen_at_zero(void)
{
    dvsim_card_params p = params();
    p.group_counters = 2; /* one piece at a time */
    dvsim_receiver *r = make(&p, 8);
    take(r, 1, 100, &ROOMY);
    const int64_t round_ps = 2 * p.pcie.crossing_ps + p.pcie.look_ps + dvsim_pcie_store_ps(&p.pcie, 1);
    const int64_t held = dvsim_receiver_counts_now(r).held_counters_ps, port = 99 / PLANES * SLOT;
    CHECK(held == 99 * round_ps - port);
    CHECK(dvsim_receiver_counts_now(r).sram_peak_words <= 2 && dvsim_receiver_counts_now(r).unexpected == 0);
    dvsim_receiver_free(r);
}

static void a_full_sram_holds_the_sender_back_and_loses_nothing(void)
{
    dvsim_card_params p = params();
    p.sram_bytes = 64 * 1024 + 8; /* eight messages */
    dvsim_receiver *r = make(&p, 8192);
    dvsim_card flow;
    dvsim_burst line;
    const dvsim_burst exact = take(r, 1024, 100, &ROOMY);
    CHECK(dvsim_card_init(&flow, &p, 8192) == DVSIM_OK);
    const dvsim_arrival_flow arrival = {0, 9 * SLOT, (9 + (102400 - 1) / PLANES) * SLOT};
    CHECK(dvsim_card_receive(&flow, arrival, 100, &line) == DVSIM_OK && line.held_ps > 0);
    CHECK(dvsim_receiver_counts_now(r).sram_peak_words == 8 * 1024);
    const int64_t off = exact.held_ps - line.held_ps, size = line.last_ps - line.first_ps;
    CHECK(off < size / 50 && -off < size / 50);
    CHECK(exact.last_ps - line.last_ps < 1000000 && exact.last_ps >= line.last_ps);
    CHECK(exact.sent_ps >= line.held_ps && exact.sent_ps <= exact.last_ps);
    dvsim_receiver_free(r);
}

static void a_word_lands_when_the_engine_has_emptied_its_place(void)
{
    dvsim_card_params p = params();
    const int64_t messages = 20;
    p.sram_bytes = 2 * 2048;
    p.vic_to_dram = (dvsim_law){0, 0};
    dvsim_receiver *r = make(&p, 2048);
    const dvsim_burst burst = take(r, 256, messages, &ROOMY);
    /* The 16 words of the first slot of the third message, 512 to 527, land when the engine moves words 0 to 15, one by
     * one; from then on it is faster than the port. */
    const int64_t moved = pieces[0] - p.pcie.crossing_ps - dvsim_pcie_engine_ps(&p.pcie, 131 - 16, 1);
    const int64_t off = burst.held_ps - (moved - (8 + 512 / PLANES + 1) * SLOT);
    CHECK(off >= -1 && off <= 1); /* roundings */
    CHECK(dvsim_receiver_counts_now(r).sram_peak_words == 512);
    dvsim_receiver_free(r);
}

static void a_full_ring_holds_the_engine_back_and_loses_nothing(void)
{
    dvsim_card_params p = params();
    dvsim_receiver *r = make(&p, 8192);
    const dvsim_window slow = {.room = 5000, .begin_ps = 50000000, .drain_ps = 40000000, .unit_words = 1024};
    const dvsim_burst burst = take(r, 1024, 100, &slow);
    const dvsim_ring_counts ring = dvsim_receiver_ring(r);
    /* the last word comes when all but those that still fit have left */
    const int64_t left = (102400 - slow.room) * slow.drain_ps / slow.unit_words + slow.begin_ps;
    CHECK(burst.last_ps >= left && burst.last_ps < left + 1000000);
    CHECK(dvsim_receiver_counts_now(r).held_ring_ps > left / 2);
    CHECK(ring.peak == slow.room && ring.filled == 102400 && ring.filled == ring.drained + ring.held);
    CHECK(dvsim_receiver_release(r) == 100 && dvsim_receiver_ring(r).held == 0 && dvsim_receiver_check(r));

    const dvsim_window never = {.room = 5000, .begin_ps = INT64_MAX, .drain_ps = 1, .unit_words = 1024};
    const dvsim_arrival_words arrival = {slots, 1, SLOT, 0};
    dvsim_burst none;
    CHECK(dvsim_receiver_take(r, &arrival, 100, &never, pieces, &none) == DVSIM_ESTATE);
    dvsim_receiver_free(r);
}

static void pcie_sets_the_pace_where_it_is_slower_than_the_software(void)
{
    dvsim_card_params p = params();
    p.vic_to_dram = (dvsim_law){0, 0};
    p.dma_entries = 10;
    dvsim_receiver *r = make(&p, 2048);
    dvsim_card flow;
    CHECK(dvsim_card_init(&flow, &p, 2048) == DVSIM_OK);
    const dvsim_burst burst = take(r, 256, 100, &ROOMY);
    CHECK(dvsim_receiver_counts_now(r).loadings == 20);
    const int64_t law = dvsim_card_move_ps(&flow, 100), took = burst.last_ps - burst.first_ps;
    /* and a crossing each time before the host knows that a table is used up, and once more at the end */
    const int64_t waits = 20 * p.pcie.crossing_ps;
    CHECK(took > law + waits - 1000 && took < law + waits + 1000000);
    dvsim_receiver_free(r);
}

/* Whatever order the fabric gives them. */
static void words_in_any_order_arrive_and_are_counted(void)
{
    static const int64_t sizes[] = {0, 8, 24, 2048};
    uint64_t state = 1;
    for (size_t i = 0; i < 4 * sizeof sizes / sizeof *sizes; i++) {
        dvsim_card_params p = params();
        const int64_t bytes = sizes[i / 4], words = dvsim_words(bytes), messages = 6000 / words;
        p.piece_words = i % 2 ? 131 : 1;
        p.sram_bytes = i % 4 < 2 ? 32 << 20 : 300 * 8;
        dvsim_receiver *r = make(&p, bytes);
        const dvsim_arrival_words arrival = {slots, 1, SLOT, 0};
        dvsim_burst burst;
        for (int burst_of = 0; burst_of < 2; burst_of++) {
            for (int64_t k = 0; k < words * messages; k++) {
                state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
                slots[k] = (int64_t)(state >> 54);
            }
            CHECK(dvsim_receiver_take(r, &arrival, messages, &ROOMY, pieces, &burst) == DVSIM_OK);
        }
        CHECK(dvsim_receiver_check(r) && dvsim_receiver_counts_now(r).words == 2 * words * messages);
        CHECK(dvsim_receiver_ring(r).in_use == 2);
        CHECK(dvsim_receiver_take(r, &arrival, messages, &ROOMY, pieces, &burst) == DVSIM_ESTATE);
        dvsim_receiver_free(r);
    }
}

static void the_fifo_refuses_what_it_cannot_hold(void)
{
    dvsim_card_params p = params();
    dvsim_receiver *r = make(&p, 8);
    CHECK(dvsim_receiver_pop(r) == DVSIM_ESTATE);
    CHECK(dvsim_receiver_push(r, 1) == DVSIM_OK && dvsim_receiver_push(r, 2) == DVSIM_OK);
    CHECK(dvsim_receiver_push(r, 3) == DVSIM_ESTATE);
    CHECK(dvsim_receiver_pop(r) == DVSIM_OK && dvsim_receiver_push(r, 4) == DVSIM_OK);
    CHECK(dvsim_receiver_counts_now(r).credits == 1);
    dvsim_receiver_free(r);
}

int main(void)
{
    the_mirror_is_a_crossing_behind();
    the_ring_takes_no_more_than_it_has_slots();
    bad_arguments_are_refused();
    one_word_takes_every_step_of_its_way();
    a_burst_takes_what_the_flow_law_says_and_some_crossings();
    a_counter_is_set_again_when_it_was_seen_at_zero();
    a_full_sram_holds_the_sender_back_and_loses_nothing();
    a_word_lands_when_the_engine_has_emptied_its_place();
    a_full_ring_holds_the_engine_back_and_loses_nothing();
    pcie_sets_the_pace_where_it_is_slower_than_the_software();
    words_in_any_order_arrive_and_are_counted();
    the_fifo_refuses_what_it_cannot_hold();
    puts("all checks passed");
    return 0;
}
