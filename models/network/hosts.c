/* hosts.c: what the ports offer to their leaves. Hosts are counted in the order of the leaves' inputs. */
#include "network/internal.h"

typedef struct {
    int64_t host, plane;
    uint32_t box;
    uint64_t port;
} spot;

static uint64_t packet(const dvsim_part *p, const spot *s, uint64_t to, int64_t birth)
{
    return dvsim_network_packet(p, s->box, (uint32_t)to, (uint64_t)birth, s->plane, s->port);
}

static int arrives(const dvsim_part *p, const spot *s, int64_t slot, uint64_t *to)
{
    return dvsim_traffic_arrival(&p->traffic[s->plane], p->seeds[s->plane], s->port, slot, to);
}

static void offer_drop(dvsim_part *p, const spot *s, uint64_t *offer)
{
    uint64_t to;
    if (!arrives(p, s, p->now, &to)) {
        return;
    }
    p->offered[s->host]++;
    p->accepted[s->host]++; /* taken back if it finds no room */
    *offer = packet(p, s, to, p->now);
}

static void offer_queue(dvsim_part *p, const spot *s, uint64_t *offer)
{
    uint64_t to;
    if (arrives(p, s, p->now, &to)) {
        p->offered[s->host]++;
        if (p->waiting[s->host]++ == 0) {
            p->head[s->host] = p->now;
        }
    }
    if (*offer == 0 && p->waiting[s->host] > 0) {
        (void)arrives(p, s, p->head[s->host], &to);
        *offer = packet(p, s, to, p->head[s->host]);
    }
}

/* A packet that always waits is as old as the slot in which it enters, as in a switch. */
static void offer_saturate(dvsim_part *p, const spot *s, uint64_t *offer)
{
    const dvsim_network *net = p->network;
    p->offered[s->host]++;
    if (*offer == 0) {
        uint64_t to;
        (void)arrives(p, s, p->now, &to);
        *offer = packet(p, s, to, p->now);
    } else {
        *offer = (*offer & ~(net->birth_mask << net->birth_shift)) |
                 ((uint64_t)p->now & net->birth_mask) << net->birth_shift;
    }
}

static void entered_queue(dvsim_part *p, const spot *s, uint64_t offer)
{
    if (offer != 0 || p->waiting[s->host] == 0) {
        return;
    }
    p->accepted[s->host]++;
    if (--p->waiting[s->host] > 0) {
        p->head[s->host] =
            dvsim_traffic_next(&p->traffic[s->plane], p->seeds[s->plane], s->port, p->head[s->host], p->now);
    }
}

/* Plain Bernoulli arrivals that are dropped when refused, the inputs `q` of some leaves of a plane that follow each
 * other: as offer_drop, without a branch on data. */
static void offer_plain(dvsim_part *p, const spot *first, int64_t count, uint32_t q, uint64_t *offers)
{
    const dvsim_network *net = p->network;
    const uint64_t ports = (uint64_t)net->params.ports, threshold = net->params.traffic.arrival_threshold;
    const uint64_t arrival_key = p->arrival_keys[first->plane], route_key = p->route_keys[first->plane];
    const uint64_t birth = DVSIM_PRESENT | ((uint64_t)p->now & net->birth_mask) << net->birth_shift;
    const uint32_t up = net->half, down = net->down;
    int64_t *offered = p->offered + first->host, *accepted = p->accepted + first->host;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t below = (first->box + (uint64_t)i) * down, port = below + q;
        const uint64_t x = dvsim_draw(arrival_key, (uint64_t)p->now * ports + port);
        const uint64_t arrives = (x >> 32) < threshold, to = ((x & UINT32_MAX) * ports) >> 32;
        uint64_t out = to - below; /* wraps if it is elsewhere */
        if (net->top > 0) {
            const uint64_t y = dvsim_draw(route_key, (uint64_t)p->now * net->places + port);
            const uint64_t high = up + (((y & UINT32_MAX) * up) >> 32);
            out = out < down ? out : high;
        }
        offers[i] = (birth | net->address_of[out] | to << net->port_shift) & -arrives;
        offered[i] += (int64_t)arrives;
        accepted[i] += (int64_t)arrives;
    }
}

static int is_plain(const dvsim_network *net)
{
    const dvsim_traffic *t = &net->params.traffic;
    return net->params.injection == DVSIM_INJECT_DROP && t->trace_start == NULL && t->burst_slots == 0 &&
           t->destination == NULL && t->hots == 0;
}

static void offer(dvsim_part *p, const spot *s, uint64_t *offer)
{
    if (p->network->params.injection == DVSIM_INJECT_DROP) {
        offer_drop(p, s, offer);
    } else if (p->network->params.injection == DVSIM_INJECT_QUEUE) {
        offer_queue(p, s, offer);
    } else {
        offer_saturate(p, s, offer);
    }
}

/* The inputs q of the leaves of a stage from the r-th one on that are of one plane; returns how many. */
static int64_t of_plane(const dvsim_part *p, const dvsim_stage *leaves, uint32_t q, int64_t r, spot *first)
{
    const dvsim_network *net = p->network;
    const int64_t boxes = net->levels[0].switches, number = leaves->first + r, rest = leaves->replications - r;
    const int64_t plane = number / boxes, box = number % boxes;
    *first = (spot){
        .host = leaves->first * net->down + q * leaves->replications + r,
        .plane = plane,
        .box = (uint32_t)box,
        .port = (uint64_t)box * net->down + q,
    };
    return boxes - box < rest ? boxes - box : rest;
}

void dvsim_network_offer(dvsim_part *p, const dvsim_stage *leaves)
{
    const dvsim_network *net = p->network;
    const int plain = is_plain(net);
    for (uint32_t q = 0; q < net->down; q++) {
        uint64_t *offers = &leaves->offers[net->row_of[q] * leaves->replications];
        spot s;
        for (int64_t r = 0, some; r < leaves->replications; r += some) {
            some = of_plane(p, leaves, q, r, &s);
            if (plain) {
                offer_plain(p, &s, some, q, offers + r);
                continue;
            }
            for (int64_t i = 0; i < some; i++, s.host++, s.box++, s.port += net->down) {
                offer(p, &s, &offers[r + i]);
            }
        }
    }
}

/* What is refused is gone. */
static void drop(int64_t *accepted, uint64_t *offers, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        accepted[i] -= offers[i] != 0;
        offers[i] = 0;
    }
}

void dvsim_network_offered(dvsim_part *p, const dvsim_stage *leaves)
{
    const dvsim_network *net = p->network;
    for (uint32_t q = 0; q < net->down; q++) {
        uint64_t *offers = &leaves->offers[net->row_of[q] * leaves->replications];
        int64_t *accepted = p->accepted + leaves->first * net->down + q * leaves->replications;
        if (net->params.injection == DVSIM_INJECT_DROP) {
            drop(accepted, offers, leaves->replications);
            continue;
        }
        spot s;
        for (int64_t r = 0, some; r < leaves->replications; r += some) {
            some = of_plane(p, leaves, q, r, &s);
            for (int64_t i = 0; i < some; i++, s.host++, s.box++, s.port += net->down) {
                if (net->params.injection == DVSIM_INJECT_SATURATE) {
                    p->accepted[s.host] += offers[r + i] == 0;
                } else {
                    entered_queue(p, &s, offers[r + i]);
                }
            }
        }
    }
}
