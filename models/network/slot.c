/* slot.c: one slot of the planes of a part. */
#include "network/internal.h"

typedef struct {
    dvsim_part *part;
    const dvsim_stage *stage;
    int64_t level;
} origin;

/* Where what leaves by an output of the switches of a level goes. */
typedef struct {
    const dvsim_peer *peers; /* of each switch */
    int64_t next;            /* level; that of the ports is the last one */
    int way, bits;
    dvsim_stage *stages;
    uint32_t switches; /* of a plane of the next level */
    uint64_t place;    /* of the choice, at switch 0 */
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
        .way = way,
        .bits = net->stage_bits[next],
        .stages = p->stages + p->first_stage[next],
        .switches = next == net->params.levels ? (uint32_t)net->params.ports : net->levels[next].switches,
        .place = level->place + node,
    };
}

/* Packets that left switches of a stage by the same node go on to the next switch, or to their port. */
static inline void pass_on(const origin *from, const course *c, int to_ports, const dvsim_left *left, int64_t count)
{
    dvsim_part *p = from->part;
    const dvsim_network *net = p->network;
    const dvsim_peer *peers = c->peers;
    const uint32_t nodes = (uint32_t)(net->params.height * net->params.angles);
    const uint32_t switches = net->levels[from->level].switches, first = (uint32_t)from->stage->first;
    const uint64_t came_out = (uint64_t)p->now << net->hops_shift;
    const uint64_t addresses = (UINT64_C(1) << net->port_shift) - 1;
    const int64_t turn = p->now & (net->turns - 1), planes = p->planes;
    const uint32_t now = (uint32_t)p->now;
    dvsim_wire *wire = NULL;
    dvsim_travel *ring = NULL;
    uint64_t mask = 0;
    uint32_t to_first = 0, replications = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint32_t number = first + (uint32_t)left[i].replication;
        const uint32_t plane = planes == 1 ? 0 : number / switches, box = number - plane * switches;
        const dvsim_peer peer = peers[box];
        uint64_t word = (left[i].word + came_out) | DVSIM_PRESENT;
        if (!to_ports) {
            const uint32_t to = (uint32_t)(word >> net->port_shift & net->port_mask);
            const uint64_t place = c->place + (uint64_t)box * nodes;
            const uint32_t output =
                dvsim_network_output(p, c->next, peer.box, to, plane, place, c->way == DVSIM_DOWN);
            word = (word & ~addresses) | net->address_of[output];
        }
        const uint32_t goes_to = plane * c->switches + peer.box;
        if (goes_to - to_first >= replications) { /* another stage than the one before */
            const dvsim_stage *next = &c->stages[goes_to >> c->bits];
            wire = &next->wires[c->way][turn];
            to_first = (uint32_t)next->first;
            replications = (uint32_t)next->replications;
            while (wire->put - wire->taken + count - i > wire->room) {
                if (!dvsim_network_widen(p, wire)) {
                    return;
                }
            }
            ring = wire->ring;
            mask = (uint64_t)wire->room - 1;
        }
        ring[(uint64_t)wire->put++ & mask] = (dvsim_travel){word, peer.row * replications + goes_to - to_first, now};
    }
}

