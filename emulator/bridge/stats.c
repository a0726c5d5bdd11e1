/* A row of counts for every interval, and a Prometheus file every second, by a thread of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomic_file.h"
#include "bridge.h"
#include "clock.h"
#include "thread.h"

/* ---- the counters as Prometheus text, in a file that no process sees half written */

static const double bound_s[LATENCY_BUCKETS - 1] = {1e-4, 2.5e-4, 5e-4,   1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2,
                                                    5e-2, 1e-1,   2.5e-1, 5e-1, 1,      2.5,  5,    10};

void latency_note(struct latency *latency, uint64_t ns)
{
    unsigned bucket = 0;
    while (bucket < LATENCY_BUCKETS - 1 && (double)ns > bound_s[bucket] * 1e9) {
        bucket++;
    }
    count(&latency->count[bucket], 1);
    count(&latency->sum_ns, ns);
}

static void write_one(FILE *file, uint32_t card, const char *name, const char *type, const char *help,
                      uint64_t value)
{
    fprintf(file, "# HELP vicbridge_%s %s\n# TYPE vicbridge_%s %s\nvicbridge_%s{card=\"%u\"} %" PRIu64 "\n",
            name, help, name, type, name, card, value);
}

static void write_latency(FILE *file, const struct bridge *bridge)
{
    const struct latency *latency = &bridge->latency;
    uint64_t sum = 0;
    fputs("# HELP vicbridge_confirm_seconds From the first publish of a message to its confirm.\n"
          "# TYPE vicbridge_confirm_seconds histogram\n",
          file);
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        char bound[32] = "+Inf";
        sum += atomic_load(&latency->count[i]);
        if (i < LATENCY_BUCKETS - 1) {
            snprintf(bound, sizeof bound, "%g", bound_s[i]);
        }
        fprintf(file, "vicbridge_confirm_seconds_bucket{card=\"%u\",le=\"%s\"} %" PRIu64 "\n", bridge->me,
                bound, sum);
    }
    fprintf(
        file,
        "vicbridge_confirm_seconds_sum{card=\"%u\"} %.9f\nvicbridge_confirm_seconds_count{card=\"%u\"} %" PRIu64
        "\n",
        bridge->me, (double)atomic_load(&latency->sum_ns) / 1e9, bridge->me, sum);
}

