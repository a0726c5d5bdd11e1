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
static int64_t received_ps(const dvsim_cycle_params *params, int64_t words, int64_t first_ps, int64_t last_ps,
                           int64_t *reads)
{
    const dvsim_pcie *pcie = &params->pcie;
    const int64_t seen = pcie->crossing_ps + pcie->look_ps, hand = hand_ps(pcie);
    const int64_t by_engine = hand + pcie->setup_ps + dvsim_pcie_engine_ps(pcie, words, 1) + seen;
    if (pcie->pop_ps <= by_engine / words && seen + words * pcie->pop_ps <= by_engine) {
        return larger(last_ps + seen + pcie->pop_ps, first_ps + seen + words * pcie->pop_ps);
    }
    const int64_t pieces = (words + params->piece_words - 1) / params->piece_words;
    const int64_t first_piece = pieces == 1 ? words : params->piece_words;
    const int64_t last_piece = words - (pieces - 1) * params->piece_words;
    const double part = pieces == 1 ? 1 : (double)(first_piece - 1) / (double)(words - 1);
    const int64_t there = first_ps + (int64_t)((double)(last_ps - first_ps) * part);
    const int64_t begin = larger(there + hand, *reads) + pcie->setup_ps;
    const int64_t behind = last_ps + hand + dvsim_pcie_engine_ps(pcie, last_piece, 1);
    *reads = larger(begin + dvsim_pcie_engine_ps(pcie, words, 1), behind);
    return *reads + seen;
}

/* Slots from the one of the first word to that of the last, with nothing in the way. */
static int64_t spread_slots(const dvsim_cycle_params *params, int64_t words, int64_t each_ps)
{
    const int64_t by_port = (words - 1) / params->network.planes;
    return larger(by_port, (words - 1) * each_ps / params->slot_ps);
}

/* A message alone, of which the first word leaves its card so long after it came into it. */
static int64_t alone_ps(const dvsim_cycle *cycle, int64_t words, int64_t way_slots, int64_t aligned_ps)
{
    const dvsim_cycle_params *params = &cycle->params;
    int64_t stores = 0, sends = 0, reads = 0, first, each;
    enter(&params->pcie, words, 0, &stores, &sends, &first, &each);
    const int64_t out = first + aligned_ps + (way_slots + 1) * params->slot_ps;
    const int64_t last = out + spread_slots(params, words, each) * params->slot_ps;
    return received_ps(params, words, out, last, &reads);
}

int64_t dvsim_cycle_alone_ps(const dvsim_cycle *cycle, int64_t words, int64_t way_slots)
{
    return alone_ps(cycle, words, way_slots, 0);
}

void cycle_enter(dvsim_cycle *cycle, cycle_message *message)
{
    const int32_t from = message->from;
    enter(&cycle->params.pcie, message->words, message->sent_ps, &cycle->stores_free[from], &cycle->sends_free[from],
          &message->first_in_ps, &message->each_ps);
    message->aligned_ps = slot_from(cycle, message->first_in_ps) * cycle->params.slot_ps - message->first_in_ps;
}

void cycle_receive(dvsim_cycle *cycle, cycle_message *message)
{
    const int64_t slot_ps = cycle->params.slot_ps;
    const int64_t first = (message->first_slot + 1) * slot_ps, last = (message->last_slot + 1) * slot_ps;
    const int64_t time = received_ps(&cycle->params, message->words, first, last, &cycle->reads_free[message->to]);
    const int64_t whole = time - message->sent_ps;
    int64_t latency = alone_ps(cycle, 1, message->way_slots, message->aligned_ps);
    int64_t serial = alone_ps(cycle, message->words, message->way_slots, message->aligned_ps) - latency;
    latency = latency < whole ? latency : whole; /* a way by random links may be shorter than that of a word alone */
    serial = serial < whole - latency ? serial : whole - latency;
    message->arrival = (dvsim_arrival){message->id, time, latency, serial};
}
