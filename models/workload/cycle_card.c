/* cycle_card.c: what cards and PCIe add to the way of a message, and what of it an empty fabric would take. */
#include "workload/cycle_parts.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t slot_from(const dvsim_cycle *cycle, int64_t ps)
{
    return (ps + cycle->params.slot_ps - 1) / cycle->params.slot_ps;
}

/* Both ways in: when the first word is in the card, and the time from one word to the next. The processor's
 * path and the engine are free from `stores` and `sends` on, which are moved on. */
static void enter(const dvsim_pcie *pcie, int64_t words, int64_t sent_ps, int64_t *stores, int64_t *sends,
                  int64_t *first_ps, int64_t *each_ps)
{
    const int64_t begin = larger(sent_ps, *stores);
    if (dvsim_pcie_engine_is_faster(pcie, words)) {
        *stores = begin + dvsim_pcie_store_ps(pcie, 2);
        const int64_t engine = larger(*stores + pcie->crossing_ps, *sends) + pcie->setup_ps;
        *each_ps = dvsim_pcie_engine_ps(pcie, 1, 1);
        *first_ps = engine + *each_ps;
        *sends = engine + dvsim_pcie_engine_ps(pcie, words, 1);
    } else {
        *each_ps = dvsim_pcie_store_ps(pcie, 2);
        *stores = begin + dvsim_pcie_store_ps(pcie, 2 * words);
        *first_ps = begin + *each_ps + pcie->crossing_ps;
    }
}

/* From the time at which a piece is in the SRAM until its entry is in the card. */
static int64_t hand_ps(const dvsim_pcie *pcie)
{
    return 2 * pcie->crossing_ps + pcie->look_ps + dvsim_pcie_store_ps(pcie, 2);
}

/* When the host has a message whose words come out evenly between two times; `reads` is the engine that reads. */
static int64_t received_ps(const dvsim_pcie *pcie, const dvsim_cycle_params *params, int64_t words, int64_t first_ps,
                           int64_t last_ps, int64_t *reads)
{
    const int64_t seen = pcie->crossing_ps + pcie->look_ps, hand = hand_ps(pcie), piece_words = params->piece_words;
    if (params->lands_in_sram) {
        return last_ps + seen;
    }
    const int64_t by_engine = hand + pcie->setup_ps + dvsim_pcie_engine_ps(pcie, words, 1) + seen;
    if (pcie->pop_ps <= by_engine / words && seen + words * pcie->pop_ps <= by_engine) {
        return larger(last_ps + seen + pcie->pop_ps, first_ps + seen + words * pcie->pop_ps);
    }
    const int64_t pieces = (words + piece_words - 1) / piece_words;
    const int64_t first_piece = pieces == 1 ? words : piece_words;
    const int64_t last_piece = words - (pieces - 1) * piece_words;
    const double part = pieces == 1 ? 1 : (double)(first_piece - 1) / (double)(words - 1);
    const int64_t there = first_ps + (int64_t)((double)(last_ps - first_ps) * part);
    const int64_t begin = larger(there + hand, *reads) + pcie->setup_ps;
    const int64_t behind = last_ps + hand + dvsim_pcie_engine_ps(pcie, last_piece, 1);
    *reads = larger(begin + dvsim_pcie_engine_ps(pcie, words, 1), behind);
    return *reads + seen;
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
    enter(way->from, words, 0, &stores, &sends, &first, &each);
    const int64_t out = first + way->aligned_ps + (way->slots + 1) * params->slot_ps;
    const int64_t last = out + spread_slots(params, way->planes, words, each) * params->slot_ps;
    return received_ps(way->to, params, words, out, last, &reads);
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
    enter(&cycle->pcie[from], message->words, message->sent_ps, &cycle->stores_free[from], &cycle->sends_free[from],
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
    const int64_t time =
        received_ps(to, &cycle->params, message->words, first, last, &cycle->reads_free[message->to]);
    const int64_t whole = time - message->sent_ps;
    int64_t latency = alone_ps(cycle, &found, 1);
    int64_t serial = alone_ps(cycle, &found, message->words) - latency;
    latency = latency < whole ? latency : whole; /* a way by random links may be shorter than that of a word alone */
    serial = serial < whole - latency ? serial : whole - latency;
    message->arrival = (dvsim_arrival){message->id, time, latency, serial};
}
