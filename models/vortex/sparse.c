/* sparse.c: slots of a carried switch with few packets. A bit for each node says where one stands, so that a slot costs
 * what its packets cost, and not what the nodes do. Same results as slot.c and carried.c, in the same order. */
#include <string.h>

#include "vortex/switch.h"

/* Beyond one packet in so many nodes the loops over all nodes are as fast; below half of that it pays to come back. */
enum { NODES_OF_PACKET = 16 };

static int64_t words_of_row(int64_t lanes)
{
    return (lanes + 63) / 64;
}

int64_t dvsim_marks(const dvsim_vortex_params *p, int64_t lanes)
{
    return p->layout == DVSIM_LAYOUT_WORDS ? 0 : (dvsim_bits(p->height) + 1) * p->height * words_of_row(lanes);
}

static uint64_t *marks_of(const dvsim_shard *s, int c, int64_t row)
{
    return s->marks + (c * s->vortex->params.height + row) * words_of_row(s->lanes);
}

static void mark_all(dvsim_shard *s)
{
    const int64_t rows = dvsim_cylinders(s->vortex) * s->vortex->params.height;
    memset(s->marks, 0, (size_t)(rows * words_of_row(s->lanes)) * sizeof *s->marks);
    for (int64_t row = 0; row < rows; row++) {
        uint64_t *marks = marks_of(s, 0, row);
        for (int64_t lane = 0; lane < s->lanes; lane++) {
            marks[lane / 64] |= (uint64_t)(s->cells[row * s->lanes + lane] != 0) << lane % 64;
        }
    }
}

int dvsim_is_sparse(dvsim_shard *s)
{
    const int64_t nodes = dvsim_cylinders(s->vortex) * s->vortex->params.height * s->lanes;
    if (s->marks == NULL) {
        return 0;
    }
    if (!s->sparse && s->inside <= nodes / NODES_OF_PACKET / 2) {
        mark_all(s);
        s->sparse = 1;
    }
    s->sparse = s->sparse && s->inside <= nodes / NODES_OF_PACKET;
    return s->sparse;
}

void dvsim_sparse_entered(dvsim_shard *s, int64_t row, int64_t lane)
{
    marks_of(s, 0, row)[lane / 64] |= UINT64_C(1) << lane % 64;
}

/* What stands where it is addressed leaves. */
static void leave(dvsim_shard *s, int64_t now)
{
    dvsim_vortex *v = s->vortex;
    const int any = v->params.exit_rule == DVSIM_EXIT_ANY;
    const int64_t height = v->params.height, words = words_of_row(s->lanes);
    const uint32_t replications = (uint32_t)v->params.replications;
    const uint64_t angles = (UINT64_C(1) << v->layout.angle_bits) - 1;
    uint64_t *marks = marks_of(s, v->n, 0), *cells = dvsim_cylinder(s, v->n);
    int64_t found = 0, present = 0;
    for (int64_t row = 0; row < height; row++, cells += s->lanes) {
        for (int64_t word = 0; word < words; word++, marks++) {
            for (uint64_t left = *marks; left != 0; left &= left - 1) {
                const uint32_t lane = (uint32_t)(word * 64 + __builtin_ctzll(left)), place = lane / replications;
                const int64_t angle = dvsim_angle_of(v, now - 1, place);
                present++;
                if (!any && (cells[lane] >> v->n & angles) != (uint64_t)angle) {
                    continue;
                }
                v->left[found++] = (dvsim_left){
                    .word = cells[lane],
                    .replication = (int32_t)(lane - place * replications),
                    .node = (uint32_t)(angle * height + row),
                };
                cells[lane] = 0;
                *marks &= ~(left & -left);
                if (found == DVSIM_MATCHES) {
                    dvsim_hand_out(s, found);
                    found = 0;
                }
            }
        }
    }
    dvsim_hand_out(s, found);
    s->cylinders[v->n].present += present;
}

/* Those of up to 64 nodes whose bit c is `bit` descend to the free ones among as many others. */
static void descend(uint64_t *restrict outer, uint64_t *restrict inner, uint64_t *outer_marks, uint64_t *inner_marks,
                    int c, uint64_t bit, dvsim_descents *count)
{
    const uint64_t all = *outer_marks, taken = *inner_marks;
    uint64_t open = 0;
    int64_t present = 0, wanted = 0, blocked = 0;
    for (uint64_t left = all; left != 0; left &= left - 1) {
        const int lane = __builtin_ctzll(left);
        const uint64_t word = outer[lane], right = (word >> c & 1) == bit, goes = right & ~(taken >> lane);
        inner[lane] |= word & -goes;
        outer[lane] = word & (goes - 1);
        open |= goes << lane;
        present++;
        wanted += (int64_t)right;
        blocked += (int64_t)(right - goes);
    }
    *outer_marks = all & ~open;
    *inner_marks = taken | open;
    count->present += present;
    count->wanted += wanted;
    count->blocked += blocked;
}

void dvsim_move_sparse(dvsim_shard *s, int64_t now)
{
    const dvsim_vortex *v = s->vortex;
    const int64_t words = words_of_row(s->lanes);
    leave(s, now);
    for (int c = v->n - 1; c >= 0; c--) {
        uint64_t *marks = marks_of(s, c, 0), *outer = dvsim_cylinder(s, c), *inner = dvsim_cylinder(s, c + 1);
        for (int64_t row = 0; row < v->params.height; row++, outer += s->lanes, marks += words) {
            for (int64_t word = 0; word < words; word++) {
                if (marks[word] == 0) {
                    continue;
                }
                const int64_t run = dvsim_frame_descent(&v->frame, c, row >> c, now);
                const int64_t to = (run << c) + (row & ((INT64_C(1) << c) - 1));
                descend(outer + 64 * word, inner + to * s->lanes + 64 * word, &marks[word],
                        &marks_of(s, c + 1, to)[word], c, (uint64_t)run & 1, &s->cylinders[c]);
            }
        }
    }
}
