/* dead_cables_test.c: do packets go around cables between switches that are dead, and only where there is a way? */
#include <string.h>

#include "check.h"
#include "engine/random.h"
#include "network/internal.h"

typedef struct {
    int64_t levels, ports;
} shape;
static const shape shapes[] = {{2, 8}, {2, 4}, {3, 16}, {3, 8}};
enum { HALF = 2, PLANES = 3, MOST_SWITCHES = 8 };

static int dead[PLANES][3][MOST_SWITCHES][HALF];
static uint64_t state;

static int64_t below(int64_t choices)
{
    return (int64_t)(dvsim_next(&state) % (uint64_t)choices);
}

static dvsim_network *made(const shape *s)
{
    const dvsim_network_params params = {.height = 4, .angles = 3, .exit_rule = DVSIM_EXIT_ANY, .levels = s->levels,
                                         .ports = s->ports, .planes = PLANES, .link_slots = 1, .seed = 5,
                                         .injection = DVSIM_INJECT_GIVEN};
    return dvsim_network_create(&params, 1);
}

static int64_t power(int64_t exponent)
{
    return INT64_C(1) << exponent; /* of D = 2 */
}

/* By the words of network.h: is there a way from switch (group, i) of a level up to one that has `to` below, and from
 * there down by living cables? */
static int is_way(const shape *s, int64_t plane, int64_t level, int64_t group, int64_t i, int64_t to)
{
    const int64_t top = s->levels - 1, groups = s->ports / power(top), parallel = 2 * HALF / groups;
    if (level < top && to / power(level + 1) != group) {
        for (int64_t up = 0; up < HALF; up++) {
            const int64_t m = i * HALF + up;
            const int64_t above = level + 1 == top ? m / parallel : m, g = level + 1 == top ? 0 : group / HALF;
            if (!dead[plane][level][group * power(level) + i][up] && is_way(s, plane, level + 1, g, above, to)) {
                return 1;
            }
        }
        return 0;
    }
    if (level == 0) {
        return 1;
    }
    const int64_t child = to / power(level), links = level == top ? parallel : 1;
    for (int64_t link = 0; link < links; link++) {
        const int64_t m = level == top ? i * parallel + link : i;
        if (!dead[plane][level - 1][child * power(level - 1) + m / HALF][m % HALF] &&
            is_way(s, plane, level - 1, child, m / HALF, to)) {
            return 1;
        }
    }
    return 0;
}

static void kill(dvsim_network *net, const dvsim_dead_link *link)
{
    CHECK(dvsim_network_break(net, link) == DVSIM_OK);
    dead[link->plane][link->level][link->box][link->up] = 1;
}

/* No packet is on a dead cable, up or down, of those towards a stage. */
static void no_dead_cable_in(const dvsim_part *p, const dvsim_stage *stage, int64_t l, int64_t way, int64_t turn)
{
    const dvsim_network *net = p->network;
    const dvsim_wire *wire = stage->wires[way] != NULL ? &stage->wires[way][turn] : &(dvsim_wire){0};
    const uint32_t switches = net->levels[l].switches;
    for (int64_t k = wire->taken; k < wire->put; k++) {
        const uint32_t at = wire->ring[k & (wire->room - 1)].at;
        const uint32_t row = at / (uint32_t)stage->replications;
        const uint32_t r = (uint32_t)stage->first + at % (uint32_t)stage->replications, box = r % switches;
        const uint32_t port = net->port_of[row];
        const dvsim_peer other = net->levels[l].peers[port * switches + box];
        const int64_t plane = p->first + r / switches;
        const int died = way == DVSIM_UP ? dead[plane][l - 1][other.box][net->port_of[other.row] - HALF]
                                         : dead[plane][l][box][port - HALF];
        CHECK(!died);
    }
}

static void no_dead_cable_carries(const dvsim_network *net)
{
    for (int64_t i = 0; i < net->part_count; i++) {
        const dvsim_part *p = &net->parts[i];
        for (int64_t l = 0; l < net->params.levels; l++) {
            for (int64_t s = p->first_stage[l]; s < p->first_stage[l + 1]; s++) {
                for (int64_t k = 0; k < 2 * net->turns; k++) {
                    no_dead_cable_in(p, &p->stages[s], l, k % 2, k / 2);
                }
            }
        }
    }
}

