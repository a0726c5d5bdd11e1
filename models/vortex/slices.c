/* slices.c: a shard of slices is made; its packets as words, and back. */
#define _DEFAULT_SOURCE
#include "vortex/slices.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "vortex/switch.h"

enum { LEAST_STAMP = 8, LINE = 64, PAGE = 1 << 16, HUGE = 1 << 21, HIGH = 256, TALL = 4096, SHORT_TALLY = 1 << 15 };

/* Slices of cylinder c; `rest` are those that all cylinders have. */
static int64_t slices_of(int n, int c, int rest)
{
    return 1 + n - c + rest;
}

int64_t dvsim_slices_before(int n, int c, int rest)
{
    return c * slices_of(n, 0, rest) - c * (c - 1) / 2;
}

uint8_t *dvsim_slices_of(const dvsim_vortex *v, const dvsim_slices *k, int c)
{
    return k->cylinders + dvsim_slices_before(v->n, c, k->phase_bits + k->stamp_bits) * k->stride;
}

/* In whole lines; much of it in large pages, if the system gives them: slices far apart are read at the same time. */
uint8_t *dvsim_slices_memory(int64_t bytes)
{
    void *memory = NULL;
    const int64_t size = (bytes + LINE - 1) / LINE * LINE;
    if (posix_memalign(&memory, size < HUGE ? LINE : HUGE, (size_t)size) != 0) {
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    if (size >= HUGE) {
        (void)madvise(memory, (size_t)(size / HUGE * HUGE), MADV_HUGEPAGE);
    }
#endif
    return memset(memory, 0, (size_t)size);
}

/* Its pages go back at once: what is freed between other memory would stay with the process. */
void dvsim_slices_give_back(void *memory, int64_t bytes)
{
#ifdef MADV_DONTNEED
    const uintptr_t from = ((uintptr_t)memory + PAGE - 1) / PAGE * PAGE;
    const uintptr_t to = ((uintptr_t)memory + (uintptr_t)bytes) / PAGE * PAGE;
    if (from < to) {
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
    }
#else
    (void)bytes;
#endif
    free(memory);
}

static int64_t divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : divisor(b, a % b);
}

/* The kernel whose `slide` takes the fewest registers, and of several the one that needs the fewest nodes more than there
 * are; a slice is at least a word. */
static const dvsim_kernel *kernel_for(int64_t height, int64_t lanes, int64_t *padded)
{
    const dvsim_kernel *kernel = dvsim_kernel_choose(), *best = kernel;
    int64_t fewest = INT64_MAX;
    *padded = INT64_MAX;
    for (; kernel != NULL; kernel = dvsim_kernel_narrower(kernel)) {
        const int64_t bits = 8 * kernel->width, part = bits / divisor(bits, height);
        const int64_t needed = (lanes + part - 1) / part * part, registers = height * needed / bits;
        if (registers < fewest || (registers == fewest && needed < *padded)) {
            best = kernel;
            fewest = registers;
            *padded = needed;
        }
    }
    return best;
}

int64_t dvsim_slices_stride(int64_t size)
{
    return (size + LINE - 1) / LINE * LINE + LINE;
}

static int64_t pattern_of(int64_t padded)
{
    return LINE / divisor(LINE, padded) * padded;
}

/* Lanes of a strip: all, or one, if its slices are so long that loops over them are; or eight, which are whole bytes, or
 * four, which are what two threads have of them. */
static int64_t strip_of(int64_t height, int64_t lanes)
{
    const int64_t few = lanes % 8 == 0 ? 8 : lanes == 4 ? 4 : 1;
    return height < HIGH ? lanes : height < TALL ? few : 1;
}

/* Bytes of a tally. Where there are few there is one for each angle that lanes have gone on, so that nodes follow each
 * other as they do in slices. */
static int64_t tally_of(const dvsim_vortex_params *p, int64_t strips, int64_t lanes, int64_t *turn)
{
    const int64_t nodes = p->height * lanes;
    *turn = strips == 1 && lanes > 1 && nodes * p->angles <= SHORT_TALLY ? nodes : 0;
    return *turn > 0 ? nodes * p->angles : 2 * p->angles * p->replications * p->height;
}

