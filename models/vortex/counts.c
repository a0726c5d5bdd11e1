/* counts.c: what the shards counted, together and in natural order; and the state as bytes. */
#include <string.h>

#include "vortex/switch.h"

static int64_t per_port(const dvsim_vortex *v)
{
    return v->columns * v->params.height;
}

static int64_t *counter(const dvsim_shard *s, int which)
{
    int64_t *const counters[] = {s->offered_at, s->accepted_at, s->delivered_at, s->lost_at};
    return counters[which];
}

/* Counters of arrivals have two places for each port. */
static int64_t places(int which)
{
    return which < 2 ? 2 : 1;
}

void dvsim_vortex_reset_counts(dvsim_vortex *v)
{
    for (int64_t i = 0; v != NULL && i < v->threads; i++) {
        dvsim_shard *s = &v->shards[i];
        dvsim_add_tally(s);
        for (int k = 0; k < 4 && v->params.injection != DVSIM_INJECT_CARRIED; k++)
            memset(counter(s, k), 0, (size_t)(places(k) * per_port(v)) * sizeof(int64_t));
        memset(s->cylinders, 0, (size_t)dvsim_cylinders(v) * sizeof *s->cylinders);
        if (v->histogram > 0) {
            memset(s->hops, 0, (size_t)v->histogram * sizeof(int64_t));
            memset(s->latency, 0, (size_t)v->histogram * sizeof(int64_t));
        }
    }
    if (v != NULL)
        v->counted_from = v->now;
}

/* Add a counter to [replication][angle][height]; returns the sum of all. */
static int64_t add_ports(const dvsim_vortex *v, const int64_t *from, int64_t several, int64_t *to)
{
    const int64_t height = v->params.height, angles = v->params.angles;
    int64_t total = 0;
    for (int64_t u = 0; u < height; u++) {
        int64_t h = dvsim_reversed((uint32_t)u, v->n);
        for (int64_t place = 0; place < several * v->columns; place++) {
            int64_t count = from[u * several * v->columns + place];
            int64_t replication = place % v->params.replications;
            int64_t angle = place / v->params.replications % angles;
            to[(replication * angles + angle) * height + h] += count;
            total += count;
        }
    }
    return total;
}

static int64_t used(const int64_t *histogram, int64_t length)
{
    while (length > 0 && histogram[length - 1] == 0)
        length--;
    return length;
}

int dvsim_vortex_counts_now(dvsim_vortex *v, dvsim_vortex_counts *counts)
{
    if (v == NULL || counts == NULL || v->params.injection == DVSIM_INJECT_CARRIED)
        return DVSIM_EINVAL;
    const int64_t cylinders = dvsim_cylinders(v);
    int64_t *wanted = v->sum_cylinders, *blocked = wanted + cylinders, *present = blocked + cylinders;
    int64_t totals[4] = {0};
    *counts = (dvsim_vortex_counts){.slots = v->now - v->counted_from};
    for (int k = 0; k < 4; k++)
        memset(v->sums[k], 0, (size_t)per_port(v) * sizeof(int64_t));
    memset(v->sum_cylinders, 0, (size_t)(3 * cylinders) * sizeof(int64_t));
    if (v->histogram > 0) {
        memset(v->sum_hops, 0, (size_t)v->histogram * sizeof(int64_t));
        memset(v->sum_latency, 0, (size_t)v->histogram * sizeof(int64_t));
    }
    for (int64_t i = 0; i < v->threads; i++) {
        dvsim_shard *s = &v->shards[i];
        dvsim_add_tally(s);
        for (int k = 0; k < 4; k++)
            totals[k] += add_ports(v, counter(s, k), places(k), v->sums[k]);
        for (int64_t c = 0; c < cylinders; c++) {
            wanted[c] += s->cylinders[c].wanted;
            blocked[c] += s->cylinders[c].blocked;
            present[c] += s->cylinders[c].present;
        }
        for (int64_t k = 0; k < v->histogram; k++) {
            v->sum_hops[k] += s->hops[k];
            v->sum_latency[k] += s->latency[k];
        }
        for (int64_t k = 0; k < cylinders * v->params.height * s->lanes; k++)
            counts->in_flight += s->cells[k] != 0;
    }
    for (int64_t k = 0; v->params.injection == DVSIM_INJECT_QUEUE && k < per_port(v); k++)
        counts->waiting += v->waiting[k];
    counts->offered = totals[0];
    counts->accepted = totals[1];
    counts->delivered = totals[2];
    counts->lost = totals[3];
    counts->offered_at = v->sums[0];
    counts->accepted_at = v->sums[1];
    counts->delivered_at = v->sums[2];
    counts->lost_at = v->sums[3];
    counts->hops = v->sum_hops;
    counts->latency = v->sum_latency;
    counts->hops_length = used(v->sum_hops, v->histogram);
    counts->latency_length = used(v->sum_latency, v->histogram);
    counts->wanted = wanted;
    counts->blocked = blocked;
    counts->present = present;
    return DVSIM_OK;
}

