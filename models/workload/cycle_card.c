/* cycle_card.c: what cards and PCIe add to the way of a message, and what of it an empty fabric would take. */
#include "workload/card_ends.h"
#include "workload/cycle_parts.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t slot_from(const dvsim_cycle *cycle, int64_t ps)
{
    return (ps + cycle->params.slot_ps - 1) / cycle->params.slot_ps;
}

/* Slots from the one of the first word to that of the last, with nothing in the way. */
static int64_t spread_slots(const dvsim_cycle_params *params, int64_t planes, int64_t words, int64_t each_ps)
{
    const int64_t by_port = (words - 1) / planes;
    return larger(by_port, (words - 1) * each_ps / params->slot_ps);
}

/* A message that nothing else disturbs: its sender, its receiver, and the planes and slots that it takes. */
typedef struct {
    const dvsim_pcie *from, *to;
    int64_t planes, slots;
    int64_t aligned_ps; /* its first word leaves its card so long after it came into it */
} way;

static int64_t alone_ps(const dvsim_cycle *cycle, const way *way, int64_t words)
{
    const dvsim_cycle_params *params = &cycle->params;
    int64_t stores = 0, sends = 0, reads = 0, first, each;
    card_enter(way->from, words, 0, &stores, &sends, &first, &each);
    const int64_t out = first + way->aligned_ps + (way->slots + 1) * params->slot_ps;
    const int64_t last = out + spread_slots(params, way->planes, words, each) * params->slot_ps;
    return card_received_ps(way->to, params->piece_words, params->lands_in_sram, words, out, last, &reads);
}

int64_t dvsim_cycle_alone_ps(const dvsim_cycle *cycle, int64_t words, int64_t way_slots)
{
    const dvsim_cycle_params *params = &cycle->params;
    const way found = {&params->pcie, &params->pcie, params->network.planes, way_slots, 0};
    return alone_ps(cycle, &found, words);
}

void cycle_enter(dvsim_cycle *cycle, cycle_message *message)
{
    const int32_t from = message->from;
    card_enter(&cycle->pcie[from], message->words, message->sent_ps, &cycle->stores_free[from], &cycle->sends_free[from],
               &message->first_in_ps, &message->each_ps);
    message->aligned_ps = slot_from(cycle, message->first_in_ps) * cycle->params.slot_ps - message->first_in_ps;
}

void cycle_receive(dvsim_cycle *cycle, cycle_message *message)
{
    const int64_t slot_ps = cycle->params.slot_ps;
    const int64_t first = (message->first_slot + 1) * slot_ps, last = (message->last_slot + 1) * slot_ps;
    const dvsim_pcie *from = &cycle->pcie[message->from], *to = &cycle->pcie[message->to];
    const int64_t planes = dvsim_network_ways(cycle->network, message->from, message->to);
    const way found = {from, to, planes, message->way_slots, message->aligned_ps};
    const int64_t time = card_received_ps(to, cycle->params.piece_words, cycle->params.lands_in_sram, message->words,
                                          first, last, &cycle->reads_free[message->to]);
    const int64_t whole = time - message->sent_ps;
    int64_t latency = alone_ps(cycle, &found, 1);
    int64_t serial = alone_ps(cycle, &found, message->words) - latency;
    latency = latency < whole ? latency : whole; /* a way by random links may be shorter than that of a word alone */
    serial = serial < whole - latency ? serial : whole - latency;
    message->arrival = (dvsim_arrival){message->id, time, latency, serial};
}
