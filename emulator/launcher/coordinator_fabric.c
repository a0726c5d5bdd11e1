/* Cards and network, slot by slot. In a slot a port takes at most one packet for each plane; what comes out
 * in it is in the card at its end. */
#include <stdlib.h>
#include <string.h>

#include "coordinator.h"
#include "engine/random.h"

enum { REORDER_SLOTS = 64 }; /* by which --reorder delays a packet at most */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static uint64_t draw(struct coordinator *all, uint64_t seed)
{
    return mix(mix(seed + DVSIM_DRAW_STEP) + all->draws++ * DVSIM_DRAW_STEP);
}

bool fabric_chance(struct coordinator *all, double probability)
{
    return probability > 0 && (double)(draw(all, all->job->config.seed) >> 11) * 0x1p-53 < probability;
}

/* The network that `dvsim` takes for so many nodes: one level up to 64 ports, else levels of switches
 * with 64. */
static dvsim_network *make_network(const struct coordinator *all)
{
    const struct job_model *m = &all->job->config.model;
    int64_t ports = 2;
    while (ports < all->cards) {
        ports *= 2;
    }
    dvsim_network_params params = {
        .height = ports < 64 ? ports : 64,
        .angles = m->angles,
        .exit_rule = DVSIM_EXIT_ANY,
        .levels = ports <= 64 ? 1 : ports <= 2048 ? 2 : 3,
        .ports = ports,
        .planes = m->planes,
        .link_slots = all->link_slots,
        .injection = DVSIM_INJECT_GIVEN,
        .seed = all->job->config.seed,
    };
    return dvsim_network_create(&params, 1);
}

/* What a word takes from each card to the next, the longest of them, when nothing else moves. */
static int64_t probe(const struct coordinator *all)
{
    dvsim_network *network = make_network(all);
    const dvsim_completion *done;
    int64_t longest = 0;
    for (uint32_t i = 0; network != NULL && i < all->cards && i < 64; i++) {
        dvsim_network_send(network, i, (i + 1) % all->cards, 1, 0);
        int64_t slots = dvsim_network_run_until(network, 1 << 20);
        longest = dvsim_network_completions(network, &done) > 0 && slots > longest ? slots : longest;
    }
    dvsim_network_free(network);
    return longest * all->slot_ps;
}

static dvsim_vic *make_vic(struct coordinator *all, uint32_t card)
{
    const struct job_config *c = &all->job->config;
    dvsim_vic_params params = {
        .number = card,
        .cards = c->cards,
        .sram = (uint64_t *)(void *)job_sram(all->job, card),
        .sram_words = c->sram_words,
        .counters = job_counters(c),
        .fifo_words = c->fifo_words,
        .send_words = c->model.send_words,
        .engine_slow = c->dma_slow,
        .pcie = all->pcie,
        .tell = news_tell,
        .context = &all->side[card],
    };
    return dvsim_vic_create(&params);
}

bool fabric_make(struct coordinator *all)
{
    all->slot_ps = model_slot_ps(&all->job->config);
    all->link_slots = (all->job->config.model.link_ps + all->slot_ps - 1) / all->slot_ps;
    all->network = make_network(all);
    all->free_flight = -1;
    all->landed_from = calloc(all->cards + 1, sizeof *all->landed_from);
    bool made = all->network != NULL && all->landed_from != NULL;
    for (uint32_t i = 0; i < all->cards && made; i++) {
        all->side[i].vic = make_vic(all, i);
        made = all->side[i].vic != NULL;
    }
    all->hop_ps = made && all->cards > 1 ? probe(all) + 2 * all->pcie.crossing_ps : 0;
    return made;
}

static int has_place(void *context, uint32_t card)
{
    const struct coordinator *all = context;
    return dvsim_vic_has_place(all->side[card].vic);
}

int64_t fabric_next_ps(struct coordinator *all)
{
    if (all->in_flight > 0) {
        return all->next_slot * all->slot_ps;
    }
    int64_t due = NEVER;
    for (uint32_t i = 0; i < all->cards && due > all->last_ps; i++) {
        dvsim_vic *vic = all->side[i].vic;
        int64_t moves = dvsim_vic_due_ps(vic);
        due = moves < due ? moves : due;
        if (dvsim_vic_waits(vic) && dvsim_vic_offer(vic, has_place, all) != NULL) {
            due = all->last_ps;
        }
    }
    if (due == NEVER) {
        return NEVER;
    }
    int64_t slot = (due + all->slot_ps - 1) / all->slot_ps;
    return (slot > all->next_slot ? slot : all->next_slot) * all->slot_ps;
}

