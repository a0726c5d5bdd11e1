/* Checks of the card on the level of words and of the costs of PCIe; built with the sanitizers by test_core_c.py. */
#include <string.h>

#include "card/vic.h"
#include "check.h"

enum { WORDS = 64, NEWS = 4096 };

static struct {
    int64_t at_ps;
    dvsim_vic_event what;
    uint32_t index;
    uint64_t value;
} told[NEWS];
static int news;
static uint64_t sram[2][WORDS];

static void observe(void *context, int64_t at_ps, dvsim_vic_event what, uint32_t index, uint64_t value)
{
    (void)context;
    CHECK(news < NEWS);
    told[news].at_ps = at_ps;
    told[news].what = what;
    told[news].index = index;
    told[news++].value = value;
}

static const dvsim_pcie pcie = {.crossing_ps = 400000, .load_ps = 1000000, .store_fs = 2000000, .look_ps = 50000,
                                .pop_ps = 10000, .setup_ps = 1000000, .engine_fs = 125000};

static dvsim_vic_params params(uint32_t number)
{
    return (dvsim_vic_params){.number = number, .cards = 2, .sram = sram[number], .sram_words = WORDS,
                              .counters = ~UINT64_C(0), .fifo_words = 2, .send_words = 4, .engine_slow = 1,
                              .pcie = pcie, .observe = observe};
}

static dvsim_vic *make(void)
{
    const dvsim_vic_params p = params(0);
    news = 0;
    memset(sram, 0, sizeof sram);
    dvsim_vic *vic = dvsim_vic_create(&p);
    CHECK(vic != NULL);
    return vic;
}

static uint64_t header(uint32_t dest, uint32_t op, uint32_t addr, uint32_t counter)
{
    return (uint64_t)dest << 32 | (uint64_t)op << 28 | (uint64_t)counter << 22 | addr;
}

static int always(void *context, uint32_t card)
{
    (void)card;
    return context == NULL;
}

static int arrive(dvsim_vic *vic, int64_t now_ps, uint64_t head, uint64_t payload)
{
    const dvsim_vic_packet packet = {head, payload, 0};
    return dvsim_vic_arrive(vic, now_ps, &packet, 0);
}

static void costs_are_those_of_the_parameters(void)
{
    CHECK(dvsim_pcie_is_good(&pcie));
    CHECK(dvsim_pcie_store_ps(&pcie, 1) == 16000);
    CHECK(dvsim_pcie_store_ps(&pcie, 2000) == 32000000);
    CHECK(dvsim_pcie_transfer_ps(&pcie, 100) == 32000 + 2 * 400000 + 1000000 + 100 * 1000);
    CHECK(!dvsim_pcie_engine_is_faster(&pcie, 59)); /* 1.832 us + 1 ns n against 32 ns n */
    CHECK(dvsim_pcie_engine_is_faster(&pcie, 60));
    dvsim_pcie short_load = pcie;
    short_load.load_ps = 799999;
    CHECK(!dvsim_pcie_is_good(&short_load));
}

static void looks_are_a_grid(void)
{
    CHECK(dvsim_pcie_look_from(&pcie, 1000, 0) == 51000);
    CHECK(dvsim_pcie_look_from(&pcie, 1000, 51000) == 51000);
    CHECK(dvsim_pcie_look_from(&pcie, 1000, 51001) == 101000);
}

static void bad_parameters_are_refused(void)
{
    dvsim_vic_params p = params(0);
    CHECK(dvsim_vic_create(NULL) == NULL);
    p.fifo_words = 0;
    CHECK(dvsim_vic_create(&p) == NULL);
    p = params(0);
    p.sram_words = (1 << 22) + 1;
    CHECK(dvsim_vic_create(&p) == NULL);
    p = params(0);
    p.number = 2;
    CHECK(dvsim_vic_create(&p) == NULL);
    p = params(0);
    p.engine_slow = 0.5;
    CHECK(dvsim_vic_create(&p) == NULL);
}

