/* receiver.c: a receiving node is made, asked and goes; landing.c has what happens in a burst. */
#include "host/receiver.h"

#include <stdlib.h>

#include "host/internal.h"

enum { HEADER_WORDS = 1 << 22 }; /* that an address of a packet reaches */
static const int64_t MOST_WORDS = INT64_C(1) << 31, MOST_MESSAGES = INT64_C(1) << 40, LATE = INT64_C(1) << 61;

static dvsim_vic *make_vic(dvsim_receiver *r, uint64_t *sram, int64_t words)
{
    const uint64_t counters = r->params.group_counters < DVSIM_COUNTERS
                                  ? (UINT64_C(1) << r->params.group_counters) - 1
                                  : ~UINT64_C(0);
    const dvsim_vic_params params = {
        .cards = 1,
        .sram = sram,
        .sram_words = (uint32_t)words,
        .counters = counters,
        .fifo_words = r->params.fifo_words < INT32_MAX ? (uint32_t)r->params.fifo_words : 0,
        .send_words = 1,
        .engine_slow = 1,
        .pcie = r->params.pcie,
        .observe = sram == r->sram ? dvsim_receiver_observe : NULL,
        .context = r,
    };
    return dvsim_vic_create(&params);
}

static int make(dvsim_receiver *r, int64_t buffers)
{
    const int64_t all = r->params.sram_bytes / DVSIM_WORD_BYTES;
    r->message_words = dvsim_card_words(&r->flow);
    r->message_pieces = dvsim_card_pieces(&r->flow);
    r->counters = r->params.group_counters - 1;
    if (all > HEADER_WORDS || r->params.group_counters > DVSIM_COUNTERS || r->message_words > all) {
        return 0;
    }
    r->zone_words = all / r->message_words * r->message_words;
    r->sram = calloc((size_t)r->zone_words, sizeof *r->sram);
    r->ring = dvsim_ring_create(buffers);
    if (r->sram == NULL || r->ring == NULL) {
        return 0;
    }
    r->vic = make_vic(r, r->sram, r->zone_words);
    r->sender = make_vic(r, &r->nothing, 1);
    return r->vic != NULL && r->sender != NULL;
}

dvsim_receiver *dvsim_receiver_create(const dvsim_card_params *params, int64_t message_bytes, int64_t buffers)
{
    dvsim_receiver *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return NULL;
    }
    if (dvsim_card_init(&r->flow, params, message_bytes) == DVSIM_OK) {
        r->params = *params;
        if (make(r, buffers)) {
            return r;
        }
    }
    dvsim_receiver_free(r);
    return NULL;
}

void dvsim_receiver_free(dvsim_receiver *r)
{
    if (r == NULL) {
        return;
    }
    dvsim_vic_free(r->vic);
    dvsim_vic_free(r->sender);
    dvsim_mirror_free(&r->mirror);
    dvsim_ring_free(r->ring);
    free(r->sram);
    free(r->order);
    free(r->landed);
    free(r);
}

static int more_scratch(dvsim_receiver *r, int64_t words)
{
    if (words <= r->scratch_words) {
        return 1;
    }
    uint32_t *order = realloc(r->order, (size_t)words * sizeof *order);
    if (order != NULL) {
        r->order = order;
    }
    uint8_t *landed = realloc(r->landed, (size_t)words);
    if (landed != NULL) {
        r->landed = landed;
    }
    if (order == NULL || landed == NULL) {
        return 0;
    }
    r->scratch_words = words;
    return 1;
}

/* No time of the burst can overflow. */
static int is_good(dvsim_receiver *r, const dvsim_arrival_words *a, int64_t messages)
{
    if (messages < 1 || messages > MOST_MESSAGES || messages > MOST_WORDS / r->message_words ||
        a->slots == NULL || a->slot_ps < 1 || a->sent_ps < 0 || a->sent_ps > LATE ||
        dvsim_card_move_ps(&r->flow, messages) > LATE) {
        return 0;
    }
    const int64_t most = LATE / a->slot_ps;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (int64_t i = 0; i < messages * r->message_words; i++) {
        first = a->slots[i] < first ? a->slots[i] : first;
        last = a->slots[i] > last ? a->slots[i] : last;
    }
    r->first_slot = first;
    r->last_slot = last;
    return a->ahead <= most && a->ahead >= -most && last <= most - a->ahead &&
           first >= a->sent_ps / a->slot_ps - a->ahead;
}

int dvsim_receiver_take(dvsim_receiver *r, const dvsim_arrival_words *arrival, int64_t messages,
                        const dvsim_window *window, int64_t *pieces_ps, dvsim_burst *burst)
{
    if (r == NULL || arrival == NULL || window == NULL || pieces_ps == NULL || burst == NULL ||
        !is_good(r, arrival, messages)) {
        return DVSIM_EINVAL;
    }
    r->words = messages * r->message_words;
    r->pieces = messages * r->message_pieces;
    r->pieces_ps = pieces_ps;
    if (!more_scratch(r, r->words)) {
        return DVSIM_ENOMEM;
    }
    int code = dvsim_ring_open(r->ring, window, r->words);
    r->room = r->allowed = window->room;
    if (code == DVSIM_OK) {
        code = dvsim_receiver_land(r, arrival, burst);
    }
    if (code == DVSIM_OK) {
        r->counts.messages += messages;
    }
    return code;
}

int dvsim_receiver_pace(dvsim_receiver *r, int64_t ppm)
{
    return dvsim_card_pace(&r->flow, ppm);
}

int64_t dvsim_receiver_release(dvsim_receiver *r)
{
    const int64_t words = dvsim_ring_release(r->ring);
    return words < 0 ? words : words / r->message_words;
}

/* For the FIFO of the only card, on the scratch counter. */
static const dvsim_vic_packet CREDIT = {(uint64_t)DVSIM_OP_FIFO << 28, 1, -1};

int dvsim_receiver_push(dvsim_receiver *r, int64_t now_ps)
{
    if (!dvsim_vic_has_place(r->sender)) {
        return DVSIM_ESTATE;
    }
    const dvsim_vic_packet credit = {CREDIT.header | (uint64_t)r->counters << 22, CREDIT.payload, -1};
    dvsim_vic_reserve(r->sender);
    return dvsim_vic_arrive(r->sender, now_ps, &credit, 0);
}

int dvsim_receiver_pop(dvsim_receiver *r)
{
    if (dvsim_vic_fifo_words(r->sender) < 1) {
        return DVSIM_ESTATE;
    }
    dvsim_vic_popped(r->sender, 1);
    r->counts.credits++;
    return DVSIM_OK;
}

dvsim_receiver_counts dvsim_receiver_counts_now(const dvsim_receiver *r)
{
    dvsim_receiver_counts counts = r->counts;
    counts.unexpected = dvsim_vic_counts_now(r->vic).unexpected;
    return counts;
}

dvsim_ring_counts dvsim_receiver_ring(const dvsim_receiver *r)
{
    return dvsim_ring_counts_now(r->ring);
}

int dvsim_receiver_check(const dvsim_receiver *r)
{
    const dvsim_vic_counts vic = dvsim_vic_counts_now(r->vic);
    return r->wrong == 0 && vic.unexpected == 0 && vic.refused == 0 && vic.arrived == r->counts.words &&
           r->counts.words == r->counts.messages * r->message_words &&
           dvsim_ring_counts_now(r->ring).filled == r->counts.words && dvsim_ring_check(r->ring);
}
