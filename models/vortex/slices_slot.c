/* slices_slot.c: one slot of a shard of slices: packets leave, descend, and enter. */
#include <string.h>

#include "vortex/switch.h"

/* Rows of `from` that stand `back` heights further on than those of the other (brc), or where bit `flip` of the
 * height is different (xor; -1: nowhere). */
static dvsim_turned turned(const dvsim_shard *s, const dvsim_slices *k, int64_t back, int flip)
{
    const int64_t heights = s->vortex->params.height, all = heights * k->lanes;
    if (s->vortex->params.crossing == DVSIM_CROSS_BRC) {
        return (dvsim_turned){.at = {(back & (heights - 1)) * k->lanes}};
    }
    if (flip < 0) {
        return (dvsim_turned){.at = {0}};
    }
    const int64_t apart = k->lanes << flip;
    return (dvsim_turned){.at = {apart, all - apart}, .select = k->value + flip * k->stride};
}

static dvsim_turned reversed(dvsim_turned t, int64_t all)
{
    if (t.select == NULL) {
        t.at[0] = t.at[0] == 0 ? 0 : all - t.at[0];
    }
    return t;
}

/* What a row of cylinder c at `now` descends to is a row of cylinder c + 1 at `now` + 1, see frame.h. */
static dvsim_turned descent(const dvsim_shard *s, const dvsim_slices *k, int c, int64_t now)
{
    const int n = s->vortex->n, flip = (now & 1) != 0 ? c : c + 1;
    return turned(s, k, (int64_t)((uint64_t)(now + 2) << c), flip < n ? flip : -1);
}

/* Where the first lane of a strip counts that has gone on by so many angles. */
static int64_t place(const dvsim_shard *s, const dvsim_slices *k, int64_t angles)
{
    if (k->tally_turn > 0) {
        return angles * k->tally_turn;
    }
    return (s->first + k->first + angles * s->vortex->params.replications) * k->tally_place;
}

/* What has left a cylinder is cleared when something enters it; who leaves is said in open[0]. */
int64_t dvsim_slices_leave(dvsim_shard *s, dvsim_slices *k, int64_t now, dvsim_ages *ages)
{
    const dvsim_vortex *v = s->vortex;
    const uint8_t *ring = dvsim_slices_of(v, k, v->n);
    const dvsim_leave l = {
        .size = k->size,
        .stride = k->stride,
        .present = ring,
        .phases = ring + k->stride,
        .phase_bits = k->phase_bits,
        .phase = (uint64_t)((now + v->params.angles - 1) % v->params.angles),
        .stamps = ring + (1 + k->phase_bits) * k->stride,
        .stamp_bits = k->stamp_bits,
        .left = k->open[0],
        .now = (uint64_t)now,
        .ages = ages,
        .latency = s->latency,
        .young = v->params.height <= 64,
    };
    return s->kernel->leave(&l);
}

static void leave(dvsim_shard *s, dvsim_slices *k, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    k->population[v->n] -= dvsim_slices_leave(s, k, now, &s->ages);
    const dvsim_tally t = {
        .bits = k->open[0],
        .rows = v->params.height,
        .lanes = k->own,
        .apart = k->lanes,
        .tally = k->tally[2] + place(s, k, (now + v->params.angles - 1) % v->params.angles),
        .tally_row = k->tally_row,
    };
    s->kernel->tallies(&t);
}

void dvsim_slices_descend(dvsim_shard *s, dvsim_slices *k, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    const int64_t stride = k->stride;
    dvsim_turned gone = {.at = {0}};
    for (int c = v->n - 1; c >= 0; c--) {
        uint8_t *outer = dvsim_slices_of(v, k, c), *inner = dvsim_slices_of(v, k, c + 1);
        const int round = (v->n - c) & 1;
        const dvsim_slide slide = {
            .size = k->size,
            .stride = stride,
            .present = outer,
            .bit = outer + stride,
            .outer = outer + 2 * stride,
            .turned = descent(s, k, c, now),
            .value = k->value + c * stride,
            .inner_present = inner,
            .inner = inner + stride,
            .gone = k->open[!round],
            .gone_turned = gone,
            .slices = v->n - c - 1 + k->phase_bits + k->stamp_bits,
            .wants = k->wants,
            .open = k->open[round],
        };
        const dvsim_slid slid = k->slide(&slide);
        s->cylinders[c].wanted += slid.wants;
        s->cylinders[c].blocked += slid.wants - slid.open;
        k->population[c] -= slid.open;
        k->population[c + 1] += slid.open;
        gone = reversed(slide.turned, 8 * k->size);
    }
}

