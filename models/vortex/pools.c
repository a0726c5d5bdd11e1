/* pools.c: a carried switch as slices of bits. What moves is the address and the name of a packet; its word waits in
 * the pool of its switch, at the place that the name says, until it leaves. A name is new once the packet before has
 * left, and pools and names get longer when a switch holds more packets.
 *
 * Strips are some switches each, few enough to stay in the second cache while a slot goes over them; lane i * `apart`
 * + k of a strip is angle i, in the moving frame, of its k-th switch. Slices are as in slices.h, with names in the
 * place of stamps. */
#include "vortex/pools.h"

#include <stdlib.h>

enum { CACHE = 1 << 18, LEAST_POOL = 16 };

static int64_t nodes_of_switch(const dvsim_vortex_params *p)
{
    return (dvsim_bits(p->height) + 1) * p->height * p->angles;
}

/* Packets for which there is room at first: one at each seventh node. */
static int64_t first_room(const dvsim_vortex_params *p)
{
    const int64_t nodes = nodes_of_switch(p), some = nodes / 7;
    return some > LEAST_POOL ? some : LEAST_POOL;
}

/* For each switch: which of the words that follow has had the last free name; a bit for each name that is free. */
static int64_t words_for(int64_t names)
{
    return 1 + (names + 63) / 64;
}

/* Switches of a strip: those that are there, and with those that stay empty. */
static int64_t strip_of(const dvsim_vortex_params *p, int64_t width, int64_t *apart)
{
    const int64_t fit = CACHE / nodes_of_switch(p) / 64 * 64, most = fit > 64 ? fit : 64;
    const int64_t strips = (p->replications + most - 1) / most;
    int64_t own = (p->replications + strips - 1) / strips;
    if (strips > 1) {
        own = (own + 63) / 64 * 64;
    }
    *apart = (own + 7) / 8 * 8;
    while (*apart / 8 * p->angles * p->height % width != 0) {
        *apart += 8;
    }
    return own;
}

static int64_t strips_of(const dvsim_vortex_params *p, int64_t own)
{
    return (p->replications + own - 1) / own;
}

int64_t dvsim_pools_bytes(const dvsim_vortex_params *p)
{
    const int n = dvsim_bits(p->height);
    int64_t apart;
    const int64_t own = strip_of(p, dvsim_kernel_choose()->width, &apart), room = first_room(p);
    const int64_t stride = dvsim_slices_stride(p->height * p->angles * apart / 8);
    const int names = dvsim_bits(room), phase = dvsim_phase_bits(p);
    return (strips_of(p, own) * dvsim_slices_before(n, n + 1, phase + names) + (1 + n + phase) + n + 3) * stride +
           p->replications * 8 * (room + words_for(room));
}

/* All names are free. */
static void vacate(uint64_t *vacant, int64_t switches, int64_t room)
{
    const int64_t words = words_for(room);
    for (int64_t at = 0; at < switches * words; at++) {
        vacant[at] = at % words == 0 ? 1 : dvsim_pools_low_bits(room - (at % words - 1) * 64);
    }
}

/* Slices of a strip. */
static int64_t slices_of_strip(const dvsim_vortex *v, const dvsim_slices *k, int name_bits)
{
    return dvsim_slices_before(v->n, v->n + 1, k->phase_bits + name_bits);
}

