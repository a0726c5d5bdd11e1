/* What is counted, traced and stalled around every call. */
#define _GNU_SOURCE
#include "watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cancel.h"
#include "clock.h"

uint32_t watch_of(const struct job_config *config, uint32_t card)
{
    uint32_t watch = (config->stats ? WATCH_STATS : 0) | (config->trace_records ? WATCH_TRACE : 0);
    for (uint32_t i = 0; i < config->stalls; i++) {
        if (config->stall[i].card == card) {
            watch |= WATCH_STALL;
        }
    }
    return watch | (job_asked("VIC_DEBUG") ? WATCH_DEBUG : 0);
}

static void sleep_ns(uint64_t ns)
{
    struct timespec time = timespec_of(ns);
    int before = cancel_off();
    nanosleep(&time, NULL); /* a signal ends it early: the card is looked at again */
    cancel_back(before);
}

static void stall(struct vic *card)
{
    const struct job_config *config = &card->job->config;
    for (uint32_t i = 0; i < config->stalls; i++) {
        const struct job_event *event = &config->stall[i];
        for (;;) {
            uint64_t now = card->ops->time_ns(card);
            if (event->card != card->number || now < event->at_ns || now - event->at_ns >= event->for_ns) {
                break;
            }
            uint64_t left = event->for_ns - (now - event->at_ns);
            if (config->mode == 1) {
                card->ops->compute(card, left); /* model time passes */
            } else {
                sleep_ns(left);
            }
        }
    }
}

static _Thread_local char given[160]; /* the arguments of the present call */

static void keep_arguments(const char *names, const int64_t *values)
{
    size_t used = 0;
    given[0] = 0;
    for (size_t length; *names != 0 && used < sizeof given; names += length + (names[length] == ' '), values++) {
        length = strcspn(names, " ");
        int more = snprintf(given + used, sizeof given - used, "%s%.*s=%" PRId64, used != 0 ? ", " : "", (int)length, names,
                            *values);
        used += (size_t)more;
    }
}

uint64_t watch_begin(struct vic *card, const char *names, const int64_t *values)
{
    if (card->watch & WATCH_DEBUG) {
        keep_arguments(names, values);
    }
    if (card->watch & WATCH_STALL) {
        stall(card);
    }
    return card->ops->time_ns(card);
}

static uint32_t thread_number(void)
{
    static _Atomic uint32_t threads;
    static _Thread_local uint32_t mine;
    if (mine == 0) {
        mine = atomic_fetch_add(&threads, 1) + 1;
    }
    return mine;
}

static void record(struct vic *card, const struct trace_record *what)
{
    struct trace_record mine = *what;
    mine.thread = thread_number();
    pthread_mutex_lock(&card->trace_lock);
    trace_add(job_trace(card->job, card->number), card->job->config.trace_records, &mine);
    pthread_mutex_unlock(&card->trace_lock);
}

/* VIC_DEBUG: a line for the call. */
static void tell(struct vic *card, enum call_kind call, uint64_t began_ns, size_t words, int status)
{
    static const char *const names[] = {
#define NAME(upper, lower) #lower,
        CALLS(NAME)
#undef NAME
    };
    char got[32] = "";
    uint64_t took_ns = card->ops->time_ns(card) - began_ns;
    if (call == CALL_FIFO_POLL || call == CALL_FIFO_WAIT || call == CALL_TRY_SEND) {
        snprintf(got, sizeof got, " with n=%zu", words);
    }
    int before = cancel_off();
    fprintf(stderr, "vic: card %u: %.3f us: vic_%s(%s) = %s%s%s, %.3f us\n", card->number, (double)began_ns / 1e3,
            names[call], given, status == VIC_OK ? "VIC_OK" : "failed: ", status == VIC_OK ? "" : vic_error_detail(), got,
            (double)took_ns / 1e3);
    cancel_back(before);
}

void watch_end(struct vic *card, enum call_kind call, uint64_t began_ns, size_t words, int status)
{
    if (card->watch & WATCH_STATS) {
        bool sends = call == CALL_SEND || call == CALL_SEND_CACHED || call == CALL_DMA_SEND || call == CALL_PUT ||
                     call == CALL_PUT_STRIDED || call == CALL_PUT_INDEXED || call == CALL_GET;
        atomic_fetch_add_explicit(&card->me->stat[STAT_CALLS], 1, memory_order_relaxed);
        if ((sends && status == VIC_OK) || call == CALL_TRY_SEND) {
            atomic_fetch_add_explicit(&card->me->stat[STAT_WORDS], words, memory_order_relaxed);
        }
    }
    if (card->watch & WATCH_TRACE) {
        struct trace_record what = {.at_ns = began_ns, .for_ns = card->ops->time_ns(card) - began_ns,
                                    .kind = TRACE_CALL, .card = card->number, .number = call,
                                    .value = status, .count = words};
        record(card, &what);
    }
    if (card->watch & WATCH_DEBUG) {
        tell(card, call, began_ns, words, status);
    }
}

int watch_refused(const struct vic *card, int status)
{
    if (card->watch & WATCH_DEBUG) {
        int before = cancel_off();
        fprintf(stderr, "vic: card %u: %.3f us: refused: %s\n", card->number, (double)card->ops->time_ns(card) / 1e3,
                vic_error_detail());
        cancel_back(before);
    }
    return status;
}

void watch_packets(struct vic *card, uint32_t dest, unsigned counter, uint64_t count, int64_t value)
{
    if (card->watch & WATCH_TRACE) {
        struct trace_record what = {.at_ns = card->ops->time_ns(card), .kind = TRACE_PACKETS, .card = dest,
                                    .number = counter, .value = value, .count = count};
        record(card, &what);
    }
}

void watch_fifo(struct vic *card, uint32_t dest, uint64_t words)
{
    if (card->watch & WATCH_STATS) {
        _Atomic uint64_t *peak = &card->job->card[dest].stat[STAT_FIFO_PEAK];
        uint64_t known = atomic_load_explicit(peak, memory_order_relaxed);
        while (known < words && !atomic_compare_exchange_weak(peak, &known, words)) {
        }
    }
    if (card->watch & WATCH_TRACE) {
        struct trace_record what = {.at_ns = card->ops->time_ns(card), .kind = TRACE_FIFO, .card = dest,
                                    .value = (int64_t)words};
        record(card, &what);
    }
}
