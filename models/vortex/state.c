/* state.c: a switch as bytes, and back.
 *
 * 64-bit words of the machine: a head, cells in the order of lanes of the whole switch, queues, counts. The
 * counts of all shards are added up, so that they can be given to one on loading. Bytes that come back are
 * believed only as far as they have been checked. */
#include <string.h>

#include "vortex/switch.h"

static const int64_t MARK = INT64_C(0x32307877765644); /* "DVvwx02" */
enum { SHAPE = 6 }; /* words of the head that must be those of the switch */
enum { NOW = SHAPE, COUNTED_FROM, HISTOGRAM, SUM, HEAD };
static const int64_t WORD = (int64_t)sizeof(int64_t);

/* Packets that are watched, or the caller's, are more than their words. */
static int has_state(const dvsim_vortex *v)
{
    return v != NULL && v->params.watched == 0 && v->params.injection < DVSIM_INJECT_GIVEN;
}

static int64_t used_histogram(const dvsim_vortex *v)
{
    int64_t length = 0;
    for (int64_t i = 0; i < v->threads; i++) {
        const int64_t hops = dvsim_used(v->shards[i].hops, v->histogram);
        const int64_t latency = dvsim_used(v->shards[i].latency, v->histogram);
        length = hops > length ? hops : length;
        length = latency > length ? latency : length;
    }
    return length;
}

static int64_t words_of_cells(const dvsim_vortex *v)
{
    return dvsim_cylinders(v) * dvsim_per_port(v);
}

static int64_t words_of_queues(const dvsim_vortex *v)
{
    return v->head != NULL ? 2 * dvsim_per_port(v) : 0;
}

static int64_t words_of_counts(const dvsim_vortex *v, int64_t histogram)
{
    const int64_t at_ports = dvsim_places(0) + dvsim_places(1) + dvsim_places(2) + dvsim_places(3);
    return at_ports * dvsim_per_port(v) + 3 * dvsim_cylinders(v) + 2 * histogram;
}

static int64_t words_of(const dvsim_vortex *v, int64_t histogram)
{
    return HEAD + words_of_cells(v) + words_of_queues(v) + words_of_counts(v, histogram);
}

static int64_t word_at(const uint8_t *bytes, int64_t index)
{
    int64_t word;
    memcpy(&word, bytes + index * WORD, sizeof word);
    return word;
}

/* Of all words but the place that it is kept in. */
static uint64_t sum_of(const uint8_t *bytes, int64_t words)
{
    uint64_t sum = 0;
    for (int64_t k = 0; k < words; k++) {
        if (k != SUM) {
            sum = dvsim_mix(sum ^ (uint64_t)word_at(bytes, k)) + DVSIM_DRAW_STEP;
        }
    }
    return sum;
}

/* --- one walk through the switch, for both directions */

typedef struct {
    uint8_t *to;         /* saving */
    const uint8_t *from; /* loading */
} tape;

static void word(tape *t, int64_t *value)
{
    if (t->to != NULL) {
        memcpy(t->to, value, sizeof *value);
        t->to += WORD;
    } else {
        memcpy(value, t->from, sizeof *value);
        t->from += WORD;
    }
}

/* The sum of a counter over shards; on loading shard 0 gets it all. */
static void sum(tape *t, dvsim_vortex *v, int64_t *(*of)(dvsim_shard *, int64_t), int64_t index)
{
    int64_t total = 0;
    for (int64_t i = 0; i < v->threads; i++) {
        total += *of(&v->shards[i], index);
    }
    word(t, &total);
    for (int64_t i = 0; t->from != NULL && i < v->threads; i++) {
        *of(&v->shards[i], index) = i == 0 ? total : 0;
    }
}