static void write_all(FILE *file, const struct bridge *bridge)
{
    const struct counters *c = &bridge->counters;
    const struct {
        const char *name, *type, *help;
        uint64_t value;
    } row[] = {
        {"messages_total", "counter", "Messages taken off the card.", atomic_load(&c->messages)},
        {"pieces_total", "counter", "Their pieces, by --piece-words.", atomic_load(&c->pieces)},
        {"bytes_total", "counter", "Their bytes.", atomic_load(&c->bytes)},
        {"published_total", "counter", "Messages published, each once.", atomic_load(&c->published)},
        {"republished_total", "counter", "Published again: reconnects and nacks.",
         atomic_load(&c->republished)},
        {"confirmed_total", "counter", "Taken by a queue, as the broker says.", atomic_load(&c->confirmed)},
        {"returned_total", "counter", "No queue had their key.", atomic_load(&c->returned)},
        {"nacked_total", "counter", "Answers of the broker that it did not take a message.",
         atomic_load(&c->nacked)},
        {"refused_total", "counter", "Given back to their senders as refused.", atomic_load(&c->refused)},
        {"delivered_total", "counter", "Messages of queues given to programs.", atomic_load(&c->delivered)},
        {"acked_total", "counter", "And acknowledged by them.", atomic_load(&c->acked)},
        {"requeued_total", "counter", "Given back to their queue.", atomic_load(&c->requeued)},
        {"malformed_total", "counter", "Messages off the card that are no envelope for a bridge.",
         atomic_load(&c->malformed)},
        {"unanswered_total", "counter", "Confirms given up as their client did not read.",
         atomic_load(&c->unanswered)},
        {"reconnects_total", "counter", "Connections opened again.", atomic_load(&c->reconnects)},
        {"in_flight", "gauge", "Taken off the card and not confirmed.", atomic_load(&c->in_flight)},
        {"blocked", "gauge", "Connections that the broker blocks.", atomic_load(&c->blocked)},
        {"connected", "gauge", "Connections that publish.", atomic_load(&c->connected)},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        write_one(file, bridge->me, row[i].name, row[i].type, row[i].help, row[i].value);
    }
    write_latency(file, bridge);
    fprintf(file,
            "# HELP process_cpu_seconds_total Of this process, all threads.\n"
            "# TYPE process_cpu_seconds_total counter\n"
            "process_cpu_seconds_total{card=\"%u\"} %.9f\n",
            bridge->me, (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9);
}

bool prometheus_write(const struct bridge *bridge, const char *path)
{
    char *made;
    FILE *file = atomic_file_begin(path, &made);
    if (file == NULL) {
        return false;
    }
    write_all(file, bridge);
    errno = atomic_file_end(file, made, path);
    return errno == 0;
}

enum { COLUMNS = 10, ROOM = 64 << 10, ROW = 512, LAST_S = 5 };

static const uint64_t second = 1000000000;

struct stats {
    struct bridge *bridge;
    pthread_t thread;
    pthread_mutex_t lock; /* of `stop` */
    pthread_cond_t stops;
    bool stop;
    int rows; /* -1: none */
    char out[ROOM]; /* rows that are not written yet: nobody reads what is no file */
    size_t waiting;
    uint64_t dropped; /* rows */
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

static void complain(struct stats *stats, const char *path)
{
    if (!stats->complained) {
        log_warning("%s: %s; figures are missing from now on", path, strerror(errno));
        stats->complained = true;
    }
}

/* Write what waits, without waiting for a reader. An error: it is said once, and what waits is lost. */
static void flush_rows(struct stats *stats)
{
    ssize_t done = write(stats->rows, stats->out, stats->waiting);
    if (done < 0 && errno != EAGAIN && errno != EINTR) {
        complain(stats, stats->bridge->options.stats);
        done = (ssize_t)stats->waiting;
    }
    if (done > 0) {
        stats->waiting -= (size_t)done;
        memmove(stats->out, stats->out + done, stats->waiting);
    }
}

static void write_row(struct stats *stats)
{
    const struct counters *c = &stats->bridge->counters;
    uint64_t now = now_ns();
    char *row = stats->out + stats->waiting;
    if (sizeof stats->out - stats->waiting < ROW) {
        stats->dropped++; /* its counts are in the next row */
        flush_rows(stats);
        return;
    }
    size_t n = (size_t)snprintf(row, ROW, "%" PRIu64 ",%" PRIu64, stats->row_ns - stats->begin_ns, now - stats->row_ns);
    for (int i = 0; i < COLUMNS; i++) {
        uint64_t value = atomic_load_explicit(column(c, i), memory_order_relaxed);
        n += (size_t)snprintf(row + n, ROW - n, ",%" PRIu64, value - stats->last[i]);
        stats->last[i] = value;
    }
    n += (size_t)snprintf(row + n, ROW - n, ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 "\n", atomic_load(&c->in_flight),
                          atomic_load(&c->blocked), atomic_load(&c->connected));
    stats->row_ns = now;
    stats->waiting += n;
    flush_rows(stats);
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
    stats->row_due_ns = stats->rows >= 0 ? stats->begin_ns + options->stats_interval_ns : UINT64_MAX;
    stats->file_due_ns = options->prometheus != NULL ? stats->begin_ns + second : UINT64_MAX;
    condition_make(&stats->stops);
    pthread_mutex_init(&stats->lock, NULL);
    return pthread_create(&stats->thread, NULL, run, stats) == 0;
}

/* A FIFO that nobody has opened yet is opened all the same; nothing here waits for a reader. */
static int open_rows(const char *path)
{
    enum { HOW = O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC };
    int fd = open(path, O_WRONLY | HOW, 0666);
    return fd < 0 && errno == ENXIO ? open(path, O_RDWR | HOW, 0666) : fd;
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
    stats->rows = path != NULL ? open_rows(path) : -1;
    if (path != NULL && stats->rows < 0) {
        *failed = true;
    } else if (options->prometheus != NULL && !prometheus_write(bridge, options->prometheus)) {
        path = options->prometheus;
        *failed = true;
    }
    if (*failed) {
        log_error("%s: %s", path, strerror(errno));
    } else if (stats->rows >= 0) {
        stats->waiting = (size_t)snprintf(stats->out, sizeof stats->out,
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
        if (stats->rows >= 0) {
            close(stats->rows);
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
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LAST_S;
    if (pthread_timedjoin_np(stats->thread, NULL, &until) != 0) {
        log_warning("figures: their disk takes nothing; the last are missing");
        return; /* the thread has it still */
    }
    if (stats->rows >= 0) {
        write_row(stats);
        if (close(stats->rows) != 0) {
            complain(stats, stats->bridge->options.stats);
        }
        if (stats->dropped > 0 || stats->waiting > 0) {
            log_warning("%s: %llu rows were dropped, %zu bytes are missing at the end: nobody read them",
                        stats->bridge->options.stats, (unsigned long long)stats->dropped, stats->waiting);
        }
    }
    write_prometheus(stats);
    free(stats);
}
