/* --trace: the traces of all cards as one file in the trace event format, which ui.perfetto.dev opens. A
 * card is a process there; its threads carry the calls, its arrivals have a row of their own, its counters and
 * its FIFO are counter tracks. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "launcher.h"
#include "vic.h"
#include "watch.h"
#include "whole.h"

static const char *const call_names[] = {
#define NAME(upper, lower) "vic_" #lower,
    CALLS(NAME)
#undef NAME
};

enum { ARRIVALS = 1000000 }; /* the row of arrivals, behind all threads */

static const char *call_name(uint32_t call)
{
    return call < CALL_KINDS ? call_names[call] : "?";
}

static void write_record(FILE *file, uint32_t from, const struct trace_record *r)
{
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
        fprintf(file, ",\n{\"ph\":\"C\",\"name\":\"counter %u\",\"pid\":%u,\"ts\":%.3f,\"args\":{\"value\":%" PRId64
                "}}", r->number, r->card, at_us, r->value);
        break;
    default:
        fprintf(file, ",\n{\"ph\":\"C\",\"name\":\"FIFO\",\"pid\":%u,\"ts\":%.3f,\"args\":{\"words\":%" PRId64 "}}",
                r->card, at_us, r->value);
    }
}

static void write_card(FILE *file, const struct job *job, uint32_t card, uint32_t *stride)
{
    const struct trace_head *trace = job_trace(job, card);
    uint32_t room = job->config.trace_records, count = trace->count < room ? trace->count : room;
    fprintf(file, "%s\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":\"card %u\"}}",
            card == 0 ? "" : ",", card, card);
    fprintf(file, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%d,\"args\":{\"name\":\"arrivals\"}}",
            card, ARRIVALS);
    for (uint32_t i = 0; i < count; i++) {
        write_record(file, card, &trace->record[i]);
    }
    *stride = trace->stride > *stride ? trace->stride : *stride;
}

static void write_all(FILE *file, const struct job *job, uint32_t *stride)
{
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file);
    for (uint32_t i = 0; i < job->config.cards; i++) {
        write_card(file, job, i, stride);
    }
    fprintf(file, "\n],\"metadata\":{\"libvic\":\"%s\",\"cards\":%u,\"every_nth_event\":%u,", VIC_VERSION,
            job->config.cards, *stride);
    if (job->config.mode == 1) {
        fputs("\"clock\":\"model time\"}}\n", file);
    } else {
        fprintf(file, "\"clock\":\"this machine's\",\"start_monotonic_ns\":%" PRIu64 "}}\n", job->start_ns);
    }
}

int perfetto_write(const struct job *job, const char *path)
{
    struct stat there;
    bool in_place = lstat(path, &there) == 0 && !S_ISREG(there.st_mode); /* a device, a pipe, a link: it stays */
    char *made = NULL;
    FILE *file = in_place ? fopen(path, "we") : whole_begin(path, &made);
    if (file == NULL) {
        return errno;
    }
    uint32_t stride = 1;
    int error = 0;
    write_all(file, job, &stride);
    if (in_place) {
        int lost = ferror(file);
        errno = EIO; /* if it was lost before this */
        error = (fclose(file) | lost) != 0 ? errno : 0;
    } else {
        error = whole_end(file, made, path);
    }
    if (stride > 1) {
        fprintf(stderr, "vicrun: --trace: there was room for one in %u events of the busiest card\n", stride);
    }
    return error;
}