int dvsim_vortex_totals_now(const dvsim_vortex *v, dvsim_vortex_totals *totals)
{
    if (v == NULL || totals == NULL || v->params.injection == DVSIM_INJECT_CARRIED)
        return DVSIM_EINVAL;
    *totals = (dvsim_vortex_totals){.slots = v->now - v->counted_from};
    for (int64_t i = 0; i < v->threads; i++)
        for (int64_t k = 0; k < per_port(v); k++)
            totals->delivered += v->shards[i].delivered_at[k];
    for (int64_t k = 0; v->params.injection == DVSIM_INJECT_QUEUE && k < per_port(v); k++)
        totals->waiting += v->waiting[k];
    return DVSIM_OK;
}

/* --- checkpoint -------------------------------------------------------------------------------------
 * 64-bit words: a mark, the shape, the times, then cells in the order of lanes of the whole switch,
 * queues, counts. The counts of all threads are added up, so that they can be given to one on loading. */

static const int64_t MARK = INT64_C(0x31307877765644); /* "DVvwx01" */
enum { HEAD = 8 }; /* words before the cells */

typedef struct {
    int64_t *at; /* NULL: only count */
    int64_t words;
    int loading;
} tape;

static void word(tape *t, int64_t *value)
{
    if (t->at != NULL) {
        if (t->loading)
            *value = t->at[t->words];
        else
            t->at[t->words] = *value;
    }
    t->words++;
}

/* The sum of a counter over shards; on loading shard 0 gets it all. */
static void sum(tape *t, dvsim_vortex *v, int64_t *(*of)(dvsim_shard *, int64_t), int64_t index)
{
    int64_t total = 0;
    for (int64_t i = 0; i < v->threads; i++)
        total += *of(&v->shards[i], index);
    word(t, &total);
    for (int64_t i = 0; t->loading && i < v->threads; i++)
        *of(&v->shards[i], index) = i == 0 ? total : 0;
}

static int64_t *offered_of(dvsim_shard *s, int64_t k) { return &s->offered_at[k]; }
static int64_t *accepted_of(dvsim_shard *s, int64_t k) { return &s->accepted_at[k]; }
static int64_t *delivered_of(dvsim_shard *s, int64_t k) { return &s->delivered_at[k]; }
static int64_t *hops_of(dvsim_shard *s, int64_t k) { return &s->hops[k]; }
static int64_t *latency_of(dvsim_shard *s, int64_t k) { return &s->latency[k]; }
static int64_t *lost_of(dvsim_shard *s, int64_t k) { return &s->lost_at[k]; }
static int64_t *wanted_of(dvsim_shard *s, int64_t c) { return &s->cylinders[c].wanted; }
static int64_t *blocked_of(dvsim_shard *s, int64_t c) { return &s->cylinders[c].blocked; }
static int64_t *present_of(dvsim_shard *s, int64_t c) { return &s->cylinders[c].present; }

/* Packets that are watched, or the caller's, are more than their words. */
static int has_state(const dvsim_vortex *v)
{
    return v != NULL && v->params.watched == 0 && v->params.injection < DVSIM_INJECT_GIVEN;
}

