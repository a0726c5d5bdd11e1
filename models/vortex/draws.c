/* draws.c: which blocks a strip draws, and what one input gets of its block. */
#include "vortex/draws.h"

#include <stdlib.h>

#include "vortex/switch.h"

enum { EIGHT = 8, TOGETHER = 16 }; /* places that kernels draw together, at most */

/* Blocks of a switch in a slot. */
static int64_t blocks_of(const dvsim_vortex_params *p)
{
    return p->height < DVSIM_BLOCK ? (p->height * p->angles + DVSIM_BLOCK - 1) / DVSIM_BLOCK
                                   : p->height / DVSIM_BLOCK * p->angles;
}

/* Everything but `start`. */
static dvsim_draws shape(const dvsim_vortex_params *p, int64_t first, int64_t own, int64_t lanes)
{
    const int low = p->height < DVSIM_BLOCK;
    dvsim_draws d = {
        .groups = low ? blocks_of(p) : p->height / DVSIM_BLOCK,
        .blocks = low ? p->replications : own,
        .turn = (uint64_t)blocks_of(p) * DVSIM_DRAW_STEP,
        .places = low ? p->height * p->angles : p->height,
        .wide = low ? 0 : lanes,
        .lanes = lanes,
        .own = own,
        .first = first,
        .around = p->angles,
        .height_bits = dvsim_bits(p->height),
        .phase_bits = dvsim_phase_bits(p),
        .angles = (uint64_t)p->angles,
        .threshold = p->arrival_threshold,
        .stride = dvsim_slices_stride((p->height * lanes + 7) / 8),
    };
    if (low && own == p->angles * p->replications) {
        d.wide = p->replications;
        d.narrow_stride = own < lanes ? dvsim_slices_stride((p->height * own + 7) / 8) : 0;
        for (int64_t at = 0; DVSIM_BLOCK % lanes == 0 && own < lanes && at < DVSIM_BLOCK; at += lanes) {
            d.used |= (UINT64_MAX >> (DVSIM_BLOCK - own)) << at;
        }
    }
    d.form = d.wide == 1 ? DVSIM_FORM_STRAIGHT : d.wide > 0 && d.wide <= EIGHT ? DVSIM_FORM_EIGHTS : DVSIM_FORM_SQUARES;
    d.apart = d.form == DVSIM_FORM_STRAIGHT ? 1
              : d.form == DVSIM_FORM_EIGHTS ? (d.groups == 1 || d.wide > 4 ? EIGHT : d.wide > 2 ? 4 : 2)
                                            : (d.blocks + TOGETHER - 1) / TOGETHER * TOGETHER;
    return d;
}

static int64_t start_bytes(const dvsim_draws *d)
{
    return 8 * (d->groups * d->apart + TOGETHER);
}

static int64_t narrow_bytes(const dvsim_draws *d)
{
    return (1 + d->height_bits + d->phase_bits) * d->narrow_stride;
}

int64_t dvsim_draws_bytes(const dvsim_vortex_params *p, int64_t own, int64_t lanes)
{
    const dvsim_draws d = shape(p, 0, own, lanes);
    return start_bytes(&d) + narrow_bytes(&d);
}

int dvsim_draws_create(const dvsim_vortex_params *p, int64_t first, int64_t own, int64_t lanes, dvsim_draws *draws)
{
    dvsim_draws d = shape(p, first, own, lanes);
    const int low = p->height < DVSIM_BLOCK;
    d.start = (uint64_t *)(void *)dvsim_slices_memory(start_bytes(&d));
    if (d.narrow_stride > 0) {
        d.narrow = dvsim_slices_memory(narrow_bytes(&d));
    }
    *draws = d;
    for (int64_t at = 0; d.start != NULL && at < d.groups * d.blocks; at++) {
        const int64_t group = at / d.blocks, place = at % d.blocks, lane = low ? place : first + place;
        const uint64_t seed = p->seed + (uint64_t)(lane % p->replications) * DVSIM_DRAW_STEP;
        const int64_t block = low ? group : group * p->angles + lane / p->replications;
        d.start[group * d.apart + place] = dvsim_mix(seed) + (uint64_t)block * DVSIM_DRAW_STEP;
    }
    return d.start != NULL && (d.narrow != NULL || d.narrow_stride == 0);
}

void dvsim_draws_free(dvsim_draws *draws)
{
    free(draws->start);
    free(draws->narrow);
}

static uint64_t bits_of(uint64_t key, int from, int count, int bit)
{
    uint64_t bits = 0;
    for (int k = 0; k < count; k++) {
        bits |= (dvsim_draw(key, (uint64_t)(from + k)) >> bit & 1) << k;
    }
    return bits;
}

int dvsim_draws_arrival(const dvsim_vortex_params *p, uint64_t seed, int64_t angle, int64_t u, int64_t slot,
                        uint64_t *to)
{
    const int height_bits = dvsim_bits(p->height), phase_bits = dvsim_phase_bits(p);
    const int64_t angles = p->angles, turned = slot % angles, lane = angle - turned + (angle < turned ? angles : 0);
    const int low = p->height < DVSIM_BLOCK;
    const int64_t place = low ? u * angles + lane : u;
    const int64_t block = low ? place / DVSIM_BLOCK : place / DVSIM_BLOCK * angles + lane;
    const int bit = dvsim_draws_bit(place % DVSIM_BLOCK);
    const uint64_t key = dvsim_draw(dvsim_mix(seed), (uint64_t)slot * (uint64_t)blocks_of(p) + (uint64_t)block);
    int at = height_bits + phase_bits, again = at + DVSIM_ARRIVAL_BITS;
    int arrives = p->arrival_threshold >> DVSIM_ARRIVAL_BITS != 0;
    for (int k = DVSIM_ARRIVAL_BITS - 1; !arrives && k >= 0; k--, at++) {
        const uint64_t own = dvsim_draw(key, (uint64_t)at) >> bit & 1, most = p->arrival_threshold >> k & 1;
        if (own > most) {
            break;
        }
        arrives = own < most;
    }
    if (!arrives) {
        return 0;
    }
    uint64_t phase = bits_of(key, height_bits, phase_bits, bit);
    for (; phase >= (uint64_t)angles; again += phase_bits) {
        phase = bits_of(key, again, phase_bits, bit);
    }
    const uint64_t exit = p->exit_rule == DVSIM_EXIT_ANGLE ? (phase + (uint64_t)lane) % (uint64_t)angles : 0;
    *to = exit << height_bits | bits_of(key, 0, height_bits, bit);
    return 1;
}
