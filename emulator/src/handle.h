/* handle.h: an open card, as the library sees it; a closed one stays readable, and is closed for ever. */
#ifndef VIC_HANDLE_H
#define VIC_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fail.h"
#include "job.h"
#include "provider.h"

/* Which words of the SRAM are allocated. */
struct sram_block {
    uint32_t addr, words;
};

struct sram_table {
    struct sram_block *block; /* by address */
    size_t count, capacity;
};

/* The table of transfers in flight. The handle of a program is no address: it holds the index of an entry and the number of
 * its uses, so the handle of a freed transfer is never taken for that of a later one. */
struct transfer {
    _Atomic uint64_t left;   /* packets that have not left */
    _Atomic uint64_t due_ns; /* not done before */
    uint32_t uses;           /* odd: in flight */
    uint32_t next;           /* free entries */
};

struct dma_table {
    struct transfer *entry; /* NULL until the first transfer */
    uint32_t entries, first_free;
    uint32_t opening; /* of the card: handles of another one are not found */
};

/* Why calls of a card are looked at; 0 on the fast path. */
enum { WATCH_STATS = 1, WATCH_TRACE = 2, WATCH_STALL = 4, WATCH_DEBUG = 8 };

struct vic {
    const struct provider *ops;
    struct job *job;
    struct card_shared *me;
    _Atomic uint64_t *sram; /* of this card */
    uint64_t counters;      /* those that exist, one bit each */
    uint32_t number, cards, sram_words;
    uint32_t watch;
    bool check;            /* report packets that a counter did not expect */
    uint32_t spins;        /* polls before a wait yields: none if there are more cards than cores */
    int32_t process;
    _Atomic uint32_t state; /* enum handle_state */
    _Atomic uint32_t idle;  /* waits in a row that nothing came in, see wait.c */
    void *own;              /* the provider's */
    const struct trace_sent *sent; /* an agent's: what it delivers was sent so; NULL: by the present thread, now */

    pthread_mutex_t lock;  /* of what follows */
    struct sram_table table;
    uint64_t allocated;    /* counters */
    struct dma_table dma;
    pthread_mutex_t trace_lock;
    struct vic *next;      /* of those that are open, or of those that are closed */
};

/* What was never open, and what was forgotten, is closed: see slab.h. */
enum handle_state { HANDLE_CLOSED = 0, HANDLE_OPEN = 1, HANDLE_CLOSES = 2 };

/* Claim a card of an attached job and set up a handle. VIC_EBUSY, VIC_ESYS. VIC_ENOJOB: it is not of this place any more. */
int handle_open(struct job *job, uint32_t card, uint32_t place, struct vic **handle);

/* open.c. vic_open with these values for VIC_JOB, VIC_CARD and VIC_CARDS; cards NULL: not set. For programs that hold several
 * cards in one process, as the tests do. */
int open_named(const char *job, const char *card, const char *cards, vic_t **handle);

/* vic_close without the check for NULL. */
int handle_close(struct vic *card);

static inline bool handle_closed(const struct vic *card)
{
    return atomic_load_explicit(&card->state, memory_order_acquire) != HANDLE_OPEN;
}

/* What a thread last called, a hazard pointer: a card that is closed is freed when no other thread has it here. A thread
 * that calls another card writes that before it looks whether it is open; who frees sees to it that all threads have
 * written what they have (membarrier, as liburcu). So a call costs one comparison, and a thread keeps one closed card. */
struct call_mark {
    _Atomic(const void *) in; /* a card; CALL_ANY: it may use any; CALL_NONE */
    struct call_mark *next;   /* of other threads */
    bool linked;
};
#define CALL_ANY ((const void *)1)
#define CALL_NONE ((const void *)2) /* of a thread that has called nothing: no card, and not NULL */
extern _Thread_local struct call_mark call_mark;
void call_mark_write(const void *card) FAIL_COLD;

/* The present function uses the card from here on, if it is open. */
static inline bool call_is_of(const void *card)
{
    return atomic_load_explicit(&call_mark.in, memory_order_relaxed) == card;
}

static inline void call_of(const void *card)
{
    if (__builtin_expect(!call_is_of(card), 0)) {
        call_mark_write(card);
    }
}

/* Return from the present function if the card is NULL or closed, or a pointer that is needed is NULL. */
#define NEED(card, pointers) NEED_NAMED(card, pointers, #pointers)
#define NEED_NAMED(card, pointers, text)                                                                    \
    call_of(card);                                                                                          \
    NEED_OPEN(card, pointers, text)
#define NEED_OPEN(card, pointers, text)                                                                    \
    do {                                                                                                    \
        if ((card) == NULL) {                                                                               \
            return fail_null(true, text);                                                                   \
        }                                                                                                   \
        NEED_MARKED(card, pointers, text);                                                                  \
    } while (0)
#define NEED_MARKED(card, pointers, text) /* of a card that the mark has, which is not NULL */              \
    do {                                                                                                    \
        if (!(pointers)) {                                                                                  \
            return fail_null(false, text);                                                                  \
        }                                                                                                   \
        if (__builtin_expect(handle_closed(card), 0)) {                                                     \
            return fail_closed();                                                                           \
        }                                                                                                   \
    } while (0)

/* VIC_ECLOSED of a wait: the card was closed, or the job has ended; then with what a counter reads, unless its number is
 * negative. */
int fail_ended(const struct vic *card, int64_t counter, int64_t reads) FAIL_COLD;

/* VIC_ERANGE: the first of these that the card's job does not have; n words from addr on of the SRAM. */
int fail_range(const struct vic *card, uint32_t dest, uint64_t addr, uint64_t n, unsigned counter) FAIL_COLD;

/* Likewise for n words of this card from addr on, which is the argument of this name. */
int fail_words(const struct vic *card, const char *name, uint64_t addr, uint64_t n) FAIL_COLD;

static inline bool counter_exists(const struct vic *card, unsigned counter)
{
    return counter < COUNTERS && (card->counters >> counter & 1) != 0;
}

static inline bool range_exists(const struct vic *card, vic_addr_t addr, size_t n)
{
    return addr <= card->sram_words && n <= card->sram_words - addr;
}

/* Does a fault with this probability happen? The same for the same draw of the same card. */
static inline bool fault_chance(const struct vic *card, uint64_t draw, double probability)
{
    uint64_t x = (card->job->config.seed * MOST_CARDS + card->number) * UINT64_C(0xd1342543de82ef95) + draw;
    x = (x ^ x >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 29) * UINT64_C(0x94d049bb133111eb);
    return (double)(x >> 11) * 0x1p-53 < probability;
}

#endif
