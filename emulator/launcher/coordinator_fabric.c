/* Cards and network, slot by slot. A port takes at most one packet for each plane in a slot. A packet that leaves the
 * network in a slot arrives in the card at the end of the slot. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "coordinator.h"
#include "engine/random.h"
#include "grow.h"

enum { REORDER_SLOTS = 64 }; /* by which --reorder delays a packet at most */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static uint64_t draw(struct coordinator *coord, uint64_t seed)
{
    return mix(mix(seed + DVSIM_DRAW_STEP) + coord->draws++ * DVSIM_DRAW_STEP);
}

bool fabric_chance(struct coordinator *coord, double probability)
{
    return probability > 0 && (double)(draw(coord, coord->job->config.seed) >> 11) * 0x1p-53 < probability;
}

/* The network that `dvsim` builds for so many nodes: one level up to 64 ports, otherwise levels of switches with 64. */
static dvsim_network *make_network(const struct coordinator *coord)
{
    const struct job_model *m = &coord->job->config.model;
    int64_t ports = 2;
    while (ports < coord->cards) {
        ports *= 2;
    }
    dvsim_network_params params = {
        .height = ports < 64 ? ports : 64,
        .angles = m->angles,
        .exit_rule = DVSIM_EXIT_ANY,
        .levels = ports <= 64 ? 1 : ports <= 2048 ? 2 : 3,
        .ports = ports,
        .planes = m->planes,
        .link_slots = coord->link_slots,
        .injection = DVSIM_INJECT_GIVEN,
        .seed = coord->job->config.seed,
    };
    return dvsim_network_create(&params, 1);
}

/* The longest of the times that a word takes from one card to another when nothing else moves. */
static int64_t probe(const struct coordinator *coord)
{
    dvsim_network *network = make_network(coord);
    const dvsim_completion *done;
    int64_t longest = 0;
    for (uint32_t i = 0; network != NULL && i < coord->cards && i < 64; i++) {
        dvsim_network_send(network, i, (i + 1) % coord->cards, 1, 0);
        int64_t slots = dvsim_network_run_until(network, 1 << 20);
        longest = dvsim_network_completions(network, &done) > 0 && slots > longest ? slots : longest;
    }
    dvsim_network_free(network);
    return longest * coord->slot_ps;
}

/* The cards' SRAM is memory of this process, not of the job: nobody but the coordinator reads or writes it, and the system
 * gives a page of its own in less time than a shared one; a first word in each page is what many packets bring. */
static bool make_memory(struct coordinator *coord)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *made = mmap(NULL, sram_bytes(coord), PROT_READ | PROT_WRITE, flags, -1, 0);
    coord->sram = made != MAP_FAILED ? made : NULL;
    return coord->sram != NULL &&
           madvise(made, sram_bytes(coord), MADV_DONTFORK) == 0; /* so that programs that start share no page, and copy none */
}

static dvsim_vic *make_vic(struct coordinator *coord, uint32_t card)
{
    const struct job_config *c = &coord->job->config;
    dvsim_vic_params params = {
        .number = card,
        .cards = c->cards,
        .sram = sram_of(coord, card),
        .sram_words = c->sram_words,
        .counters = job_counters(c),
        .fifo_words = c->fifo_words,
        .send_words = c->model.send_words,
        .engine_slow = c->dma_slow,
        .pcie = coord->pcie,
        .observe = news_observe,
        .context = &coord->side[card],
    };
    return dvsim_vic_create(&params);
}

bool fabric_make(struct coordinator *coord)
{
    coord->slot_ps = model_slot_ps(&coord->job->config);
    coord->link_slots = (coord->job->config.model.link_ps + coord->slot_ps - 1) / coord->slot_ps;
    coord->network = make_network(coord);
    coord->free_flight = -1;
    coord->landed_from = calloc(coord->cards + 1, sizeof *coord->landed_from);
    bool made = coord->network != NULL && coord->landed_from != NULL && make_memory(coord);
    for (uint32_t i = 0; i < coord->cards && made; i++) {
        coord->side[i].vic = make_vic(coord, i);
        made = coord->side[i].vic != NULL;
    }
    coord->hop_ps = made && coord->cards > 1 ? probe(coord) + 2 * coord->pcie.crossing_ps : 0;
    return made;
}

static int has_place(void *context, uint32_t card)
{
    const struct coordinator *coord = context;
    return dvsim_vic_has_place(coord->side[card].vic);
}