static int64_t new_flight(struct coordinator *all)
{
    if (all->free_flight < 0) {
        int64_t before = all->flights_room, room = before ? 2 * before : 1024;
        struct flight *longer = realloc(all->flights, (size_t)room * sizeof *longer);
        if (longer == NULL) {
            return -1;
        }
        for (int64_t i = before; i < room; i++) {
            longer[i].next_free = i + 1 < room ? i + 1 : -1;
        }
        all->flights = longer;
        all->flights_room = room;
        all->free_flight = before;
    }
    int64_t flight = all->free_flight;
    all->free_flight = all->flights[flight].next_free;
    return flight;
}

/* A call of the network. */
static bool good(struct coordinator *all, int status)
{
    all->failed |= status != DVSIM_OK;
    all->refused = status != DVSIM_OK && status != DVSIM_ENOMEM ? status : all->refused;
    return status == DVSIM_OK;
}

static bool send_one(struct side *side, int64_t now_ps)
{
    struct coordinator *all = side->all;
    const dvsim_vic_packet *offered = dvsim_vic_offer(side->vic, has_place, all);
    int64_t flight = offered != NULL ? new_flight(all) : -1;
    if (flight < 0) {
        all->failed |= offered != NULL;
        return false;
    }
    const dvsim_vic_packet packet = *offered;
    uint32_t to = dvsim_header_dest(packet.header);
    all->flights[flight] = (struct flight){packet, side->number, -1};
    if (!good(all, dvsim_network_send(all->network, side->number, to, 1, flight))) {
        return false;
    }
    dvsim_vic_took(side->vic, now_ps);
    if (dvsim_header_op(packet.header) == DVSIM_OP_FIFO) {
        dvsim_vic_reserve(all->side[to].vic);
    }
    all->in_flight++;
    return true;
}

/* A port takes a packet for each plane, unless more words wait there than are on the link: the network
 * is busy. */
static void feed(struct side *side, int64_t now_ps)
{
    struct coordinator *all = side->all;
    const int64_t planes = all->job->config.model.planes;
    int64_t room = 0;
    if (dvsim_vic_waits(side->vic)) {
        room = planes * (1 + all->link_slots) - dvsim_network_waiting(all->network, side->number);
        room = room < planes ? room : planes;
    }
    while (room > 0 && send_one(side, now_ps)) {
        room--;
    }
}

/* By --reorder, each at a time of its own. */
static void land_late(struct coordinator *all, int64_t flight, int64_t at_ps)
{
    struct flight *landed = &all->flights[flight];
    struct event *event = malloc(sizeof *event);
    if (event == NULL) {
        all->failed = true;
        return;
    }
    at_ps += (int64_t)(draw(all, all->job->config.reorder_seed) % REORDER_SLOTS) * all->slot_ps;
    *event = (struct event){.order = ORDER_ARRIVAL, .card = landed->from, .packet = landed->packet};
    landed->next_free = all->free_flight;
    all->free_flight = flight;
    events_add(all, at_ps, event);
}

/* All of a slot have arrived before the next. */
static void line_up(struct coordinator *all, const dvsim_completion *done, int64_t count, int64_t at_ps)
{
    if (count > all->landed_room) {
        int64_t *longer = realloc(all->landed, 2 * (size_t)count * sizeof *longer);
        if (longer == NULL) {
            all->failed = true;
            return;
        }
        all->landed = longer;
        all->landed_room = 2 * count;
    }
    uint32_t *from = all->landed_from;
    memset(from, 0, (all->cards + 1) * sizeof *from);
    for (int64_t i = 0; i < count; i++) {
        from[all->flights[done[i].handle].from + 1]++;
    }
    for (uint32_t card = 1; card < all->cards; card++) {
        from[card] += from[card - 1];
    }
    for (int64_t i = 0; i < count; i++) {
        all->landed[from[all->flights[done[i].handle].from]++] = done[i].handle;
    }
    all->landed_ps = at_ps;
    all->landed_count = count;
    all->landed_done = 0;
}