int64_t dvsim_slices_bytes(const dvsim_vortex_params *p, int64_t lanes)
{
    const int n = dvsim_bits(p->height), phase_bits = dvsim_phase_bits(p);
    const int64_t own = strip_of(p->height, lanes), strips = lanes / own;
    int64_t padded, turn;
    (void)kernel_for(p->height, own, &padded);
    const int64_t slices = dvsim_slices_before(n, n + 1, phase_bits + LEAST_STAMP);
    const int64_t shared = (1 + n + phase_bits) + n + 3;
    return (strips * slices + shared) * dvsim_slices_stride(p->height * padded / 8) +
           strips * (pattern_of(padded) / 8 + dvsim_draws_bytes(p, own, padded) + 8 * (n + 1)) +
           3 * (tally_of(p, strips, padded, &turn) + LINE);
}

int dvsim_slices_share(const dvsim_vortex *v, dvsim_slices *k)
{
    k->arrivals = dvsim_slices_memory((1 + v->n + k->phase_bits) * k->stride);
    k->value = dvsim_slices_memory(v->n * k->stride);
    k->open[0] = dvsim_slices_memory(k->stride);
    k->open[1] = dvsim_slices_memory(k->stride);
    k->wants = dvsim_slices_memory(k->stride);
    int whole = k->arrivals && k->value && k->open[0] && k->open[1] && k->wants;
    for (int i = 0; i < 3 && v->params.injection != DVSIM_INJECT_CARRIED; i++) {
        k->tally[i] = dvsim_slices_memory(k->tally_bytes + LINE);
        whole = k->tally[i] != NULL && whole;
    }
    for (int64_t x = 0; whole && x < 8 * k->size; x++) {
        const int64_t u = x / k->lanes;
        for (int c = 0; c < v->n; c++) {
            k->value[c * k->stride + x / 8] |= (uint8_t)((u >> c & 1) << x % 8);
        }
    }
    return whole;
}

static int create_strip(const dvsim_shard *s, dvsim_slices *k)
{
    const dvsim_vortex *v = s->vortex;
    const int64_t slices = dvsim_slices_before(v->n, v->n + 1, k->phase_bits + k->stamp_bits);
    k->cylinders = dvsim_slices_memory(slices * k->stride);
    k->population = (int64_t *)(void *)dvsim_slices_memory(8 * (v->n + 1));
    k->inputs = (uint64_t *)(void *)dvsim_slices_memory(k->pattern / 8);
    return k->cylinders && k->population && k->inputs &&
           dvsim_draws_create(&v->params, s->first + k->first, k->own, k->lanes, &k->draws);
}

int dvsim_slices_create(dvsim_shard *s)
{
    const dvsim_vortex *v = s->vortex;
    dvsim_slices common = {.own = strip_of(v->params.height, s->lanes)};
    const dvsim_kernel *kernel = kernel_for(v->params.height, common.own, &common.lanes);
    s->kernel = dvsim_kernel_choose();
    common.slide = kernel->slide;
    common.width = kernel->width;
    common.size = v->params.height * common.lanes / 8;
    common.stride = dvsim_slices_stride(common.size);
    common.phase_bits = dvsim_phase_bits(&v->params);
    common.stamp_bits = LEAST_STAMP;
    common.pattern = pattern_of(common.lanes);
    const int alone = common.lanes == 1; /* rows that follow each other are bits that do, and bytes of the tally */
    common.tally_row = alone ? 1 : 2 * v->columns;
    common.tally_place = alone ? v->params.height : 1;
    s->strips = s->lanes / common.own;
    common.tally_bytes = tally_of(&v->params, s->strips, common.lanes, &common.tally_turn);
    if (common.tally_turn > 0) {
        common.tally_row = common.lanes;
    }
    s->slices = calloc((size_t)s->strips, sizeof *s->slices);
    if (s->slices == NULL || !dvsim_slices_share(v, &common)) {
        if (s->slices != NULL) {
            s->slices[0] = common; /* to be freed */
        }
        return 0;
    }
    int whole = 1;
    for (int64_t i = 0; i < s->strips; i++) {
        s->slices[i] = common;
        s->slices[i].first = i * common.own;
        whole = create_strip(s, &s->slices[i]) && whole;
    }
    return whole;
}

