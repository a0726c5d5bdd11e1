/* What is counted, traced and stalled around every call. */
#define _GNU_SOURCE
#include "watch.h"

#include <time.h>

#include "cancel.h"
#include "clock.h"
#include "debug.h"

uint32_t watch_of(const struct job_config *config, uint32_t card)
{
    uint32_t watch = (config->stats ? WATCH_STATS : 0) | (config->trace_records ? WATCH_TRACE : 0);
    for (uint32_t i = 0; i < config->stalls; i++) {
        if (config->stall[i].card == card) {
            watch |= WATCH_STALL;
        }
    }
    return watch | (atomic_load(&debug_on) ? WATCH_DEBUG : 0);
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

static _Thread_local struct debug_call present; /* in this thread: one of these makes no other */

uint64_t watch_begin(struct vic *card, const char *names, const int64_t *values)
{
    if (card->watch & WATCH_STALL) {
        stall(card);
    }
    if (card->watch & WATCH_DEBUG) {
        debug_capture(&present, "", card, names, values);
    }
    return card->ops->time_ns(card);
}

uint32_t watch_thread(void)
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
    mine.thread = what->thread != 0 ? what->thread : watch_thread();
    pthread_mutex_lock(&card->trace_lock);
    trace_add(job_trace(card->job, card->number), card->job->config.trace_records, &mine);
    pthread_mutex_unlock(&card->trace_lock);
}

/* VIC_DEBUG: a line for the call, with how many words came or packets left, or the descriptor. */
static void log_call(enum call_kind call, size_t words, int status)
{
    bool counts = call == CALL_FIFO_POLL || call == CALL_FIFO_WAIT || call == CALL_TRY_SEND;
    const char *result = counts ? "n" : call == CALL_EVENT_FD && status == VIC_OK ? "fd" : "";
    present.name = call_name(call);
    debug_log(&present, status, result, VALUES((int64_t)words));
}

void watch_end(struct vic *card, enum call_kind call, uint64_t began_ns, size_t words, int status)
{
    if (card->watch & WATCH_STATS) {
        atomic_fetch_add_explicit(&card->me->stat[STAT_CALLS], 1, memory_order_relaxed);
        if (call == CALL_TRY_SEND || (call_sends(call) && status == VIC_OK)) {
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
        log_call(call, words, status);
    }
}

int watch_refused(const struct vic *card, int status)
{
    if (card->watch & WATCH_DEBUG) {
        debug_refused(card);
    }
    return status;
}

void watch_packets(struct vic *card, uint32_t dest, unsigned counter, uint64_t count, int64_t value)
{
    if (card->watch & WATCH_TRACE) {
        struct trace_record what = {.at_ns = card->ops->time_ns(card), .kind = TRACE_PACKETS, .card = dest,
                                    .number = counter, .value = value, .count = count};
        if (card->sent != NULL) {
            what.for_ns = card->sent->at_ns;
            what.thread = card->sent->thread;
        }
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
