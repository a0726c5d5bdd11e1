/* functional.h: the provider that runs as fast as the machine allows.
 *
 * A sender stores straight into the SRAM of the target, with relaxed 64-bit atomics, then counts the target's
 * counter down, once per call and counter, and rings the target's bell if somebody sleeps under it. Only the
 * surprise FIFO is a queue. A query is answered by the sender of the query. There is no progress thread: one
 * is started only when packets have to be held back (pending.c), for --reorder or for a transfer that a full
 * FIFO stopped.
 */
#ifndef VIC_FUNCTIONAL_H
#define VIC_FUNCTIONAL_H

#include "handle.h"
#include "packet.h"
#include "wait.h"
#include "watch.h"

/* ---- events.c: descriptors that poll readable when what a program waits for is there.
 *
 * Another process counts a counter down. It wakes the sleepers of this card's bell and knows nothing of descriptors. So
 * one thread, started with the first descriptor, sleeps at the bell and writes to the descriptors that are ready. */

struct event;

struct events {
    pthread_mutex_t lock; /* of what follows */
    struct event *first;
    pthread_t thread;
    bool runs, stop;
};

void events_open(struct events *events);
void events_close(struct vic *card); /* every descriptor is readable once more, and closed */
void events_dispose(struct events *events);

/* ---- functional.c */

struct pending;

struct functional {
    struct pending *pending;
    struct events events;
    _Atomic size_t pending_count;   /* packets */
    _Atomic uint64_t draws;      /* of functional_overlooks */
    _Atomic uint64_t fifo_words; /* sent under the fault fifo-drop */
    _Atomic uint32_t relaxes;    /* vic_relax in a row that found nothing */
    _Atomic uint32_t in_barrier;
    pthread_mutex_t ring_lock; /* of the writing end of its ring to other hosts */
};

static inline struct functional *functional_of(const struct vic *card)
{
    return card->own;
}

/* True: what has come does not show at this look, by the fault extra-polls. Never when waits end, as this may be the last look. */
bool functional_overlooks(struct vic *card);

/* ---- deliver.c: counting once per call and counter */

/* Pairs of card and counter, direct-mapped: two that fall on one entry cost an update more. */
struct tally {
    uint64_t used; /* entries, as bits */
    uint32_t key[64], count[64];
};

void tally_flush(struct vic *card, struct tally *tally);
void tally_count(struct vic *card, uint32_t key, uint32_t count); /* at once */

/* --check: a counter is set, which may be one of the barrier's. VIC_OK. */
int tally_check(const struct vic *card, uint32_t dest, unsigned counter);

static inline uint32_t tally_key(uint32_t dest, unsigned counter)
{
    return dest * COUNTERS + counter;
}

/* A packet arrived. Its data must have been stored before. */
static inline void tally_add(struct vic *card, struct tally *tally, uint32_t key, uint32_t count)
{
    uint32_t at = key * UINT32_C(0x9e3779b1) >> 26;
    uint64_t bit = UINT64_C(1) << at;
    if (!(tally->used & bit)) {
        tally->used |= bit;
        tally->key[at] = key;
        tally->count[at] = count;
    } else if (tally->key[at] == key && tally->count[at] <= UINT32_MAX / 2) { /* GCOVR_EXCL_BR_LINE a call of 32 GiB */
        tally->count[at] += count;
    } else {
        tally_count(card, tally->key[at], tally->count[at]);
        tally->key[at] = key;
        tally->count[at] = count;
    }
}

/* Words for the FIFO arrived. Nobody waits for the scratch counter: it counts where the call is looked at only. */
static inline void fifo_count(struct vic *card, uint32_t dest, unsigned counter, uint32_t count, struct tally *tally)
{
    if (counter != SCRATCH || card->watch != 0) {
        tally_add(card, tally, tally_key(dest, counter), count);
    }
}

/* ---- deliver.c */

/* Deliver a packet that packet_check has found good. False: a FIFO is full, nothing was done. */
bool deliver(struct vic *card, uint64_t header, uint64_t payload, struct tally *tally);
bool deliver_here(struct vic *card, uint64_t header, uint64_t payload, struct tally *tally); /* its card is of this host */

/* ---- fifo.c */

/* Put up to n words into the FIFO of a card; how many went in. A counter has to be counted afterwards. */
size_t fifo_push(struct vic *card, uint32_t dest, const uint64_t *words, size_t n);

/* The fault fifo-drop: a word arrives, is counted, and is lost in the FIFO. Which ones does not depend on how often a full
 * FIFO refuses one: is the next one lost, and if not, it went in. */
bool fifo_loses(struct vic *card, uint32_t dest);

static inline void fifo_keeps(struct vic *card)
{
    atomic_fetch_add(&functional_of(card)->fifo_words, 1);
}

/* True if the FIFO of a card takes a word now. */
bool fifo_has_space(const struct vic *card, uint32_t dest);

/* Wait until the FIFO of a card has a free slot. */
int fifo_wait_space(struct vic *card, uint32_t dest, uint64_t timeout_ns);

/* True if the FIFO of this card holds at least so many words. It takes none. */
bool fifo_holds(struct vic *card, size_t min);

/* True if a sender has taken places in the FIFO of this card and has not filled them.
 *
 * A sender reads the mark of sleepers (bell.h) when it has taken places, and not again when it has filled them: that saves
 * a locked instruction. A thread that is about to sleep sets the mark, calls this, and looks at the FIFO once more.
 *   false: a sender has filled its places before that look, or takes them later, sees the mark, and rings the bell.
 *   true: perhaps no bell rings, so the thread sleeps for FILLING_NS only. */
