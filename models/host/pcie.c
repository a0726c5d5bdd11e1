/* What a store, a transfer and a look over PCIe take. */
#include "host/pcie.h"

enum { ENTRY_WORDS = 2 }; /* of the DMA table */

int dvsim_pcie_is_good(const dvsim_pcie *p)
{
    const int64_t parts[] = {p->crossing_ps, p->load_ps, p->store_fs, p->look_ps, p->pop_ps, p->setup_ps, p->engine_fs};
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i] < 0 || parts[i] > INT64_C(1000000000000)) {
            return 0;
        }
    }
    return p->crossing_ps > 0 && p->look_ps > 0 && p->engine_fs > 0 && p->load_ps >= 2 * p->crossing_ps;
}

int64_t dvsim_pcie_store_ps(const dvsim_pcie *p, int64_t words)
{
    return dvsim_law_ps((dvsim_law){0, p->store_fs}, words * DVSIM_WORD_BYTES);
}

int64_t dvsim_pcie_engine_ps(const dvsim_pcie *p, int64_t words, int64_t times)
{
    return dvsim_law_total_ps((dvsim_law){0, p->engine_fs}, words * DVSIM_WORD_BYTES, times);
}

int64_t dvsim_pcie_transfer_ps(const dvsim_pcie *p, int64_t words)
{
    return dvsim_pcie_store_ps(p, ENTRY_WORDS) + 2 * p->crossing_ps + p->setup_ps +
           dvsim_pcie_engine_ps(p, words, 1);
}

int dvsim_pcie_engine_is_faster(const dvsim_pcie *p, int64_t words)
{
    return dvsim_pcie_transfer_ps(p, words) < dvsim_pcie_store_ps(p, 2 * words);
}

int64_t dvsim_pcie_look_from(const dvsim_pcie *p, int64_t begin_ps, int64_t at_ps)
{
    const int64_t behind = at_ps - begin_ps;
    const int64_t looks = behind <= p->look_ps ? 1 : (behind + p->look_ps - 1) / p->look_ps;
    return begin_ps + looks * p->look_ps;
}
