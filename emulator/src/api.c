/* The calls of vic.h that reach a card: arguments are checked here, then the provider does the work. */
#include "cancel.h"
#include "debug.h"
#include "handle.h"
#include "packet.h"
#include "sized.h"
#include "watch.h"

/* The exported twin of the inline function. */
extern inline uint64_t vic_header(uint32_t dest, enum vic_op op, vic_addr_t addr, unsigned counter);

static int vic_close_call(vic_t *card)
{
    int before = cancel_off(), status = card == NULL ? fail_null(1, "") : handle_close(card);
    cancel_back(before);
    return status;
}

LOGGED(vic_close, (vic_t *card), (card), card, "", NULL, "", NULL)

int vic_query_attr_sized(size_t attr_bytes, const vic_t *card, struct vic_attr *attr)
{
    NEED(card, attr != NULL);
    const struct job_config *config = &card->job->config;
    struct vic_attr all = {card->number, card->cards, config->sram_words, config->counters,
                           config->fifo_words, config->dma_entries, config->mode};
    sized_give(attr, attr_bytes, &all, sizeof all);
    return VIC_OK;
}

/* The function of 0.1, for programs that do not use the macro of vic.h: its struct ends with `mode`. */
int(vic_query_attr)(const vic_t *card, struct vic_attr *attr)
{
    return vic_query_attr_sized(offsetof(struct vic_attr, mode) + sizeof attr->mode, card, attr);
}

int vic_peer_opens(const vic_t *card, uint32_t peer, uint64_t *opens)
{
    NEED(card, opens != NULL);
    if (peer >= card->cards) {
        return fail_range(card, peer, 0, 0, SCRATCH);
    }
    *opens = card->ops->peer_opens(card, peer);
    return VIC_OK;
}

uint64_t vic_time_ns(const vic_t *card)
{
    return card == NULL || handle_closed(card) ? 0 : card->ops->time_ns(card);
}

WATCHED_AS(compute_ns, (vic_t *card, uint64_t ns), CALL_COMPUTE, 0,
           card->ops->compute(card, ns), "ns", (int64_t)ns)

int vic_compute_ns(vic_t *card, uint64_t ns)
{
    NEED(card, 1);
    return __builtin_expect(card->watch != 0, 0) ? watched_compute_ns(card, ns)
           : card->ops->compute(card, ns);
}

void vic_relax(vic_t *card)
{
    if (card == NULL || handle_closed(card)) {
        return;
    }
    if (card->watch & WATCH_STALL) {
        watch_begin(card, "", NULL);
    }
    card->ops->relax(card);
}

WATCHED_AS(write, (vic_t *card, vic_addr_t addr, const uint64_t *words, size_t n), CALL_WRITE, n,
           card->ops->write(card, addr, words, n), "addr n", addr, (int64_t)n)

int vic_write(vic_t *card, vic_addr_t addr, const uint64_t *words, size_t n)
{
    NEED(card, words != NULL);
    if (!range_exists(card, addr, n)) {
        return fail_range(card, 0, addr, n, SCRATCH);
    }
    return __builtin_expect(card->watch != 0, 0) ? watched_write(card, addr, words, n)
           : card->ops->write(card, addr, words, n);
}

WATCHED_AS(read, (vic_t *card, vic_addr_t addr, uint64_t *words, size_t n), CALL_READ, n,
           card->ops->read(card, addr, words, n), "addr n", addr, (int64_t)n)

int vic_read(vic_t *card, vic_addr_t addr, uint64_t *words, size_t n)
{
    NEED(card, words != NULL);
    if (!range_exists(card, addr, n)) {
        return fail_range(card, 0, addr, n, SCRATCH);
    }
    return __builtin_expect(card->watch != 0, 0) ? watched_read(card, addr, words, n)
           : card->ops->read(card, addr, words, n);
}

WATCHED_AS(send, (vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n), CALL_SEND, n,
           card->ops->send(card, headers, payloads, n), PACKETS, PACKETS_OF(headers, n))

int vic_send(vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n)
{
    NEED(card, headers != NULL && payloads != NULL);
    return __builtin_expect(card->watch != 0, 0) ? watched_send(card, headers, payloads, n)
           : card->ops->send(card, headers, payloads, n);
}

