/* sparse.c: slots of a carried switch with few packets. They are listed, cylinder by cylinder, and a bit for each node
 * says where one stands, so that a slot costs what its packets cost. Same results as of cells and of slices, which
 * are empty meanwhile; where many packets enter they are put there, and listed again when they have become few. */
#include <stdlib.h>
#include <string.h>

#include "vortex/switch.h"

/* Beyond one packet in so many nodes the loops over all nodes are as fast; below half of that it pays to come back. */
enum { NODES_OF_PACKET_WORDS = 16, NODES_OF_PACKET_SLICES = 64, FIRST_ROOM = 64 };

static int64_t words_of_row(int64_t lanes)
{
    return (lanes + 63) / 64;
}

static int64_t marks(const dvsim_shard *s)
{
    return dvsim_cylinders(s->vortex) * s->vortex->params.height * words_of_row(s->lanes);
}

int64_t dvsim_sparse_bytes(const dvsim_vortex_params *p, int64_t lanes)
{
    return p->layout != DVSIM_LAYOUT_BEST ? 0
                                          : (dvsim_bits(p->height) + 1) * p->height * words_of_row(lanes) * 8;
}

static uint64_t *word_of(dvsim_shard *s, int c, int64_t row, int64_t lane)
{
    return s->marks + (c * s->vortex->params.height + row) * words_of_row(s->lanes) + lane / 64;
}

static int make_room(dvsim_list *list, int64_t room)
{
    if (room <= list->room) {
        return 1;
    }
    room = room < FIRST_ROOM ? FIRST_ROOM : room + room / 2;
    dvsim_listed *longer = realloc(list->packets, (size_t)room * sizeof *longer);
    if (longer == NULL) {
        return 0;
    }
    list->packets = longer;
    list->room = room;
    return 1;
}

void dvsim_sparse_free(dvsim_shard *s)
{
    for (int c = 0; s->lists != NULL && c <= dvsim_cylinders(s->vortex); c++) {
        free(s->lists[c].packets);
    }
    free(s->lists);
    free(s->counts);
    free(s->marks);
    s->lists = NULL;
    s->counts = NULL;
    s->marks = NULL;
    s->sparse = 0;
}

int dvsim_sparse_create(dvsim_shard *s)
{
    s->marks = calloc((size_t)marks(s), sizeof *s->marks);
    s->lists = calloc((size_t)dvsim_cylinders(s->vortex) + 1, sizeof *s->lists);
    s->counts = calloc((size_t)s->vortex->params.angles, sizeof *s->counts);
    if (s->marks == NULL || s->lists == NULL || s->counts == NULL) {
        dvsim_sparse_free(s);
        return 0;
    }
    s->sparse = 1;
    return 1;
}

/* The node is free. */
int dvsim_sparse_put(dvsim_shard *s, int c, int64_t row, int64_t lane, uint64_t packet)
{
    dvsim_list *list = &s->lists[c];
    if (!make_room(list, list->count + 1)) {
        return 0;
    }
    list->packets[list->count++] = (dvsim_listed){packet, (uint32_t)row, (uint32_t)lane};
    *word_of(s, c, row, lane) |= UINT64_C(1) << lane % 64;
    return 1;
}

int dvsim_sparse_is_taken(dvsim_shard *s, int64_t row, int64_t lane)
{
    return (int)(*word_of(s, 0, row, lane) >> lane % 64 & 1);
}

/* From the lists to where many packets are kept; 0 without memory. */
static int spread(dvsim_shard *s)
{
    int whole = 1;
    for (int c = 0; c < dvsim_cylinders(s->vortex); c++) {
        for (int64_t i = 0; i < s->lists[c].count; i++) {
            const dvsim_listed *one = &s->lists[c].packets[i];
            if (s->vortex->sliced) {
                whole = dvsim_pools_put(s, c, one->row, one->lane, one->packet) && whole;
            } else {
                dvsim_cylinder(s, c)[one->row * s->lanes + one->lane] = one->packet;
            }
        }
    }
    dvsim_sparse_free(s);
    return whole;
}

/* And back; 0 without memory. */
static int gather(dvsim_shard *s)
{
    const int64_t nodes = s->vortex->params.height * s->lanes;
    if (!dvsim_sparse_create(s)) {
        return 0;
    }
    int whole = 1;
    for (int c = 0; whole && c < dvsim_cylinders(s->vortex) && !s->vortex->sliced; c++) {
        const uint64_t *cells = dvsim_cylinder(s, c);
        for (int64_t at = 0; whole && at < nodes; at++) {
            whole = cells[at] == 0 || dvsim_sparse_put(s, c, at / s->lanes, at % s->lanes, cells[at]);
        }
    }
    if (!(whole && (!s->vortex->sliced || dvsim_pools_list(s)))) {
        dvsim_sparse_free(s);
        return 0;
    }
    if (s->vortex->sliced) {
        dvsim_pools_clear(s);
    } else {
        memset(s->cells, 0, (size_t)(dvsim_cylinders(s->vortex) * nodes) * sizeof *s->cells);
    }
    return 1;
}

