/* Calls for many words and for many things at once, on three cards: vic_get, strided and indexed puts, vic_try_send,
 * vic_wait. Does every answer agree with models/card? */
#include "../cards.h"
#include "../draws.h"
#include "../model.h"
#include "packet.h"

enum { FEW = 8, MANY = 600 /* more than a call makes headers for at a time */ };

static struct model model;
static vic_t *card[CARDS];
static uint64_t words[MANY];
static vic_addr_t addrs[MANY];

static bool counter_is_there(uint32_t me, unsigned counter)
{
    return counter < COUNTERS && (model.card[me].counters >> counter & 1) != 0;
}

static size_t take_count(struct input *in)
{
    return take_byte(in) < 240 ? take_below(in, FEW) : take_below(in, MANY + 1);
}

static void take_words(struct input *in, size_t n)
{
    uint64_t first = take_word(in);
    for (size_t i = 0; i < n; i++) {
        words[i] = first + i * i;
    }
}

static void do_get(struct input *in, uint32_t me)
{
    uint32_t dest = take_dest(in);
    vic_addr_t addr = take_addr(in), local = take_addr(in);
    size_t n = take_count(in);
    unsigned counter = take_counter(in);
    bool good = dest < CARDS && is_inside(addr, n) && is_inside(local, n) && counter_is_there(me, counter);
    CHECK(vic_get(card[me], dest, addr, n, local, counter) == (good ? VIC_OK : VIC_ERANGE));
    for (size_t i = 0; good && i < n; i++) {
        uint64_t header = vic_header(dest, VIC_QUERY, addr + (vic_addr_t)i, VIC_NO_COUNTER);
        uint64_t reply = vic_header(me, VIC_WRITE, local + (vic_addr_t)i, counter);
        model_send(&model, me, &header, &reply, 1);
    }
}

static void put_each(uint32_t me, uint32_t dest, size_t n, unsigned counter)
{
    for (size_t i = 0; i < n; i++) {
        model_put(&model, me, dest, addrs[i], &words[i], 1, counter);
    }
}

static void do_strided(struct input *in, uint32_t me)
{
    uint32_t dest = take_dest(in);
    vic_addr_t addr = take_addr(in);
    size_t n = take_count(in), stride = take_byte(in) < 250 ? take_below(in, FEW) : (size_t)take_word(in);
    unsigned counter = take_counter(in);
    uint64_t last = addr;
    bool good = dest < CARDS && counter_is_there(me, counter) && addr <= WORDS && (n == 0 || addr < WORDS);
    for (size_t i = 1; i < n && good; i++) {
        last += stride;
        good = stride < WORDS && last < WORDS;
    }
    take_words(in, n);
    CHECK(vic_put_strided(card[me], dest, addr, stride, words, n, counter) == (good ? VIC_OK : VIC_ERANGE));
    for (size_t i = 0; good && i < n; i++) {
        addrs[i] = addr + (vic_addr_t)(i * stride);
    }
    put_each(me, dest, good ? n : 0, counter);
}

static void do_indexed(struct input *in, uint32_t me)
{
    uint32_t dest = take_dest(in);
    size_t n = take_count(in);
    unsigned counter = take_counter(in);
    bool good = dest < CARDS && counter_is_there(me, counter);
    take_words(in, n);
    for (size_t i = 0; i < n; i++) {
        addrs[i] = take_addr(in);
        good = good && addrs[i] < WORDS;
    }
    CHECK(vic_put_indexed(card[me], dest, addrs, words, n, counter) == (good ? VIC_OK : VIC_ERANGE));
    put_each(me, dest, good ? n : 0, counter);
}

/* How many of these packets leave before one meets a full FIFO. */
static size_t fitting(const uint64_t *headers, const uint64_t *payloads, size_t n)
{
    size_t fits = 0;
    while (fits < n && model_has_room(&model, headers, payloads, fits + 1)) {
        fits++;
    }
    return fits;
}

static void do_try(struct input *in, uint32_t me)
{
    uint64_t headers[FEW], payloads[FEW];
    size_t n = take_below(in, FEW), sent = 99;
    for (size_t i = 0; i < n; i++) {
        headers[i] = take_header(in, WORDS);
        payloads[i] = packet_of(headers[i]).op == VIC_QUERY ? take_header(in, WORDS) : take_word(in);
    }
    if (!model_commutes(headers, payloads, n)) {
        return;
    }
    bool good = model_can_send(&model, me, headers, payloads, n);
    int status = vic_try_send(card[me], headers, payloads, n, &sent);
    if (!good) {
        CHECK((status == VIC_ERANGE || status == VIC_EINVAL) && sent == 0);
        return;
    }
    size_t fits = fitting(headers, payloads, n);
    CHECK(sent == fits && status == (fits == n ? VIC_OK : VIC_EAGAIN));
    model_send(&model, me, headers, payloads, fits);
}

static void do_wait(struct input *in, uint32_t me)
{
    uint64_t counters = take_byte(in) < 200 ? take(in, 2) & 0x1ff : take_word(in), ready = 99, expected = 0;
    size_t fifo_min = take_below(in, DEPTH + 2);
    bool nothing = (counters == 0 && fifo_min == 0) || fifo_min > DEPTH;
    int status = (counters & ~model.card[me].counters) != 0 ? VIC_ERANGE : nothing || counters >> 63 != 0 ? VIC_EINVAL : VIC_OK;
    for (unsigned i = 0; status == VIC_OK && i < COUNTERS; i++) {
        bool zero = (counters >> i & 1) != 0 && dvsim_vic_counter(model.card[me].vic, i) == 0;
        expected |= zero ? UINT64_C(1) << i : 0;
    }
    bool there = fifo_min > 0 && model.card[me].fifo_words >= fifo_min;
    expected |= status == VIC_OK && there ? UINT64_C(1) << VIC_READY_FIFO : 0;
    int found = vic_wait(card[me], counters, fifo_min, &ready, take_below(in, 3) / 2 * 100);
    CHECK(found == (status != VIC_OK || expected != 0 ? status : VIC_ETIMEDOUT));
    CHECK(status != VIC_OK || ready == expected);
}

static void do_counter(struct input *in, uint32_t me)
{
    unsigned counter = take_below(in, 9);
    int64_t value = (int64_t)take_word(in);
    CHECK(vic_counter_set(card[me], counter, value) == VIC_OK);
    CHECK(dvsim_vic_preset(model.card[me].vic, 0, counter, value) == DVSIM_OK);
}

static void do_fifo(struct input *in, uint32_t me)
{
    uint64_t found[DEPTH], expected[DEPTH];
    size_t max = take_below(in, DEPTH + 1), n;
    CHECK(vic_fifo_poll(card[me], found, max, &n) == VIC_OK && n == model_take(&model, me, expected, 0, max));
    CHECK(memcmp(found, expected, n * sizeof *found) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input in = input_of(data, bytes);
    cards_open(&model_job, card);
    model_open(&model);
    while (input_left(&in)) {
        unsigned what = take_byte(&in);
        uint32_t me = what / 8 % CARDS;
        switch (what % 8) {
        case 0: do_get(&in, me); break;
        case 1: do_strided(&in, me); break;
        case 2: do_indexed(&in, me); break;
        case 3: case 4: do_try(&in, me); break;
        case 5: do_wait(&in, me); break;
        case 6: do_counter(&in, me); break;
        default: do_fifo(&in, me);
        }
    }
    model_compare(&model, card);
    cards_close(card);
    model_close(&model);
    return 0;
}