/* What left switches of a stage; those that left by the same node often follow each other. */
static void take(void *context, const dvsim_left *left, int64_t count)
{
    const origin *from = context;
    const int64_t levels = from->part->network->params.levels;
    for (int64_t same; count > 0; left += same, count -= same) {
        const course c = course_of(from, left->node);
        for (same = 1; same < count && left[same].node == left->node; same++) {
        }
        if (c.next == levels) {
            pass_on(from, &c, 1, left, same);
        } else {
            pass_on(from, &c, 0, left, same);
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

static void deliver(dvsim_part *p, dvsim_stage *ports)
{
    const dvsim_network *net = p->network;
    int64_t *delivered_at = p->delivered_at + ports->first;
    for (int64_t k = 0; k < p->fresh_count; k++) {
        if (k + DVSIM_AHEAD < p->fresh_count) {
            __builtin_prefetch(&ports->offers[p->fresh[k + DVSIM_AHEAD]], 1);
            __builtin_prefetch(&delivered_at[p->fresh[k + DVSIM_AHEAD]], 1);
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
        delivered_at[p->fresh[k]]++;
        ports->offers[p->fresh[k]] = 0;
    }
    ports->held[DVSIM_DOWN] -= p->fresh_count;
    p->delivered += p->fresh_count;
    p->fresh_count = 0;
}

static void enter(dvsim_part *p, dvsim_stage *stage, int64_t level)
{
    const dvsim_network *net = p->network;
    const uint64_t stamp = (0 - (uint64_t)p->now) << net->hops_shift;
    p->failed |= dvsim_vortex_enter(stage->vortex, stage->offers, stamp, p->entered) != DVSIM_OK;
    for (uint32_t row = 0; row < net->rows; row++) {
        const int way = level == net->top ? DVSIM_UP : net->way_of[row];
        if (level > 0 || way == DVSIM_DOWN) { /* not from the ports */
            stage->held[way] -= p->entered[row];
        }
    }
}

static void leave(dvsim_part *p, dvsim_stage *stage, int64_t level)
{
    origin from = {p, stage, level};
    p->failed |= dvsim_vortex_advance(stage->vortex, take, &from) != DVSIM_OK;
}

/* The switches of a stage in one slot. */
static void pass(dvsim_part *p, dvsim_stage *stage, int64_t level)
{
    const int offers = level == 0 && p->network->params.injection != DVSIM_INJECT_GIVEN;
    dvsim_network_arrive(p, stage);
    if (offers) {
        dvsim_network_offer(p, stage);
    }
    if (p->network->params.link_slots > 0) {
        leave(p, stage, level);
    }
    enter(p, stage, level);
    if (offers) {
        dvsim_network_offered(p, stage);
    }
}

/* So many slots from `now` on, at most `turns`; with `given` it is one. What arrives in them has left before, or
 * leaves at once where links take no time. */
static void turn(dvsim_part *p, int64_t now, int64_t slots)
{
    const dvsim_network *net = p->network;
    const int64_t levels = net->params.levels;
    const int given = net->params.injection == DVSIM_INJECT_GIVEN;
    p->now = now;
    for (int64_t l = 0; l < levels && net->params.link_slots == 0; l++) {
        for (int64_t i = p->first_stage[l]; i < p->first_stage[l + 1]; i++) {
            leave(p, &p->stages[i], l);
        }
    }
    for (int64_t i = p->first_stage[levels]; i < p->first_stage[levels + 1]; i++) {
        for (p->now = now; p->now < now + slots; p->now++) {
            dvsim_network_arrive(p, &p->stages[i]);
            deliver(p, &p->stages[i]);
        }
    }
    p->now = now;
    if (given) {
        dvsim_network_offer_given(p);
    }
    for (int64_t l = 0; l < levels; l++) {
        for (int64_t i = p->first_stage[l]; i < p->first_stage[l + 1]; i++) {
            for (p->now = now; p->now < now + slots && !p->failed; p->now++) {
                pass(p, &p->stages[i], l);
            }
        }
    }
    p->now = now;
    if (given) {
        dvsim_network_offered_given(p);
    }
    p->now = now + slots;
}

void dvsim_network_slots(dvsim_part *p, int64_t slots)
{
    const dvsim_network *net = p->network;
    const int given = net->params.injection == DVSIM_INJECT_GIVEN;
    const int64_t end = p->now + slots;
    while (p->now < end && !p->failed) {
        if (given && p->words_left == 0) {
            for (int64_t i = 0; i < p->first_stage[net->params.levels]; i++) {
                dvsim_vortex_skip(p->stages[i].vortex, end - p->now);
            }
            p->now = end;
            return;
        }
        const int64_t left = end - p->now, some = given ? 1 : net->turns;
        turn(p, p->now, some < left ? some : left);
    }
}