static void a_packet_is_written_and_counted_and_seen_a_crossing_later(void)
{
    dvsim_vic *vic = make();
    CHECK(dvsim_vic_preset(vic, 100, 5, 1) == DVSIM_OK);
    CHECK(arrive(vic, 1000, header(0, DVSIM_OP_WRITE, 7, 5), 42) == DVSIM_OK);
    CHECK(sram[0][7] == 42 && dvsim_vic_counter(vic, 5) == 0);
    CHECK(news == 2 && told[0].what == DVSIM_VIC_PRESET && told[0].at_ps == 400100);
    CHECK(told[1].what == DVSIM_VIC_COUNTER && told[1].at_ps == 401000 && told[1].index == 5 && told[1].value == 0);
    CHECK(dvsim_vic_counts_now(vic).unexpected == 0);
    CHECK(arrive(vic, 2000, header(0, DVSIM_OP_WRITE, 8, 5), 43) == DVSIM_OK); /* one more than preset */
    CHECK(dvsim_vic_counter(vic, 5) == -1 && dvsim_vic_counts_now(vic).unexpected == 1);
    CHECK(arrive(vic, 3000, header(0, DVSIM_OP_ADD, 0, 5), 11) == DVSIM_OK && dvsim_vic_counter(vic, 5) == 10);
    CHECK(arrive(vic, 4000, header(0, DVSIM_OP_SET, 0, 5), 3) == DVSIM_OK && dvsim_vic_counter(vic, 5) == 3);
    CHECK(dvsim_vic_preset(vic, 0, 64, 1) == DVSIM_EINVAL && dvsim_vic_store(vic, WORDS, 1) == DVSIM_EINVAL);
    dvsim_vic_free(vic);
}

static void a_query_is_answered_by_the_card(void)
{
    dvsim_vic *vic = make();
    sram[0][9] = 77;
    const uint64_t back = header(1, DVSIM_OP_WRITE, 3, 6);
    CHECK(dvsim_vic_offer(vic, always, NULL) == NULL && !dvsim_vic_waits(vic));
    CHECK(arrive(vic, 1000, header(0, DVSIM_OP_QUERY, 9, 63), back) == DVSIM_OK);
    const dvsim_vic_packet *reply = dvsim_vic_offer(vic, always, NULL);
    CHECK(reply != NULL && reply->header == back && reply->payload == 77);
    for (int i = 0; i < 200; i++) /* replies are not bounded by a queue of the host's */
        CHECK(arrive(vic, 2000, header(0, DVSIM_OP_QUERY, 9, 63), back) == DVSIM_OK);
    int replies = 0;
    for (; dvsim_vic_offer(vic, always, NULL) != NULL; replies++)
        dvsim_vic_took(vic, 3000);
    CHECK(replies == 201 && dvsim_vic_counter(vic, 63) == -201);
    dvsim_vic_free(vic);
}

static void a_full_fifo_holds_back_what_is_for_it(void)
{
    dvsim_vic *vic = make();
    CHECK(dvsim_vic_has_place(vic));
    dvsim_vic_reserve(vic);
    dvsim_vic_reserve(vic);
    CHECK(!dvsim_vic_has_place(vic));
    CHECK(arrive(vic, 1000, header(0, DVSIM_OP_FIFO, 0, 63), 1) == DVSIM_OK);
    CHECK(!dvsim_vic_has_place(vic)); /* one is there, one is on its way */
    dvsim_vic_popped(vic, 5);         /* no more than is there */
    CHECK(dvsim_vic_has_place(vic));
    dvsim_vic_reserve(vic);
    const dvsim_vic_packet lost = {header(0, DVSIM_OP_FIFO, 0, 63), 2, 0};
    CHECK(dvsim_vic_arrive(vic, 1000, &lost, 1) == DVSIM_OK && dvsim_vic_has_place(vic));
    int none = 0;
    CHECK(dvsim_vic_send(vic, 0, header(1, DVSIM_OP_FIFO, 0, 63), 1) == DVSIM_OK);
    CHECK(dvsim_vic_send(vic, 0, header(1, DVSIM_OP_WRITE, 0, 63), 1) == DVSIM_OK);
    CHECK(dvsim_vic_offer(vic, always, &none) == NULL && dvsim_vic_held(vic) != NULL); /* and those behind it */
    CHECK(dvsim_vic_offer(vic, always, NULL) != NULL);
    dvsim_vic_free(vic);
}