/* Each list can take what may descend to it, and the last one what leaves. */
static int have_room(dvsim_shard *s)
{
    const int cylinders = dvsim_cylinders(s->vortex);
    int whole = make_room(&s->lists[cylinders], s->lists[cylinders - 1].count);
    for (int c = 1; c < cylinders; c++) {
        whole = make_room(&s->lists[c], s->lists[c].count + s->lists[c - 1].count) && whole;
    }
    return whole;
}

int dvsim_sparse_choose(dvsim_shard *s)
{
    const int64_t nodes = dvsim_cylinders(s->vortex) * s->vortex->params.height * s->lanes;
    const int64_t most = nodes / (s->vortex->sliced ? NODES_OF_PACKET_SLICES : NODES_OF_PACKET_WORDS);
    if (s->sparse && s->inside > most) {
        return spread(s);
    }
    if (!s->sparse && s->vortex->params.layout == DVSIM_LAYOUT_BEST && s->inside <= most / 2 && !gather(s)) {
        return 0;
    }
    return !s->sparse || have_room(s);
}

/* Those that leave in the order of their lanes: what leaves by one output of a switch must be in that of angles. */
static const dvsim_list *take_out(dvsim_shard *s, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    const int any = v->params.exit_rule == DVSIM_EXIT_ANY;
    const uint64_t angles = (UINT64_C(1) << v->layout.angle_bits) - 1;
    const uint32_t replications = (uint32_t)v->params.replications;
    dvsim_list *ring = &s->lists[v->n], *out = &s->lists[v->n + 1];
    int64_t stay = 0;
    memset(s->counts, 0, (size_t)v->params.angles * sizeof *s->counts);
    out->count = 0;
    for (int64_t i = 0; i < ring->count; i++) {
        const dvsim_listed one = ring->packets[i];
        const uint32_t place = one.lane / replications;
        if (any || (one.packet >> v->n & angles) == (uint64_t)dvsim_angle_of(v, now - 1, place)) {
            out->packets[out->count++] = one;
            s->counts[place]++;
            *word_of(s, v->n, one.row, one.lane) ^= UINT64_C(1) << one.lane % 64;
        } else {
            ring->packets[stay++] = one;
        }
    }
    ring->count = stay;
    if (!any || out->count < 2) {
        return out;
    }
    for (int64_t place = 0, sum = 0; place < v->params.angles; place++) {
        const int64_t some = s->counts[place];
        s->counts[place] = sum;
        sum += some;
    }
    for (int64_t i = 0; i < out->count; i++) { /* nothing stays on the ring, which is as long */
        ring->packets[s->counts[out->packets[i].lane / replications]++] = out->packets[i];
    }
    memcpy(out->packets, ring->packets, (size_t)out->count * sizeof *out->packets);
    return out;
}

static void leave(dvsim_shard *s, int64_t now)
{
    dvsim_vortex *v = s->vortex;
    const uint32_t replications = (uint32_t)v->params.replications;
    s->cylinders[v->n].present += s->lists[v->n].count;
    const dvsim_list *out = take_out(s, now);
    for (int64_t i = 0, found = 0; i < out->count; i++) {
        const dvsim_listed *one = &out->packets[i];
        const uint32_t place = one->lane / replications;
        v->left[found++] = (dvsim_left){
            .word = one->packet,
            .replication = (int32_t)(one->lane - place * replications),
            .node = (uint32_t)(dvsim_angle_of(v, now - 1, place) * v->params.height + one->row),
        };
        if (found == DVSIM_MATCHES || i + 1 == out->count) {
            dvsim_hand_out(s, found);
            found = 0;
        }
    }
}

static void descend(dvsim_shard *s, int c, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    dvsim_list *outer = &s->lists[c], *inner = &s->lists[c + 1];
    const int64_t groups = (INT64_C(1) << c) - 1, count = outer->count;
    int64_t stay = 0, wanted = 0;
    for (int64_t i = 0; i < count; i++) {
        dvsim_listed one = outer->packets[i];
        const int64_t run = dvsim_frame_descent(&v->frame, c, one.row >> c, now);
        const int64_t to = run << c | (one.row & groups);
        const uint64_t bit = UINT64_C(1) << one.lane % 64;
        if ((one.packet >> c & 1) == ((uint64_t)run & 1)) {
            uint64_t *below = word_of(s, c + 1, to, one.lane);
            wanted++;
            if ((*below & bit) == 0) {
                *below |= bit;
                *word_of(s, c, one.row, one.lane) ^= bit;
                one.row = (uint32_t)to;
                inner->packets[inner->count++] = one;
                continue;
            }
        }
        outer->packets[stay++] = one;
    }
    outer->count = stay;
    s->cylinders[c].present += count;
    s->cylinders[c].wanted += wanted;
    s->cylinders[c].blocked += wanted - (count - stay);
}

void dvsim_sparse_move(dvsim_shard *s, int64_t now)
{
    leave(s, now);
    for (int c = s->vortex->n - 1; c >= 0; c--) {
        descend(s, c, now);
    }
}