void fabric_slot(struct coordinator *all, int64_t now_ps)
{
    int64_t slot = now_ps / all->slot_ps;
    const dvsim_completion *done;
    if (slot > all->next_slot) {
        good(all, dvsim_network_run(all->network, slot - all->next_slot));
    }
    uint32_t card = (uint32_t)((uint64_t)slot % all->cards);
    for (uint32_t i = 0; i < all->cards; i++) { /* who is first changes: places in FIFOs go to all alike */
        struct side *side = &all->side[card];
        dvsim_vic_move(side->vic, now_ps);
        feed(side, now_ps);
        card = card + 1 < all->cards ? card + 1 : 0;
    }
    good(all, dvsim_network_run(all->network, 1));
    all->next_slot = slot + 1;
    all->last_ps = now_ps;
    all->slots++;
    int64_t count = dvsim_network_completions(all->network, &done), at_ps = (slot + 1) * all->slot_ps;
    all->in_flight -= count;
    for (int64_t i = 0; i < count && all->job->config.reorder; i++) {
        land_late(all, done[i].handle, at_ps);
    }
    if (count > 0 && !all->job->config.reorder) {
        line_up(all, done, count, at_ps);
    }
}

int64_t fabric_landed_ps(const struct coordinator *all)
{
    return all->landed_done < all->landed_count ? all->landed_ps : NEVER;
}

void fabric_land(struct coordinator *all)
{
    const int64_t flight = all->landed[all->landed_done++];
    struct flight *landed = &all->flights[flight];
    all->last_ps = all->landed_ps;
    fabric_arrive(all, all->landed_ps, landed->from, &landed->packet);
    landed->next_free = all->free_flight;
    all->free_flight = flight;
}

static void check(struct coordinator *all, uint32_t card, uint32_t from, const dvsim_vic_packet *packet)
{
    uint32_t counter = dvsim_header_counter(packet->header);
    int64_t reads = dvsim_vic_counter(all->side[card].vic, counter);
    bool counts = dvsim_header_op(packet->header) <= DVSIM_OP_QUERY;
    if (counter >= FIRST_RESERVED || (counts && reads <= 0)) {
        check_report(all->job, card, counter, reads, from);
    }
}

/* In the trace of the card that sent it. */
static void record(struct coordinator *all, int64_t at_ps, uint32_t from, uint32_t to, const dvsim_vic_packet *packet)
{
    uint32_t counter = dvsim_header_counter(packet->header), room = all->job->config.trace_records;
    struct trace_head *trace = job_trace(all->job, from);
    int64_t given_ps = packet->given_ps - all->pcie.crossing_ps;
    struct trace_record what = {.at_ns = (uint64_t)at_ps / 1000, .kind = TRACE_PACKETS, .card = to,
                                .number = counter, .count = 1,
                                .value = dvsim_vic_counter(all->side[to].vic, counter)};
    what.for_ns = given_ps >= 0 ? what.at_ns - (uint64_t)given_ps / 1000 : UINT64_MAX;
    trace_add(trace, room, &what);
    if (dvsim_header_op(packet->header) == DVSIM_OP_FIFO) {
        what.kind = TRACE_FIFO;
        what.value = dvsim_vic_fifo_words(all->side[to].vic);
        trace_add(trace, room, &what);
    }
}

void fabric_arrive(struct coordinator *all, int64_t at_ps, uint32_t from, const dvsim_vic_packet *packet)
{
    uint32_t to = dvsim_header_dest(packet->header);
    struct side *side = &all->side[to];
    uint64_t parts[] = {(uint64_t)at_ps, (uint64_t)from << 32 | to, packet->header, packet->payload};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        all->hash = mix(all->hash ^ parts[i]) + DVSIM_DRAW_STEP;
    }
    all->deliveries++;
    if (all->check) {
        check(all, to, from, packet);
    }
    bool fifo = dvsim_header_op(packet->header) == DVSIM_OP_FIFO;
    bool lose = fifo && fabric_chance(all, all->job->config.fifo_drop);
    if (lose) {
        atomic_fetch_add(&all->job->card[to].stat[STAT_DROPPED], 1);
    }
    all->failed |= dvsim_vic_arrive(side->vic, at_ps, packet, lose) == DVSIM_ENOMEM;
    if (all->job->config.trace_records > 0) {
        record(all, at_ps, from, to, packet);
    }
}
