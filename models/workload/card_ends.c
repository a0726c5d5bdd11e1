/* card_ends.c: see card_ends.h. */
#include "workload/card_ends.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void card_enter(const dvsim_pcie *pcie, int64_t words, int64_t sent_ps, int64_t *stores, int64_t *sends,
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

int64_t card_received_ps(const dvsim_pcie *pcie, int64_t piece_words, int in_sram, int64_t words, int64_t first_ps,
                         int64_t last_ps, int64_t *reads)
{
    const int64_t seen = pcie->crossing_ps + pcie->look_ps, hand = hand_ps(pcie);
    if (in_sram) {
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