/* Arrivals, where an angle has inputs. */
static void draw(dvsim_shard *s, dvsim_slices *k, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    if (memchr(v->params.injecting, 0, (size_t)v->params.angles) != NULL) {
        dvsim_slices_open(s, k, now);
    }
    s->kernel->draw(&k->draws, now, k->arrivals);
    for (int64_t i = 0, at = 0; !k->all_open && i < k->size; i += 8) {
        uint64_t word;
        memcpy(&word, k->arrivals + i, sizeof word);
        word &= k->inputs[at];
        memcpy(k->arrivals + i, &word, sizeof word);
        at = 64 * at + 64 == k->pattern ? 0 : at + 1;
    }
}

/* Any traffic, port by port. */
static void arrive(dvsim_shard *s, dvsim_slices *k, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    const int64_t angles = v->params.angles, replications = v->params.replications;
    memset(k->arrivals, 0, (size_t)((1 + v->n + k->phase_bits) * k->stride));
    for (int64_t lane = 0; lane < k->own; lane++) {
        const int64_t first = s->first + k->first, i = (first + lane) / replications, a = (i + now % angles) % angles;
        const uint64_t seed = dvsim_seed_of(v, (first + lane) % replications);
        for (int64_t u = 0; v->params.injecting[a] && u < v->params.height; u++) {
            uint64_t to;
            if (dvsim_arrival(v, seed, a, u, now, &to)) {
                const uint64_t back = v->params.exit_rule == DVSIM_EXIT_ANGLE ? (uint64_t)i << v->n : 0;
                to = to < back ? to + (uint64_t)v->ports - back : to - back;
                const int64_t x = u * k->lanes + lane;
                k->arrivals[x / 8] |= (uint8_t)(1U << x % 8);
                for (int bit = 0; bit < v->n + k->phase_bits; bit++) {
                    k->arrivals[(1 + bit) * k->stride + x / 8] |= (uint8_t)((to >> bit & 1) << x % 8);
                }
            }
        }
    }
}

/* What goes into cylinder 0, in the order of heights, and how: nothing yet. */
static dvsim_slide into_first(const dvsim_shard *s, const dvsim_slices *k, int64_t now)
{
    uint8_t *inner = dvsim_slices_of(s->vortex, k, 0);
    const int round = (s->vortex->n + 1) & 1, flip = (now & 1) != 0 ? -1 : 0;
    return (dvsim_slide){
        .size = k->size,
        .stride = k->stride,
        .present = k->arrivals,
        .outer = k->arrivals + k->stride,
        .turned = turned(s, k, now + 1, flip),
        .inner_present = inner,
        .inner = inner + k->stride,
        .gone = k->open[!round],
        .gone_turned = reversed(descent(s, k, 0, now), 8 * k->size),
        .wants = k->wants,
        .open = k->open[round],
    };
}

void dvsim_slices_close(dvsim_shard *s, dvsim_slices *k, int64_t now)
{
    const dvsim_slide slide = into_first(s, k, now);
    (void)k->slide(&slide);
}

static void enter(dvsim_shard *s, dvsim_slices *k, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    const uint8_t *entered = k->open[(v->n + 1) & 1];
    for (int64_t i = 0; i < 1 + v->n + k->phase_bits; i++) { /* a slice's beginning stands again behind it */
        uint8_t *slice = k->arrivals + i * k->stride;
        for (int64_t at = 0; at < k->width; at += 8) {
            memcpy(slice + k->size + at, slice + at, 8);
        }
    }
    dvsim_slide slide = into_first(s, k, now);
    slide.slices = v->n + k->phase_bits;
    slide.stamps = k->stamp_bits;
    slide.stamp = (uint64_t)now;
    k->population[0] += k->slide(&slide).open;
    const int brc = v->params.crossing == DVSIM_CROSS_BRC;
    const dvsim_tally offered = {
        .bits = k->arrivals,
        .rows = v->params.height,
        .lanes = k->own,
        .apart = k->lanes,
        .tally = k->tally[0] + place(s, k, now % v->params.angles),
        .tally_row = k->tally_row,
    };
    dvsim_tally accepted = offered;
    accepted.bits = entered;
    accepted.turn = brc ? now + 1 : 0;
    accepted.flip = brc ? 0 : (now + 1) & 1;
    accepted.ring = k->size == k->width;
    accepted.tally = k->tally[1] + (offered.tally - k->tally[0]);
    s->kernel->tallies(&offered);
    s->kernel->tallies(&accepted);
}

