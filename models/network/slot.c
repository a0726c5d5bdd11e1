/* slot.c: one slot of the planes of a part. */
#include "network/internal.h"

typedef struct {
    dvsim_part *part;
    int64_t level;
} origin;

/* Where what leaves by an output of the switches of a level goes. */
typedef struct {
    const dvsim_peer *peers; /* of each switch */
    int64_t next;            /* level; that of the ports is the last one */
    dvsim_wire *wire;
    uint32_t replications, switches; /* of the next level, and of a plane there */
    uint64_t place;                  /* of the choice, at switch 0 */
} course;

static course course_of(const origin *from, uint32_t node)
{
    dvsim_part *p = from->part;
    const dvsim_network *net = p->network;
    const dvsim_level *level = &net->levels[from->level];
    const uint32_t height = (uint32_t)net->params.height;
    const uint32_t out = net->port_of[net->params.exit_rule == DVSIM_EXIT_ANY ? node & (height - 1) : node];
    const int way = from->level == net->top || out < net->half ? DVSIM_DOWN : DVSIM_UP;
    const int64_t next = way == DVSIM_UP ? from->level + 1 : from->level == 0 ? net->params.levels : from->level - 1;
    return (course){
        .peers = level->peers + out * level->switches,
        .next = next,
        .wire = &p->stages[next].wires[way],
        .replications = (uint32_t)p->stages[next].replications,
        .switches = next == net->params.levels ? (uint32_t)net->params.ports : net->levels[next].switches,
        .place = level->place + node,
    };
}

/* Packets that left switches of a level go on to the next switch, or to their port; those that left by the same node
 * often follow each other. */
static void take(void *context, const dvsim_left *left, int64_t count)
{
    const origin *from = context;
    dvsim_part *p = from->part;
    const dvsim_network *net = p->network;
    const uint32_t nodes = (uint32_t)(net->params.height * net->params.angles);
    const uint32_t switches = net->levels[from->level].switches;
    const uint64_t came_out = (uint64_t)p->now << net->hops_shift;
    const uint64_t addresses = (UINT64_C(1) << net->port_shift) - 1;
    for (int64_t i = 0; i < count;) {
        const uint32_t node = left[i].node;
        const course c = course_of(from, node);
        for (; i < count && left[i].node == node; i++) {
            const uint32_t replication = (uint32_t)left[i].replication;
            const uint32_t plane = p->planes == 1 ? 0 : replication / switches, box = replication - plane * switches;
            const dvsim_peer peer = c.peers[box];
            uint64_t word = (left[i].word + came_out) | DVSIM_PRESENT;
            if (c.next < net->params.levels) {
                const uint32_t to = (uint32_t)(word >> net->port_shift & net->port_mask);
                const uint32_t output =
                    dvsim_network_output(p, c.next, peer.box, to, plane, c.place + (uint64_t)box * nodes);
                word = (word & ~addresses) | net->address_of[output];
            }
            dvsim_network_put(p, c.wire, word, peer.row * c.replications + plane * c.switches + peer.box);
        }
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
        if (k + DVSIM_AHEAD < p->fresh_count) {
            __builtin_prefetch(&ports->offers[p->fresh[k + DVSIM_AHEAD]], 1);
            __builtin_prefetch(&p->delivered_at[p->fresh[k + DVSIM_AHEAD]], 1);
        }
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
        p->failed |= dvsim_vortex_enter(stage->vortex, stage->offers, stamp, stage->entered) != DVSIM_OK;
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
            p->failed |= dvsim_vortex_advance(p->stages[l].vortex, take, &from) != DVSIM_OK;
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