int64_t fabric_next_ps(struct coordinator *coord)
{
    if (coord->in_flight > 0) {
        return coord->next_slot * coord->slot_ps;
    }
    int64_t due = NEVER;
    for (uint32_t i = 0; i < coord->cards && due > coord->last_ps; i++) {
        dvsim_vic *vic = coord->side[i].vic;
        int64_t moves = dvsim_vic_due_ps(vic);
        due = moves < due ? moves : due;
        if (dvsim_vic_waits(vic) && dvsim_vic_offer(vic, has_place, coord) != NULL) {
            due = coord->last_ps;
        }
    }
    if (due == NEVER) {
        return NEVER;
    }
    int64_t slot = (due + coord->slot_ps - 1) / coord->slot_ps;
    return (slot > coord->next_slot ? slot : coord->next_slot) * coord->slot_ps;
}

static int64_t new_flight(struct coordinator *coord)
{
    if (coord->free_flight < 0) {
        int64_t before = (int64_t)coord->flights_capacity;
        if (!grow(&coord->flights, &coord->flights_capacity, coord->flights_capacity + 1, sizeof *coord->flights)) {
            return -1;
        }
        int64_t capacity = (int64_t)coord->flights_capacity;
        for (int64_t i = before; i < capacity; i++) {
            coord->flights[i].next_free = i + 1 < capacity ? i + 1 : -1;
        }
        coord->free_flight = before;
    }
    int64_t flight = coord->free_flight;
    coord->free_flight = coord->flights[flight].next_free;
    return flight;
}

/* Note the status of a call of the network. Returns whether it is DVSIM_OK. */
static bool good(struct coordinator *coord, int status)
{
    coord->failed |= status != DVSIM_OK;
    coord->refused = status != DVSIM_OK && status != DVSIM_ENOMEM ? status : coord->refused;
    return status == DVSIM_OK;
}

static bool send_one(struct side *side, int64_t now_ps)
{
    struct coordinator *coord = side->coord;
    const dvsim_vic_packet *offered = dvsim_vic_offer(side->vic, has_place, coord);
    int64_t flight = offered != NULL ? new_flight(coord) : -1;
    if (flight < 0) {
        coord->failed |= offered != NULL;
        return false;
    }
    const dvsim_vic_packet packet = *offered;
    uint32_t to = dvsim_header_dest(packet.header);
    coord->flights[flight] = (struct flight){packet, side->number, -1};
    if (!good(coord, dvsim_network_send(coord->network, side->number, to, 1, flight))) {
        return false;
    }
    dvsim_vic_took(side->vic, now_ps);
    if (dvsim_header_op(packet.header) == DVSIM_OP_FIFO) {
        dvsim_vic_reserve(coord->side[to].vic);
    }
    coord->in_flight++;
    return true;
}

/* Give packets of a card to the network: one for each plane, fewer if the port already has as many waiting as fit on
 * the link. */
static void feed(struct side *side, int64_t now_ps)
{
    struct coordinator *coord = side->coord;
    const int64_t planes = coord->job->config.model.planes;
    int64_t most = 0;
    if (dvsim_vic_waits(side->vic)) {
        most = planes * (1 + coord->link_slots) - dvsim_network_waiting(coord->network, side->number);
        most = most < planes ? most : planes;
    }
    while (most > 0 && send_one(side, now_ps)) {
        most--;
    }
}

/* Let a packet arrive up to REORDER_SLOTS slots later, for --reorder. */
static void land_late(struct coordinator *coord, int64_t flight, int64_t at_ps)
{
    struct flight *landed = &coord->flights[flight];
    struct event *event = malloc(sizeof *event);
    if (event == NULL) {
        coord->failed = true;
        return;
    }
    at_ps += (int64_t)(draw(coord, coord->job->config.reorder_seed) % REORDER_SLOTS) * coord->slot_ps;
    *event = (struct event){.order = ORDER_ARRIVAL, .card = landed->from, .packet = landed->packet};
    landed->next_free = coord->free_flight;
    coord->free_flight = flight;
    events_add(coord, at_ps, event);
}

/* Ask for the word that a packet writes, if it writes one: memory of all cards is more than any cache or table of pages holds. */
static void fetch(const struct coordinator *coord, uint64_t header)
{
    if (dvsim_header_op(header) == DVSIM_OP_WRITE) {
        __builtin_prefetch(&sram_of(coord, dvsim_header_dest(header))[dvsim_header_addr(header)], 1);
    }
}

/* Keep the packets that arrive at at_ps, in the order of the cards that sent them, for fabric_land. */
static void line_up(struct coordinator *coord, const dvsim_completion *done, int64_t count, int64_t at_ps)
{
    if (!grow(&coord->landed, &coord->landed_capacity, (size_t)count, sizeof *coord->landed)) {
        coord->failed = true;
        return;
    }
    uint32_t *from = coord->landed_from;
    memset(from, 0, (coord->cards + 1) * sizeof *from);
    for (int64_t i = 0; i < count; i++) {
        from[coord->flights[done[i].handle].from + 1]++;
    }
    for (uint32_t card = 1; card < coord->cards; card++) {
        from[card] += from[card - 1];
    }
    for (int64_t i = 0; i < count; i++) {
        const struct flight *landed = &coord->flights[done[i].handle];
        coord->landed[from[landed->from]++] = done[i].handle;
        fetch(coord, landed->packet.header);
    }
    coord->landed_ps = at_ps;
    coord->landed_count = count;
    coord->landed_done = 0;
}

