/* The cards of models/card, driven without time, see model.h. */
#include "model.h"

#include "packet.h"

enum { COUNTERS_OF_PROGRAMS = 9 };

const struct job_config model_job = {
    .cards = CARDS, .sram_words = WORDS, .counters = COUNTERS_OF_PROGRAMS + 3, .fifo_words = DEPTH,
    .dma_entries = 4, .pcie_rate = 8000000000, .dma_slow = 1, .seed = 1,
    .model = {.crossing_ps = 400000, .load_ps = 1000000, .look_ps = 50000, .store_rate = 500000000,
              .port_rate = 4400000000, .send_words = 16, .planes = 16, .angles = 6},
};

/* What comes out of a FIFO; the host sees all else in the card itself. */
static void told(void *context, int64_t at_ps, dvsim_vic_event what, uint32_t index, uint64_t value)
{
    struct model_card *card = context;
    (void)at_ps;
    (void)index;
    if (what == DVSIM_VIC_FIFO) {
        CHECK(card->fifo_words < DEPTH);
        card->fifo[card->fifo_words++] = value;
    }
}

void model_open(struct model *model)
{
    memset(model, 0, sizeof *model);
    for (uint32_t i = 0; i < CARDS; i++) {
        struct model_card *card = &model->card[i];
        card->counters = job_counters(&model_job);
        const dvsim_vic_params params = {
            .number = i, .cards = CARDS, .sram = card->sram, .sram_words = WORDS, .counters = card->counters,
            .fifo_words = DEPTH, .send_words = 4, .engine_slow = 1, .observe = told, .context = card,
            .pcie = {.crossing_ps = 1, .load_ps = 2, .store_fs = 1, .look_ps = 1, .engine_fs = 1},
        };
        card->vic = dvsim_vic_create(&params);
        CHECK(card->vic != NULL);
    }
}

void model_close(struct model *model)
{
    for (uint32_t i = 0; i < CARDS; i++) {
        dvsim_vic_free(model->card[i].vic);
    }
}

bool model_can_send(struct model *model, uint32_t from, const uint64_t *headers, const uint64_t *payloads, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!dvsim_vic_can_send(model->card[from].vic, headers[i], payloads[i])) {
            return false;
        }
    }
    return true;
}

bool model_commutes(const uint64_t *headers, const uint64_t *payloads, size_t n)
{
    uint64_t set[CARDS] = {0}, counted[CARDS] = {0};
    for (size_t i = 0; i < 2 * n; i++) {
        bool reply = i >= n;
        struct packet packet = packet_of(reply ? payloads[i - n] : headers[i]);
        if (packet.dest < CARDS && (!reply || packet_of(headers[i - n]).op == VIC_QUERY)) {
            uint64_t bit = UINT64_C(1) << packet.counter;
            *(packet.op == VIC_COUNTER_SET ? &set[packet.dest] : &counted[packet.dest]) |= bit;
        }
    }
    return (set[0] & counted[0]) == 0 && (set[1] & counted[1]) == 0 && (set[2] & counted[2]) == 0;
}

bool model_has_room(const struct model *model, const uint64_t *headers, const uint64_t *payloads, size_t n)
{
    size_t words[CARDS];
    for (uint32_t i = 0; i < CARDS; i++) {
        words[i] = model->card[i].fifo_words;
    }
    for (size_t i = 0; i < n; i++) {
        struct packet packet = packet_of(packet_of(headers[i]).op == VIC_QUERY ? payloads[i] : headers[i]);
        if (packet.op == VIC_FIFO && packet.dest < CARDS && ++words[packet.dest] > DEPTH) {
            return false;
        }
    }
    return true;
}

static int free_at(void *context, uint32_t card)
{
    return dvsim_vic_has_place(((struct model *)context)->card[card].vic);
}

/* What waits at a card arrives, and the replies to it. */
static void pump(struct model *model, uint32_t from)
{
    struct model_card *card = &model->card[from];
    for (const dvsim_vic_packet *next; (next = dvsim_vic_offer(card->vic, free_at, model)) != NULL;) {
        dvsim_vic_packet packet = *next;
        struct packet what = packet_of(packet.header);
        dvsim_vic_took(card->vic, 0);
        if (what.op == VIC_FIFO) {
            dvsim_vic_reserve(model->card[what.dest].vic);
        }
        CHECK(dvsim_vic_arrive(model->card[what.dest].vic, 0, &packet, 0) == DVSIM_OK);
        if (what.op == VIC_QUERY && what.dest != from) {
            pump(model, what.dest);
        }
    }
    CHECK(!dvsim_vic_waits(card->vic));
}

void model_send(struct model *model, uint32_t from, const uint64_t *headers, const uint64_t *payloads, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CHECK(dvsim_vic_send(model->card[from].vic, 0, headers[i], payloads[i]) == DVSIM_OK);
        pump(model, from);
    }
}

void model_put(struct model *model, uint32_t from, uint32_t dest, uint32_t addr, const uint64_t *words, size_t n,
               unsigned counter)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t header = vic_header(dest, VIC_WRITE, addr + (vic_addr_t)i, counter);
        model_send(model, from, &header, &words[i], 1);
    }
}

size_t model_take(struct model *model, uint32_t from, uint64_t *words, size_t min, size_t max)
{
    struct model_card *card = &model->card[from];
    size_t n = card->fifo_words < max ? card->fifo_words : max;
    if (card->fifo_words < min) {
        return 0;
    }
    memcpy(words, card->fifo, n * sizeof *words);
    memmove(card->fifo, card->fifo + n, (card->fifo_words - n) * sizeof *words);
    card->fifo_words -= n;
    dvsim_vic_popped(card->vic, (uint32_t)n);
    return n;
}

void model_compare_counters(const struct model *model, const struct job *job)
{
    for (uint32_t i = 0; i < CARDS; i++) {
        for (unsigned counter = 0; counter < COUNTERS; counter++) {
            bool exists = (model->card[i].counters >> counter & 1) != 0;
            int64_t value = atomic_load(&job->card[i].counter[counter].value);
            CHECK(!exists || value == dvsim_vic_counter(model->card[i].vic, counter));
        }
    }
}

void model_compare(struct model *model, vic_t **card)
{
    model_compare_counters(model, card[0]->job);
    for (uint32_t i = 0; i < CARDS; i++) {
        uint64_t words[WORDS], there[DEPTH], expected[DEPTH];
        size_t n;
        CHECK(vic_read(card[i], 0, words, WORDS) == VIC_OK);
        CHECK(memcmp(words, model->card[i].sram, sizeof words) == 0);
        CHECK(vic_fifo_poll(card[i], there, DEPTH, &n) == VIC_OK);
        CHECK(n == model_take(model, i, expected, 0, DEPTH));
        CHECK(memcmp(there, expected, n * sizeof *there) == 0);
    }
}
