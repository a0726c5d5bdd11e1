/* The traces of a job over hosts in one file, on the clock of the first of them. How far the others are from it was measured
 * before the programs began and when they had ended; in between the difference is taken to have changed evenly. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

static const uint32_t FROM_FAR = UINT32_C(1) << 31; /* a flag of a kind: for_ns is the time of the host of the sender */

struct far_trace {
    struct trace_head *head;
    size_t room; /* records */
};

struct far_traces {
    const struct options *options;
    struct host_clock *clock; /* of each host; start_ns 0: nothing was heard */
    struct far_trace *card;
    uint64_t *left;           /* of each host: records that it may have yet */
    bool lost;        /* no memory */
    uint64_t zero_ns; /* when the first of them began, on the clock of the first host */
};

struct far_traces *traces_make(const struct options *options)
{
    struct far_traces *traces = calloc(1, sizeof *traces);
    if (traces != NULL) {
        traces->options = options;
        traces->clock = calloc(options->hosts.count, sizeof *traces->clock);
        traces->card = calloc(options->job.cards, sizeof *traces->card);
        traces->left = calloc(options->hosts.count, sizeof *traces->left);
        traces->zero_ns = UINT64_MAX;
    }
    if (traces == NULL || traces->clock == NULL || traces->card == NULL || traces->left == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < options->hosts.count; i++) {
        traces->left[i] = (uint64_t)options->job.cards * options->job.trace_records;
    }
    return traces;
}

/* What the clock of the first host reads when that of a host reads this. */
static uint64_t common_ns(const struct host_clock *clock, uint64_t ns)
{
    const struct clock_sample *begin = &clock->begin, *end = &clock->end;
    double offset = 0, length = (double)end->at_ns - (double)begin->at_ns;
    if (end->error_ns != UINT64_MAX && begin->error_ns != UINT64_MAX && length > 0) {
        offset = (double)(end->offset_ns - begin->offset_ns) * ((double)(int64_t)(ns - begin->at_ns) / length);
    }
    const struct clock_sample *known = begin->error_ns != UINT64_MAX ? begin : end;
    return ns + (uint64_t)(known->offset_ns + (int64_t)offset);
}

static struct trace_record *append(struct far_trace *trace, size_t n)
{
    size_t count = trace->head != NULL ? trace->head->count : 0;
    if (count + n > trace->room) {
        size_t room = 2 * (count + n);
        struct trace_head *more = room <= UINT32_MAX ? realloc(trace->head, sizeof *more + room * sizeof *more->record) : NULL;
        if (more == NULL) {
            return NULL;
        }
        if (trace->head == NULL) {
            *more = (struct trace_head){0};
        }
        trace->head = more;
        trace->room = room;
    }
    trace->head->count += (uint32_t)n;
    return trace->head->record + count;
}

static void take_clock(struct far_traces *traces, uint32_t host, const struct host_clock *said)
{
    traces->clock[host] = *said;
    if (host == 0) {
        traces->clock[0].begin = traces->clock[0].end = (struct clock_sample){0};
    }
    uint64_t start_ns = common_ns(&traces->clock[host], said->start_ns);
    traces->zero_ns = start_ns < traces->zero_ns ? start_ns : traces->zero_ns;
}

/* Times are still those of the host: the first begin is known when all have said theirs. Its cards' calls, and what came here
 * from cards of others, whose call has been written down there. */
static void take_records(struct far_traces *traces, uint32_t host, const struct host_trace *head, const void *what, size_t n)
{
    const struct host *of = &traces->options->hosts.host[host];
    struct far_trace *trace = &traces->card[head->card];
    struct trace_record *to = append(trace, n);
    if (to == NULL) {
        traces->lost = true;
        return;
    }
    memcpy(to, what, n * sizeof *to);
    trace->head->stride = head->stride > trace->head->stride ? head->stride : trace->head->stride;
    for (size_t i = 0; i < n; i++) {
        bool far = head->card - of->first >= of->cards && to[i].kind == TRACE_PACKETS;
        to[i].kind |= far ? FROM_FAR : 0;
        to[i].at_ns = common_ns(&traces->clock[host], traces->clock[host].start_ns + to[i].at_ns);
    }
}

uint64_t traces_hear(struct far_traces *traces, uint32_t host, uint32_t kind, const void *what, size_t bytes)
{
    struct host_clock clock;
    struct host_trace head;
    if (traces == NULL) {
        return 0;
    }
    if (kind == HOST_CLOCK && bytes == sizeof clock) {
        memcpy(&clock, what, sizeof clock);
        take_clock(traces, host, &clock);
    }
    if (kind == HOST_TRACE && bytes >= sizeof head && traces->clock[host].start_ns != 0) {
        memcpy(&head, what, sizeof head);
        size_t n = (bytes - sizeof head) / sizeof(struct trace_record);
        if (head.card < traces->options->job.cards && n > 0 && n <= traces->left[host]) {
            traces->left[host] -= n;
            take_records(traces, host, &head, (const char *)what + sizeof head, n);
            return n;
        }
    }
    return 0;
}

