/* A row of counts for every interval, and a Prometheus file every second, by a thread of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bridge.h"

enum { COLUMNS = 10 };

static const uint64_t second = 1000000000;

struct stats {
    struct bridge *bridge;
    pthread_t thread;
    _Atomic bool stop;
    FILE *rows;
    uint64_t begin_ns, row_ns, last[COLUMNS];
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

static void *run(void *self)
{
    struct stats *stats = self;
    const struct options *options = &stats->bridge->options;
    uint64_t every = stats->rows != NULL ? options->stats_interval_ns : second / 10;
    uint64_t next = stats->begin_ns + every, file_ns = stats->begin_ns;
    while (!atomic_load(&stats->stop)) {
        struct timespec until = {(time_t)(next / second), (long)(next % second)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        uint64_t now = now_ns();
        if (now < next) {
            continue; /* a signal */
        }
        next += every * ((now - next) / every + 1);
        if (stats->rows != NULL) {
            write_row(stats);
            if (ferror(stats->rows)) {
                complain(stats, options->stats);
                clearerr(stats->rows);
            }
        }
        if (now - file_ns >= second) {
            file_ns = now;
            write_prometheus(stats);
        }
    }
    return NULL;
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
    if (!*failed && pthread_create(&stats->thread, NULL, run, stats) != 0) {
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
    atomic_store(&stats->stop, true);
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
