/* What VIC_INFO prints: job, card and model. */
#include "handle.h"

#include <inttypes.h>
#include <stdio.h>

static void line(const struct vic *card, const char *name, uint64_t value, const char *what)
{
    fprintf(stderr, "vic: card %u: %-16s %12" PRIu64 "  %s\n", card->number, name, value, what);
}

static void print_model(const struct vic *card, const struct job_model *m)
{
    line(card, "pio_write", (uint64_t)m->crossing_ps, "ps, one crossing of PCIe");
    line(card, "pio_read", (uint64_t)m->load_ps, "ps, to read a word of the card");
    line(card, "pio_rate", (uint64_t)m->store_rate, "B/s of stores into the card");
    line(card, "poll_mirror", (uint64_t)m->look_ps, "ps, a look at the mirror in host memory");
    line(card, "fifo_pop", (uint64_t)m->pop_ps, "ps, a word out of the FIFO's mirror");
    line(card, "dma_setup", (uint64_t)m->setup_ps, "ps, to load an entry of the DMA table");
    line(card, "pcie_rate", card->job->config.pcie_rate, "B/s of the DMA engines");
    line(card, "send_words", m->send_words, "packets that wait in the card, stored or fetched");
    line(card, "port_rate", (uint64_t)m->port_rate, "B/s of a card into all planes");
    line(card, "planes", m->planes, "parallel networks");
    line(card, "switch_angles", m->angles, "of every switch");
    line(card, "link", (uint64_t)m->link_ps, "ps");
    line(card, "spread", m->spread, "1: the programs run on all cores");
}

void info_print(const struct vic *card)
{
    const struct job_config *c = &card->job->config;
    fprintf(stderr, "vic: card %u: libvic %s, %s mode\n", card->number, VIC_VERSION, card->ops->name);
    line(card, "VIC_CARD", card->number, "this card");
    line(card, "VIC_CARDS", c->cards, "cards of the job");
    line(card, "sram_words", c->sram_words, "64-bit words of SRAM");
    line(card, "counters", c->counters, "group counters, three of them the barrier's and the scratch counter");
    line(card, "fifo_words", c->fifo_words, "depth of the surprise FIFO");
    line(card, "dma_entries", c->dma_entries, "transfers in flight");
    line(card, "spins", card->spins, "looks of a wait before it lets others run; 0: more cards than cores");
    line(card, "seed", c->seed, "of the faults' chances");
    line(card, "reorder", c->reorder, "1: packets arrive in any order");
    line(card, "reorder_seed", c->reorder_seed, "of that order");
    line(card, "VIC_CHECK", card->check, "1: report packets that a counter did not expect");
    line(card, "VIC_DEBUG", (card->watch & WATCH_DEBUG) != 0, "1: a line on stderr for every call");
    line(card, "stats", c->stats, "1: count calls, words and waits");
    line(card, "trace_records", c->trace_records, "events of this card that a trace has room for");
    fprintf(stderr, "vic: card %u: %-16s %12g  probability that a FIFO word is lost\n", card->number,
            "fifo_drop", c->fifo_drop);
    fprintf(stderr, "vic: card %u: %-16s %12g  probability that a look does not see what is there\n",
            card->number, "extra_polls", c->extra_polls);
    fprintf(stderr, "vic: card %u: %-16s %12g  factor on the time of a transfer\n", card->number, "dma_slow",
            c->dma_slow);
    for (uint32_t i = 0; i < c->stalls; i++) {
        line(card, "stall at", c->stall[i].at_ns, "ns; the card that does not answer then:");
        line(card, "stall card", c->stall[i].card, "");
        line(card, "stall for", c->stall[i].for_ns, "ns");
    }
    if (c->mode == 1) {
        print_model(card, &c->model);
    }
}
