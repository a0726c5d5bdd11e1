/* vic.c: SRAM, counters, FIFO, and what waits for the port; engines.c has the DMA engines. */
#include "card/vic.h"

#include "card/internal.h"

enum { MOST_QUEUE = 1 << 24, FIRST_REPLIES = 64, MOST_SRAM = 1 << 22 };

static int good(const dvsim_vic_params *p)
{
    return p->sram != NULL && p->sram_words >= 1 && p->sram_words <= MOST_SRAM && p->number < p->cards &&
           p->fifo_words >= 1 && p->fifo_words <= MOST_QUEUE && p->send_words >= 1 && p->send_words <= MOST_QUEUE &&
           p->engine_slow >= 1 && p->engine_slow <= 1e6 && dvsim_pcie_is_good(&p->pcie);
}

dvsim_vic *dvsim_vic_create(const dvsim_vic_params *params)
{
    if (params == NULL || !good(params)) {
        return NULL;
    }
    dvsim_vic *vic = calloc(1, sizeof *vic);
    if (vic == NULL) {
        return NULL;
    }
    vic->params = *params;
    vic->sender.last = &vic->sender.first;
    vic->reader.last = &vic->reader.first;
    vic->words_allowed = INT64_MAX;
    int made = dvsim_packets_make(&vic->replies, FIRST_REPLIES);
    for (int i = 0; i < DVSIM_QUEUES; i++) {
        made &= dvsim_packets_make(&vic->queue[i], params->send_words);
    }
    if (!made) {
        dvsim_vic_free(vic);
        return NULL;
    }
    return vic;
}

static void free_transfers(dvsim_transfer *first)
{
    for (dvsim_transfer *transfer = first, *next; transfer != NULL; transfer = next) {
        next = transfer->next;
        free(transfer->payloads);
        free(transfer);
    }
}

void dvsim_vic_free(dvsim_vic *vic)
{
    if (vic == NULL) {
        return;
    }
    free_transfers(vic->sender.first);
    free_transfers(vic->reader.first);
    free_transfers(vic->spare);
    for (int i = 0; i < DVSIM_QUEUES; i++) {
        free(vic->queue[i].packet);
    }
    free(vic->replies.packet);
    free(vic);
}

int dvsim_vic_store(dvsim_vic *vic, uint32_t addr, uint64_t word)
{
    if (!dvsim_vic_range(vic, addr, 1)) {
        return DVSIM_EINVAL;
    }
    vic->params.sram[addr] = word;
    return DVSIM_OK;
}

static int counter_exists(const dvsim_vic *vic, uint32_t counter)
{
    return counter < DVSIM_COUNTERS && (vic->params.counters >> counter & 1) != 0;
}

int dvsim_vic_preset(dvsim_vic *vic, int64_t now_ps, uint32_t counter, int64_t value)
{
    if (!counter_exists(vic, counter)) {
        return DVSIM_EINVAL;
    }
    vic->counter[counter] = value;
    dvsim_vic_notify(vic, now_ps + vic->params.pcie.crossing_ps, DVSIM_VIC_PRESET, counter, (uint64_t)value);
    return DVSIM_OK;
}

int dvsim_vic_load(dvsim_vic *vic, int64_t now_ps, uint32_t addr, uint32_t tag)
{
    if (!dvsim_vic_range(vic, addr, 1)) {
        return DVSIM_EINVAL;
    }
    const int64_t back = vic->params.pcie.load_ps - vic->params.pcie.crossing_ps;
    dvsim_vic_notify(vic, now_ps + back, DVSIM_VIC_LOADED, tag, vic->params.sram[addr]);
    return DVSIM_OK;
}

void dvsim_vic_popped(dvsim_vic *vic, uint32_t words)
{
    const uint32_t some = words < vic->fifo_held ? words : vic->fifo_held;
    vic->fifo_held -= some;
    vic->fifo_used -= some;
}

int64_t dvsim_vic_fifo_words(const dvsim_vic *vic)
{
    return vic->fifo_held;
}

int dvsim_vic_has_place(const dvsim_vic *vic)
{
    return vic->fifo_used < vic->params.fifo_words;
}

void dvsim_vic_reserve(dvsim_vic *vic)
{
    vic->fifo_used++;
}

static int header_is_good(const dvsim_vic *vic, uint64_t header)
{
    const uint32_t op = dvsim_header_op(header);
    const int uses_addr = op == DVSIM_OP_WRITE || op == DVSIM_OP_QUERY;
    return header >> 48 == 0 && op < DVSIM_OPS && dvsim_header_dest(header) < vic->params.cards &&
           (!uses_addr || dvsim_header_addr(header) < vic->params.sram_words) &&
           counter_exists(vic, dvsim_header_counter(header));
}

int dvsim_vic_can_send(const dvsim_vic *vic, uint64_t header, uint64_t payload)
{
    if (!header_is_good(vic, header)) {
        return 0;
    }
    return dvsim_header_op(header) != DVSIM_OP_QUERY ||
           (dvsim_header_op(payload) != DVSIM_OP_QUERY && header_is_good(vic, payload));
}

int dvsim_vic_send(dvsim_vic *vic, int64_t now_ps, uint64_t header, uint64_t payload)
{
    const dvsim_vic_packet packet = {header, payload, now_ps};
    return dvsim_packets_put(&vic->queue[DVSIM_STORED], packet) ? DVSIM_OK : DVSIM_ESTATE;
}