static int64_t *offered_of(dvsim_shard *s, int64_t k) { return &s->offered_at[k]; }
static int64_t *accepted_of(dvsim_shard *s, int64_t k) { return &s->accepted_at[k]; }
static int64_t *delivered_of(dvsim_shard *s, int64_t k) { return &s->delivered_at[k]; }
static int64_t *lost_of(dvsim_shard *s, int64_t k) { return &s->lost_at[k]; }
static int64_t *hops_of(dvsim_shard *s, int64_t k) { return &s->hops[k]; }
static int64_t *latency_of(dvsim_shard *s, int64_t k) { return &s->latency[k]; }
static int64_t *wanted_of(dvsim_shard *s, int64_t c) { return &s->cylinders[c].wanted; }
static int64_t *blocked_of(dvsim_shard *s, int64_t c) { return &s->cylinders[c].blocked; }
static int64_t *present_of(dvsim_shard *s, int64_t c) { return &s->cylinders[c].present; }

static void cell(tape *t, dvsim_shard *s, int64_t row, int64_t lane)
{
    const int64_t height = s->vortex->params.height;
    if (!s->vortex->sliced) {
        word(t, (int64_t *)&s->cells[row * s->lanes + lane]);
        return;
    }
    int64_t packet = (int64_t)dvsim_packet_at(s, (int)(row / height), row % height, lane);
    word(t, &packet);
    if (t->from != NULL) {
        dvsim_slices_put(s, (int)(row / height), row % height, lane, (uint64_t)packet);
    }
}

