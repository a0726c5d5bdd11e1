/* bridge.h: what the parts of vicbridge have in common.
 *
 * The main thread takes envelopes off the card (intake.c) and hands each publish to a publisher (publish.c): a
 * thread with one AMQP connection, a window of messages that bounds its memory, and the confirms that it sends
 * back (reply.c). Subscriptions and acks go to the consumer (consume.c), a thread with a connection of its own.
 * A full window stops the main thread, so the rings of the cards fill, so their programs wait.
 *
 * A message stays in host memory until the broker has confirmed it; whatever happens to a connection before
 * that puts it back in front of those that wait. Its sender is told only then.
 */
#ifndef BRIDGE_BRIDGE_H
#define BRIDGE_BRIDGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "vic_client.h"

enum { EXIT_DRAINED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_UNROUTED = 3 };

/* Totals since the start; stats.c makes rows of their differences. */
struct counters {
    _Atomic uint64_t pieces, messages, bytes; /* publishes taken off the card */
    _Atomic uint64_t published, republished;  /* handed to a connection: the first time, again */
    _Atomic uint64_t confirmed, returned, refused, nacked;
    _Atomic uint64_t delivered, acked, requeued; /* the way back */
    _Atomic uint64_t malformed;                  /* envelopes that are none, or not for a bridge */
    _Atomic uint64_t unanswered;                 /* confirms given up: their client did not read */
    _Atomic uint64_t reconnects;
    _Atomic uint64_t in_flight;          /* taken off the card, not done with */
    _Atomic uint32_t blocked, connected; /* connections */
};

enum { LATENCY_BUCKETS = 17 };

/* Time from the first publish to the confirm. */
struct latency {
    _Atomic uint64_t count[LATENCY_BUCKETS], sum_ns;
};

enum stop { STOP_NOT, STOP_SIGNAL, STOP_JOB, STOP_CLIENTS, STOP_FAILED };

struct publisher;
struct consumer;

struct bridge {
    struct options options;
    vic_t *card;
    vic_message_t *messages;
    uint32_t me, cards;
    uint64_t session; /* of this process */
    struct counters counters;
    struct latency latency;
    struct publisher *publisher; /* options.connections of them */
    struct consumer *consumer;
    _Atomic uint64_t *opens; /* vic_peer_opens of each card; all that it sent before has been taken */
    _Atomic int stop;        /* enum stop: take nothing any more */
    _Atomic int signal;      /* the first that came */
    _Atomic bool worked;     /* a connection, once */
    _Atomic bool abandon;    /* give up what is not confirmed */
    _Atomic bool stopping;   /* no connection is needed but to drain */
    _Atomic bool unsure;     /* without confirms: the broker has not closed a connection in order */
};

static inline void count(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* Stop for the first reason given. */
static inline void bridge_stop(struct bridge *bridge, enum stop why)
{
    int none = STOP_NOT;
    atomic_compare_exchange_strong(&bridge->stop, &none, (int)why);
}

/* ---- log.c */

uint64_t now_ns(void); /* CLOCK_MONOTONIC */
uint64_t chance(void); /* 64 random bits; no secret */

/* One line on stderr, in one write; never waits for who reads it, once log_start was called. log_stop: the last lines. */
void log_start(void);
void log_stop(void);

#if defined __GNUC__
#define LIKE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define LIKE_PRINTF(text, first)
#endif

void log_card(uint32_t card); /* the card that lines name from now on */
void log_error(const char *format, ...) LIKE_PRINTF(1, 2);
void log_warning(const char *format, ...) LIKE_PRINTF(1, 2);
void log_info(const char *format, ...) LIKE_PRINTF(1, 2);

/* ---- intake.c */

/* Shut connections whose threads wait for a broker that takes nothing. The main thread calls it wherever it waits. */
void bridge_guard(struct bridge *bridge);

/* Take envelopes off the card until bridge->stop. */
void take_all(struct bridge *bridge);

/* ---- stats.c */

struct stats;

/* NULL and *failed = false: there is nothing to write. *failed: a file cannot be written, which was logged. */
struct stats *stats_start(struct bridge *bridge, bool *failed);
void stats_stop(struct stats *stats); /* the last row, the last file; NULL is good */

void latency_note(struct latency *latency, uint64_t ns);

/* Write the counters to a file that no process sees half written. False: errno. */
bool prometheus_write(const struct bridge *bridge, const char *path);

#endif