void dvsim_slices_free(dvsim_shard *s)
{
    for (int64_t i = 0; s->slices != NULL && i < s->strips; i++) {
        dvsim_slices *k = &s->slices[i];
        void *own[] = {k->cylinders, k->population, k->inputs};
        void *shared[] = {k->arrivals, k->value, k->open[0], k->open[1], k->wants,
                          k->tally[0], k->tally[1], k->tally[2]};
        const size_t pooled = s->vortex->params.injection == DVSIM_INJECT_CARRIED; /* cylinders of all strips in one */
        for (size_t j = pooled; j < sizeof own / sizeof *own; j++) {
            free(own[j]);
        }
        dvsim_draws_free(&k->draws);
        for (size_t j = 0; i == 0 && j < sizeof shared / sizeof *shared; j++) {
            free(shared[j]);
        }
    }
    free(s->slices);
}

void dvsim_slices_open(const dvsim_shard *s, dvsim_slices *k, int64_t now)
{
    const dvsim_vortex_params *p = &s->vortex->params;
    const int64_t first = s->first + k->first, angles = p->angles;
    int64_t angle = (first / p->replications + now % angles) % angles, replication = first % p->replications;
    memset(k->inputs, 0, (size_t)k->pattern / 8);
    k->all_open = k->own == k->lanes;
    for (int64_t lane = 0; lane < k->own; lane++) {
        k->all_open &= p->injecting[angle];
        for (int64_t x = lane; p->injecting[angle] && x < k->pattern; x += k->lanes) {
            k->inputs[x / 64] |= UINT64_C(1) << x % 64;
        }
        if (++replication == p->replications) {
            replication = 0;
            angle = angle + 1 == angles ? 0 : angle + 1;
        }
    }
}

void dvsim_slices_stand(dvsim_shard *s, int64_t now)
{
    for (int64_t i = 0; i < s->strips; i++) {
        dvsim_slices_open(s, &s->slices[i], now);
        s->slices[i].check_at = now;
    }
}

/* --- packets as words */

static unsigned bit_of(const uint8_t *slice, int64_t x)
{
    return slice[x / 8] >> x % 8 & 1;
}

static uint64_t bits_of(const uint8_t *slices, int64_t stride, int count, int64_t x)
{
    uint64_t bits = 0;
    for (int k = 0; k < count; k++) {
        bits |= (uint64_t)bit_of(slices + k * stride, x) << k;
    }
    return bits;
}

static void put_bits(const dvsim_slices *k, uint8_t *slices, int count, int64_t x, uint64_t bits)
{
    for (int i = 0; i < count; i++) {
        for (int64_t at = x / 8; at < k->stride; at += k->size) { /* and where a slice's beginning stands again */
            uint8_t *byte = slices + i * k->stride + at;
            *byte = (uint8_t)((*byte & ~(1U << x % 8)) | (bits >> i & 1) << x % 8);
        }
    }
}

static uint64_t lane_zero(const dvsim_shard *s, int64_t lane)
{
    return (uint64_t)((s->first + lane) / s->vortex->params.replications);
}

uint64_t dvsim_slices_packet(const dvsim_shard *s, int c, int64_t row, int64_t lane, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    const dvsim_slices *k = &s->slices[lane / s->slices->own];
    const uint8_t *slices = dvsim_slices_of(v, k, c);
    const int64_t x = row * k->lanes + lane - k->first;
    if (!bit_of(slices, x)) {
        return 0;
    }
    const uint64_t settled = (uint64_t)row & ((UINT64_C(1) << c) - 1);
    const uint64_t height = bits_of(slices + k->stride, k->stride, v->n - c, x) << c | settled;
    slices += (1 + v->n - c) * k->stride;
    uint64_t angle = bits_of(slices, k->stride, k->phase_bits, x);
    if (v->params.exit_rule == DVSIM_EXIT_ANGLE) {
        angle = (angle + lane_zero(s, lane)) % (uint64_t)v->params.angles;
    }
    const uint64_t stamp = bits_of(slices + k->phase_bits * k->stride, k->stride, k->stamp_bits, x);
    const uint64_t age = ((uint64_t)now - stamp) & ((UINT64_C(1) << k->stamp_bits) - 1);
    const uint64_t slot = (uint64_t)now - age;
    return dvsim_packet(v->layout, slot, slot) | angle << v->n | height;
}

