/* Lists of packets whose words may be anything, by each way onto the fabric: is a list with a wrong header refused and
 * nothing of it sent, and does a good one do what models/card does with it? */
#include "../cards.h"
#include "../model.h"
#include "packet.h"

enum { MOST = 600, BY_STORES = 0, FROM_SRAM, BY_ENGINE, WAYS };

static uint64_t headers[MOST], payloads[MOST];
static struct model model;

/* Nearly always one that some card could send. */
static uint64_t take_header(struct input *in)
{
    unsigned kind = take_byte(in);
    if (kind >= 250) {
        return take(in, 8);
    }
    unsigned more = take_byte(in), where = take_byte(in);
    uint32_t addr = kind < 240 ? (where * 3u) % WORDS : kind < 245 ? WORDS - 1 + where % 3 : 0x3fffff - where % 2;
    unsigned counter = more < 248 ? more % 9 : more - 248 + 57;
    uint32_t dest = (kind >> 2) % 16 < 15 ? (kind >> 2) % CARDS : CARDS + where % 2;
    return vic_header(dest, (enum vic_op)(kind % 6 == 5 ? 0 : kind % 6), addr, counter);
}

/* The list; some of its packets stand there many times, so that it is longer than a block of the library. */
static size_t take_list(struct input *in)
{
    size_t n = 0;
    while (input_left(in) && n < MOST) {
        unsigned kind = take_byte(in);
        if (kind == 255) {
            break;
        }
        headers[n] = take_header(in);
        payloads[n] = packet_of(headers[n]).op == VIC_QUERY ? take_header(in) : take_word(in);
        n++;
        for (unsigned again = kind >= 192 ? (kind - 191u) * 8 : 0; again > 0 && n < MOST; again--, n++) {
            headers[n] = headers[n - 1] + ((kind & 1) != 0 && packet_of(headers[n - 1]).op == VIC_WRITE);
            payloads[n] = payloads[n - 1];
        }
    }
    return n;
}

static bool only_writes(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned op = packet_of(headers[i]).op;
        if (op != VIC_WRITE && op != VIC_FIFO) {
            return false;
        }
    }
    return true;
}

/* Does a packet write over headers that the library reads only when it has sent this one? */
static bool rewrites(uint32_t from, vic_addr_t at, size_t n)
{
    enum { BLOCK = 128 };
    for (size_t i = 0; n > BLOCK && i < n; i++) {
        struct packet packet = packet_of(packet_of(headers[i]).op == VIC_QUERY ? payloads[i] : headers[i]);
        if (packet.op == VIC_WRITE && packet.dest == from && packet.addr >= at + BLOCK && packet.addr < at + n) {
            return true;
        }
    }
    return false;
}

static int send_list(vic_t *card, unsigned way, vic_addr_t at, size_t n)
{
    vic_dma_t *dma;
    switch (way) {
    case BY_STORES: return vic_send(card, headers, payloads, n);
    case FROM_SRAM: return vic_send_cached(card, at, payloads, n);
    default: break;
    }
    int status = vic_dma_send(card, at, payloads, n, &dma);
    return status == VIC_OK ? vic_dma_wait(card, &dma, VIC_FOREVER) : status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input in = input_of(data, bytes);
    struct job_config config = model_job;
    vic_t *card[CARDS];
    unsigned flags = take_byte(&in);
    config.reorder = flags & 1;
    config.check = 0;
    config.stats = flags >> 1 & 1;
    const struct job *job = cards_open(&config, card);
    model_open(&model);
    bool same = true; /* as far as the order of packets lets one say */
    while (input_left(&in)) {
        unsigned how = take_byte(&in), way = how % WAYS, from = how / WAYS % CARDS;
        vic_addr_t at = (vic_addr_t)take(&in, 1) % 48;
        size_t n = take_list(&in);
        if (way != BY_STORES) { /* the headers have to lie there before, and may be hit by what they send */
            bool fits = at + n <= WORDS;
            CHECK(vic_write(card[from], at, headers, n) == (fits ? VIC_OK : VIC_ERANGE));
            if (!fits) {
                continue;
            }
            memcpy(&model.card[from].sram[at], headers, n * sizeof *headers);
        }
        uint64_t taken[DEPTH];
        for (uint32_t i = 0; i < CARDS && !model_has_room(&model, headers, payloads, n); i++) {
            size_t got, expected = model_take(&model, i, taken, 0, DEPTH);
            CHECK(vic_fifo_poll(card[i], taken, DEPTH, &got) == VIC_OK && (config.reorder || got == expected));
        }
        if (!model_has_room(&model, headers, payloads, n) || (way != BY_STORES && config.reorder)) {
            continue; /* it would wait for ever; or read headers that others may have changed */
        }
        bool good = model_can_send(&model, from, headers, payloads, n);
        int status = send_list(card[from], way, at, n);
        if (!good) {
            CHECK(status == VIC_EINVAL || status == VIC_ERANGE);
            continue;
        }
        if (way != BY_STORES && rewrites(from, at, n)) {
            same = false;
            break;
        }
        CHECK(status == VIC_OK);
        model_send(&model, from, headers, payloads, n);
        if (!model_commutes(headers, payloads, n) || (config.reorder && !only_writes(n))) {
            same = false;
            break;
        }
    }
    if (config.reorder) {
        cards_settle(card);
    }
    if (same && !config.reorder) {
        model_compare(&model, card);
    }
    cards_close(card);
    if (same) {
        model_compare_counters(&model, job);
    }
    model_close(&model);
    return 0;
}
