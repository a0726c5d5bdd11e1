/* Sequences of calls on three cards: does every answer agree with models/card? */
#include "../cards.h"
#include "../draws.h"
#include "../model.h"
#include "packet.h"

enum { LIST = 6, LONG_LIST = 24, TRANSFERS = 4, HEADERS = WORDS - 32 };

struct slot {
    vic_dma_t *dma;
    uint64_t words[LONG_LIST], expected[LONG_LIST];
    size_t moves;
};

static struct model model;
static vic_t *card[CARDS];
static struct slot slot[CARDS][TRANSFERS];

/* SRAM and counters that are allocated: what the card says must agree with itself. */
static struct {
    vic_addr_t addr[LONG_LIST];
    size_t words[LONG_LIST];
    size_t count;
    uint64_t counters;
} books[CARDS];

static bool counter_is_there(uint32_t me, unsigned counter)
{
    return counter < COUNTERS && (model.card[me].counters >> counter & 1) != 0;
}

static struct slot *free_slot(uint32_t me)
{
    for (int i = 0; i < TRANSFERS; i++) {
        if (slot[me][i].dma == NULL) {
            return &slot[me][i];
        }
    }
    return NULL;
}

static void do_words(struct input *in, uint32_t me, unsigned what)
{
    uint64_t words[LIST];
    vic_addr_t addr = take_addr(in);
    size_t n = take_below(in, LIST + 1);
    for (size_t i = 0; i < n && what != 1; i++) {
        words[i] = take_word(in);
    }
    bool good = is_inside(addr, n);
    if (what == 0) {
        CHECK(vic_write(card[me], addr, words, n) == (good ? VIC_OK : VIC_ERANGE));
        for (size_t i = 0; good && i < n; i++) {
            CHECK(dvsim_vic_store(model.card[me].vic, addr + (vic_addr_t)i, words[i]) == DVSIM_OK);
        }
    } else if (what == 1) {
        CHECK(vic_read(card[me], addr, words, n) == (good ? VIC_OK : VIC_ERANGE));
        CHECK(!good || memcmp(words, &model.card[me].sram[addr], n * sizeof *words) == 0);
    } else {
        uint32_t dest = take_dest(in);
        unsigned counter = take_counter(in);
        good = good && dest < CARDS && counter_is_there(me, counter);
        CHECK(vic_put(card[me], dest, addr, words, n, counter) == (good ? VIC_OK : VIC_ERANGE));
        if (good) {
            model_put(&model, me, dest, addr, words, n, counter);
        }
    }
}

static void do_counter(struct input *in, uint32_t me, unsigned what)
{
    unsigned counter = take_counter(in);
    bool good = counter_is_there(me, counter);
    int64_t value = what == 0 ? (int64_t)take_word(in) : 0;
    if (what == 0) {
        CHECK(vic_counter_set(card[me], counter, value) == (good ? VIC_OK : VIC_ERANGE));
        CHECK(dvsim_vic_preset(model.card[me].vic, 0, counter, value) == (good ? DVSIM_OK : DVSIM_EINVAL));
        return;
    }
    int64_t expected = good ? dvsim_vic_counter(model.card[me].vic, counter) : 0;
    if (what == 1) {
        CHECK(vic_counter_get(card[me], counter, &value) == (good ? VIC_OK : VIC_ERANGE));
        CHECK(!good || value == expected);
        return;
    }
    int status = !good ? VIC_ERANGE : counter == SCRATCH ? VIC_EINVAL : expected == 0 ? VIC_OK : VIC_ETIMEDOUT;
    CHECK(vic_counter_wait(card[me], counter, take_below(in, 3) / 2 * 100) == status);
}

static void do_fifo(struct input *in, uint32_t me)
{
    uint64_t words[DEPTH + 2], expected[DEPTH + 2];
    size_t min = take_below(in, DEPTH + 2), max = take_below(in, DEPTH + 3), n = 99;
    int status = vic_fifo_wait(card[me], words, min, max, &n, 0);
    if (min > max || min > DEPTH) {
        CHECK(status == VIC_EINVAL);
        return;
    }
    size_t there = model_take(&model, me, expected, min, max);
    CHECK(status == (there >= min ? VIC_OK : VIC_ETIMEDOUT));
    CHECK(n == there && memcmp(words, expected, n * sizeof *words) == 0);
}

static void end_transfer(uint32_t me, struct slot *at)
{
    int done = 0;
    CHECK(vic_dma_test(card[me], at->dma, &done) == VIC_OK && done);
    CHECK(vic_dma_wait(card[me], &at->dma, 0) == VIC_OK && at->dma == NULL);
    CHECK(memcmp(at->words, at->expected, at->moves * sizeof *at->words) == 0);
}

static void do_dma_read(struct input *in, uint32_t me)
{
    struct slot *at = free_slot(me);
    vic_addr_t addr = take_addr(in);
    size_t n = take_below(in, LONG_LIST + 1);
    bool good = is_inside(addr, n);
    if (at == NULL) { /* as many as the table has */
        uint64_t words[LONG_LIST];
        vic_dma_t *none;
        CHECK(vic_dma_read(card[me], words, addr, n, &none) == (good ? VIC_ENOSPC : VIC_ERANGE));
        end_transfer(me, &slot[me][take_below(in, TRANSFERS)]);
        return;
    }
    CHECK(vic_dma_read(card[me], at->words, addr, n, &at->dma) == (good ? VIC_OK : VIC_ERANGE));
    if (good) {
        at->moves = n;
        memcpy(at->expected, &model.card[me].sram[addr], n * sizeof *at->expected);
    }
}