void dvsim_slices_put(dvsim_shard *s, int c, int64_t row, int64_t lane, uint64_t packet)
{
    const dvsim_vortex *v = s->vortex;
    dvsim_slices *k = &s->slices[lane / s->slices->own];
    uint8_t *slices = dvsim_slices_of(v, k, c);
    const int64_t x = row * k->lanes + lane - k->first;
    k->population[c] += (int64_t)(packet >> 63) - (int64_t)bit_of(slices, x);
    put_bits(k, slices, 1, x, packet >> 63);
    if (packet == 0) {
        return;
    }
    put_bits(k, slices + k->stride, v->n - c, x, packet >> c);
    slices += (1 + v->n - c) * k->stride;
    const uint64_t angles = (uint64_t)v->params.angles;
    const uint64_t angle = packet >> v->n & ((UINT64_C(1) << v->layout.angle_bits) - 1);
    put_bits(k, slices, k->phase_bits, x, (angle + angles - lane_zero(s, lane)) % angles);
    put_bits(k, slices + k->phase_bits * k->stride, k->stamp_bits, x, packet >> (v->n + v->layout.angle_bits));
}

/* --- stamps that are long enough */

/* Bits of 64 packets: whether the age, modulo 2^stamp_bits, is at least half of that; in `later`, whether the
 * stamp is above `now`. */
static uint64_t old(const uint8_t *stamps, int64_t stride, int count, uint64_t now, uint64_t *later)
{
    uint64_t borrow = 0, top = 0;
    for (int i = 0; i < count; i++) {
        uint64_t stamp;
        memcpy(&stamp, stamps + i * stride, sizeof stamp);
        const uint64_t own = -(now >> i & 1);
        top = own ^ stamp ^ borrow;
        borrow = (~own & (stamp | borrow)) | (own & stamp & borrow);
    }
    *later = borrow;
    return top;
}

static int has_old(const dvsim_vortex *v, const dvsim_slices *k, int64_t now)
{
    uint64_t later, present;
    for (int c = 0; c <= v->n; c++) {
        const uint8_t *slices = dvsim_slices_of(v, k, c), *stamps = slices + (1 + v->n - c + k->phase_bits) * k->stride;
        for (int64_t i = 0; i < k->size; i += 8) {
            memcpy(&present, slices + i, sizeof present);
            if (present & old(stamps + i, k->stride, k->stamp_bits, (uint64_t)now, &later)) {
                return 1;
            }
        }
    }
    return 0;
}

static int lengthen(const dvsim_vortex *v, dvsim_slices *k, int stamp_bits, int64_t now)
{
    while (k->stamp_bits < stamp_bits) {
        const int rest = k->phase_bits + k->stamp_bits;
        uint8_t *cylinders = dvsim_slices_memory(dvsim_slices_before(v->n, v->n + 1, rest + 1) * k->stride);
        uint8_t *to = cylinders;
        if (cylinders == NULL) {
            return 0;
        }
        for (int c = 0; c <= v->n; c++) {
            const uint8_t *from = dvsim_slices_of(v, k, c);
            const int64_t slices = slices_of(v->n, c, rest);
            memcpy(to, from, (size_t)(slices * k->stride));
            to += slices * k->stride;
            for (int64_t i = 0; i < k->stride; i += 8) {
                uint64_t later;
                (void)old(from + (slices - k->stamp_bits) * k->stride + i, k->stride, k->stamp_bits, (uint64_t)now,
                          &later);
                later ^= -((uint64_t)now >> k->stamp_bits & 1);
                memcpy(to + i, &later, sizeof later);
            }
            to += k->stride;
        }
        free(k->cylinders);
        k->cylinders = cylinders;
        k->stamp_bits++;
    }
    return 1;
}

int dvsim_slices_lengthen(dvsim_shard *s, int stamp_bits, int64_t now)
{
    int whole = 1;
    for (int64_t i = 0; i < s->strips; i++) {
        whole = lengthen(s->vortex, &s->slices[i], stamp_bits, now) && whole;
    }
    return whole;
}

int dvsim_slices_check(const dvsim_vortex *v, dvsim_slices *k, int64_t now)
{
    const int most = v->layout.arrived_bits;
    if (k->stamp_bits < most && has_old(v, k, now) && !lengthen(v, k, k->stamp_bits + 1, now)) {
        return 0;
    }
    k->check_at = k->stamp_bits < most ? now + (INT64_C(1) << (k->stamp_bits - 1)) : INT64_MAX;
    return 1;
}
