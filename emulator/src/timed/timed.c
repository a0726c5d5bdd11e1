/* The provider of timed mode: every call is an event of the coordinator. */
#include "timed/timed.h"

#include <stdlib.h>

#include "card/vic.h"

static void dispose(struct vic *card)
{
    struct timed *own = card->own;
    timed_forget(own);
    pthread_mutex_destroy(&own->lock);
    free(own->moves);
    free(own->closer);
    free(own);
    card->own = NULL;
}

static int open_card(struct vic *card)
{
    struct timed *own = calloc(1, sizeof *own);
    struct move *moves = calloc(card->job->config.dma_entries, sizeof *moves);
    struct member *closer = calloc(1, sizeof *closer);
    if (own == NULL || moves == NULL || closer == NULL) {
        free(own);
        free(moves);
        free(closer);
        return VIC_ESYS;
    }
    own->closer = closer;
    card->own = own;
    own->card = card;
    own->moves = moves;
    own->shared = timed_card_of(card->job, card->number);
    own->pcie = model_pcie(&card->job->config);
    pthread_mutex_init(&own->lock, NULL);
    timed_known(own);
    timed_hook(own);
    int status = timed_join(own);
    if (status != VIC_OK) {
        dispose(card);
    }
    return status;
}

static int close_card(struct vic *card)
{
    timed_closer(timed_of(card));
    timed_finish_transfers(card); /* engines wait for no FIFO: it ends */
    timed_leave_job(timed_of(card));
    return VIC_OK;
}

static uint64_t time_ns(const struct vic *card)
{
    return (uint64_t)timed_clock_ps(card) / 1000;
}

static int compute(struct vic *card, uint64_t ns)
{
    ENTER(me, card, false);
    cpu_time_stated(me);
    timed_pass(me, ns);
    timed_leave(me);
    return VIC_OK;
}

static void relax(struct vic *card)
{
    struct member *me = timed_enter(card, false);
    if (me != NULL) { /* the call has no status; the next one has */
        timed_look(me);
        timed_leave(me);
    }
}

static int write_words(struct vic *card, vic_addr_t addr, const uint64_t *words, size_t n)
{
    ENTER(me, card, false);
    int64_t step = dvsim_pcie_store_ps(&me->own->pcie, 1);
    struct post post = {.kind = POST_STORE, .a = addr, .step_ps = step,
                        .at_ps = me->clock_ps + step + me->own->pcie.crossing_ps};
    post_items(me, post, words, n, 1);
    me->clock_ps += (int64_t)n * step;
    timed_leave(me);
    return VIC_OK;
}

static size_t read_most(const struct vic *card)
{
    const dvsim_pcie *pcie = &((const struct timed *)card->own)->pcie;
    int64_t n = 0;
    while (n < 32 && (n + 1) * pcie->load_ps <= dvsim_pcie_transfer_ps(pcie, n + 1)) {
        n++;
    }
    return (size_t)n;
}

static int read_words(struct vic *card, vic_addr_t addr, uint64_t *words, size_t n)
{
    int status = VIC_OK;
    ENTER(me, card, false);
    if (n > 0) {
        uint32_t tag = tag_new(me->own);
        struct post post = {.kind = POST_LOAD, .a = addr, .b = tag, .count = n,
                            .step_ps = me->own->pcie.load_ps,
                            .at_ps = me->clock_ps + me->own->pcie.crossing_ps};
        post_bare(me, &post);
        status = timed_wait_event(me, DVSIM_VIC_LOADED, tag, n, words, VIC_FOREVER);
    }
    timed_leave(me);
    return status;
}

/* The library remembers what it stored until the card has shown it. */
static int counter_set(struct vic *card, unsigned counter, int64_t n)
{
    ENTER(me, card, false);
    struct timed *own = me->own;
    uint64_t word = (uint64_t)n;
    me->clock_ps += dvsim_pcie_store_ps(&own->pcie, 1);
    own->shared->view.counter[counter] = n;
    own->shared->view.presets[counter]++;
    struct post post = {.kind = POST_PRESET, .a = counter, .at_ps = me->clock_ps + own->pcie.crossing_ps};
    post_items(me, post, &word, 1, 1);
    timed_hint(own, DVSIM_VIC_COUNTER, counter, word, me->clock_ps);
    timed_leave(me);
    return VIC_OK;
}

