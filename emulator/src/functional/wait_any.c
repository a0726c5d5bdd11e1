/* Waiting for any of several counters, or for words in the FIFO. */
#include "functional.h"

struct any {
    struct vic *card;
    uint64_t counters, ready;
    size_t fifo_min;
};

/* Eight counters side by side. A wait looks again and again and finds none: a comparison for each, and a branch that is
 * not taken, so that a look at sixteen takes little longer than one at a single counter. */
static inline uint64_t eight_read_zero(struct counter *counter)
{
    uint64_t ready = 0;
#pragma GCC unroll 8
    for (unsigned i = 0; i < 8; i++) {
        if (__builtin_expect(atomic_load(&counter[i].value) == 0, 0)) {
            ready |= UINT64_C(1) << i;
            __asm__ volatile("" : "+r"(ready)); /* keeps the compiler from computing it in each round */
        }
    }
    return ready;
}

/* Those of some counters that read 0. */
static uint64_t read_zero(struct counter *counter, uint64_t counters)
{
    uint64_t ready = 0;
    for (uint64_t left = counters, some; left != 0; left &= ~some) {
        unsigned first = (unsigned)__builtin_ctzll(left);
        if (((left >> first) & 0xff) == 0xff) {
            some = UINT64_C(0xff) << first;
            ready |= eight_read_zero(counter + first) << first;
        } else {
            some = left & -left;
            ready |= atomic_load(&counter[first].value) == 0 ? some : 0;
        }
    }
    return ready;
}

uint64_t any_ready(struct vic *card, uint64_t counters, size_t fifo_min)
{
    uint64_t ready = read_zero(card->me->counter, counters);
    if (fifo_min > 0 && fifo_holds(card, fifo_min)) {
        ready |= UINT64_C(1) << VIC_READY_FIFO;
    }
    return ready;
}

static bool is_any(void *what)
{
    struct any *any = what;
    any->ready = any_ready(any->card, any->counters, any->fifo_min);
    return any->ready != 0 && !functional_overlooks(any->card);
}

int functional_wait_any(struct vic *card, uint64_t counters, size_t fifo_min, uint64_t *ready, uint64_t timeout_ns)
{
    struct any any = {.card = card, .counters = counters, .fifo_min = fifo_min};
    struct wait wait = {.bell = &card->me->arrival, .ready = is_any, .what = &any, .progress = pending_progress,
                        .coming = pending_coming, .filling = fifo_min > 0 ? fifo_filling : NULL, .kind = WAIT_COUNTERS,
                        .counters = counters, .words = fifo_min};
    int status = wait_for(card, &wait, timeout_ns);
    *ready = status == VIC_OK ? any.ready : 0;
    return status;
}
