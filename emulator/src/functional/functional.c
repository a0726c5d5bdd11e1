/* The provider of functional mode: cards without time, in shared memory. */
#define _GNU_SOURCE
#include "functional.h"

#include <sched.h>
#include <stdlib.h>

#include "remote.h"

enum { RELAX_YIELDS = 200, RELAX_SLEEP_NS = 100 * 1000 };

/* Not in line: it would cost the looks that miss nothing a register. */
FAIL_COLD static bool overlooks(struct vic *card, double probability)
{
    const struct job_shared *shared = card->job->shared;
    uint64_t draw = atomic_fetch_add_explicit(&functional_of(card)->draws, 1, memory_order_relaxed);
    return fault_chance(card, draw, probability) && atomic_load(&shared->poison) == 0 && !handle_closed(card) &&
           (card->cards == 1 || atomic_load(&shared->ended) + 1 < card->cards) && !job_known_orphaned(card->job);
}

bool functional_overlooks(struct vic *card)
{
    double probability = card->job->config.extra_polls;
    return __builtin_expect(probability > 0, 0) && overlooks(card, probability);
}

static void dispose(struct vic *card)
{
    pending_dispose(card);
    events_dispose(&functional_of(card)->events);
    pthread_mutex_destroy(&functional_of(card)->ring_lock);
    free(card->own);
    card->own = NULL;
}

static int open_card(struct vic *card)
{
    struct functional *own = calloc(1, sizeof *own);
    if (own == NULL) {
        return VIC_ESYS;
    }
    card->own = own;
    if (pending_open(card) != VIC_OK) {
        free(own);
        return VIC_ESYS;
    }
    events_open(&own->events);
    pthread_mutex_init(&own->ring_lock, NULL);
    if (card->job->config.hosts > 1) {
        remote_opens(card, 2 * (uint64_t)seat_opens(atomic_load(&card->me->seat)));
    }
    return VIC_OK;
}

static int close_card(struct vic *card)
{
    int status = pending_close(card);
    events_close(card);
    return status;
}

static uint64_t peer_opens(const struct vic *card, uint32_t peer)
{
    return seat_opens(atomic_load(&card->job->card[peer].seat));
}

static uint64_t time_ns(const struct vic *card)
{
    return job_time_ns(card->job);
}

static int compute(struct vic *card, uint64_t ns)
{
    (void)card;
    (void)ns;
    return VIC_OK;
}

/* Spin, then yield, then sleep under the bell of what arrives: but never long, as the program may look for
 * something that rings no bell. */
static void relax(struct vic *card)
{
    pending_progress(card);
    job_orphaned(card->job); /* if it is, the next look returns that */
    _Atomic uint32_t *relaxes = &functional_of(card)->relaxes;
    uint32_t before = atomic_fetch_add_explicit(relaxes, 1, memory_order_relaxed);
    if (before < card->spins) {
        spin_pause();
    } else if (before < card->spins + RELAX_YIELDS) {
        sched_yield();
    } else {
        struct bell *bell = &card->me->arrival;
        uint32_t seen = bell_enter(bell);
        bell_await(card->me, card->counters, true);
        bell_sleep(bell, seen, RELAX_SLEEP_NS);
        atomic_store_explicit(relaxes, card->spins, memory_order_relaxed);
    }
}

static int write_words(struct vic *card, vic_addr_t addr, const uint64_t *words, size_t n)
{
    pending_progress(card);
    words_store(&card->sram[addr], words, n);
    return VIC_OK;
}

/* To begin a transfer takes as long as to copy so many. */
static size_t read_most(const struct vic *card)
{
    (void)card;
    return 32;
}

static int read_words(struct vic *card, vic_addr_t addr, uint64_t *words, size_t n)
{
    pending_progress(card);
    words_load(words, &card->sram[addr], n);
    return VIC_OK;
}

static int counter_set(struct vic *card, unsigned counter, int64_t n)
{
    pending_progress(card);
    struct counter *mine = &card->me->counter[counter];
    atomic_exchange(&mine->value, n);
    bell_ring_for(&card->me->arrival, &mine->awaited);
    return __builtin_expect(card->check, 0) ? tally_check(card, card->number, counter) : VIC_OK;
}

static int counter_get(struct vic *card, unsigned counter, int64_t *n)
{
    pending_progress(card);
    int64_t value = atomic_load(&card->me->counter[counter].value);
    if (value == 0) {
        value = functional_overlooks(card) ? 1 : 0;
        _Atomic uint32_t *relaxes = &functional_of(card)->relaxes;
        if (atomic_load_explicit(relaxes, memory_order_relaxed) != 0) {
            atomic_store_explicit(relaxes, 0, memory_order_relaxed);
        }
    }
    *n = value;
    return value != 0 && job_known_orphaned(card->job) ? VIC_ECLOSED : VIC_OK;
}

struct awaited {
    struct vic *card;
    unsigned counter;
};

static bool reads_zero(void *what)
{
    const struct awaited *awaited = what;
    struct vic *card = awaited->card;
    return atomic_load(&card->me->counter[awaited->counter].value) == 0 &&
           !functional_overlooks(card);
}

static int counter_wait(struct vic *card, unsigned counter, uint64_t timeout_ns)
{
    struct awaited awaited = {card, counter};
    struct wait wait = {.bell = &card->me->arrival, .ready = reads_zero, .what = &awaited,
                        .progress = pending_progress, .coming = pending_coming,
                        .kind = WAIT_COUNTERS, .counters = UINT64_C(1) << counter};
    return wait_for(card, &wait, timeout_ns);
}

const struct provider functional_provider = {
    .name = "functional",
    .open = open_card,
    .close = close_card,
    .dispose = dispose,
    .peer_opens = peer_opens,
    .time_ns = time_ns,
    .compute = compute,
    .relax = relax,
    .write = write_words,
    .read = read_words,
    .read_most = read_most,
    .send = functional_send,
    .try_send = functional_try_send,
    .send_cached = functional_send_cached,
    .put = functional_put,
    .dma_send = functional_dma_send,
    .dma_read = functional_dma_read,
    .dma_done = functional_dma_done,
    .dma_wait = functional_dma_wait,
    .counter_set = counter_set,
    .counter_get = counter_get,
    .counter_wait = counter_wait,
    .wait_any = functional_wait_any,
    .event_fd = functional_event_fd,
    .event_fd_close = functional_event_fd_close,
    .fifo_poll = functional_fifo_poll,
    .fifo_wait = functional_fifo_wait,
    .barrier = functional_barrier,
};