static int counter_get(struct vic *card, unsigned counter, int64_t *n)
{
    ENTER(me, card, false);
    timed_look(me);
    int64_t value = me->own->shared->view.counter[counter];
    *n = value == 0 && timed_overlooks(me) ? 1 : value;
    int status = *n != 0 && me->own->orphaned ? VIC_ECLOSED : VIC_OK;
    timed_leave(me);
    return status;
}

static bool reads_zero(struct member *me, void *what)
{
    return me->own->shared->view.counter[*(unsigned *)what] == 0;
}

static int counter_wait(struct vic *card, unsigned counter, uint64_t timeout_ns)
{
    ENTER(me, card, false);
    struct watched watched = {DVSIM_VIC_COUNTER, counter, 0};
    int status = timed_wait(me, watched, reads_zero, &counter, timeout_ns);
    timed_leave(me);
    return status;
}

struct taken {
    uint64_t *words;
    size_t min, max, count;
};

static bool takes(struct member *me, void *what)
{
    struct taken *taken = what;
    struct timed *own = me->own;
    struct view *view = &own->shared->view;
    uint64_t there = view->fifo_in - view->fifo_out, mask = own->card->job->ring - 1;
    taken->count = 0;
    if (there < taken->min) {
        return false;
    }
    while (taken->count < taken->max && taken->count < there) {
        taken->words[taken->count++] = own->shared->fifo[view->fifo_out++ & mask];
    }
    if (taken->count > 0) {
        me->clock_ps += (int64_t)taken->count * own->pcie.pop_ps + dvsim_pcie_store_ps(&own->pcie, 1);
        post_one(me, POST_POPPED, me->clock_ps + own->pcie.crossing_ps, 0, 0, taken->count);
    }
    return true;
}

static int fifo_poll(struct vic *card, uint64_t *words, size_t max, size_t *n)
{
    ENTER(me, card, false);
    timed_look(me);
    struct taken taken = {words, 0, max, 0};
    if (!timed_overlooks(me)) {
        takes(me, &taken);
    }
    *n = taken.count;
    int status = taken.count == 0 && me->own->orphaned ? VIC_ECLOSED : VIC_OK;
    timed_leave(me);
    return status;
}

static int fifo_wait(struct vic *card, uint64_t *words, size_t min, size_t max, size_t *n, uint64_t timeout_ns)
{
    if (min == 0) {
        return fifo_poll(card, words, max, n);
    }
    ENTER(me, card, false);
    struct taken taken = {words, min, max, 0};
    struct watched watched = {DVSIM_VIC_FIFO, 0, me->own->shared->view.fifo_out + min};
    int status = timed_wait(me, watched, takes, &taken, timeout_ns);
    *n = status == VIC_OK ? taken.count : 0;
    timed_leave(me);
    return status;
}

const struct provider timed_provider = {
    .name = "timed",
    .open = open_card,
    .close = close_card,
    .dispose = dispose,
    .peer_opens = timed_peer_opens,
    .time_ns = time_ns,
    .compute = compute,
    .relax = relax,
    .write = write_words,
    .read = read_words,
    .read_most = read_most,
    .send = timed_send,
    .try_send = timed_try_send,
    .send_cached = timed_send_cached,
    .put = timed_put,
    .dma_send = timed_dma_send,
    .dma_read = timed_dma_read,
    .dma_done = timed_dma_done,
    .dma_wait = timed_dma_wait,
    .counter_set = counter_set,
    .counter_get = counter_get,
    .counter_wait = counter_wait,
    .wait_any = timed_wait_any,
    .fifo_poll = fifo_poll,
    .fifo_wait = fifo_wait,
    .barrier = timed_barrier,
};
