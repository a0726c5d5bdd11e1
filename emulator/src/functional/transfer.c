/* Transfers: the DMA engines. */
#include "functional.h"

enum { SHORT_NS = 20 * 1000 }; /* no bell rings when a slow transfer is due */

/* Packets that a full FIFO stops stay pending: the transfer goes on while the program does something else. */
static int dma_block(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, void *more)
{
    int status = check_block(card, headers, payloads, n, NULL);
    size_t sent = 0;
    uint32_t full;
    if (status == VIC_OK && card->job->config.reorder == 0) {
        sent = deliver_some(card, headers, payloads, n, &status, &full);
    }
    return status == VIC_OK && sent < n
               ? pending_add(card, headers + sent, payloads + sent, n - sent, more, false)
               : status;
}

static void set_due(struct vic *card, struct transfer *dma, size_t n)
{
    const struct job_config *config = &card->job->config;
    if (config->dma_slow > 1) {
        double bytes_ns = (double)n * 8e9 / (double)config->pcie_rate;
        double slow_ns = config->dma_slow * ((double)config->dma_setup_ns + bytes_ns);
        atomic_store(&dma->due_ns, card->ops->time_ns(card) + (uint64_t)slow_ns);
    }
}

int functional_dma_send(struct vic *card, vic_addr_t headers, const uint64_t *payloads, size_t n,
                        struct transfer *dma)
{
    int status = each_block(card, headers, payloads, n, check_block, (void *)(uintptr_t)payloads);
    if (status == VIC_OK) {
        set_due(card, dma, n);
        status = each_block(card, headers, payloads, n, dma_block, dma);
    }
    return status;
}

int functional_dma_read(struct vic *card, uint64_t *host, vic_addr_t addr, size_t n, struct transfer *dma)
{
    pending_progress(card);
    words_load(host, &card->sram[addr], n);
    set_due(card, dma, n);
    return VIC_OK;
}

static bool is_done(const struct vic *card, const struct transfer *dma)
{
    uint64_t due_ns = atomic_load(&dma->due_ns);
    return atomic_load(&dma->left) == 0 && (due_ns == 0 || card->ops->time_ns(card) >= due_ns);
}

int functional_dma_done(struct vic *card, struct transfer *dma)
{
    pending_progress(card);
    return is_done(card, dma) ? 1 : job_known_orphaned(card->job) ? VIC_ECLOSED : 0;
}

/* The engine itself never stops, except for a FIFO without a reader. */
static bool is_coming(struct vic *card)
{
    (void)card;
    return true;
}

struct waited {
    struct vic *card;
    struct transfer *dma;
};

static bool is_ready(void *what)
{
    const struct waited *waited = what;
    return is_done(waited->card, waited->dma);
}

static bool is_stuck(void *what)
{
    const struct waited *waited = what;
    return atomic_load(&waited->dma->left) != 0 && !pending_coming(waited->card);
}

int functional_dma_wait(struct vic *card, struct transfer *dma, uint64_t timeout_ns)
{
    struct waited waited = {card, dma};
    struct wait wait = {.bell = &card->me->arrival, .ready = is_ready, .what = &waited,
                        .progress = pending_progress, .coming = is_coming, .hopeless = is_stuck,
                        .slice_ns = atomic_load(&dma->due_ns) ? SHORT_NS : 0, .kind = WAIT_TRANSFER};
    return wait_for(card, &wait, timeout_ns);
}
