#include "vortex/switch.h"

/* Packets that stand where they are addressed leave; the others go on along the ring. */
static void leave(dvsim_shard *s, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    const int any = v->params.exit_rule == DVSIM_EXIT_ANY;
    const uint64_t angle_mask = ((UINT64_C(1) << v->layout.angle_bits) - 1) << v->n;
    const uint64_t mask = DVSIM_PRESENT | (any ? 0 : angle_mask);
    /* whole rows at a time, or pieces of a row that is longer than the list of matches */
    const int64_t width = s->lanes < DVSIM_MATCHES ? s->lanes : DVSIM_MATCHES;
    const int64_t rows = DVSIM_MATCHES / width, pieces = (s->lanes + width - 1) / width;
    uint64_t *ring = dvsim_cylinder(s, v->n);
    int64_t present = 0;
    for (int64_t first = 0; first < v->params.height; first += rows)
        for (int64_t piece = 0; piece < pieces; piece++) {
            const int64_t from = piece * width, lanes = s->lanes - from < width ? s->lanes - from : width;
            const int64_t some = v->params.height - first < rows ? v->params.height - first : rows;
            uint64_t *run = ring + first * s->lanes + from;
            int64_t found = s->kernel->match(run, some * lanes, mask, s->leaving + from, lanes, s->matches);
            for (int64_t i = 0; i < some * lanes; i++)
                present += run[i] != 0;
            for (int64_t i = 0; i < found; i++) {
                int64_t at = s->matches[i], lane = from + at % lanes;
                uint64_t packet = run[at];
                int64_t column = s->column[lane] - (any ? s->angle[lane] * v->params.replications : 0);
                s->delivered_at[(first + at / lanes) * v->columns + column]++;
                s->hops[dvsim_packet_hops(v->layout, packet, (uint64_t)now)]++;
                s->latency[dvsim_packet_latency(v->layout, packet, (uint64_t)now)]++;
                run[at] = 0;
            }
        }
    s->cylinders[v->n].present += present;
}

/* The frame of slot t is that of time t + 1, so that no time is negative. */
void dvsim_move(dvsim_shard *s, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    leave(s, now);
    for (int c = v->n - 1; c >= 0; c--) {
        const int64_t runs = INT64_C(1) << (v->n - c), words = (INT64_C(1) << c) * s->lanes;
        dvsim_frame_descents(&v->frame, c, now, s->into);
        s->kernel->descend(dvsim_cylinder(s, c), dvsim_cylinder(s, c + 1), runs, words, s->into,
                           UINT64_C(1) << c, &s->cylinders[c]);
    }
}
