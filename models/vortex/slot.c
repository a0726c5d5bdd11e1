/* slot.c: packets leave, and descend from cylinder to cylinder, from the inside out. */
#include "vortex/switch.h"

/* Words of a cylinder in a block, 16 KiB: where one cylinder descends to is what the next one descends
 * from, so both should be in the innermost cache; shorter ones cost a large switch its prefetching. */
enum { BLOCK = 2048 };

/* Packets that stand where they are addressed leave; the others go on along the ring. */
static void leave(dvsim_shard *s, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    const int any = v->params.exit_rule == DVSIM_EXIT_ANY;
    const uint64_t angle_mask = ((UINT64_C(1) << v->layout.angle_bits) - 1) << v->n;
    const uint64_t heights = (uint64_t)v->params.height - 1;
    const uint64_t mask = DVSIM_PRESENT | (any ? 0 : angle_mask);
    /* whole rows at a time, or pieces of a row that is longer than the list of matches */
    const int64_t width = s->lanes < DVSIM_MATCHES ? s->lanes : DVSIM_MATCHES;
    const int64_t rows = DVSIM_MATCHES / width, pieces = (s->lanes + width - 1) / width;
    uint64_t *ring = dvsim_cylinder(s, v->n);
    for (int64_t first = 0; first < v->params.height; first += rows) {
        for (int64_t piece = 0; piece < pieces; piece++) {
            const int64_t from = piece * width, lanes = s->lanes - from < width ? s->lanes - from : width;
            const int64_t some = v->params.height - first < rows ? v->params.height - first : rows;
            uint64_t *run = ring + first * s->lanes + from;
            int64_t found = s->kernel->match(run, some * lanes, mask, s->leaving + from, lanes, s->matches,
                                             &s->cylinders[v->n].present);
            for (int64_t i = 0; i < found; i++) {
                const int64_t at = s->matches[i];
                const uint64_t packet = run[at];
                const int64_t u = (int64_t)(packet & heights), lane = from + at - (u - first) * lanes;
                const int64_t column = s->column[lane] - (any ? s->angle[lane] * v->params.replications : 0);
                s->delivered_at[u * v->columns + column]++;
                s->hops[dvsim_packet_hops(v->layout, packet, (uint64_t)now)]++;
                s->latency[dvsim_packet_latency(v->layout, packet, (uint64_t)now)]++;
                run[at] = 0;
            }
        }
    }
}

/* Crossing brc: row R - t of cylinder c begins at word (R - t) 2^c, so height u is stored at u - t 2^c, all
 * modulo H. A packet at u descends to u - (t + 1) 2^(c+1) of the next cylinder. Counted from -(t + 2) 2^c
 * on, word i of each cylinder therefore descends to word i of the next, and no other word of the switch has
 * to do with these: a block of them goes down all the way before the next block is touched. Word i stands
 * for height i - 2^(c+1), whose bit c is that of i. */
static void sweep(dvsim_shard *s, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    const int64_t size = v->params.height * s->lanes;
    const uint64_t back = (uint64_t)now + 2, heights = (uint64_t)v->params.height - 1;
    for (int64_t i = 0; i < size; i += BLOCK) {
        for (int c = v->n - 1; c >= 0; c--) {
            const int64_t run = s->lanes << c;
            const int brief = c < 3 && s->around > 0;
            const dvsim_stretch stretch = {
                .outer = dvsim_cylinder(s, c),
                .inner = dvsim_cylinder(s, c + 1),
                .size = size,
                .outer_at = ((int64_t)(-(back << c) & heights) * s->lanes + i) % size,
                .inner_at = ((int64_t)(-(back << (c + 1)) & heights) * s->lanes + i) % size,
                .words = size - i < BLOCK ? size - i : BLOCK,
                .run = run,
                .phase = i % (brief ? s->around : 2 * run),
                .wanted = brief ? s->wanted[c] : NULL,
                .around = s->around,
                .bit = UINT64_C(1) << c,
            };
            s->kernel->sweep(&stretch, &s->cylinders[c]);
        }
    }
}

/* The frame of slot t is that of time t + 1, so that no time is negative. */
void dvsim_move(dvsim_shard *s, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    if (v->params.injection == DVSIM_INJECT_CARRIED) {
        dvsim_carry_out(s, now);
    } else {
        leave(s, now);
    }
    if (v->params.crossing == DVSIM_CROSS_BRC) {
        sweep(s, now);
        return;
    }
    for (int c = v->n - 1; c >= 0; c--) {
        const int64_t runs = INT64_C(1) << (v->n - c), words = (INT64_C(1) << c) * s->lanes;
        dvsim_frame_descents(&v->frame, c, now, s->into);
        s->kernel->descend(dvsim_cylinder(s, c), dvsim_cylinder(s, c + 1), runs, words, s->into,
                           UINT64_C(1) << c, &s->cylinders[c]);
    }
}