bool fifo_filling(const struct vic *card);

int functional_fifo_poll(struct vic *card, uint64_t *words, size_t max, size_t *n);
int functional_fifo_wait(struct vic *card, uint64_t *words, size_t min, size_t max, size_t *n,
                         uint64_t timeout_ns);

/* ---- pending.c: packets that have left their sender and not arrived.
 *
 * With --reorder all packets pass through here and leave in any order, at once or a little later; without,
 * only the rest of a DMA transfer that a full FIFO stopped. Every call of the card that waits or looks
 * delivers some; a thread, started with the first packet that is pending, does so when the program does
 * not call. */

/* VIC_OK, VIC_ESYS. */
int pending_open(struct vic *card);

/* Deliver all, but for packets whose FIFO is full and whose card is gone; end the thread. VIC_ETIMEDOUT, after saying how
 * many packets are lost: none could be delivered for CLOSE_TIMEOUT_NS. */
int pending_close(struct vic *card);
void pending_dispose(struct vic *card);

/* Keep packets, which are checked again; dma->left (if there is a transfer) counts those that have not been delivered.
 * With `wait`, return when few enough are left. VIC_OK, VIC_ESYS, the status of a check or of a wait. */
int pending_add(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n,
              struct transfer *dma, bool wait);

/* Keep the first packets, as many as there is room for. VIC_EAGAIN: not all. */
int pending_try(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *kept);

/* Some of what is pending will arrive: its card is there to take it. */
bool pending_coming(struct vic *card);

/* Deliver some. */
void pending_deliver(struct vic *card);

/* Call pending_deliver if anything is pending, which takes a load and a branch to find out. */
static inline void pending_progress(struct vic *card)
{
    size_t pending = atomic_load_explicit(&functional_of(card)->pending_count, memory_order_relaxed);
    if (__builtin_expect(pending != 0, 0)) {
        pending_deliver(card);
    }
}

/* ---- send.c */

/* Deliver packets from the first on until the FIFO of card *full is full; how many. Each is checked again, as another
 * thread may have changed the arrays: *status. */
size_t deliver_some(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, int *status,
                    uint32_t *full);

/* Headers from SRAM, block by block. check_block: are the packets good? `more`: NULL, or
 * the payloads of the whole call. */
typedef int block_function(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n,
                           void *more);
int each_block(struct vic *card, vic_addr_t at, const uint64_t *payloads, size_t n, block_function *what,
               void *more);
block_function check_block;

/* ---- wait_any.c: what vic_wait reports */
uint64_t any_ready(struct vic *card, uint64_t counters, size_t fifo_min);

/* ---- the rest of the table */
PROVIDER_CALLS(functional)
int functional_event_fd(struct vic *card, uint64_t counters, size_t fifo_min, int *fd);
int functional_event_fd_close(struct vic *card, int fd);

/* A word of SRAM: written whole, ordered by counters only. With PLAIN_WORDS a race detector sees them as
 * ordinary memory, and so whether a counter really orders them. */
static inline void word_store(_Atomic uint64_t *to, uint64_t word)
{
#ifdef PLAIN_WORDS
    *(uint64_t *)(void *)to = word;
#else
    atomic_store_explicit(to, word, memory_order_relaxed);
#endif
}

static inline uint64_t word_load(_Atomic uint64_t *from)
{
#ifdef PLAIN_WORDS
    return *(uint64_t *)(void *)from;
#else
    return atomic_load_explicit(from, memory_order_relaxed);
#endif
}

#if defined __x86_64__ && !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__ && !defined PLAIN_WORDS
#define WORDS_BY_INSTRUCTIONS 1 /* otherwise word by word, for sanitizers and compilers without these instructions */
#endif

/* Stores many words, each whole; what is stored afterwards is seen after them. With `rep movsq` the processor does not fetch
 * the lines that it overwrites: four times as fast into memory that another core has read. */
static inline void words_store(_Atomic uint64_t *to, const uint64_t *from, size_t n)
{
#ifdef WORDS_BY_INSTRUCTIONS
    if (n >= 64) {
        __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    }
#endif
    for (size_t i = 0; i < n; i++) {
        word_store(&to[i], from[i]);
    }
}

/* Loads many words, each whole. Not by `rep movsq`: where the words and their copies begin at about the same place of a page
 * it takes twice as long. */
static inline void words_load(uint64_t *to, _Atomic uint64_t *from, size_t n)
{
    size_t i = 0;
#ifdef WORDS_BY_INSTRUCTIONS
    for (; i + 8 <= n; i += 8) {
        __asm__ volatile("movdqu (%1), %%xmm0\n\tmovdqu 16(%1), %%xmm1\n\tmovdqu 32(%1), %%xmm2\n\tmovdqu 48(%1), %%xmm3\n\t"
                         "movdqu %%xmm0, (%0)\n\tmovdqu %%xmm1, 16(%0)\n\tmovdqu %%xmm2, 32(%0)\n\tmovdqu %%xmm3, 48(%0)"
                         : : "r"(to + i), "r"(from + i) : "memory", "xmm0", "xmm1", "xmm2", "xmm3");
    }
#endif
    for (; i < n; i++) {
        to[i] = word_load(&from[i]);
    }
}

#endif
