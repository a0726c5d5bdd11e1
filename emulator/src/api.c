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
    call_of(card);
    return card == NULL || handle_closed(card) ? 0 : card->ops->time_ns(card);
}

CALL(vic_compute_ns, (vic_t *card, uint64_t ns), (card, ns),
     true, false, VIC_OK,
     card->ops->compute(card, ns), CALL_COMPUTE, 0, "ns", (int64_t)ns)

void vic_relax(vic_t *card)
{
    call_of(card);
    if (card == NULL || handle_closed(card)) {
        return;
    }
    if (card->watch & WATCH_STALL) {
        watch_begin(card, "", NULL);
    }
    card->ops->relax(card);
}

CALL(vic_write, (vic_t *card, vic_addr_t addr, const uint64_t *words, size_t n), (card, addr, words, n),
     words != NULL, !range_exists(card, addr, n), fail_range(card, 0, addr, n, SCRATCH),
     card->ops->write(card, addr, words, n), CALL_WRITE, n, "addr n", addr, (int64_t)n)

CALL(vic_read, (vic_t *card, vic_addr_t addr, uint64_t *words, size_t n), (card, addr, words, n),
     words != NULL, !range_exists(card, addr, n), fail_range(card, 0, addr, n, SCRATCH),
     card->ops->read(card, addr, words, n), CALL_READ, n, "addr n", addr, (int64_t)n)

CALL(vic_send, (vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n), (card, headers, payloads, n),
     headers != NULL && payloads != NULL, false, VIC_OK,
     card->ops->send(card, headers, payloads, n), CALL_SEND, n, PACKETS, PACKETS_OF(headers, n))

CALL(vic_send_cached, (vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n),
     (card, headers, payloads, n),
     payloads != NULL, !range_exists(card, headers, n), fail_words(card, "headers", headers, n),
     card->ops->send_cached(card, headers, payloads, n), CALL_SEND_CACHED, n, "headers n", headers, (int64_t)n)

CALL(vic_put, (vic_t *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n, unsigned counter),
     (card, dest, addr, words, n, counter),
     words != NULL, dest >= card->cards || !range_exists(card, addr, n) || !counter_exists(card, counter),
     fail_range(card, dest, addr, n, counter),
     card->ops->put(card, dest, addr, words, n, counter), CALL_PUT, n, "dest addr n counter", dest, addr, (int64_t)n,
     counter)

CALL(vic_counter_set, (vic_t *card, unsigned counter, int64_t n), (card, counter, n),
     true, !counter_exists(card, counter), fail_range(card, 0, 0, 0, counter),
     card->ops->counter_set(card, counter, n), CALL_COUNTER_SET, 0, "counter n", counter, n)

CALL(vic_counter_get, (vic_t *card, unsigned counter, int64_t *n), (card, counter, n),
     n != NULL, !counter_exists(card, counter), fail_range(card, 0, 0, 0, counter),
     card->ops->counter_get(card, counter, n), CALL_COUNTER_GET, 0, "counter", counter)

FAIL_COLD static int fail_counter(const struct vic *card, unsigned counter)
{
    if (counter != SCRATCH) {
        return fail_range(card, 0, 0, 0, counter);
    }
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

CALL(vic_counter_wait, (vic_t *card, unsigned counter, uint64_t timeout_ns), (card, counter, timeout_ns),
     true, !counter_exists(card, counter) || counter == SCRATCH, fail_counter(card, counter),
     card->ops->counter_wait(card, counter, timeout_ns), CALL_COUNTER_WAIT, 0, "counter timeout", counter,
     (int64_t)timeout_ns)

/* Is there something to wait for, and does all of it exist? */
static inline bool any_is_good(const vic_t *card, uint64_t counters, size_t fifo_min)
{
    return (counters & ~(card->counters & ~(UINT64_C(1) << SCRATCH))) == 0 && (counters != 0 || fifo_min != 0) &&
           fifo_min <= card->job->config.fifo_words;
}

FAIL_COLD static int fail_any(const vic_t *card, uint64_t counters, size_t fifo_min)
{
    uint64_t missing = counters & ~card->counters;
    if (missing != 0 || counters >> SCRATCH != 0) {
        return fail_counter(card, missing != 0 ? (unsigned)__builtin_ctzll(missing) : SCRATCH);
    }
    return fail_fifo(card, counters == 0 && fifo_min == 0, fifo_min, fifo_min);
}

CALL(vic_wait, (vic_t *card, uint64_t counters, size_t fifo_min, uint64_t *ready, uint64_t timeout_ns),
     (card, counters, fifo_min, ready, timeout_ns),
     ready != NULL, !any_is_good(card, counters, fifo_min), fail_any(card, counters, fifo_min),
     card->ops->wait_any(card, counters, fifo_min, ready, timeout_ns), CALL_WAIT, 0, "counters fifo_min timeout",
     (int64_t)counters, (int64_t)fifo_min, (int64_t)timeout_ns)

FAIL_COLD static int fail_event(const vic_t *card, uint64_t counters, size_t fifo_min)
{
    if (!any_is_good(card, counters, fifo_min)) {
        return fail_any(card, counters, fifo_min);
    }
    fail(VIC_EINVAL, "%s mode has no descriptors: model time stands while a program waits elsewhere; vic_wait", card->ops->name);
    return watch_refused(card, VIC_EINVAL);
}

CALL(vic_event_fd, (vic_t *card, uint64_t counters, size_t fifo_min, int *fd), (card, counters, fifo_min, fd),
     fd != NULL, !any_is_good(card, counters, fifo_min) || card->ops->event_fd == NULL,
     fail_event(card, counters, fifo_min),
     card->ops->event_fd(card, counters, fifo_min, fd), CALL_EVENT_FD, (size_t)*fd, "counters fifo_min",
     (int64_t)counters, (int64_t)fifo_min)

CALL(vic_event_fd_close, (vic_t *card, int fd), (card, fd),
     true, card->ops->event_fd_close == NULL, fail_event(card, 1, 0),
     card->ops->event_fd_close(card, fd), CALL_EVENT_FD_CLOSE, 0, "fd", fd)

CALL(vic_fifo_poll, (vic_t *card, uint64_t *words, size_t max, size_t *n), (card, words, max, n),
     words != NULL && n != NULL, false, VIC_OK,
     card->ops->fifo_poll(card, words, max, n), CALL_FIFO_POLL, *n, "max", (int64_t)max)

CALL(vic_fifo_wait, (vic_t *card, uint64_t *words, size_t min, size_t max, size_t *n, uint64_t timeout_ns),
     (card, words, min, max, n, timeout_ns),
     words != NULL && n != NULL, min > max || min > card->job->config.fifo_words, fail_fifo(card, false, min, max),
     card->ops->fifo_wait(card, words, min, max, n, timeout_ns), CALL_FIFO_WAIT, *n, "min max timeout", (int64_t)min,
     (int64_t)max, (int64_t)timeout_ns)

CALL(vic_barrier, (vic_t *card, uint64_t timeout_ns), (card, timeout_ns),
     true, false, VIC_OK,
     card->ops->barrier(card, timeout_ns), CALL_BARRIER, 0, "timeout", (int64_t)timeout_ns)
