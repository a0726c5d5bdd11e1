/* All cards of a job in one process, for a test that plays them one call at a time. */
#include <stdio.h>

#include "job.h"
#include "open.h"

int shim_open(uint32_t cards, uint32_t sram_words, uint32_t counters, uint32_t fifo_words, uint32_t dma_entries,
              vic_t **card);

int shim_open(uint32_t cards, uint32_t sram_words, uint32_t counters, uint32_t fifo_words, uint32_t dma_entries,
              vic_t **card)
{
    static uint64_t nonce;
    struct job_config config = job_usual;
    config.cards = cards;
    config.sram_words = sram_words;
    config.counters = counters;
    config.fifo_words = fifo_words;
    config.dma_entries = dma_entries;
    int memory = job_create(&config, ++nonce);
    char job[64], number[16];
    snprintf(job, sizeof job, "%d:%llx", memory, (unsigned long long)nonce);
    int status = memory < 0 ? VIC_ESYS : VIC_OK;
    for (uint32_t i = 0; i < cards && status == VIC_OK; i++) {
        snprintf(number, sizeof number, "%u", i);
        status = open_named(job, number, NULL, &card[i]);
    }
    return status;
}
