/* slot.c: one slot of the planes of a part. */
#include "network/internal.h"

typedef struct {
    dvsim_part *part;
    int64_t level;
} origin;

/* Packets that left switches of a level go on to the next switch, or to their port. */
static void take(void *context, const dvsim_left *left, int64_t count)
{
    const origin *from = context;
    dvsim_part *p = from->part;
    const dvsim_network *net = p->network;
    const dvsim_level *level = &net->levels[from->level];
    const int any = net->params.exit_rule == DVSIM_EXIT_ANY;
    const uint32_t height = (uint32_t)net->params.height, nodes = height * (uint32_t)net->params.angles;
    const uint32_t most_down = from->level == net->top ? net->radix : net->half;
    const uint64_t came_out = (uint64_t)p->now << net->hops_shift;
    const uint64_t addresses = (UINT64_C(1) << net->port_shift) - 1;
    for (int64_t i = 0; i < count; i++) {
        const uint32_t plane = (uint32_t)left[i].replication / level->switches;
        const uint32_t box = (uint32_t)left[i].replication - plane * level->switches;
        const uint32_t out = net->port_of[any ? left[i].node & (height - 1) : left[i].node];
        const dvsim_peer peer = level->peers[box * net->radix + out];
        uint64_t word = (left[i].word + came_out) | DVSIM_PRESENT;
        if (from->level == 0 && out < most_down) {
            dvsim_network_put(p, net->params.levels, DVSIM_DOWN, word,
                              plane * (uint32_t)net->params.ports + peer.box);
            continue;
        }
        const int way = out < most_down ? DVSIM_DOWN : DVSIM_UP;
        const int64_t next = from->level + (way == DVSIM_UP ? 1 : -1);
        const uint32_t to = (uint32_t)(word >> net->port_shift & net->port_mask);
        const uint64_t place = level->place + (uint64_t)box * nodes + left[i].node;
        const uint32_t output = dvsim_network_output(p, next, peer.box, to, plane, place);
        word = (word & ~addresses) | net->address_of[output];
        dvsim_network_put(p, next, way, word,
                          peer.row * (uint32_t)p->stages[next].replications +
                              plane * net->levels[next].switches + peer.box);
    }
}

static void count(dvsim_part *p, int64_t **histogram, int64_t *length, int64_t value)
{
    if (value >= *length) {
        const int64_t room = 2 * value < 1024 ? 1024 : 2 * value;
        int64_t *longer = dvsim_network_longer(*histogram, *length, room, sizeof *longer);
        if (longer == NULL) {
            p->failed = 1;
            return;
        }
        *histogram = longer;
        *length = room;
    }
    ++(*histogram)[value];
}

static void deliver(dvsim_part *p)
{
    const dvsim_network *net = p->network;
    dvsim_stage *ports = &p->stages[net->params.levels];
    for (int64_t k = 0; k < p->fresh_count; k++) {
        const uint64_t word = ports->offers[p->fresh[k]];
        uint64_t birth = word >> net->birth_shift & net->birth_mask;
        int64_t latency = (int64_t)(((uint64_t)p->now - birth) & net->birth_mask) + net->params.link_slots;
        if (net->params.injection == DVSIM_INJECT_GIVEN) {
            if (birth >= (uint64_t)net->burst_room) {
                birth = dvsim_network_noted(p, birth);
            }
            latency = p->now - net->bursts[birth].sent;
            dvsim_network_word_ended(p, birth);
        }
        count(p, &p->hops, &p->hops_length, (int64_t)(word >> net->hops_shift & net->hops_mask));
        count(p, &p->latency, &p->latency_length, latency);
        p->delivered_at[p->fresh[k]]++;
        ports->offers[p->fresh[k]] = 0;
    }
    ports->held[DVSIM_DOWN] -= p->fresh_count;
    p->delivered += p->fresh_count;
    p->fresh_count = 0;
}

static void enter(dvsim_part *p)
{
    const dvsim_network *net = p->network;
    const uint64_t stamp = (0 - (uint64_t)p->now) << net->hops_shift;
    for (int64_t l = 0; l <= net->top; l++) {
        dvsim_stage *stage = &p->stages[l];
        dvsim_vortex_enter(stage->vortex, stage->offers, stamp, stage->entered);
        for (uint32_t row = 0; row < net->rows; row++) {
            const int way = l == net->top ? DVSIM_UP : net->way_of[row];
            if (l > 0 || way == DVSIM_DOWN) { /* not from the ports */
                stage->held[way] -= stage->entered[row];
            }
        }
    }
}

void dvsim_network_slots(dvsim_part *p, int64_t slots)
{
    const dvsim_network *net = p->network;
    const int64_t end = p->now + slots;
    for (; p->now < end && !p->failed; p->now++) {
        if (net->params.injection == DVSIM_INJECT_GIVEN && p->words_left == 0) {
            for (int64_t l = 0; l <= net->top; l++) {
                dvsim_vortex_skip(p->stages[l].vortex, end - p->now);
            }
            p->now = end;
            return;
        }
        for (int64_t l = 0; l <= net->top; l++) {
            origin from = {p, l};
            dvsim_vortex_advance(p->stages[l].vortex, take, &from);
        }
        dvsim_network_put_until_now(p);
        for (int64_t i = 0; i <= net->params.levels; i++) {
            dvsim_network_arrive(p, i);
        }
        deliver(p);
        dvsim_network_offer(p);
        enter(p);
        dvsim_network_offered(p);
    }
}