static void a_full_queue_and_bad_headers(void)
{
    dvsim_vic *vic = make();
    for (int i = 0; i < 4; i++)
        CHECK(dvsim_vic_send_cached(vic, 0, 0, 1) == DVSIM_OK); /* header 0 is a write to card 0 */
    CHECK(dvsim_vic_send(vic, 0, 0, 1) == DVSIM_ESTATE);
    CHECK(dvsim_vic_send_cached(vic, 0, WORDS, 1) == DVSIM_EINVAL);
    for (int i = 0; i < 4; i++) {
        CHECK(dvsim_vic_offer(vic, always, NULL) != NULL);
        dvsim_vic_took(vic, 1000 * i);
    }
    CHECK(news == 4 && told[3].what == DVSIM_VIC_TAKEN && told[3].value == 4 && told[3].at_ps == 403000);
    CHECK(dvsim_vic_send(vic, 0, header(2, DVSIM_OP_WRITE, 0, 0), 1) == DVSIM_OK); /* no such card */
    CHECK(dvsim_vic_send(vic, 0, UINT64_C(1) << 63, 1) == DVSIM_OK);
    CHECK(dvsim_vic_send(vic, 0, header(1, DVSIM_OP_QUERY, 0, 0), header(1, DVSIM_OP_QUERY, 0, 0)) == DVSIM_OK);
    CHECK(dvsim_vic_offer(vic, always, NULL) == NULL && dvsim_vic_counts_now(vic).refused == 3);
    dvsim_vic_free(vic);
}

static void an_engine_moves_a_word_when_it_is_due(void)
{
    dvsim_vic *vic = make();
    for (uint64_t i = 0; i < WORDS; i++)
        sram[0][i] = 100 + i;
    CHECK(dvsim_vic_due_ps(vic) == INT64_MAX);
    CHECK(dvsim_vic_engine_read(vic, 500, 9, 10, 3) == DVSIM_OK);
    CHECK(dvsim_vic_engine_read(vic, 600, 8, 60, 5) == DVSIM_EINVAL);
    CHECK(dvsim_vic_due_ps(vic) == 500 + 1000000 + 1000);
    dvsim_vic_move(vic, 1001499);
    CHECK(news == 0);
    dvsim_vic_move(vic, 1002500);
    CHECK(news == 2 && told[1].what == DVSIM_VIC_MOVED && told[1].value == 111 && told[1].index == 9);
    dvsim_vic_move(vic, 1003500);
    CHECK(news == 4 && told[3].what == DVSIM_VIC_DONE && told[3].at_ps == 1003500 + 400000);
    dvsim_vic_free(vic);
}

static void a_further_entry_of_a_table_has_no_setup(void)
{
    dvsim_vic *vic = make();
    CHECK(dvsim_vic_engine_read(vic, 0, 1, 0, 2) == DVSIM_OK);
    CHECK(dvsim_vic_engine_entry(vic, 0, 2, 2, 1) == DVSIM_OK);
    CHECK(dvsim_vic_engine_entry(vic, 0, 2, WORDS, 1) == DVSIM_EINVAL);
    dvsim_vic_move(vic, 1002000); /* the setup and two words */
    CHECK(news == 3 && dvsim_vic_due_ps(vic) == 1003000);
    dvsim_vic_move(vic, 1003000);
    CHECK(news == 5 && dvsim_vic_due_ps(vic) == INT64_MAX);
    CHECK(dvsim_vic_engine_entry(vic, 2000000, 3, 5, 1) == DVSIM_OK); /* idle meanwhile */
    CHECK(dvsim_vic_due_ps(vic) == 2001000);
    dvsim_vic_free(vic);
}

static void a_slow_engine_takes_a_multiple_of_setup_and_words(void)
{
    dvsim_vic_params p = params(0);
    p.engine_slow = 2.5;
    news = 0;
    dvsim_vic *vic = dvsim_vic_create(&p);
    CHECK(vic != NULL && dvsim_vic_engine_read(vic, 0, 1, 0, 2) == DVSIM_OK);
    CHECK(dvsim_vic_due_ps(vic) == 2500000 + 2500);
    dvsim_vic_move(vic, 2502500);
    CHECK(news == 1 && dvsim_vic_due_ps(vic) == 2500000 + 2 * 2500);
    dvsim_vic_free(vic);
}

