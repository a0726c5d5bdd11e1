/* dead_cables.c: cables between switches that are dead, and how packets go around them. */
#include <stdlib.h>

#include "network/internal.h"

static const uint64_t DETOUR = UINT64_C(0x6465746f7572);

/* Where up link `up` of a switch is in the list of a level. */
static size_t link_of(const dvsim_network *net, int64_t level, int64_t plane, uint32_t box, uint32_t up)
{
    const size_t switches = net->levels[level].switches;
    return ((size_t)plane * switches + box) * net->half + up;
}

static int is_dead(const dvsim_network *net, int64_t level, int64_t plane, uint32_t box, uint32_t up)
{
    const uint8_t *dead = net->levels[level].dead;
    return dead != NULL && dead[link_of(net, level, plane, box, up)];
}

static int leads_down(const dvsim_network *net, int64_t level, int64_t plane, uint32_t box, uint32_t to);

/* Down by one of the links to the group of `to` that are beside each other. */
static int link_leads_down(const dvsim_network *net, int64_t level, int64_t plane, uint32_t box, uint32_t to,
                           uint32_t link)
{
    const dvsim_level *at = &net->levels[level];
    const uint32_t child = to / at->child;
    const uint32_t port = level == net->top ? child * at->parallel + link : child % net->half;
    const dvsim_peer peer = at->peers[port * at->switches + box];
    return !is_dead(net, level - 1, plane, peer.box, net->port_of[peer.row] - net->half) &&
           leads_down(net, level - 1, plane, peer.box, to);
}

/* From a switch whose group has `to` below it. */
static int leads_down(const dvsim_network *net, int64_t level, int64_t plane, uint32_t box, uint32_t to)
{
    int leads = level == 0;
    for (uint32_t link = 0; level > 0 && link < net->levels[level].parallel && !leads; link++) {
        leads = link_leads_down(net, level, plane, box, to, link);
    }
    return leads;
}

static int leads(const dvsim_network *net, int64_t level, int64_t plane, uint32_t box, uint32_t to);

static int link_leads_up(const dvsim_network *net, int64_t level, int64_t plane, uint32_t box, uint32_t to,
                         uint32_t up)
{
    const dvsim_level *at = &net->levels[level];
    return !is_dead(net, level, plane, box, up) &&
           leads(net, level + 1, plane, at->peers[(net->half + up) * at->switches + box].box, to);
}

/* Whether a packet at a switch comes to `to`: it turns as soon as that is below, whatever is dead there. */
static int leads(const dvsim_network *net, int64_t level, int64_t plane, uint32_t box, uint32_t to)
{
    if (dvsim_network_below(&net->levels[level], box, to)) {
        return leads_down(net, level, plane, box, to);
    }
    uint32_t up = 0;
    while (up < net->half && !link_leads_up(net, level, plane, box, to, up)) {
        up++;
    }
    return up < net->half;
}

int dvsim_network_leads(const dvsim_network *net, int64_t plane, int64_t from, int64_t to)
{
    return leads(net, 0, plane, (uint32_t)from / net->down, (uint32_t)to);
}

uint32_t dvsim_network_detour(const dvsim_part *p, int64_t level, uint32_t box, uint32_t to, int64_t plane,
                              uint64_t place)
{
    const dvsim_network *net = p->network;
    const dvsim_level *at = &net->levels[level];
    const int down = dvsim_network_below(at, box, to);
    if (down && level < net->top) {
        return to / at->child % net->half;
    }
    const int64_t whole = p->first + plane;
    const uint32_t links = down ? at->parallel : net->half;
    const uint32_t first = down ? to / at->child * at->parallel : net->half;
    int (*const works)(const dvsim_network *, int64_t, int64_t, uint32_t, uint32_t, uint32_t) =
        down ? link_leads_down : link_leads_up;
    const uint32_t wanted = links == 1 ? 0 : (uint32_t)dvsim_network_rand(p, plane, place, links);
    if (works(net, level, whole, box, to, wanted)) {
        return first + wanted;
    }
    uint32_t alive = 0;
    for (uint32_t link = 0; link < links; link++) {
        alive += (uint32_t)works(net, level, whole, box, to, link);
    }
    /* alive is 0 when the last link died after the packet was sent: the packet takes the dead link it had drawn */
    const uint64_t index = (uint64_t)p->now * net->places + place;
    const uint64_t draw = dvsim_draw(dvsim_mix(p->route_keys[plane] ^ DETOUR), index) & UINT32_MAX;
    uint32_t number = (uint32_t)((draw * alive) >> 32), link = 0;
    for (; alive > 0; link++) {
        if (works(net, level, whole, box, to, link) && number-- == 0) {
            return first + link;
        }
    }
    return first + wanted;
}

int dvsim_network_break(dvsim_network *net, const dvsim_dead_link *link)
{
    if (net == NULL || link->level < 0 || link->level >= net->top || link->box < 0 ||
        link->box >= net->levels[link->level].switches || link->up < 0 || link->up >= net->half || link->plane < 0 ||
        link->plane >= net->params.planes) {
        return DVSIM_EINVAL;
    }
    if (net->params.injection != DVSIM_INJECT_GIVEN) {
        return DVSIM_ESTATE;
    }
    dvsim_level *level = &net->levels[link->level];
    if (level->dead == NULL) {
        level->dead = calloc((size_t)net->params.planes * level->switches, net->half);
    }
    if (level->dead == NULL) {
        return DVSIM_ENOMEM;
    }
    level->dead[link_of(net, link->level, link->plane, (uint32_t)link->box, (uint32_t)link->up)] = 1;
    net->broken = 1;
    return DVSIM_OK;
}