static int by_time(const void *one, const void *other)
{
    const struct trace_record *a = one, *b = other;
    return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

static const struct host_clock *clock_of(const struct far_traces *traces, uint32_t card)
{
    const struct hosts *hosts = &traces->options->hosts;
    uint32_t i = 0;
    while (i + 1 < hosts->count && card - hosts->host[i].first >= hosts->host[i].cards) {
        i++;
    }
    return &traces->clock[i];
}

/* How long what came from another host was on its way; without an arrow if the clocks say that it came before it was sent. */
static void resolve(const struct host_clock *clock, struct trace_record *record)
{
    bool known = clock->start_ns != 0 && record->for_ns != UINT64_MAX;
    uint64_t sent_ns = known ? common_ns(clock, clock->start_ns + record->for_ns) : UINT64_MAX;
    record->for_ns = sent_ns <= record->at_ns ? record->at_ns - sent_ns : UINT64_MAX;
}

static void set_zero(struct far_traces *traces)
{
    for (uint32_t i = 0; i < traces->options->job.cards; i++) {
        struct trace_head *head = traces->card[i].head;
        const struct host_clock *clock = clock_of(traces, i);
        for (uint32_t k = 0; head != NULL && k < head->count; k++) {
            struct trace_record *record = &head->record[k];
            if (record->kind & FROM_FAR) {
                record->kind &= ~FROM_FAR;
                resolve(clock, record);
            }
            record->at_ns = record->at_ns > traces->zero_ns ? record->at_ns - traces->zero_ns : 0;
        }
        if (head != NULL) {
            qsort(head->record, head->count, sizeof *head->record, by_time);
        }
    }
}

static uint64_t error_of(const struct host_clock *clock)
{
    return clock->begin.error_ns > clock->end.error_ns ? clock->begin.error_ns : clock->end.error_ns;
}

/* What was not heard of, and how well the clocks are known. */
static void say_clocks(const struct far_traces *traces)
{
    const struct hosts *hosts = &traces->options->hosts;
    uint32_t worst = 0;
    for (uint32_t i = 0; i < hosts->count; i++) {
        if (traces->clock[i].start_ns == 0) {
            fprintf(stderr, "vicrun: --trace: host %s: was lost, and with it what its cards did\n", hosts->host[i].name);
        } else if (error_of(&traces->clock[i]) > error_of(&traces->clock[worst])) {
            worst = i;
        }
    }
    if (worst != 0) {
        uint64_t error_ns = error_of(&traces->clock[worst]);
        if (error_ns == UINT64_MAX) {
            fprintf(stderr, "vicrun: --trace: host %s: its clock beside that of host %s could not be measured at the %s\n",
                    hosts->host[worst].name, hosts->host[0].name,
                    traces->clock[worst].begin.error_ns == UINT64_MAX ? "begin" : "end");
        } else {
            fprintf(stderr, "vicrun: --trace: one clock for all hosts, that of %s: the others' are known to %.1f us\n",
                    hosts->host[0].name, (double)error_ns / 1e3);
        }
    }
}

/* For the file; NULL: no memory. */
static char *clock_text(const struct far_traces *traces)
{
    const struct hosts *hosts = &traces->options->hosts;
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (to == NULL) {
        return NULL;
    }
    fputs("\"clock\":\"the first host's\",\"hosts\":[", to);
    for (uint32_t i = 0; i < hosts->count; i++) {
        const struct host_clock *clock = &traces->clock[i];
        fprintf(to, "%s\n{\"name\":\"%s\",\"first_card\":%u,\"cards\":%u", i > 0 ? "," : "", hosts->host[i].name,
                hosts->host[i].first, hosts->host[i].cards);
        if (clock->start_ns != 0 && error_of(clock) != UINT64_MAX) {
            fprintf(to, ",\"offset_ns\":[%" PRId64 ",%" PRId64 "],\"error_ns\":%" PRIu64, clock->begin.offset_ns,
                    clock->end.offset_ns, error_of(clock));
        }
        fputs("}", to);
    }
    fputs("]", to);
    return fclose(to) == 0 ? text : NULL;
}

static const struct trace_head *trace_of(const void *from, uint32_t card)
{
    static const struct trace_head none;
    const struct far_traces *traces = from;
    return traces->card[card].head != NULL ? traces->card[card].head : &none;
}

int traces_write(struct far_traces *traces, int code)
{
    if (traces == NULL) {
        return code;
    }
    set_zero(traces);
    say_clocks(traces);
    char *text = clock_text(traces), name[HOST_NAME] = "?";
    const struct trace_source source = {trace_of, traces, traces->options->job.cards, UINT32_MAX, text};
    int error = traces->lost || text == NULL ? ENOMEM : perfetto_write_from(&source, traces->options->trace);
    if (error != 0) {
        gethostname(name, sizeof name - 1);
        fprintf(stderr, "vicrun: --trace: host %s: cannot write '%s': %s\n", name, traces->options->trace, strerror(error));
    }
    free(text);
    for (uint32_t i = 0; i < traces->options->job.cards; i++) {
        free(traces->card[i].head);
    }
    free(traces->card);
    free(traces->clock);
    free(traces->left);
    free(traces);
    return code == 0 && error != 0 ? 1 : code;
}