WATCHED_AS(send_cached, (vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n), CALL_SEND_CACHED, n,
           card->ops->send_cached(card, headers, payloads, n), "headers n", headers, (int64_t)n)

int vic_send_cached(vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n)
{
    NEED(card, payloads != NULL);
    if (!range_exists(card, headers, n)) {
        return fail_words(card, "headers", headers, n);
    }
    return __builtin_expect(card->watch != 0, 0) ? watched_send_cached(card, headers, payloads, n)
           : card->ops->send_cached(card, headers, payloads, n);
}

WATCHED_AS(put, (vic_t *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n, unsigned counter), CALL_PUT, n,
           card->ops->put(card, dest, addr, words, n, counter),
           "dest addr n counter", dest, addr, (int64_t)n, counter)

int vic_put(vic_t *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n, unsigned counter)
{
    NEED(card, words != NULL);
    if (dest >= card->cards || !range_exists(card, addr, n) || !counter_exists(card, counter)) {
        return fail_range(card, dest, addr, n, counter);
    }
    return __builtin_expect(card->watch != 0, 0) ? watched_put(card, dest, addr, words, n, counter)
           : card->ops->put(card, dest, addr, words, n, counter);
}

WATCHED_AS(counter_set, (vic_t *card, unsigned counter, int64_t n), CALL_COUNTER_SET, 0,
           card->ops->counter_set(card, counter, n), "counter n", counter, n)

int vic_counter_set(vic_t *card, unsigned counter, int64_t n)
{
    NEED(card, 1);
    if (!counter_exists(card, counter)) {
        return fail_range(card, 0, 0, 0, counter);
    }
    return __builtin_expect(card->watch != 0, 0) ? watched_counter_set(card, counter, n)
           : card->ops->counter_set(card, counter, n);
}

WATCHED_AS(counter_get, (vic_t *card, unsigned counter, int64_t *n), CALL_COUNTER_GET, 0,
           card->ops->counter_get(card, counter, n), "counter", counter)

int vic_counter_get(vic_t *card, unsigned counter, int64_t *n)
{
    NEED(card, n != NULL);
    if (!counter_exists(card, counter)) {
        return fail_range(card, 0, 0, 0, counter);
    }
    return __builtin_expect(card->watch != 0, 0) ? watched_counter_get(card, counter, n)
           : card->ops->counter_get(card, counter, n);
}

FAIL_COLD static int fail_scratch(const struct vic *card)
{
    fail(VIC_EINVAL, "counter 63 is the scratch counter, for which nothing waits");
    return watch_refused(card, VIC_EINVAL);
}

FAIL_COLD static int fail_fifo(const struct vic *card, bool nothing, size_t min, size_t max)
{
    int status = nothing     ? fail(VIC_EINVAL, "there is nothing to wait for: counters and fifo_min are 0")
                 : min > max ? fail(VIC_EINVAL, "min %zu is more than max %zu", min, max)
                             : fail(VIC_EINVAL, "%zu words do not fit in the FIFO (%u words)", min,
                                    card->job->config.fifo_words);
    return watch_refused(card, status);
}

WATCHED_AS(counter_wait, (vic_t *card, unsigned counter, uint64_t timeout_ns), CALL_COUNTER_WAIT, 0,
           card->ops->counter_wait(card, counter, timeout_ns), "counter timeout", counter, (int64_t)timeout_ns)

int vic_counter_wait(vic_t *card, unsigned counter, uint64_t timeout_ns)
{
    NEED(card, 1);
    if (!counter_exists(card, counter)) {
        return fail_range(card, 0, 0, 0, counter);
    }
    if (counter == SCRATCH) {
        return fail_scratch(card);
    }
    return __builtin_expect(card->watch != 0, 0) ? watched_counter_wait(card, counter, timeout_ns)
           : card->ops->counter_wait(card, counter, timeout_ns);
}