int dvsim_vic_send_cached(dvsim_vic *vic, int64_t now_ps, uint32_t addr, uint64_t payload)
{
    return dvsim_vic_range(vic, addr, 1) ? dvsim_vic_send(vic, now_ps, vic->params.sram[addr], payload) : DVSIM_EINVAL;
}

/* Its first packet may leave; what is no packet is dropped here, where it would have left. */
static int may_leave(dvsim_packets *queue, dvsim_vic_free_at *free_at, void *context)
{
    const dvsim_vic_packet *first = dvsim_packets_first(queue);
    return first != NULL && (dvsim_header_op(first->header) != DVSIM_OP_FIFO ||
                             free_at(context, dvsim_header_dest(first->header)));
}

static void drop_bad(dvsim_vic *vic, dvsim_packets *queue, int is_stored)
{
    for (const dvsim_vic_packet *p; (p = dvsim_packets_first(queue)) != NULL &&
                                    !dvsim_vic_can_send(vic, p->header, p->payload);) {
        dvsim_packets_drop(queue);
        vic->counts.refused++;
        vic->taken += (uint64_t)is_stored;
    }
}

const dvsim_vic_packet *dvsim_vic_offer(dvsim_vic *vic, dvsim_vic_free_at *free_at, void *context)
{
    vic->offered = NULL;
    if (may_leave(&vic->replies, free_at, context)) {
        vic->offered = &vic->replies;
    } else {
        for (int i = 0; i < DVSIM_QUEUES && vic->offered == NULL; i++) {
            const int which = (vic->turn + i) % DVSIM_QUEUES;
            drop_bad(vic, &vic->queue[which], which == DVSIM_STORED);
            if (may_leave(&vic->queue[which], free_at, context)) {
                vic->offered = &vic->queue[which];
            }
        }
    }
    return vic->offered != NULL ? dvsim_packets_first(vic->offered) : NULL;
}

void dvsim_vic_took(dvsim_vic *vic, int64_t now_ps)
{
    dvsim_packets_drop(vic->offered);
    if (vic->offered == &vic->replies) {
        return;
    }
    vic->turn = vic->offered == &vic->queue[DVSIM_STORED] ? DVSIM_FETCHED : DVSIM_STORED;
    if (vic->offered == &vic->queue[DVSIM_STORED]) {
        dvsim_vic_notify(vic, now_ps + vic->params.pcie.crossing_ps, DVSIM_VIC_TAKEN, 0, ++vic->taken);
    }
}

int dvsim_vic_waits(const dvsim_vic *vic)
{
    return vic->replies.used > 0 || vic->queue[DVSIM_STORED].used > 0 || vic->queue[DVSIM_FETCHED].used > 0;
}

const dvsim_vic_packet *dvsim_vic_held(const dvsim_vic *vic)
{
    return dvsim_packets_first(&vic->queue[DVSIM_STORED]);
}

static void notify_counter(const dvsim_vic *vic, int64_t now_ps, uint32_t counter)
{
    dvsim_vic_notify(vic, now_ps + vic->params.pcie.crossing_ps, DVSIM_VIC_COUNTER, counter,
                  (uint64_t)vic->counter[counter]);
}

static void enter_fifo(dvsim_vic *vic, int64_t now_ps, uint64_t word, int lose)
{
    if (lose) {
        vic->fifo_used--;
        return;
    }
    vic->fifo_held++;
    if (vic->fifo_held > vic->counts.fifo_peak) {
        vic->counts.fifo_peak = vic->fifo_held;
    }
    dvsim_vic_notify(vic, now_ps + vic->params.pcie.crossing_ps, DVSIM_VIC_FIFO, 0, word);
}

static int reply(dvsim_vic *vic, const dvsim_vic_packet *query)
{
    const dvsim_vic_packet answer = {query->payload, vic->params.sram[dvsim_header_addr(query->header)], -1};
    if (vic->replies.used == vic->replies.room && !dvsim_packets_grow(&vic->replies)) {
        return DVSIM_ENOMEM;
    }
    dvsim_packets_put(&vic->replies, answer);
    return DVSIM_OK;
}

int dvsim_vic_arrive(dvsim_vic *vic, int64_t now_ps, const dvsim_vic_packet *packet, int lose)
{
    const uint32_t counter = dvsim_header_counter(packet->header), op = dvsim_header_op(packet->header);
    int status = DVSIM_OK;
    vic->counts.arrived++;
    if (op == DVSIM_OP_WRITE) {
        vic->params.sram[dvsim_header_addr(packet->header)] = packet->payload;
    } else if (op == DVSIM_OP_FIFO) {
        enter_fifo(vic, now_ps, packet->payload, lose);
    } else if (op == DVSIM_OP_QUERY) {
        status = reply(vic, packet);
    }
    if (op == DVSIM_OP_SET) {
        vic->counter[counter] = (int64_t)packet->payload;
    } else if (op == DVSIM_OP_ADD) {
        vic->counter[counter] = (int64_t)((uint64_t)vic->counter[counter] + packet->payload);
    } else {
        vic->counts.unexpected += vic->counter[counter] <= 0;
        vic->counter[counter] = (int64_t)((uint64_t)vic->counter[counter] - 1);
    }
    notify_counter(vic, now_ps, counter);
    return status;
}

int64_t dvsim_vic_counter(const dvsim_vic *vic, uint32_t counter)
{
    return vic->counter[counter % DVSIM_COUNTERS];
}

dvsim_vic_counts dvsim_vic_counts_now(const dvsim_vic *vic)
{
    return vic->counts;
}
