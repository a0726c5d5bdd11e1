/* The calls of vic.h that reach a card: arguments are checked here, then the provider does the work. */
#include <inttypes.h>

#include "cancel.h"
#include "handle.h"
#include "packet.h"
#include "sized.h"
#include "watch.h"

/* The exported twin of the inline function. */
extern inline uint64_t vic_header(uint32_t dest, enum vic_op op, vic_addr_t addr, unsigned counter);

int vic_close(vic_t *card)
{
    int before = cancel_off(), status = card == NULL ? fail_null(1, "") : fail_keep(handle_close(card));
    cancel_back(before);
    return status;
}

int vic_query_attr_sized(size_t attr_bytes, const vic_t *card, struct vic_attr *attr)
{
    NEED(card, attr != NULL);
    const struct job_config *config = &card->job->config;
    struct vic_attr all = {card->number, card->cards, config->sram_words, config->counters,
                           config->fifo_words, config->dma_entries, config->mode};
    sized_give(attr, attr_bytes, &all, sizeof all);
    return VIC_OK;
}

/* For who has no macro: the struct as it was in 0.1, up to `mode`. */
int(vic_query_attr)(const vic_t *card, struct vic_attr *attr)
{
    return vic_query_attr_sized(offsetof(struct vic_attr, mode) + sizeof attr->mode, card, attr);
}

int vic_peer_opens(const vic_t *card, uint32_t peer, uint64_t *opens)
{
    NEED(card, opens != NULL);
    if (peer >= card->cards) {
        return REFUSED(card, fail_range(card, peer, 0, 0, SCRATCH));
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
    WATCHED(card, CALL_COMPUTE, 0, card->ops->compute(card, ns), "ns=%" PRIu64, ns);
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
        return REFUSED(card, fail_range(card, 0, addr, n, SCRATCH));
    }
    WATCHED(card, CALL_WRITE, n, card->ops->write(card, addr, words, n), "addr=%u, n=%zu", addr, n);
}

int vic_read(vic_t *card, vic_addr_t addr, uint64_t *words, size_t n)
{
    NEED(card, words != NULL);
    if (!range_exists(card, addr, n)) {
        return REFUSED(card, fail_range(card, 0, addr, n, SCRATCH));
    }
    WATCHED(card, CALL_READ, n, card->ops->read(card, addr, words, n), "addr=%u, n=%zu", addr, n);
}

int vic_send(vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n)
{
    NEED(card, headers != NULL && payloads != NULL);
    WATCHED(card, CALL_SEND, n, card->ops->send(card, headers, payloads, n), PACKETS, PACKETS_OF(headers, n));
}

int vic_send_cached(vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n)
{
    NEED(card, payloads != NULL);
    if (!range_exists(card, headers, n)) {
        return REFUSED(card, fail_words(card, "headers", headers, n));
    }
    WATCHED(card, CALL_SEND_CACHED, n, card->ops->send_cached(card, headers, payloads, n),
            "headers=%u, n=%zu", headers, n);
}

int vic_put(vic_t *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n, unsigned counter)
{
    NEED(card, words != NULL);
    if (dest >= card->cards || !range_exists(card, addr, n) || !counter_exists(card, counter)) {
        return REFUSED(card, fail_range(card, dest, addr, n, counter));
    }
    WATCHED(card, CALL_PUT, n, card->ops->put(card, dest, addr, words, n, counter),
            "dest=%u, addr=%u, n=%zu, counter=%u", dest, addr, n, counter);
}

int vic_counter_set(vic_t *card, unsigned counter, int64_t n)
{
    NEED(card, 1);
    if (!counter_exists(card, counter)) {
        return REFUSED(card, fail_range(card, 0, 0, 0, counter));
    }
    WATCHED(card, CALL_COUNTER_SET, 0, card->ops->counter_set(card, counter, n),
            "counter=%u, n=%" PRId64, counter, n);
}

int vic_counter_get(vic_t *card, unsigned counter, int64_t *n)
{
    NEED(card, n != NULL);
    if (!counter_exists(card, counter)) {
        return REFUSED(card, fail_range(card, 0, 0, 0, counter));
    }
    WATCHED(card, CALL_COUNTER_GET, 0, card->ops->counter_get(card, counter, n),
            "counter=%u, n=%" PRId64, counter, *n);
}