static int run_slot(dvsim_shard *s, dvsim_slices *k, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    if (now >= k->check_at && !dvsim_slices_check(v, k, now)) {
        return 0;
    }
    for (int c = 0; c <= v->n; c++) {
        s->cylinders[c].present += k->population[c];
    }
    leave(s, k, now);
    dvsim_slices_descend(s, k, now);
    if (dvsim_is_drawn(&v->params)) {
        draw(s, k, now);
    } else {
        arrive(s, k, now);
    }
    enter(s, k, now);
    return 1;
}

/* One byte of the tally gets at most one packet a slot, from whatever strip. */
int dvsim_slices_run(dvsim_shard *s, int64_t from, int64_t until)
{
    while (from < until) {
        const int64_t room = DVSIM_TALLY_SLOTS - s->tallied, end = until - from < room ? until : from + room;
        for (int64_t i = 0; i < s->strips; i++) {
            for (int64_t now = from; now < end; now++) {
                if (!run_slot(s, &s->slices[i], now)) {
                    return 0;
                }
            }
        }
        s->tallied += end - from;
        if (s->tallied == DVSIM_TALLY_SLOTS) {
            dvsim_add_tally(s);
        }
        from = end;
    }
    return 1;
}

/* Adds up what a height counted at `count` places from `place` on, which are `apart` bytes apart from `at` on. Delivered
 * packets count where their output is: with exit `any` that is one for all angles. */
static inline __attribute__((always_inline)) void add(dvsim_shard *s, int64_t u, int64_t place, int64_t count, int64_t at,
                                                      int64_t apart)
{
    const dvsim_vortex *v = s->vortex;
    const uint8_t *const offered = s->slices->tally[0] + at, *const accepted = s->slices->tally[1] + at;
    const uint8_t *const delivered = s->slices->tally[2] + at;
    const int64_t around = v->params.exit_rule == DVSIM_EXIT_ANY ? v->params.replications : v->columns;
    int64_t *restrict const offered_at = s->offered_at + 2 * u * v->columns + place;
    int64_t *restrict const accepted_at = s->accepted_at + 2 * u * v->columns + place;
    for (int64_t i = 0; i < count; i++) {
        offered_at[i] += offered[i * apart];
        accepted_at[i] += accepted[i * apart];
    }
    for (int64_t i = 0, output = place % around; i < count; i++, output = output + 1 == around ? 0 : output + 1) {
        s->delivered_at[u * v->columns + output] += delivered[i * apart];
    }
}

void dvsim_slices_tallied(dvsim_shard *s)
{
    const dvsim_vortex *v = s->vortex;
    const dvsim_slices *k = s->slices;
    for (int64_t u = 0; u < v->params.height; u++) {
        if (k->tally_turn == 0) {
            add(s, u, 0, 2 * v->columns, u * k->tally_row, k->tally_place);
        }
        for (int64_t angle = 0; k->tally_turn > 0 && angle < v->params.angles; angle++) {
            const int64_t place = s->first + angle * v->params.replications;
            add(s, u, place, k->own, angle * k->tally_turn + u * k->lanes, 1);
        }
    }
    for (int i = 0; i < 3; i++) {
        memset(k->tally[i], 0, (size_t)k->tally_bytes);
    }
    for (int age = 0; age < 256; age++) {
        const uint32_t(*const of)[256] = (const uint32_t(*)[256])s->ages.of;
        s->latency[age] += (uint32_t)(of[0][age] + of[1][age] + of[2][age] + of[3][age]);
    }
    memset(&s->ages, 0, sizeof s->ages);
}