static void walk(tape *t, dvsim_vortex *v, int64_t histogram)
{
    for (int64_t row = 0; row < dvsim_cylinders(v) * v->params.height; row++) {
        for (int64_t i = 0; i < v->threads; i++) {
            for (int64_t lane = 0; lane < v->shards[i].lanes; lane++) {
                cell(t, &v->shards[i], row, lane);
            }
        }
    }
    for (int64_t k = 0; v->head != NULL && k < dvsim_per_port(v); k++) {
        word(t, &v->head[k]);
        word(t, &v->waiting[k]);
    }
    int64_t *(*const at_ports[])(dvsim_shard *, int64_t) = {offered_of, accepted_of, delivered_of, lost_of};
    for (int which = 0; which < 4; which++) {
        for (int64_t k = 0; k < dvsim_places(which) * dvsim_per_port(v); k++) {
            sum(t, v, at_ports[which], k);
        }
    }
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

static void head_of(const dvsim_vortex *v, int64_t *head)
{
    const dvsim_vortex_params *p = &v->params;
    const int64_t words[HEAD] = {
        MARK,         p->height, p->angles,       p->replications,   p->crossing * 2 + p->exit_rule,
        p->injection, v->now,    v->counted_from, used_histogram(v), 0,
    };
    memcpy(head, words, sizeof words);
}

static void close_all(const dvsim_vortex *v)
{
    for (int64_t i = 0; i < v->threads; i++) {
        dvsim_close(&v->shards[i]);
    }
}

int64_t dvsim_vortex_state_bytes(const dvsim_vortex *v)
{
    if (!has_state(v)) {
        return -1;
    }
    close_all(v);
    return words_of(v, used_histogram(v)) * WORD;
}

int dvsim_vortex_save(const dvsim_vortex *v, uint8_t *bytes)
{
    if (!has_state(v) || bytes == NULL) {
        return DVSIM_EINVAL;
    }
    close_all(v);
    int64_t head[HEAD];
    head_of(v, head);
    memcpy(bytes, head, sizeof head);
    tape t = {.to = bytes + sizeof head};
    walk(&t, (dvsim_vortex *)(uintptr_t)v, head[HISTOGRAM]); /* saving: reads only */
    const uint64_t all = sum_of(bytes, words_of(v, head[HISTOGRAM]));
    memcpy(bytes + SUM * WORD, &all, sizeof all);
    return DVSIM_OK;
}

/* --- what may be loaded */

/* A packet stands where the bits above its cylinder are right, has an output to go to, and is no older than
 * the switch. `place` counts within a cylinder, rows of 2^c. */
static int good_cell(const dvsim_vortex *v, uint64_t packet, int64_t c, int64_t place, int64_t now)
{
    const uint64_t settled = (UINT64_C(1) << c) - 1, angles = (UINT64_C(1) << v->layout.angle_bits) - 1;
    const int64_t to = (int64_t)(packet >> v->n & angles) << v->n;
    return packet == 0 || ((packet & DVSIM_PRESENT) != 0 && ((packet ^ (uint64_t)place) & settled) == 0 &&
                           dvsim_is_address(&v->params, to) &&
                           dvsim_packet_hops(v->layout, packet, (uint64_t)now) <= (uint64_t)now &&
                           dvsim_packet_latency(v->layout, packet, (uint64_t)now) <= (uint64_t)now);
}

/* The packet that waits first arrived in its slot, and no more than one came in each slot since. */
static int good_queue(const dvsim_vortex *v, int64_t port, int64_t head, int64_t waiting, int64_t now)
{
    const int64_t u = port / v->columns, column = port % v->columns;
    const int64_t angle = column / v->params.replications, replication = column % v->params.replications;
    if (v->params.injection == DVSIM_INJECT_SATURATE) {
        return head >= 0 && head <= now && waiting == 0;
    }
    uint64_t to;
    return waiting == 0 || (waiting > 0 && head >= 0 && head < now && waiting <= now - head &&
                            v->params.injecting[angle] &&
                            dvsim_arrival(v, dvsim_seed_of(v, replication), angle, u, head, &to));
}

static int good_body(const dvsim_vortex *v, const uint8_t *bytes, int64_t now, int64_t histogram)
{
    const int64_t cylinder = dvsim_per_port(v), counts = words_of_counts(v, histogram);
    int64_t at = HEAD;
    for (int64_t c = 0; c < dvsim_cylinders(v); c++) {
        for (int64_t k = 0; k < cylinder; k++) {
            if (!good_cell(v, (uint64_t)word_at(bytes, at++), c, k / v->columns, now)) {
                return 0;
            }
        }
    }
    for (int64_t port = 0; v->head != NULL && port < cylinder; port++, at += 2) {
        if (!good_queue(v, port, word_at(bytes, at), word_at(bytes, at + 1), now)) {
            return 0;
        }
    }
    for (int64_t k = 0; k < counts; k++) { /* all of them can be added up */
        const int64_t count = word_at(bytes, at++);
        if (count < 0 || count > INT64_MAX / 2 / counts) {
            return 0;
        }
    }
    return 1;
}

/* Stamps of shards, as the oldest packet needs them. */
static int lengthen(dvsim_vortex *v, const uint8_t *bytes, int64_t now)
{
    int64_t age = 0;
    for (int64_t k = 0; k < words_of_cells(v); k++) {
        const uint64_t packet = (uint64_t)word_at(bytes, HEAD + k);
        const int64_t own = packet == 0 ? 0 : (int64_t)dvsim_packet_latency(v->layout, packet, (uint64_t)now);
        age = own > age ? own : age;
    }
    int whole = 1;
    for (int64_t i = 0; v->sliced && i < v->threads; i++) {
        whole = dvsim_slices_lengthen(&v->shards[i], dvsim_bits(age + 1), v->now) && whole;
    }
    return whole;
}

int dvsim_vortex_load(dvsim_vortex *v, const uint8_t *bytes, int64_t length)
{
    if (!has_state(v) || bytes == NULL || length < HEAD * WORD) {
        return DVSIM_EINVAL;
    }
    int64_t head[HEAD], own[HEAD];
    memcpy(head, bytes, sizeof head);
    head_of(v, own);
    const int64_t now = head[NOW], counted_from = head[COUNTED_FROM], histogram = head[HISTOGRAM];
    if (memcmp(head, own, SHAPE * sizeof *head) != 0 || counted_from < 0 || counted_from > now ||
        !dvsim_has_time(0, now) || histogram < 0 || histogram > length / WORD ||
        words_of(v, histogram) * WORD != length || (uint64_t)head[SUM] != sum_of(bytes, length / WORD) ||
        !good_body(v, bytes, now, histogram)) {
        return DVSIM_EINVAL;
    }
    if (!dvsim_grow_histograms(v, histogram) || !lengthen(v, bytes, now)) {
        return DVSIM_ENOMEM;
    }
    dvsim_vortex_reset_counts(v);
    tape t = {.from = bytes + sizeof head};
    walk(&t, v, histogram);
    dvsim_set_time(v, now, counted_from);
    return DVSIM_OK;
}
