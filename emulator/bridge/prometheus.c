/* The counters as Prometheus text, in a file that no process sees half written. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "bridge.h"
#include "clock.h"
#include "atomic_file.h"

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
        {"refused_total", "counter", "Given up after many of those.", atomic_load(&c->refused)},
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
