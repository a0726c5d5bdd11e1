/* watch.h: looking at calls from outside: --stats, --trace, VIC_DEBUG, and the fault `stall`. All of it stands behind
 * one branch that is not taken when nothing of it is asked for.
 */
#ifndef VIC_WATCH_H
#define VIC_WATCH_H

#include "handle.h"

/* Every call that a trace shows, with its name in it. */
#define CALLS(X)                                                                                            \
    X(COMPUTE, compute_ns) X(RELAX, relax) X(WRITE, write) X(READ, read) X(SEND, send)                      \
    X(SEND_CACHED, send_cached) X(DMA_SEND, dma_send) X(PUT, put) X(DMA_READ, dma_read) X(DMA_TEST, dma_test) \
    X(DMA_WAIT, dma_wait) X(COUNTER_SET, counter_set) X(COUNTER_GET, counter_get)                           \
    X(COUNTER_WAIT, counter_wait) X(FIFO_POLL, fifo_poll) X(FIFO_WAIT, fifo_wait) X(BARRIER, barrier) X(WAIT, wait)                   \
    X(GET, get) X(PUT_STRIDED, put_strided) X(PUT_INDEXED, put_indexed) X(TRY_SEND, try_send)     \
    X(EVENT_FD, event_fd) X(EVENT_FD_CLOSE, event_fd_close)

enum call_kind {
#define CALL_KIND(upper, lower) CALL_##upper,
    CALLS(CALL_KIND)
#undef CALL_KIND
    CALL_KINDS
};

static inline const char *call_name(uint32_t call)
{
#define CALL_NAME(upper, lower) "vic_" #lower,
    static const char *const names[] = {CALLS(CALL_NAME)};
#undef CALL_NAME
    return call < CALL_KINDS ? names[call] : "?";
}

static inline bool call_sends(uint32_t call)
{
    return call == CALL_SEND || call == CALL_SEND_CACHED || call == CALL_DMA_SEND || call == CALL_PUT ||
           call == CALL_PUT_STRIDED || call == CALL_PUT_INDEXED || call == CALL_GET || call == CALL_TRY_SEND;
}

/* What is watched in a job, as WATCH_ bits. */
uint32_t watch_of(const struct job_config *config, uint32_t card);

/* Before a call: waits while the card is stalled; returns the time. VIC_DEBUG: keeps the arguments as text until watch_end,
 * their names as in debug.h: an array, as a call with many arguments makes the unwatched one save registers. */
uint64_t watch_begin(struct vic *card, const char *names, const int64_t *values);
void watch_end(struct vic *card, enum call_kind call, uint64_t began_ns, size_t words, int status);

/* The number of this thread in the trace. */
uint32_t watch_thread(void);

/* `count` packets reached a card, whose counter then read `value`; the FIFO of a card held `words`. */
void watch_packets(struct vic *card, uint32_t dest, unsigned counter, uint64_t count, int64_t value);
void watch_fifo(struct vic *card, uint32_t dest, uint64_t words);

/* VIC_DEBUG: log a call that was refused for its arguments; vic_error_detail has the reason. Returns its status. */
int watch_refused(const struct vic *card, int status) FAIL_COLD;

/* Return `operation`, a call of the provider, from the present function. Behind it the arguments of the call, their names
 * first. */
#define WATCHED(card, call, words, operation, names, ...)                                                          \
    do {                                                                                                    \
        if (__builtin_expect((card)->watch == 0, 1)) {                                                      \
            return (operation);                                                                             \
        }                                                                                                   \
        uint64_t began_ns_ = watch_begin(card, names, (const int64_t[]){__VA_ARGS__});                      \
        int status_ = (operation);                                                                          \
        watch_end(card, call, began_ns_, words, status_);                                                   \
        return status_;                                                                                     \
    } while (0)

/* Define a call of vic.h: `operation`, unless something that is `needed` is NULL, or an argument is `wrong`: then `refusal`.
 * What is watched, or another card than that of the thread's last call, is a function of its own, so that the call saves no registers for
 * it. */
#define CALL(name, parameters, arguments, needed, wrong, refusal, operation, call, words, names, ...)       \
    FAIL_COLD static int watched_##name parameters                                                          \
    {                                                                                                       \
        uint64_t began_ns_ = watch_begin(card, names, (const int64_t[]){__VA_ARGS__});                      \
        int status_ = (operation);                                                                          \
        watch_end(card, call, began_ns_, words, status_);                                                   \
        return status_;                                                                                     \
    }                                                                                                       \
    FAIL_COLD static int marked_##name parameters                                                           \
    {                                                                                                       \
        if (card == NULL) {                                                                                 \
            return fail_null(true, #needed);                                                                \
        }                                                                                                   \
        call_mark_write(card);                                                                              \
        return name arguments;                                                                              \
    }                                                                                                       \
    int name parameters                                                                                     \
    {                                                                                                       \
        if (__builtin_expect(!call_is_of(card), 0)) {                                                       \
            return marked_##name arguments;                                                                 \
        }                                                                                                   \
        NEED_MARKED(card, needed, #needed);                                                                \
        if (wrong) {                                                                                        \
            return (refusal);                                                                               \
        }                                                                                                   \
        return __builtin_expect(card->watch != 0, 0) ? watched_##name arguments : (operation);              \
    }

#endif
