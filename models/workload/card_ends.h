/* card_ends.h: what cards and PCIe add to a message at both its ends; the same at every fidelity of the network. */
#ifndef DVSIM_WORKLOAD_CARD_ENDS_H
#define DVSIM_WORKLOAD_CARD_ENDS_H

#include "host/pcie.h"

/* Both ways in: when the first word is in the card, and the time from one word to the next. The processor's
 * path and the engine are free from `stores` and `sends` on, which are moved on. */
void card_enter(const dvsim_pcie *pcie, int64_t words, int64_t sent_ps, int64_t *stores, int64_t *sends,
                int64_t *first_ps, int64_t *each_ps);

/* When the host has a message whose words come out evenly between two times; `reads` is when the engine that reads is
 * free, and moved on. `in_sram`: nothing moves it on from there. */
int64_t card_received_ps(const dvsim_pcie *pcie, int64_t piece_words, int in_sram, int64_t words, int64_t first_ps,
                         int64_t last_ps, int64_t *reads);

#endif