static void do_send(struct input *in, uint32_t me, unsigned what)
{
    uint64_t headers[LIST], payloads[LIST];
    size_t n = take_below(in, LIST + 1);
    for (size_t i = 0; i < n; i++) {
        headers[i] = take_header(in, HEADERS);
        payloads[i] = packet_of(headers[i]).op == VIC_QUERY ? take_header(in, HEADERS) : take_word(in);
    }
    struct slot *at = free_slot(me);
    if (!model_commutes(headers, payloads, n) || !model_has_room(&model, headers, payloads, n) || (what == 2 && at == NULL)) {
        return;
    }
    for (size_t i = 0; what != 0 && i < n; i++) {
        CHECK(vic_write(card[me], HEADERS + (vic_addr_t)i, &headers[i], 1) == VIC_OK);
        model.card[me].sram[HEADERS + i] = headers[i];
    }
    bool good = model_can_send(&model, me, headers, payloads, n);
    int status = what == 0 ? vic_send(card[me], headers, payloads, n)
               : what == 1 ? vic_send_cached(card[me], HEADERS, payloads, n) : VIC_OK;
    if (what == 2) {
        memcpy(at->words, payloads, n * sizeof *payloads);
        at->moves = 0;
        status = vic_dma_send(card[me], HEADERS, at->words, n, &at->dma);
    }
    CHECK(good ? status == VIC_OK : status == VIC_ERANGE || status == VIC_EINVAL);
    if (good) {
        model_send(&model, me, headers, payloads, n);
    }
}

static void do_books(struct input *in, uint32_t me, unsigned what)
{
    unsigned counter = take_counter(in);
    vic_addr_t addr = take_addr(in);
    if (what == 0 && books[me].count < LONG_LIST) {
        size_t words = take_word(in), i = books[me].count;
        int status = vic_alloc(card[me], words, &addr);
        CHECK(status == (words == 0 ? VIC_EINVAL : status == VIC_OK ? VIC_OK : VIC_ENOSPC));
        CHECK(status == VIC_OK || words == 0 || words > WORDS - 8 || books[me].count > 0);
        for (size_t k = 0; status == VIC_OK && k < i; k++) {
            CHECK(addr % 8 == 0 && is_inside(addr, words));
            CHECK(addr + words <= books[me].addr[k] || books[me].addr[k] + books[me].words[k] <= addr);
        }
        books[me].addr[i] = addr;
        books[me].words[i] = words;
        books[me].count += status == VIC_OK;
    } else if (what == 1) {
        size_t i = 0;
        addr = books[me].count > 0 && counter % 2 == 0 ? books[me].addr[addr % books[me].count] : addr;
        while (i < books[me].count && books[me].addr[i] != addr) {
            i++;
        }
        bool known = i < books[me].count;
        CHECK(vic_free(card[me], addr) == (known ? VIC_OK : VIC_EINVAL));
        books[me].count -= known;
        for (; known && i < books[me].count; i++) {
            books[me].addr[i] = books[me].addr[i + 1];
            books[me].words[i] = books[me].words[i + 1];
        }
    } else if (what == 2) {
        int status = vic_counter_alloc(card[me], &counter);
        CHECK(status == (books[me].counters == 0x1ff ? VIC_ENOSPC : VIC_OK));
        CHECK(status != VIC_OK || (counter < 9 && (books[me].counters >> counter & 1) == 0));
        books[me].counters |= status == VIC_OK ? UINT64_C(1) << counter : 0;
    } else {
        bool mine = counter < 9 && (books[me].counters >> counter & 1) != 0;
        int status = mine ? VIC_OK : counter_is_there(me, counter) ? VIC_EINVAL : VIC_ERANGE;
        CHECK(vic_counter_free(card[me], counter) == status);
        books[me].counters &= mine ? ~(UINT64_C(1) << counter) : UINT64_MAX;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input in = input_of(data, bytes);
    struct job_config config = model_job;
    unsigned flags = take_byte(&in);
    config.stats = flags & 1;
    config.trace_records = 16; /* soon full */
    cards_open(&config, card);
    model_open(&model);
    memset(slot, 0, sizeof slot);
    memset(books, 0, sizeof books);
    while (input_left(&in)) {
        unsigned what = take_byte(&in);
        uint32_t me = what / 16 % CARDS;
        switch (what % 16) {
        case 0: case 1: case 2: do_words(&in, me, what % 16); break;
        case 3: case 4: case 5: do_counter(&in, me, what % 16 - 3); break;
        case 6: do_fifo(&in, me); break;
        case 7: do_dma_read(&in, me); break;
        case 8: case 9: case 10: do_send(&in, me, what % 16 - 8); break;
        case 11: case 12: case 13: case 14: do_books(&in, me, what % 16 - 11); break;
        default: CHECK(vic_barrier(card[me], 0) == VIC_ETIMEDOUT); /* the others are not in it */
        }
    }
    for (uint32_t me = 0; me < CARDS; me++) {
        for (int i = 0; i < TRANSFERS; i++) {
            if (slot[me][i].dma != NULL) {
                end_transfer(me, &slot[me][i]);
            }
        }
    }
    model_compare(&model, card);
    cards_close(card);
    model_close(&model);
    return 0;
}
