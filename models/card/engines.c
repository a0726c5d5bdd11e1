/* engines.c: the two DMA engines. Word k of a transfer is due setup + (k + 1) * 8 B / rate after the engine has
 * come to it, plus the time for which it was stopped: the engine that sends stops while the queue before the
 * port is full, the one that reads when it has moved as many words as the host allows. */
#include <string.h>

#include "card/internal.h"

static int64_t word_at(const dvsim_vic *vic, uint32_t words)
{
    return (int64_t)((double)dvsim_pcie_engine_ps(&vic->params.pcie, words, 1) * vic->params.engine_slow + 0.5);
}

static void begin(const dvsim_vic *vic, dvsim_engine *engine)
{
    const dvsim_transfer *first = engine->first;
    if (first != NULL) {
        const int64_t from = first->from_ps > engine->free_ps ? first->from_ps : engine->free_ps;
        const int64_t setup = first->is_loaded ? 0 : vic->params.pcie.setup_ps;
        engine->base_ps = from + (int64_t)((double)setup * vic->params.engine_slow + 0.5);
        engine->counted = 0;
    }
}

static int64_t due(const dvsim_vic *vic, const dvsim_engine *engine)
{
    const dvsim_transfer *first = engine->first;
    if (first == NULL) {
        return INT64_MAX;
    }
    const uint32_t words = first->words > 0 ? first->moved + 1 - engine->counted : 0;
    return engine->base_ps + word_at(vic, words);
}

static int start(dvsim_vic *vic, dvsim_engine *engine, const dvsim_transfer *what, const uint64_t *payloads)
{
    dvsim_transfer *transfer = vic->spare != NULL ? vic->spare : malloc(sizeof *transfer);
    if (vic->spare != NULL) {
        vic->spare = transfer->next;
    }
    uint64_t *copy = payloads != NULL && what->words > 0 ? malloc(what->words * sizeof *copy) : NULL;
    if (transfer == NULL || (payloads != NULL && what->words > 0 && copy == NULL)) {
        free(transfer);
        free(copy);
        return DVSIM_ENOMEM;
    }
    if (copy != NULL) {
        memcpy(copy, payloads, what->words * sizeof *copy);
    }
    *transfer = *what;
    transfer->payloads = copy;
    const int idle = engine->first == NULL;
    *engine->last = transfer;
    engine->last = &transfer->next;
    if (idle) {
        begin(vic, engine);
    }
    return DVSIM_OK;
}

int dvsim_vic_engine_send(dvsim_vic *vic, int64_t now_ps, uint32_t tag, uint32_t headers, const uint64_t *payloads,
                          uint32_t words)
{
    const dvsim_transfer what = {.from_ps = now_ps, .tag = tag, .addr = headers, .words = words};
    return dvsim_vic_range(vic, headers, words) ? start(vic, &vic->sender, &what, payloads) : DVSIM_EINVAL;
}

int dvsim_vic_engine_put(dvsim_vic *vic, int64_t now_ps, uint32_t tag, uint64_t header, const uint64_t *payloads,
                         uint32_t words)
{
    const dvsim_transfer what = {.from_ps = now_ps, .tag = tag, .header = header, .words = words, .is_put = 1};
    return start(vic, &vic->sender, &what, payloads);
}

static int read(dvsim_vic *vic, dvsim_transfer what)
{
    return dvsim_vic_range(vic, what.addr, what.words) ? start(vic, &vic->reader, &what, NULL) : DVSIM_EINVAL;
}

int dvsim_vic_engine_read(dvsim_vic *vic, int64_t now_ps, uint32_t tag, uint32_t addr, uint32_t words)
{
    return read(vic, (dvsim_transfer){.from_ps = now_ps, .tag = tag, .addr = addr, .words = words});
}

int dvsim_vic_engine_entry(dvsim_vic *vic, int64_t now_ps, uint32_t tag, uint32_t addr, uint32_t words)
{
    const dvsim_transfer what = {.from_ps = now_ps, .tag = tag, .addr = addr, .words = words, .is_loaded = 1};
    return read(vic, what);
}

static int reader_is_stopped(const dvsim_vic *vic)
{
    const dvsim_transfer *first = vic->reader.first;
    return first != NULL && first->moved < first->words && vic->words_read >= vic->words_allowed;
}

void dvsim_vic_allow(dvsim_vic *vic, int64_t now_ps, int64_t words)
{
    const int was_stopped = reader_is_stopped(vic);
    vic->words_allowed = words;
    if (was_stopped && due(vic, &vic->reader) < now_ps) { /* it was overdue: it leaves now */
        vic->reader.base_ps = now_ps - word_at(vic, 1);
        vic->reader.counted = vic->reader.first->moved;
    }
}

static int is_stopped(const dvsim_vic *vic)
{
    const dvsim_packets *queue = &vic->queue[DVSIM_FETCHED];
    const dvsim_transfer *first = vic->sender.first;
    return first != NULL && first->moved < first->words && queue->used == queue->room;
}

int64_t dvsim_vic_due_ps(const dvsim_vic *vic)
{
    const int64_t send = is_stopped(vic) ? INT64_MAX : due(vic, &vic->sender);
    const int64_t take = reader_is_stopped(vic) ? INT64_MAX : due(vic, &vic->reader);
    return send < take ? send : take;
}

static void move_word(dvsim_vic *vic, dvsim_engine *engine, int64_t now_ps)
{
    dvsim_transfer *t = engine->first;
    const uint32_t at = t->moved++;
    if (engine == &vic->reader) {
        vic->words_read++;
        dvsim_vic_notify(vic, now_ps + vic->params.pcie.crossing_ps, DVSIM_VIC_MOVED, t->tag,
                      vic->params.sram[t->addr + at]);
        return;
    }
    const uint64_t header = t->is_put ? t->header + at : vic->params.sram[t->addr + at];
    const dvsim_vic_packet packet = {header, t->payloads[at], t->from_ps};
    dvsim_packets_put(&vic->queue[DVSIM_FETCHED], packet);
}

static void finish(dvsim_vic *vic, dvsim_engine *engine, int64_t end_ps, int64_t now_ps)
{
    dvsim_transfer *done = engine->first;
    engine->first = done->next;
    if (engine->first == NULL) {
        engine->last = &engine->first;
    }
    engine->free_ps = end_ps;
    dvsim_vic_notify(vic, now_ps + vic->params.pcie.crossing_ps, DVSIM_VIC_DONE, done->tag, 0);
    free(done->payloads);
    done->payloads = NULL;
    done->next = vic->spare;
    vic->spare = done;
    begin(vic, engine);
}

static void move(dvsim_vic *vic, dvsim_engine *engine, int64_t now_ps)
{
    for (int64_t at; engine->first != NULL && (at = due(vic, engine)) <= now_ps;) {
        if (engine == &vic->sender && is_stopped(vic)) { /* the words behind wait as long as this one */
            engine->base_ps = now_ps - word_at(vic, 1);
            engine->counted = engine->first->moved;
            return;
        }
        if (engine == &vic->reader && reader_is_stopped(vic)) {
            return;
        }
        if (engine->first->words > 0) {
            move_word(vic, engine, now_ps);
        }
        if (engine->first->moved == engine->first->words) {
            finish(vic, engine, at, now_ps);
        }
    }
}

void dvsim_vic_move(dvsim_vic *vic, int64_t now_ps)
{
    move(vic, &vic->sender, now_ps);
    move(vic, &vic->reader, now_ps);
}