FAIL_COLD static int fail_scratch(void)
{
    return fail(VIC_EINVAL, "counter 63 is the scratch counter, for which nothing waits");
}

FAIL_COLD static int fail_fifo(const struct vic *card, bool nothing, size_t min, size_t max)
{
    return nothing     ? fail(VIC_EINVAL, "there is nothing to wait for: counters and fifo_min are 0")
           : min > max ? fail(VIC_EINVAL, "min %zu is more than max %zu", min, max)
                       : fail(VIC_EINVAL, "%zu words do not fit in the FIFO (%u words)", min,
                              card->job->config.fifo_words);
}

int vic_counter_wait(vic_t *card, unsigned counter, uint64_t timeout_ns)
{
    NEED(card, 1);
    if (!counter_exists(card, counter)) {
        return REFUSED(card, fail_range(card, 0, 0, 0, counter));
    }
    if (counter == SCRATCH) {
        return REFUSED(card, fail_scratch());
    }
    WATCHED(card, CALL_COUNTER_WAIT, 0, card->ops->counter_wait(card, counter, timeout_ns),
            "counter=%u, timeout=%" PRId64, counter, (int64_t)timeout_ns);
}

/* Whether there is anything to wait for, and all of it exists. */
static inline int any_check(const vic_t *card, uint64_t counters, size_t fifo_min)
{
    if ((counters & ~card->counters) != 0) {
        return fail_range(card, 0, 0, 0, (unsigned)__builtin_ctzll(counters & ~card->counters));
    }
    if (counters >> SCRATCH != 0) {
        return fail_scratch();
    }
    if ((counters == 0 && fifo_min == 0) || fifo_min > card->job->config.fifo_words) {
        return fail_fifo(card, counters == 0 && fifo_min == 0, fifo_min, fifo_min);
    }
    return VIC_OK;
}

int vic_wait(vic_t *card, uint64_t counters, size_t fifo_min, uint64_t *ready, uint64_t timeout_ns)
{
    NEED(card, ready != NULL);
    int status = any_check(card, counters, fifo_min);
    if (status != VIC_OK) {
        return REFUSED(card, status);
    }
    WATCHED(card, CALL_WAIT, 0, card->ops->wait_any(card, counters, fifo_min, ready, timeout_ns),
            "counters=0x%" PRIx64 ", fifo_min=%zu, ready=0x%" PRIx64 ", timeout=%" PRId64, counters, fifo_min, *ready,
            (int64_t)timeout_ns);
}

int vic_event_fd(vic_t *card, uint64_t counters, size_t fifo_min, int *fd)
{
    NEED(card, fd != NULL);
    int status = any_check(card, counters, fifo_min);
    if (status != VIC_OK) {
        return REFUSED(card, status);
    }
    if (card->ops->event_fd == NULL) {
        return fail(VIC_EINVAL, "%s mode has no descriptors: model time stands while a program waits elsewhere; vic_wait",
                    card->ops->name);
    }
    return card->ops->event_fd(card, counters, fifo_min, fd);
}

int vic_fifo_poll(vic_t *card, uint64_t *words, size_t max, size_t *n)
{
    NEED(card, words != NULL && n != NULL);
    WATCHED(card, CALL_FIFO_POLL, *n, card->ops->fifo_poll(card, words, max, n), "max=%zu, n=%zu", max, *n);
}

int vic_fifo_wait(vic_t *card, uint64_t *words, size_t min, size_t max, size_t *n, uint64_t timeout_ns)
{
    NEED(card, words != NULL && n != NULL);
    if (min > max || min > card->job->config.fifo_words) {
        return REFUSED(card, fail_fifo(card, false, min, max));
    }
    WATCHED(card, CALL_FIFO_WAIT, *n, card->ops->fifo_wait(card, words, min, max, n, timeout_ns),
            "min=%zu, max=%zu, n=%zu, timeout=%" PRId64, min, max, *n, (int64_t)timeout_ns);
}

int vic_barrier(vic_t *card, uint64_t timeout_ns)
{
    NEED(card, 1);
    WATCHED(card, CALL_BARRIER, 0, card->ops->barrier(card, timeout_ns), "timeout=%" PRId64, (int64_t)timeout_ns);
}
