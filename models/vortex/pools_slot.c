/* pools_slot.c: a slot of a carried switch as slices: packets leave with their words, and enter with new names. */
#include "vortex/pools.h"

/* Words that are fetched or put away together, so that their places are on their way meanwhile. */
enum { BATCH = 512 };

/* In vortex.left are `count` packets, whose words are still names. */
static void hand_out(dvsim_shard *s, int64_t count)
{
    dvsim_left *const left = s->vortex->left;
    const uint64_t *const pool = s->pool;
    const int64_t room = s->room;
    for (int64_t i = 0; i < count; i++) {
        left[i].word = pool[left[i].replication * room + (int64_t)left[i].word];
    }
    dvsim_hand_out(s, count);
}

/* Packets in `bits`, of 64 switches at most, whose names are in values[2], are given up. */
static inline int64_t take_out(dvsim_shard *s, int64_t replication, uint64_t bits, uint32_t node, int64_t count)
{
    const uint32_t *const names = s->values[2];
    const int64_t room = s->room, words = s->vacant_words;
    uint64_t *const vacant = s->vacant + replication * words;
    const uint64_t *const pool = s->pool + replication * room;
    dvsim_left *left = s->vortex->left + count;
    for (; bits != 0; bits &= bits - 1) {
        const int64_t j = __builtin_ctzll(bits), name = names[j], word = 1 + name / 64;
        __builtin_prefetch(&pool[j * room + name]);
        vacant[j * words] = (uint64_t)word;
        vacant[j * words + word] |= UINT64_C(1) << name % 64;
        *left++ = (dvsim_left){(uint64_t)name, (int32_t)(replication + j), node};
    }
    return left - s->vortex->left;
}

static void leave(dvsim_shard *s, dvsim_slices *k, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    const int64_t angles = v->params.angles, height = v->params.height;
    const uint8_t *const left = k->open[0], *const names = dvsim_pools_names_of(v, k, v->n);
    int64_t count = 0;
    k->population[v->n] -= dvsim_slices_leave(s, k, now, NULL);
    for (int64_t row = 0; row < height; row++) {
        int64_t angle = dvsim_angle_of(v, now - 1, 0);
        for (int64_t place = 0; place < angles; place++, angle = angle + 1 == angles ? 0 : angle + 1) {
            const int64_t first = row * k->lanes + place * k->apart;
            for (int64_t i = 0; i < k->own; i += 64) {
                const uint64_t bits = dvsim_pools_load(left, first + i) & dvsim_pools_low_bits(k->own - i);
                if (bits != 0) {
                    s->kernel->read(names + (first + i) / 8, k->stride, k->stamp_bits, s->values[2]);
                    count = take_out(s, k->first + i, bits, (uint32_t)(angle * height + row), count);
                }
                if (count >= BATCH) {
                    hand_out(s, count);
                    count = 0;
                }
            }
        }
    }
    hand_out(s, count);
}

void dvsim_pools_move(dvsim_shard *s, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    for (int64_t i = 0; i < s->strips; i++) {
        dvsim_slices *k = &s->slices[i];
        for (int c = 0; c <= v->n; c++) {
            s->cylinders[c].present += k->population[c];
        }
        leave(s, k, now);
        dvsim_slices_descend(s, k, now);
        dvsim_slices_close(s, k, now);
    }
}

/* The words in vortex.left, whose node is the name, go to the pool. */
static void put_away(dvsim_shard *s, int64_t count)
{
    const dvsim_left *const left = s->vortex->left;
    uint64_t *const pool = s->pool;
    const int64_t room = s->room;
    for (int64_t i = 0; i < count; i++) {
        pool[left[i].replication * room + left[i].node] = left[i].word;
    }
}

/* Which of up to 64 are there. */
static inline uint64_t offered(const uint64_t *offers, int64_t count)
{
    uint64_t bits = 0;
    for (int64_t j = 0; j + 8 <= count; j += 8) {
        uint64_t some = 0;
        for (int i = 0; i < 8; i++) {
            some |= offers[j + i] >> 63 << i;
        }
        bits |= some << j;
    }
    for (int64_t j = count / 8 * 8; j < count; j++) {
        bits |= offers[j] >> 63 << j;
    }
    return bits;
}

/* The offers of up to 64 switches from `replication` on at one port enter at nodes from x on. `waiting` are words that
 * are still to be put away. Returns how many entered, -1 without memory. */
static int64_t enter(dvsim_shard *s, dvsim_slices *k, int64_t x, int64_t replication, uint64_t bits, uint64_t *offers,
                     uint64_t stamp, int64_t *waiting)
{
    const dvsim_vortex *v = s->vortex;
    const uint64_t heights = (UINT64_C(1) << v->n) - 1, all = bits;
    dvsim_left *left = v->left + *waiting;
    for (; bits != 0; bits &= bits - 1) {
        const int64_t j = __builtin_ctzll(bits), name = dvsim_pools_new_name(s, replication + j);
        if (name < 0) {
            return -1;
        }
        const uint64_t offer = offers[j];
        __builtin_prefetch(&s->pool[(replication + j) * s->room + name], 1);
        *left++ = (dvsim_left){(offer + stamp) | DVSIM_PRESENT, (int32_t)(replication + j), (uint32_t)name};
        s->values[0][j] = (uint32_t)(offer & heights);
        s->values[2][j] = (uint32_t)name;
        if (k->phase_bits > 0) {
            s->values[1][j] = dvsim_pools_phase_of(v, offer, x % k->lanes / k->apart);
        }
        offers[j] = 0;
    }
    dvsim_pools_write(s, k, 0, x, all);
    *waiting = left - v->left;
    if (*waiting >= BATCH) {
        put_away(s, *waiting);
        *waiting = 0;
    }
    return __builtin_popcountll(all);
}

/* As dvsim_vortex_enter; `into` are the heights of the rows, and `first` is the angle of the first lanes. */
int dvsim_pools_enter(dvsim_shard *s, int64_t first, uint64_t *offers, uint64_t stamp, int64_t *entered)
{
    const dvsim_vortex *v = s->vortex;
    const int64_t height = v->params.height, angles = v->params.angles, replications = v->params.replications;
    int64_t waiting = 0;
    for (int64_t strip = 0; strip < s->strips; strip++) {
        dvsim_slices *k = &s->slices[strip];
        for (int64_t a = 0, port = 0; a < angles; a++) {
            if (!v->params.injecting[a]) {
                continue;
            }
            const int64_t lane = (a - first + angles) % angles * k->apart;
            for (int64_t row = 0; row < height; row++) {
                uint64_t *some = offers + (port + s->into[row]) * replications + k->first;
                for (int64_t i = 0; i < k->own; i += 64) {
                    const int64_t x = row * k->lanes + lane + i;
                    const uint64_t free = ~dvsim_pools_load(k->cylinders, x);
                    const uint64_t open = free & offered(some + i, k->own - i < 64 ? k->own - i : 64);
                    const int64_t count =
                        open == 0 ? 0 : enter(s, k, x, k->first + i, open, some + i, stamp, &waiting);
                    if (count < 0) {
                        return 0;
                    }
                    entered[port + s->into[row]] += count;
                }
            }
            port += height;
        }
        dvsim_pools_mirror(v, k, 0);
    }
    put_away(s, waiting);
    return 1;
}
