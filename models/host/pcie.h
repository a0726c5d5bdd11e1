/* pcie.h: what it costs a host's processor to reach its card, and when the card notices.
 *
 *     store   the processor writes words into the card (programmed I/O): it is busy for 8 B each at pio_rate,
 *             and each is in the card one crossing later
 *     load    it reads a word: it is busy for the whole way there and back
 *     look    it reads its own memory, where the card keeps a mirror of its counters, of the surprise FIFO and
 *             of what is done; a change in the card is there one crossing later
 *     engine  a DMA engine of the card moves words at the rate of PCIe, after its table entry was loaded
 *
 * Integer picoseconds, as engine/law.h has it.
 */
#ifndef DVSIM_HOST_PCIE_H
#define DVSIM_HOST_PCIE_H

#include "engine/law.h"

typedef struct {
    int64_t crossing_ps; /* pio_write: from a store to the card, or from the card to node memory */
    int64_t load_ps;     /* pio_read: at least two crossings */
    int64_t store_fs;    /* per byte, from pio_rate */
    int64_t look_ps;     /* poll_mirror */
    int64_t pop_ps;      /* fifo_pop: to take one word out of the mirror of the FIFO */
    int64_t setup_ps;    /* dma_setup */
    int64_t engine_fs;   /* per byte, from pcie_rate */
} dvsim_pcie;

/* 1 if a card can have these: no time below 0 or above 1 s, a crossing, a look and an engine that take time,
 * a load of at least two crossings. */
int dvsim_pcie_is_good(const dvsim_pcie *pcie);

/* The processor is busy with so many words of stores. */
int64_t dvsim_pcie_store_ps(const dvsim_pcie *pcie, int64_t words);

/* An engine moves so many words so many times, one after the other; rounded once. */
int64_t dvsim_pcie_engine_ps(const dvsim_pcie *pcie, int64_t words, int64_t times);

/* From the processor's store of a table entry until it sees in its memory that the engine has moved `words`. */
int64_t dvsim_pcie_transfer_ps(const dvsim_pcie *pcie, int64_t words);

/* 1 if so many packets leave the host's memory sooner by an engine than by stores of header and payload. */
int dvsim_pcie_engine_is_faster(const dvsim_pcie *pcie, int64_t words);

/* The first of the looks begin + look, begin + 2 look, ... that is not before `at`. */
int64_t dvsim_pcie_look_from(const dvsim_pcie *pcie, int64_t begin_ps, int64_t at_ps);

#endif