void fabric_slot(struct coordinator *coord, int64_t now_ps)
{
    int64_t slot = now_ps / coord->slot_ps;
    const dvsim_completion *done;
    if (slot > coord->next_slot) {
        good(coord, dvsim_network_run(coord->network, slot - coord->next_slot));
    }
    uint32_t card = (uint32_t)((uint64_t)slot % coord->cards);
    for (uint32_t i = 0; i < coord->cards; i++) { /* the first card changes, so that all get room in FIFOs alike */
        struct side *side = &coord->side[card];
        dvsim_vic_move(side->vic, now_ps);
        feed(side, now_ps);
        card = card + 1 < coord->cards ? card + 1 : 0;
    }
    good(coord, dvsim_network_run(coord->network, 1));
    coord->next_slot = slot + 1;
    coord->last_ps = now_ps;
    coord->slots++;
    int64_t count = dvsim_network_completions(coord->network, &done), at_ps = (slot + 1) * coord->slot_ps;
    coord->in_flight -= count;
    for (int64_t i = 0; i < count && coord->job->config.reorder; i++) {
        land_late(coord, done[i].handle, at_ps);
    }
    if (count > 0 && !coord->job->config.reorder) {
        line_up(coord, done, count, at_ps);
    }
}

int64_t fabric_landed_ps(const struct coordinator *coord)
{
    return coord->landed_done < coord->landed_count ? coord->landed_ps : NEVER;
}

void fabric_land(struct coordinator *coord)
{
    const int64_t flight = coord->landed[coord->landed_done++];
    struct flight *landed = &coord->flights[flight];
    coord->last_ps = coord->landed_ps;
    fabric_arrive(coord, coord->landed_ps, landed->from, &landed->packet);
    landed->next_free = coord->free_flight;
    coord->free_flight = flight;
}

static void check(struct coordinator *coord, uint32_t card, uint32_t from, const dvsim_vic_packet *packet)
{
    uint32_t counter = dvsim_header_counter(packet->header);
    int64_t reads = dvsim_vic_counter(coord->side[card].vic, counter);
    bool counts = dvsim_header_op(packet->header) <= DVSIM_OP_QUERY;
    if (counter >= FIRST_RESERVED || (counts && reads <= 0)) {
        check_report(coord->job, card, counter, reads, from);
    }
}

/* Add an arrival to the trace of the card that sent the packet. */
static void record(struct coordinator *coord, int64_t at_ps, uint32_t from, uint32_t to, const dvsim_vic_packet *packet)
{
    uint32_t counter = dvsim_header_counter(packet->header), capacity = coord->job->config.trace_records;
    struct trace_head *trace = job_trace(coord->job, from);
    int64_t given_ps = packet->given_ps - coord->pcie.crossing_ps;
    struct trace_record what = {.at_ns = (uint64_t)at_ps / 1000, .kind = TRACE_PACKETS, .card = to,
                                .number = counter, .count = 1,
                                .value = dvsim_vic_counter(coord->side[to].vic, counter)};
    what.for_ns = given_ps >= 0 ? what.at_ns - (uint64_t)given_ps / 1000 : UINT64_MAX;
    trace_add(trace, capacity, &what);
    if (dvsim_header_op(packet->header) == DVSIM_OP_FIFO) {
        what.kind = TRACE_FIFO;
        what.value = dvsim_vic_fifo_words(coord->side[to].vic);
        trace_add(trace, capacity, &what);
    }
}

void fabric_arrive(struct coordinator *coord, int64_t at_ps, uint32_t from, const dvsim_vic_packet *packet)
{
    uint32_t to = dvsim_header_dest(packet->header);
    struct side *side = &coord->side[to];
    uint64_t parts[] = {(uint64_t)at_ps, (uint64_t)from << 32 | to, packet->header, packet->payload};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        coord->hash = mix(coord->hash ^ parts[i]) + DVSIM_DRAW_STEP;
    }
    coord->deliveries++;
    if (coord->check) {
        check(coord, to, from, packet);
    }
    bool fifo = dvsim_header_op(packet->header) == DVSIM_OP_FIFO;
    bool lose = fifo && fabric_chance(coord, coord->job->config.fifo_drop);
    if (lose) {
        atomic_fetch_add(&coord->job->card[to].stat[STAT_DROPPED], 1);
    }
    coord->failed |= dvsim_vic_arrive(side->vic, at_ps, packet, lose) == DVSIM_ENOMEM;
    if (coord->job->config.trace_records > 0) {
        record(coord, at_ps, from, to, packet);
    }
}