int dvsim_pools_create(dvsim_shard *s)
{
    const dvsim_vortex *v = s->vortex;
    const dvsim_vortex_params *p = &v->params;
    s->kernel = dvsim_kernel_choose();
    dvsim_slices common = {.slide = s->kernel->slide, .width = s->kernel->width};
    const int64_t own = strip_of(p, common.width, &common.apart);
    common.lanes = p->angles * common.apart;
    common.size = p->height * common.lanes / 8;
    common.stride = dvsim_slices_stride(common.size);
    common.phase_bits = dvsim_phase_bits(p);
    s->room = first_room(p);
    common.stamp_bits = dvsim_bits(s->room);
    s->strips = strips_of(p, own);
    s->slices = calloc((size_t)s->strips, sizeof *s->slices);
    if (s->slices == NULL) {
        return 0;
    }
    const int64_t bytes = slices_of_strip(v, &common, common.stamp_bits) * common.stride;
    s->all = dvsim_slices_memory(s->strips * bytes);
    s->pool = (uint64_t *)(void *)dvsim_slices_memory(8 * p->replications * s->room);
    s->vacant_words = words_for(s->room);
    s->vacant = (uint64_t *)(void *)dvsim_slices_memory(8 * p->replications * s->vacant_words);
    int whole = dvsim_slices_share(v, &common) && s->all && s->pool && s->vacant;
    for (int64_t i = 0; i < s->strips; i++) {
        dvsim_slices *k = &s->slices[i];
        *k = common;
        k->first = i * own;
        k->own = p->replications - k->first < own ? p->replications - k->first : own;
        k->cylinders = s->all + i * bytes;
        k->population = calloc((size_t)v->n + 1, sizeof *k->population);
        whole = whole && k->population;
    }
    if (whole) {
        vacate(s->vacant, p->replications, s->room);
    }
    return whole;
}

void dvsim_pools_free(dvsim_shard *s)
{
    free(s->all);
    free(s->pool);
    free(s->vacant);
}

void dvsim_pools_clear(dvsim_shard *s)
{
    const dvsim_vortex *v = s->vortex;
    for (int64_t i = 0; i < s->strips; i++) {
        dvsim_slices *k = &s->slices[i];
        for (int c = 0; c <= v->n; c++) {
            memset(dvsim_slices_of(v, k, c), 0, (size_t)k->stride);
            k->population[c] = 0;
        }
    }
    vacate(s->vacant, v->params.replications, s->room);
}

/* --- names */

/* One slice of names more on each cylinder. */
static int widen(dvsim_shard *s, int name_bits)
{
    const dvsim_vortex *v = s->vortex;
    const int before = s->slices->stamp_bits, rest = 1 + s->slices->phase_bits + before;
    const int64_t stride = s->slices->stride, bytes = slices_of_strip(v, s->slices, name_bits) * stride;
    uint8_t *all = dvsim_slices_memory(s->strips * bytes);
    if (all == NULL) {
        return 0;
    }
    for (int64_t i = 0; i < s->strips; i++) {
        dvsim_slices *k = &s->slices[i];
        uint8_t *to = all + i * bytes;
        for (int c = 0; c <= v->n; c++) {
            const int64_t slices = rest + v->n - c;
            memcpy(to, dvsim_slices_of(v, k, c), (size_t)(slices * stride));
            to += (slices + name_bits - before) * stride;
        }
    }
    for (int64_t i = 0; i < s->strips; i++) {
        s->slices[i].cylinders = all + i * bytes;
        s->slices[i].stamp_bits = name_bits;
    }
    dvsim_slices_give_back(s->all, s->strips * slices_of_strip(v, s->slices, before) * stride);
    s->all = all;
    return 1;
}

static int more_room(dvsim_shard *s)
{
    const int64_t more = s->room / 16, room = s->room + (more > LEAST_POOL ? more : LEAST_POOL);
    const int64_t replications = s->vortex->params.replications, words = words_for(room), before = s->vacant_words;
    uint64_t *pool = (uint64_t *)(void *)dvsim_slices_memory(8 * replications * room);
    uint64_t *vacant = (uint64_t *)(void *)dvsim_slices_memory(8 * replications * words);
    const int bits = dvsim_bits(room);
    if (pool == NULL || vacant == NULL || (bits > s->slices->stamp_bits && !widen(s, bits))) {
        free(pool);
        free(vacant);
        return 0;
    }
    vacate(vacant, replications, room);
    for (int64_t i = 0; i < replications; i++) {
        memcpy(pool + i * room, s->pool + i * s->room, (size_t)s->room * sizeof *pool);
        for (int64_t k = 1; k < before; k++) {
            vacant[i * words + k] &= s->vacant[i * before + k] | ~dvsim_pools_low_bits(s->room - (k - 1) * 64);
        }
    }
    dvsim_slices_give_back(s->pool, 8 * replications * s->room);
    dvsim_slices_give_back(s->vacant, 8 * replications * before);
    s->pool = pool;
    s->vacant = vacant;
    s->vacant_words = words;
    s->room = room;
    return 1;
}

