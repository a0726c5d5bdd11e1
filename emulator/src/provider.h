/* provider.h: the seam between the calls of vic.h and what carries them out.
 *
 * vic.h's functions check their arguments and call the provider of the job's mode. A provider is one table:
 *
 *     functional   shared memory, as fast as the machine allows (functional/)
 *     timed        the modelled hardware in virtual time (timed/)
 *     hardware     a third one would drive real cards through the same table
 *
 * What a provider can rely on: the card is open and its job attached, no pointer is NULL, ranges of this
 * card's SRAM, `dest` and `counter` of put and the counter calls exist, min <= max and min <= fifo_words,
 * and wait_any has something to wait for.
 * What it has to check itself: headers (packet.h has the function), before anything is sent. Every operation
 * may be called by several threads at a time. Book-keeping that no hardware takes part in (vic_alloc,
 * counters that are allocated, the table of transfers) is not a provider's business.
 */
#ifndef VIC_PROVIDER_H
#define VIC_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#include "vic.h"

struct transfer; /* handle.h */

#define CLOSE_TIMEOUT_NS UINT64_C(10000000000)

struct provider {
    const char *name;

    /* Set up what the provider needs for this card (card->own), VIC_OK or VIC_ESYS; take it down again. close
     * delivers what is still pending, VIC_OK, or gives that up after CLOSE_TIMEOUT_NS without any of it getting anywhere,
     * VIC_ETIMEDOUT, and says so on stderr. Other threads may still be in a call of this card: what they use must stay
     * valid until dispose, which is called when nobody has known the handle for long. */
    int (*open)(vic_t *card);
    int (*close)(vic_t *card);
    void (*dispose)(vic_t *card);

    uint64_t (*peer_opens)(const vic_t *card, uint32_t peer);
    uint64_t (*time_ns)(const vic_t *card);
    int (*compute)(vic_t *card, uint64_t ns);
    void (*relax)(vic_t *card);

    int (*write)(vic_t *card, vic_addr_t addr, const uint64_t *words, size_t n);
    int (*read)(vic_t *card, vic_addr_t addr, uint64_t *words, size_t n);
    /* How many words read() has sooner than a transfer. */
    size_t (*read_most)(const vic_t *card);

    int (*send)(vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n);
    /* As send, without a wait for a FIFO: *sent packets have left, the first ones, whatever the status; it was 0.
     * VIC_EAGAIN: one could not; if nobody will make room, the status that a wait for it has. */
    int (*try_send)(vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *sent);
    int (*send_cached)(vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n);
    int (*put)(vic_t *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n, unsigned counter);

    /* Start a transfer. dma_done: 1 done, 0 not yet, or a status below 0; it may be called again. dma_wait: VIC_OK when
     * done, or the status of a wait; the handle is freed by the caller. */
    int (*dma_send)(vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n, struct transfer *dma);
    int (*dma_read)(vic_t *card, uint64_t *host, vic_addr_t addr, size_t n, struct transfer *dma);
    int (*dma_done)(vic_t *card, struct transfer *dma);
    int (*dma_wait)(vic_t *card, struct transfer *dma, uint64_t timeout_ns);

    int (*counter_set)(vic_t *card, unsigned counter, int64_t n);
    int (*counter_get)(vic_t *card, unsigned counter, int64_t *n);
    int (*counter_wait)(vic_t *card, unsigned counter, uint64_t timeout_ns);

    /* *ready as vic_wait has it; 0 unless VIC_OK. */
    int (*wait_any)(vic_t *card, uint64_t counters, size_t fifo_min, uint64_t *ready, uint64_t timeout_ns);

    /* A descriptor as vic_event_fd has it; NULL: this mode has none. */
    int (*event_fd)(vic_t *card, uint64_t counters, size_t fifo_min, int *fd);
    int (*event_fd_close)(vic_t *card, int fd);

    int (*fifo_poll)(vic_t *card, uint64_t *words, size_t max, size_t *n);
    int (*fifo_wait)(vic_t *card, uint64_t *words, size_t min, size_t max, size_t *n, uint64_t timeout_ns);

    int (*barrier)(vic_t *card, uint64_t timeout_ns);
};

/* The calls of a provider that stand in other files than its table. */
#define PROVIDER_CALLS(name)                                                                                \
    int name##_send(vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n);              \
    int name##_try_send(vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *sent); \
    int name##_send_cached(vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n);            \
    int name##_put(vic_t *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n, unsigned counter); \
    int name##_dma_send(vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n, struct transfer *dma); \
    int name##_dma_read(vic_t *card, uint64_t *host, vic_addr_t addr, size_t n, struct transfer *dma);      \
    int name##_dma_done(vic_t *card, struct transfer *dma);                                                 \
    int name##_dma_wait(vic_t *card, struct transfer *dma, uint64_t timeout_ns);                            \
    int name##_wait_any(vic_t *card, uint64_t counters, size_t fifo_min, uint64_t *ready, uint64_t timeout_ns); \
    int name##_barrier(vic_t *card, uint64_t timeout_ns);

extern const struct provider functional_provider, timed_provider;

/* The provider of a mode (as in struct vic_attr), or NULL. */
const struct provider *provider_of(uint32_t mode);

#endif