/* VIC_OK if there is something to wait for, and all of it exists. */
static inline int any_check(const vic_t *card, uint64_t counters, size_t fifo_min)
{
    if ((counters & ~card->counters) != 0) {
        return fail_range(card, 0, 0, 0, (unsigned)__builtin_ctzll(counters & ~card->counters));
    }
    if (counters >> SCRATCH != 0) {
        return fail_scratch(card);
    }
    if ((counters == 0 && fifo_min == 0) || fifo_min > card->job->config.fifo_words) {
        return fail_fifo(card, counters == 0 && fifo_min == 0, fifo_min, fifo_min);
    }
    return VIC_OK;
}

WATCHED_AS(wait, (vic_t *card, uint64_t counters, size_t fifo_min, uint64_t *ready, uint64_t timeout_ns), CALL_WAIT, 0,
           card->ops->wait_any(card, counters, fifo_min, ready, timeout_ns),
           "counters fifo_min timeout", (int64_t)counters, (int64_t)fifo_min, (int64_t)timeout_ns)

int vic_wait(vic_t *card, uint64_t counters, size_t fifo_min, uint64_t *ready, uint64_t timeout_ns)
{
    NEED(card, ready != NULL);
    int status = any_check(card, counters, fifo_min);
    if (status != VIC_OK) {
        return status;
    }
    return __builtin_expect(card->watch != 0, 0) ? watched_wait(card, counters, fifo_min, ready, timeout_ns)
           : card->ops->wait_any(card, counters, fifo_min, ready, timeout_ns);
}

WATCHED_AS(event_fd, (vic_t *card, uint64_t counters, size_t fifo_min, int *fd), CALL_EVENT_FD, (size_t)*fd,
           card->ops->event_fd(card, counters, fifo_min, fd), "counters fifo_min", (int64_t)counters, (int64_t)fifo_min)

int vic_event_fd(vic_t *card, uint64_t counters, size_t fifo_min, int *fd)
{
    NEED(card, fd != NULL);
    int status = any_check(card, counters, fifo_min);
    if (status != VIC_OK) {
        return status;
    }
    if (card->ops->event_fd == NULL) {
        fail(VIC_EINVAL, "%s mode has no descriptors: model time stands while a program waits elsewhere; vic_wait",
             card->ops->name);
        return watch_refused(card, VIC_EINVAL);
    }
    *fd = -1;
    return __builtin_expect(card->watch != 0, 0) ? watched_event_fd(card, counters, fifo_min, fd)
           : card->ops->event_fd(card, counters, fifo_min, fd);
}

WATCHED_AS(fifo_poll, (vic_t *card, uint64_t *words, size_t max, size_t *n), CALL_FIFO_POLL, *n,
           card->ops->fifo_poll(card, words, max, n), "max", (int64_t)max)

int vic_fifo_poll(vic_t *card, uint64_t *words, size_t max, size_t *n)
{
    NEED(card, words != NULL && n != NULL);
    return __builtin_expect(card->watch != 0, 0) ? watched_fifo_poll(card, words, max, n)
           : card->ops->fifo_poll(card, words, max, n);
}

WATCHED_AS(fifo_wait, (vic_t *card, uint64_t *words, size_t min, size_t max, size_t *n, uint64_t timeout_ns), CALL_FIFO_WAIT, *n,
           card->ops->fifo_wait(card, words, min, max, n, timeout_ns),
           "min max timeout", (int64_t)min, (int64_t)max, (int64_t)timeout_ns)

int vic_fifo_wait(vic_t *card, uint64_t *words, size_t min, size_t max, size_t *n, uint64_t timeout_ns)
{
    NEED(card, words != NULL && n != NULL);
    if (min > max || min > card->job->config.fifo_words) {
        return fail_fifo(card, false, min, max);
    }
    return __builtin_expect(card->watch != 0, 0) ? watched_fifo_wait(card, words, min, max, n, timeout_ns)
           : card->ops->fifo_wait(card, words, min, max, n, timeout_ns);
}

WATCHED_AS(barrier, (vic_t *card, uint64_t timeout_ns), CALL_BARRIER, 0,
           card->ops->barrier(card, timeout_ns), "timeout", (int64_t)timeout_ns)

int vic_barrier(vic_t *card, uint64_t timeout_ns)
{
    NEED(card, 1);
    return __builtin_expect(card->watch != 0, 0) ? watched_barrier(card, timeout_ns)
           : card->ops->barrier(card, timeout_ns);
}