static void an_engine_reads_no_more_than_the_host_allows(void)
{
    dvsim_vic *vic = make();
    dvsim_vic_allow(vic, 0, 2);
    CHECK(dvsim_vic_engine_read(vic, 0, 1, 0, 4) == DVSIM_OK);
    dvsim_vic_move(vic, 5000000);
    CHECK(news == 2 && dvsim_vic_due_ps(vic) == INT64_MAX);
    dvsim_vic_allow(vic, 6000000, 3);
    CHECK(dvsim_vic_due_ps(vic) == 6000000); /* it was overdue */
    dvsim_vic_move(vic, 6000000);
    CHECK(news == 3 && dvsim_vic_due_ps(vic) == INT64_MAX);
    dvsim_vic_allow(vic, 6000500, 100); /* the word after it is not */
    CHECK(dvsim_vic_due_ps(vic) == 6001000);
    dvsim_vic_move(vic, 6001000);
    CHECK(news == 5 && told[4].what == DVSIM_VIC_DONE);
    dvsim_vic_free(vic);
}

static void an_engine_stops_while_the_queue_is_full(void)
{
    dvsim_vic *vic = make();
    const uint64_t payloads[6] = {0, 1, 2, 3, 4, 5};
    CHECK(dvsim_vic_engine_put(vic, 0, 1, header(1, DVSIM_OP_WRITE, 20, 4), payloads, 6) == DVSIM_OK);
    dvsim_vic_move(vic, 2000000);
    CHECK(dvsim_vic_due_ps(vic) == INT64_MAX && news == 0); /* four wait in the card */
    const dvsim_vic_packet *first = dvsim_vic_offer(vic, always, NULL);
    CHECK(first != NULL && dvsim_header_addr(first->header) == 20);
    dvsim_vic_took(vic, 2000000);
    CHECK(dvsim_vic_due_ps(vic) == 2000000); /* the next one has waited long enough */
    dvsim_vic_move(vic, 2010000);
    CHECK(dvsim_vic_due_ps(vic) == INT64_MAX);
    for (uint64_t i = 1; i < 6; i++) {
        const dvsim_vic_packet *next = dvsim_vic_offer(vic, always, NULL);
        CHECK(next != NULL && next->payload == i && dvsim_header_addr(next->header) == 20 + i);
        dvsim_vic_took(vic, 3000000);
        dvsim_vic_move(vic, 3000000 + 2000 * (int64_t)i);
    }
    CHECK(news == 1 && told[0].what == DVSIM_VIC_DONE && !dvsim_vic_waits(vic));
    dvsim_vic_free(vic);
}

static void stores_and_engine_take_turns(void)
{
    dvsim_vic *vic = make();
    const uint64_t payloads[2] = {10, 11};
    CHECK(dvsim_vic_engine_put(vic, 0, 1, header(1, DVSIM_OP_WRITE, 0, 4), payloads, 2) == DVSIM_OK);
    dvsim_vic_move(vic, 2000000);
    for (uint64_t i = 0; i < 2; i++)
        CHECK(dvsim_vic_send(vic, 0, header(1, DVSIM_OP_WRITE, 0, 4), i) == DVSIM_OK);
    const uint64_t expected[4] = {0, 10, 1, 11};
    for (int i = 0; i < 4; i++) {
        CHECK(dvsim_vic_offer(vic, always, NULL)->payload == expected[i]);
        dvsim_vic_took(vic, 3000000);
    }
    dvsim_vic_free(vic);
}

static void a_load_comes_back_after_the_round_trip(void)
{
    dvsim_vic *vic = make();
    sram[0][2] = 5;
    CHECK(dvsim_vic_load(vic, 400000, 2, 17) == DVSIM_OK); /* the host asked at 0 */
    CHECK(news == 1 && told[0].what == DVSIM_VIC_LOADED && told[0].at_ps == 1000000 && told[0].value == 5);
    CHECK(dvsim_vic_load(vic, 0, WORDS, 17) == DVSIM_EINVAL);
    dvsim_vic_free(vic);
}

int main(void)
{
    costs_are_those_of_the_parameters();
    looks_are_a_grid();
    bad_parameters_are_refused();
    a_packet_is_written_and_counted_and_seen_a_crossing_later();
    a_query_is_answered_by_the_card();
    a_full_fifo_holds_back_what_is_for_it();
    a_full_queue_and_bad_headers();
    an_engine_moves_a_word_when_it_is_due();
    a_further_entry_of_a_table_has_no_setup();
    a_slow_engine_takes_a_multiple_of_setup_and_words();
    an_engine_reads_no_more_than_the_host_allows();
    an_engine_stops_while_the_queue_is_full();
    stores_and_engine_take_turns();
    a_load_comes_back_after_the_round_trip();
    puts("vic: checks passed");
    return 0;
}