static int64_t used_histogram(const dvsim_vortex *v)
{
    int64_t length = 0;
    for (int64_t i = 0; i < v->threads; i++) {
        int64_t hops = used(v->shards[i].hops, v->histogram);
        int64_t latency = used(v->shards[i].latency, v->histogram);
        length = hops > length ? hops : length;
        length = latency > length ? latency : length;
    }
    return length;
}

static void head_of_tape(tape *t, int64_t *head, const dvsim_vortex *v)
{
    const int64_t now[] = {MARK,   v->params.height, v->columns, v->params.injection,
                           v->now, v->counted_from,  0,          used_histogram(v)};
    for (int k = 0; k < HEAD; k++) {
        head[k] = now[k];
        word(t, &head[k]);
    }
}

static void body_of_tape(tape *t, dvsim_vortex *v, int64_t histogram)
{
    for (int64_t row = 0; row < dvsim_cylinders(v) * v->params.height; row++)
        for (int64_t i = 0; i < v->threads; i++)
            for (int64_t lane = 0; lane < v->shards[i].lanes; lane++)
                word(t, (int64_t *)&v->shards[i].cells[row * v->shards[i].lanes + lane]);
    for (int64_t k = 0; v->head != NULL && k < per_port(v); k++) {
        word(t, &v->head[k]);
        word(t, &v->waiting[k]);
    }
    int64_t *(*const at_ports[])(dvsim_shard *, int64_t) = {offered_of, accepted_of, delivered_of, lost_of};
    for (int which = 0; which < 4; which++)
        for (int64_t k = 0; k < places(which) * per_port(v); k++)
            sum(t, v, at_ports[which], k);
    for (int64_t c = 0; c < dvsim_cylinders(v); c++) {
        sum(t, v, wanted_of, c);
        sum(t, v, blocked_of, c);
        sum(t, v, present_of, c);
    }
    for (int64_t k = 0; k < histogram; k++) {
        sum(t, v, hops_of, k);
        sum(t, v, latency_of, k);
    }
}

static int64_t state_bytes(const dvsim_vortex *v, int64_t histogram)
{
    const int64_t queues = v->head != NULL ? 2 : 0, counters = places(0) + places(1) + places(2) + places(3);
    const int64_t words = HEAD + (dvsim_cylinders(v) + queues + counters) * per_port(v) +
                          3 * dvsim_cylinders(v) + 2 * histogram;
    return words * (int64_t)sizeof(int64_t);
}

int64_t dvsim_vortex_state_bytes(const dvsim_vortex *v)
{
    return has_state(v) ? state_bytes(v, used_histogram(v)) : -1;
}

int dvsim_vortex_save(const dvsim_vortex *v, uint8_t *bytes)
{
    if (!has_state(v) || bytes == NULL)
        return DVSIM_EINVAL;
    for (int64_t i = 0; i < v->threads; i++)
        dvsim_add_tally(&v->shards[i]);
    tape t = {.at = (int64_t *)(void *)bytes};
    int64_t head[HEAD];
    head_of_tape(&t, head, v);
    body_of_tape(&t, (dvsim_vortex *)(uintptr_t)v, head[HEAD - 1]); /* not loading: reads only */
    return DVSIM_OK;
}

int dvsim_vortex_load(dvsim_vortex *v, const uint8_t *bytes, int64_t length)
{
    if (!has_state(v) || bytes == NULL || length < HEAD * (int64_t)sizeof(int64_t))
        return DVSIM_EINVAL;
    const int64_t *head = (const int64_t *)(const void *)bytes;
    const int64_t now = head[4], counted_from = head[5], histogram = head[HEAD - 1];
    if (head[0] != MARK || head[1] != v->params.height || head[2] != v->columns ||
        head[3] != v->params.injection || counted_from < 0 || counted_from > now || histogram < 0 ||
        histogram > length / 16 || state_bytes(v, histogram) != length)
        return DVSIM_EINVAL;
    if (!dvsim_grow_histograms(v, histogram))
        return DVSIM_ENOMEM;
    dvsim_vortex_reset_counts(v);
    tape t = {.at = (int64_t *)(uintptr_t)(const void *)bytes, .words = HEAD, .loading = 1};
    body_of_tape(&t, v, histogram);
    dvsim_set_time(v, now, counted_from);
    return DVSIM_OK;
}