int64_t dvsim_pools_find_name(dvsim_shard *s, int64_t replication)
{
    for (;;) {
        uint64_t *vacant = s->vacant + replication * s->vacant_words;
        for (int64_t k = 1; k < s->vacant_words; k++) {
            if (vacant[k] != 0) {
                vacant[0] = (uint64_t)k;
                return 64 * (k - 1) + __builtin_ctzll(vacant[k]);
            }
        }
        if (!more_room(s)) {
            return -1;
        }
    }
}

/* --- packets one by one */

void dvsim_pools_write(const dvsim_shard *s, dvsim_slices *k, int c, int64_t at, uint64_t mask)
{
    const dvsim_vortex *v = s->vortex;
    uint8_t *slices = dvsim_slices_of(v, k, c) + at / 8;
    const uint64_t present = dvsim_pools_load(slices, 0) | mask;
    memcpy(slices, &present, sizeof present);
    slices += k->stride;
    s->kernel->write(slices, k->stride, v->n - c, s->values[0], mask);
    slices += (v->n - c) * k->stride;
    s->kernel->write(slices, k->stride, k->phase_bits, s->values[1], mask);
    s->kernel->write(slices + k->phase_bits * k->stride, k->stride, k->stamp_bits, s->values[2], mask);
    k->population[c] += __builtin_popcountll(mask);
}

void dvsim_pools_mirror(const dvsim_vortex *v, dvsim_slices *k, int c)
{
    uint8_t *slices = dvsim_slices_of(v, k, c);
    for (int i = 0; i < 1 + v->n - c + k->phase_bits + k->stamp_bits; i++, slices += k->stride) {
        memcpy(slices + k->size, slices, (size_t)k->width);
    }
}

int dvsim_pools_put(dvsim_shard *s, int c, int64_t row, int64_t lane, uint64_t packet)
{
    const dvsim_vortex *v = s->vortex;
    const int64_t place = lane / v->params.replications, replication = lane % v->params.replications;
    dvsim_slices *k = &s->slices[replication / s->slices->own];
    const int64_t name = dvsim_pools_new_name(s, replication);
    const int64_t x = row * k->lanes + place * k->apart + replication - k->first, bit = x % 8;
    if (name < 0) {
        return 0;
    }
    s->pool[replication * s->room + name] = packet;
    s->values[0][bit] = (uint32_t)(packet & ((UINT64_C(1) << v->n) - 1)) >> c;
    s->values[1][bit] = dvsim_pools_phase_of(v, packet, place);
    s->values[2][bit] = (uint32_t)name;
    dvsim_pools_write(s, k, c, x - bit, UINT64_C(1) << bit);
    dvsim_pools_mirror(v, k, c);
    return 1;
}

/* All packets of a cylinder of a strip. */
static int list_cylinder(dvsim_shard *s, const dvsim_slices *k, int c)
{
    const dvsim_vortex *v = s->vortex;
    const uint8_t *present = dvsim_slices_of(v, k, c), *names_at = dvsim_pools_names_of(v, k, c);
    uint32_t names[64];
    for (int64_t x = 0; x < 8 * k->size; x += 64) {
        const int64_t some = 8 * k->size - x < 64 ? 8 * k->size - x : 64;
        uint64_t bits = dvsim_pools_load(present, x) & dvsim_pools_low_bits(some);
        if (bits != 0) {
            s->kernel->read(names_at + x / 8, k->stride, k->stamp_bits, names);
        }
        for (; bits != 0; bits &= bits - 1) {
            const int j = __builtin_ctzll(bits);
            const int64_t row = (x + j) / k->lanes, lane = (x + j) % k->lanes;
            const int64_t replication = k->first + lane % k->apart;
            if (!dvsim_sparse_put(s, c, row, lane / k->apart * v->params.replications + replication,
                                  s->pool[replication * s->room + names[j]])) {
                return 0;
            }
        }
    }
    return 1;
}

int dvsim_pools_list(dvsim_shard *s)
{
    int whole = 1;
    for (int64_t i = 0; i < s->strips; i++) {
        for (int c = 0; whole && c <= s->vortex->n; c++) {
            whole = list_cylinder(s, &s->slices[i], c);
        }
    }
    return whole;
}