static void run_all(dvsim_network *net, int64_t sent)
{
    int64_t completed = 0;
    for (int64_t slot = 0; slot < 5000 && completed < sent; slot++) {
        const dvsim_completion *done;
        CHECK(dvsim_network_run_until(net, 1) == 1);
        completed += dvsim_network_completions(net, &done);
        no_dead_cable_carries(net);
    }
    CHECK(completed == sent);
}

static void packets_go_around_what_is_dead(void)
{
    int64_t unreachable = 0;
    for (int64_t try = 0; try < 200; try++) {
        const shape *s = &shapes[try % 4];
        dvsim_network *net = made(s);
        memset(dead, 0, sizeof dead);
        for (int64_t one = below(3 * MOST_SWITCHES) + 1; one > 0; one--) {
            const int64_t level = below(s->levels - 1);
            kill(net, &(dvsim_dead_link){level, below(net->levels[level].switches), below(HALF), below(PLANES)});
        }
        int64_t sent = 0;
        for (int64_t pair = 0; pair < s->ports * s->ports; pair++) {
            const int64_t from = pair / s->ports, to = pair % s->ports;
            int64_t ways = 0;
            for (int64_t plane = 0; plane < PLANES; plane++) {
                ways += is_way(s, plane, 0, from / HALF, 0, to);
            }
            CHECK(dvsim_network_ways(net, from, to) == ways);
            const int code = dvsim_network_send(net, from, to, 1 + below(20), pair);
            CHECK(code == (ways > 0 ? DVSIM_OK : DVSIM_EINVAL));
            sent += ways > 0;
            unreachable += ways == 0;
        }
        run_all(net, sent);
        dvsim_network_free(net);
    }
    CHECK(unreachable > 0);
}

/* What is left is taken evenly, and one link takes one word a slot. */
static void what_is_left_bears_the_load(void)
{
    memset(dead, 0, sizeof dead);
    dvsim_network *net = made(&shapes[0]);
    int64_t slots[2];
    for (int k = 0; k < 2; k++) {
        for (int64_t plane = 0; k == 1 && plane < PLANES; plane++) {
            kill(net, &(dvsim_dead_link){0, 0, 1, plane});
        }
        const int64_t begin = dvsim_network_slots_now(net);
        for (int64_t from = 0; from < HALF; from++) { /* both ports of the leaf */
            CHECK(dvsim_network_send(net, from, 6 + from, 3000, from) == DVSIM_OK);
        }
        run_all(net, 2);
        slots[k] = dvsim_network_slots_now(net) - begin;
    }
    CHECK(slots[1] > 1990 && slots[1] < 2050 && slots[0] < 1400);
    dvsim_network_free(net);
}

static void what_is_no_cable_is_refused(void)
{
    dvsim_network *net = made(&shapes[0]);
    const dvsim_dead_link wrong[] = {{1, 0, 0, 0}, {-1, 0, 0, 0}, {0, 4, 0, 0}, {0, -1, 0, 0},
                                     {0, 0, 2, 0}, {0, 0, -1, 0}, {0, 0, 0, 3}, {0, 0, 0, -1}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        CHECK(dvsim_network_break(net, &wrong[k]) == DVSIM_EINVAL);
    }
    CHECK(dvsim_network_break(NULL, &wrong[0]) == DVSIM_EINVAL);
    CHECK(dvsim_network_ways(net, 0, 7) == PLANES);
    int64_t noted[1];
    CHECK(dvsim_network_break(net, &(dvsim_dead_link){0, 0, 0, 0}) == DVSIM_OK);
    CHECK(dvsim_network_send_noted(net, 0, 7, 1, 0, noted) == DVSIM_ESTATE);
    dvsim_network_free(net);
    dvsim_network_params drop = {.height = 4, .angles = 3, .exit_rule = DVSIM_EXIT_ANY, .levels = 2, .ports = 8,
                                 .planes = 1, .seed = 1, .injection = DVSIM_INJECT_DROP};
    net = dvsim_network_create(&drop, 1);
    CHECK(dvsim_network_break(net, &(dvsim_dead_link){0, 0, 0, 0}) == DVSIM_ESTATE);
    dvsim_network_free(net);
}

int main(void)
{
    packets_go_around_what_is_dead();
    what_is_left_bears_the_load();
    what_is_no_cable_is_refused();
    puts("checks passed");
    return 0;
}
