/* Transfers: an entry of the DMA table, and the engine does the rest. */
#include "card/vic.h"
#include "timed/timed.h"

static uint32_t number_of(const struct vic *card, const struct transfer *dma)
{
    return (uint32_t)(dma - card->dma.entry);
}

/* The entry is stored; `kind` begins when it is in the card. */
static void start(struct member *me, enum post_kind kind, vic_addr_t addr, size_t n, struct transfer *dma,
                  uint64_t *host)
{
    struct timed *own = me->own;
    uint32_t number = number_of(own->card, dma);
    own->moves[number] = (struct move){.transfer = dma, .host = host, .words = host != NULL ? n : 0};
    atomic_store(&dma->left, 1);
    me->clock_ps += dvsim_pcie_store_ps(&own->pcie, 2);
    post_one(me, kind, me->clock_ps + own->pcie.crossing_ps, addr, tag_of(own, number), n);
}

int timed_dma_send(struct vic *card, vic_addr_t headers, const uint64_t *payloads, size_t n,
                   struct transfer *dma)
{
    ENTER(me, card, true);
    int status = post_check(me, headers, payloads, n);
    if (status == VIC_OK && n > 0) { /* nothing is done at once */
        post_items(me, (struct post){.kind = POST_STAGE}, payloads, n, 1);
        start(me, POST_ENGINE_SEND, headers, n, dma, NULL);
    }
    timed_leave(me);
    return status;
}

int timed_dma_read(struct vic *card, uint64_t *host, vic_addr_t addr, size_t n, struct transfer *dma)
{
    ENTER(me, card, false);
    if (n > 0) {
        start(me, POST_ENGINE_READ, addr, n, dma, host);
    }
    timed_leave(me);
    return VIC_OK;
}

static bool is_done(struct member *me, void *what)
{
    (void)me;
    return atomic_load(&((struct transfer *)what)->left) == 0;
}

int timed_dma_done(struct vic *card, struct transfer *dma)
{
    ENTER(me, card, false);
    timed_look(me);
    bool done = is_done(me, dma) && !timed_overlooks(me);
    int status = done ? 1 : me->own->orphaned ? VIC_ECLOSED : 0;
    timed_leave(me);
    return status;
}

int timed_dma_wait(struct vic *card, struct transfer *dma, uint64_t timeout_ns)
{
    ENTER(me, card, false);
    struct watched watched = {DVSIM_VIC_DONE, tag_of(me->own, number_of(card, dma)), 0};
    int status = timed_wait(me, watched, is_done, dma, timeout_ns);
    timed_leave(me);
    return status;
}

int timed_finish_transfers(struct vic *card)
{
    int status = VIC_OK;
    for (uint32_t i = 0; i < card->dma.entries && status == VIC_OK; i++) {
        struct transfer *dma = &card->dma.entry[i];
        if (dma->uses % 2 == 1 && atomic_load(&dma->left) != 0) {
            status = timed_dma_wait(card, dma, VIC_FOREVER);
        }
    }
    return status;
}
