/* A row of counts for every interval, and a Prometheus file every second, by a thread of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"
#include "clock.h"
#include "thread.h"

enum { COLUMNS = 10 };

static const uint64_t second = 1000000000;

struct stats {
    struct bridge *bridge;
    pthread_t thread;
    pthread_mutex_t lock; /* of `stop` */
    pthread_cond_t stops;
    bool stop;
    FILE *rows;
    uint64_t begin_ns, row_ns, last[COLUMNS];
    uint64_t row_due_ns, file_due_ns; /* UINT64_MAX: never */
    bool complained;
};

static const _Atomic uint64_t *column(const struct counters *c, int which)
{
    const _Atomic uint64_t *const all[COLUMNS] = {
        &c->pieces,   &c->messages, &c->bytes,       &c->published, &c->confirmed,
        &c->returned, &c->nacked,   &c->republished, &c->delivered, &c->acked,
    };
    return all[which];
}

static void write_row(struct stats *stats)
{
    const struct counters *c = &stats->bridge->counters;
    uint64_t now = now_ns();
    fprintf(stats->rows, "%" PRIu64 ",%" PRIu64, stats->row_ns - stats->begin_ns, now - stats->row_ns);
    for (int i = 0; i < COLUMNS; i++) {
        uint64_t value = atomic_load_explicit(column(c, i), memory_order_relaxed);
        fprintf(stats->rows, ",%" PRIu64, value - stats->last[i]);
        stats->last[i] = value;
    }
    fprintf(stats->rows, ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 "\n", atomic_load(&c->in_flight),
            atomic_load(&c->blocked), atomic_load(&c->connected));
    stats->row_ns = now;
}

static void complain(struct stats *stats, const char *path)
{
    if (!stats->complained) {
        log_warning("%s: %s; figures are missing from now on", path, strerror(errno));
        stats->complained = true;
    }
}

static void write_prometheus(struct stats *stats)
{
    const char *path = stats->bridge->options.prometheus;
    if (path != NULL && !prometheus_write(stats->bridge, path)) {
        complain(stats, path);
    }
}

/* When the next is due after `now`, of those that are due every so often. */
static uint64_t after(uint64_t due, uint64_t every, uint64_t now)
{
    return due + every * ((now - due) / every + 1);
}

static void write_due(struct stats *stats, uint64_t now)
{
    const struct options *options = &stats->bridge->options;
    if (now >= stats->row_due_ns) {
        stats->row_due_ns = after(stats->row_due_ns, options->stats_interval_ns, now);
        write_row(stats);
        if (ferror(stats->rows)) {
            complain(stats, options->stats);
            clearerr(stats->rows);
        }
    }
    if (now >= stats->file_due_ns) {
        stats->file_due_ns = after(stats->file_due_ns, second, now);
        write_prometheus(stats);
    }
}

static void *run(void *self)
{
    struct stats *stats = self;
    pthread_mutex_lock(&stats->lock);
    while (!stats->stop) {
        uint64_t next = stats->row_due_ns < stats->file_due_ns ? stats->row_due_ns : stats->file_due_ns;
        struct timespec until = timespec_of(next);
        if (now_ns() < next) {
            pthread_cond_timedwait(&stats->stops, &stats->lock, &until);
            continue;
        }
        pthread_mutex_unlock(&stats->lock); /* a disk may be slow */
        write_due(stats, now_ns());
        pthread_mutex_lock(&stats->lock);
    }
    pthread_mutex_unlock(&stats->lock);
    return NULL;
}

static bool start_thread(struct stats *stats)
{
    const struct options *options = &stats->bridge->options;
    stats->row_due_ns = stats->rows != NULL ? stats->begin_ns + options->stats_interval_ns : UINT64_MAX;
    stats->file_due_ns = options->prometheus != NULL ? stats->begin_ns + second : UINT64_MAX;
    condition_make(&stats->stops);
    pthread_mutex_init(&stats->lock, NULL);
    return pthread_create(&stats->thread, NULL, run, stats) == 0;
}

struct stats *stats_start(struct bridge *bridge, bool *failed)
{
    const struct options *options = &bridge->options;
    *failed = false;
    if (options->stats == NULL && options->prometheus == NULL) {
        return NULL;
    }
    struct stats *stats = calloc(1, sizeof *stats);
    *failed = stats == NULL;
    if (stats == NULL) {
        log_error("no memory for figures");
        return NULL;
    }
    stats->bridge = bridge;
    stats->begin_ns = stats->row_ns = now_ns();
    const char *path = options->stats;
    if (path != NULL && (stats->rows = fopen(path, "we")) == NULL) {
        *failed = true;
    } else if (options->prometheus != NULL && !prometheus_write(bridge, options->prometheus)) {
        path = options->prometheus;
        *failed = true;
    }
    if (*failed) {
        log_error("%s: %s", path, strerror(errno));
    } else if (stats->rows != NULL) {
        fprintf(stats->rows,
                "# CLOCK_MONOTONIC of the first row: %" PRIu64 " ns\n"
                "start_ns,duration_ns,pieces,messages,bytes,published,confirmed,returned,nacked,republished,"
                "delivered,acked,"
                "in_flight,blocked,connected\n",
                stats->begin_ns);
    }
    if (!*failed && !start_thread(stats)) {
        log_error("no thread for figures");
        *failed = true;
    }
    if (*failed) {
        if (stats->rows != NULL) {
            fclose(stats->rows);
        }
        free(stats);
        return NULL;
    }
    return stats;
}

void stats_stop(struct stats *stats)
{
    if (stats == NULL) {
        return;
    }
    pthread_mutex_lock(&stats->lock);
    stats->stop = true;
    pthread_cond_signal(&stats->stops); /* the next interval may end in an hour */
    pthread_mutex_unlock(&stats->lock);
    pthread_join(stats->thread, NULL);
    if (stats->rows != NULL) {
        write_row(stats);
        bool good = ferror(stats->rows) == 0;
        if (fclose(stats->rows) != 0 || !good) {
            complain(stats, stats->bridge->options.stats);
        }
    }
    write_prometheus(stats);
    free(stats);
}
