/* --trace: the traces of all cards as one file in the trace event format, which ui.perfetto.dev opens. A
 * card is a process there; its threads carry the calls, its arrivals have a row of their own, to which arrows lead from
 * the calls that sent them; its counters and its FIFO are counter tracks. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "launcher.h"
#include "vic.h"
#include "watch.h"
#include "atomic_file.h"

enum {
    ARRIVALS = 1000000, /* the row of arrivals, behind all threads */
    NEAR = 10000        /* records to look through for the call of a packet */
};

static bool is_sender(const struct trace_record *r, uint32_t thread, uint64_t sent_ns)
{
    return r != NULL && r->kind == TRACE_CALL && call_sends(r->number) && r->at_ns <= sent_ns &&
           sent_ns - r->at_ns <= r->for_ns && (thread == 0 || r->thread == thread);
}

/* The thread whose call sent packets at this time, 0: none did, they had been held. The call is close in the trace to
 * where they arrive: before that in timed mode, where the thread is not known, and in what came over hosts, which is sorted;
 * after it else, as a call is written down when it ends. */
static uint32_t thread_of(const struct trace_head *trace, uint32_t count, uint32_t at, uint64_t sent_ns)
{
    uint32_t thread = trace->record[at].thread, after = thread == 0 ? 0 : count - 1 - at;
    for (uint32_t i = 1; (i <= at || i <= after) && i <= NEAR; i++) {
        const struct trace_record *before = i <= at ? &trace->record[at - i] : NULL;
        const struct trace_record *behind = i <= after ? &trace->record[at + i] : NULL;
        const struct trace_record *r = is_sender(behind, thread, sent_ns) ? behind : before;
        if (is_sender(r, thread, sent_ns)) {
            return r->thread;
        }
    }
    return 0;
}

/* An arrow from the call that sent packets to where they arrived. */
static void write_arrow(FILE *file, const struct trace_head *trace, uint32_t count, uint32_t from, uint32_t at)
{
    const struct trace_record *r = &trace->record[at];
    uint64_t sent_ns = r->at_ns - r->for_ns, id = (uint64_t)from << 32 | at;
    uint32_t thread = r->for_ns <= r->at_ns ? thread_of(trace, count, at, sent_ns) : 0;
    if (thread != 0) {
        fprintf(file, ",\n{\"ph\":\"s\",\"cat\":\"packets\",\"name\":\"sent\",\"id\":%" PRIu64
                ",\"pid\":%u,\"tid\":%u,\"ts\":%.3f}", id, from, thread, (double)sent_ns / 1e3);
        fprintf(file, ",\n{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"packets\",\"name\":\"sent\",\"id\":%" PRIu64
                ",\"pid\":%u,\"tid\":%d,\"ts\":%.3f}", id, r->card, ARRIVALS, (double)r->at_ns / 1e3);
    }
}

static void write_record(FILE *file, const struct trace_head *trace, uint32_t count, uint32_t from, uint32_t at)
{
    const struct trace_record *r = &trace->record[at];
    double at_us = (double)r->at_ns / 1e3;
    switch (r->kind) {
    case TRACE_CALL:
        fprintf(file, ",\n{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,"
                "\"args\":{\"words\":%" PRIu64 ",\"status\":%" PRId64 "}}",
                call_name(r->number), from, r->thread, at_us, (double)r->for_ns / 1e3, r->count, r->value);
        break;
    case TRACE_PACKETS:
        fprintf(file, ",\n{\"ph\":\"i\",\"s\":\"t\",\"name\":\"packets\",\"pid\":%u,\"tid\":%d,\"ts\":%.3f,"
                "\"args\":{\"from\":%u,\"packets\":%" PRIu64 ",\"counter\":%u}}",
                r->card, ARRIVALS, at_us, from, r->count, r->number);
        write_arrow(file, trace, count, from, at);
        fprintf(file, ",\n{\"ph\":\"C\",\"name\":\"counter %u\",\"pid\":%u,\"ts\":%.3f,\"args\":{\"value\":%" PRId64
                "}}", r->number, r->card, at_us, r->value);
        break;
    default:
        fprintf(file, ",\n{\"ph\":\"C\",\"name\":\"FIFO\",\"pid\":%u,\"ts\":%.3f,\"args\":{\"words\":%" PRId64 "}}",
                r->card, at_us, r->value);
    }
}

static void write_card(FILE *file, const struct trace_source *source, uint32_t card, uint32_t *stride)
{
    const struct trace_head *trace = source->of(source->from, card);
    uint32_t count = trace->count < source->capacity ? trace->count : source->capacity;
    fprintf(file, "%s\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":\"card %u\"}}",
            card == 0 ? "" : ",", card, card);
    fprintf(file, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%d,\"args\":{\"name\":\"arrivals\"}}",
            card, ARRIVALS);
    for (uint32_t i = 0; i < count; i++) {
        write_record(file, trace, count, card, i);
    }
    *stride = trace->stride > *stride ? trace->stride : *stride;
}

static void write_all(FILE *file, const struct trace_source *source, uint32_t *stride)
{
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file);
    for (uint32_t i = 0; i < source->cards; i++) {
        write_card(file, source, i, stride);
    }
    fprintf(file, "\n],\"metadata\":{\"libvic\":\"%s\",\"cards\":%u,\"every_nth_event\":%u,%s}}\n", VIC_VERSION,
            source->cards, *stride, source->clock);
}

int perfetto_write_from(const struct trace_source *source, const char *path)
{
    struct stat there;
    bool in_place = lstat(path, &there) == 0 && !S_ISREG(there.st_mode); /* a device, a pipe, a link: it stays */
    char *made = NULL;
    FILE *file = in_place ? fopen(path, "we") : atomic_file_begin(path, &made);
    if (file == NULL) {
        return errno;
    }
    uint32_t stride = 1;
    int error = 0;
    write_all(file, source, &stride);
    if (in_place) {
        int lost = ferror(file);
        errno = EIO; /* if it was lost before this */
        error = (fclose(file) | lost) != 0 ? errno : 0;
    } else {
        error = atomic_file_end(file, made, path);
    }
    if (stride > 1) {
        fprintf(stderr, "vicrun: --trace: there was room for one in %u events of the busiest card\n", stride);
    }
    return error;
}

static const struct trace_head *trace_of(const void *job, uint32_t card)
{
    return job_trace(job, card);
}

int perfetto_write(const struct job *job, const char *path)
{
    char clock[100] = "\"clock\":\"model time\"";
    if (job->config.mode == 0) {
        snprintf(clock, sizeof clock, "\"clock\":\"this machine's\",\"start_monotonic_ns\":%" PRIu64, job->start_ns);
    }
    const struct trace_source source = {trace_of, job, job->config.cards, job->config.trace_records, clock};
    return perfetto_write_from(&source, path);
}
