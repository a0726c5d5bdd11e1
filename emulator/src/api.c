/* The calls of vic.h that reach a card: arguments are checked here, then the provider does the work. */
#include "handle.h"
#include "watch.h"

/* The exported twin of the inline function. */
extern inline uint64_t vic_header(uint32_t dest, enum vic_op op, vic_addr_t addr, unsigned counter);

int vic_close(vic_t *card)
{
    return card == NULL ? VIC_EINVAL : handle_close(card);
}

int vic_query_attr(const vic_t *card, struct vic_attr *attr)
{
    NEED(card, attr != NULL);
    const struct job_config *config = &card->job->config;
    *attr = (struct vic_attr){card->number, card->cards, config->sram_words, config->counters,
                              config->fifo_words, config->dma_entries, config->mode};
    return VIC_OK;
}

int vic_peer_opens(const vic_t *card, uint32_t peer, uint64_t *opens)
{
    NEED(card, opens != NULL);
    if (peer >= card->cards) {
        return VIC_ERANGE;
    }
    *opens = card->ops->peer_opens(card, peer);
    return VIC_OK;
}

uint64_t vic_time_ns(const vic_t *card)
{
    return card == NULL || handle_closed(card) ? 0 : card->ops->time_ns(card);
}

int vic_compute_ns(vic_t *card, uint64_t ns)
{
    NEED(card, 1);
    WATCHED(card, CALL_COMPUTE, 0, card->ops->compute(card, ns));
}

void vic_relax(vic_t *card)
{
    if (card == NULL || handle_closed(card)) {
        return;
    }
    if (card->watch & WATCH_STALL) {
        watch_begin(card);
    }
    card->ops->relax(card);
}

int vic_write(vic_t *card, vic_addr_t addr, const uint64_t *words, size_t n)
{
    NEED(card, words != NULL);
    if (!range_exists(card, addr, n)) {
        return VIC_ERANGE;
    }
    WATCHED(card, CALL_WRITE, n, card->ops->write(card, addr, words, n));
}

int vic_read(vic_t *card, vic_addr_t addr, uint64_t *words, size_t n)
{
    NEED(card, words != NULL);
    if (!range_exists(card, addr, n)) {
        return VIC_ERANGE;
    }
    WATCHED(card, CALL_READ, n, card->ops->read(card, addr, words, n));
}

int vic_send(vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n)
{
    NEED(card, headers != NULL && payloads != NULL);
    WATCHED(card, CALL_SEND, n, card->ops->send(card, headers, payloads, n));
}

int vic_send_cached(vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n)
{
    NEED(card, payloads != NULL);
    if (!range_exists(card, headers, n)) {
        return VIC_ERANGE;
    }
    WATCHED(card, CALL_SEND_CACHED, n, card->ops->send_cached(card, headers, payloads, n));
}

int vic_put(vic_t *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n, unsigned counter)
{
    NEED(card, words != NULL);
    if (dest >= card->cards || !range_exists(card, addr, n) || !counter_exists(card, counter)) {
        return VIC_ERANGE;
    }
    WATCHED(card, CALL_PUT, n, card->ops->put(card, dest, addr, words, n, counter));
}

int vic_counter_set(vic_t *card, unsigned counter, int64_t n)
{
    NEED(card, 1);
    if (!counter_exists(card, counter)) {
        return VIC_ERANGE;
    }
    WATCHED(card, CALL_COUNTER_SET, 0, card->ops->counter_set(card, counter, n));
}

int vic_counter_get(vic_t *card, unsigned counter, int64_t *n)
{
    NEED(card, n != NULL);
    if (!counter_exists(card, counter)) {
        return VIC_ERANGE;
    }
    WATCHED(card, CALL_COUNTER_GET, 0, card->ops->counter_get(card, counter, n));
}

int vic_counter_wait(vic_t *card, unsigned counter, uint64_t timeout_ns)
{
    NEED(card, 1);
    if (!counter_exists(card, counter)) {
        return VIC_ERANGE;
    }
    if (counter == SCRATCH) {
        return VIC_EINVAL;
    }
    WATCHED(card, CALL_COUNTER_WAIT, 0, card->ops->counter_wait(card, counter, timeout_ns));
}

int vic_fifo_poll(vic_t *card, uint64_t *words, size_t max, size_t *n)
{
    NEED(card, words != NULL && n != NULL);
    WATCHED(card, CALL_FIFO_POLL, *n, card->ops->fifo_poll(card, words, max, n));
}

int vic_fifo_wait(vic_t *card, uint64_t *words, size_t min, size_t max, size_t *n, uint64_t timeout_ns)
{
    NEED(card, words != NULL && n != NULL);
    if (min > max || min > card->job->config.fifo_words) {
        return VIC_EINVAL;
    }
    WATCHED(card, CALL_FIFO_WAIT, *n, card->ops->fifo_wait(card, words, min, max, n, timeout_ns));
}

int vic_barrier(vic_t *card, uint64_t timeout_ns)
{
    NEED(card, 1);
    WATCHED(card, CALL_BARRIER, 0, card->ops->barrier(card, timeout_ns));
}
