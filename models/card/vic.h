/* vic.h: the Vortex Interface Card, word by word.
 *
 * SRAM, 64 group counters, a surprise FIFO of finite depth, two DMA engines (one for packets that are sent,
 * one that reads SRAM into node memory), and what waits for the fabric:
 *
 *     host --stores--> | queue of stored packets  |
 *     host --engine--> | queue of fetched packets | --> port --> fabric --> arrive
 *     queries -------> | queue of replies         |
 *
 * The card is passive: whoever owns it calls it in the order of time, in integer picoseconds, when something
 * reaches the card; moves the engines on (dvsim_vic_move), which happens at slots of the fabric; and takes
 * packets for the fabric. What the host can see in its own memory is told one crossing of PCIe after it
 * happened (dvsim_vic_observer). Replies go first, stored and fetched packets take turns.
 *
 * A packet for the FIFO of a card leaves only if a place in it is free, which is then kept for it
 * (dvsim_vic_reserve): a full FIFO holds back the packets of its senders, and those behind them. That
 * stands for the credits of the fabric and is assumed, as is that they are known at once. Nothing is ever lost.
 *
 * A packet that a card could not carry out (its header was overwritten) is dropped and counted. Not
 * thread-safe: one simulation owns a card.
 */
#ifndef DVSIM_CARD_VIC_H
#define DVSIM_CARD_VIC_H

#include "card/header.h"
#include "host/pcie.h"

enum { DVSIM_COUNTERS = 64 };

/* What the host sees. index, value: */
typedef enum {
    DVSIM_VIC_COUNTER, /* counter; what it reads */
    DVSIM_VIC_PRESET,  /* the same, because of a dvsim_vic_preset */
    DVSIM_VIC_FIFO,    /* 0; a word */
    DVSIM_VIC_TAKEN,   /* 0; stored packets that have left the queue since dvsim_vic_create */
    DVSIM_VIC_LOADED,  /* tag; a word of a load */
    DVSIM_VIC_MOVED,   /* tag; a word of a transfer out of SRAM */
    DVSIM_VIC_DONE     /* tag; 0: a transfer is done */
} dvsim_vic_event;

typedef void dvsim_vic_observer(void *context, int64_t at_ps, dvsim_vic_event what, uint32_t index, uint64_t value);

typedef struct {
    uint32_t number, cards;  /* of this card, of all */
    uint64_t *sram;          /* of the caller */
    uint32_t sram_words;     /* 1 .. 2^22 */
    uint64_t counters;       /* those that exist, as bits */
    uint32_t fifo_words;     /* at least 1 */
    uint32_t send_words;     /* of each queue of packets that wait, at least 1 */
    double engine_slow;      /* factor on the time of a transfer, at least 1: a fault */
    dvsim_pcie pcie;
    dvsim_vic_observer *observe;
    void *context;
} dvsim_vic_params;

typedef struct {
    uint64_t header, payload;
    int64_t given_ps; /* when it, or its transfer, reached the card; -1: no program gave it, as with a reply */
} dvsim_vic_packet;

typedef struct {
    int64_t arrived, refused, unexpected; /* packets; of these dropped; and those that read a counter at <= 0 */
    int64_t fifo_peak;
} dvsim_vic_counts;

typedef struct dvsim_vic dvsim_vic;

/* NULL: out of range, or no memory. */
dvsim_vic *dvsim_vic_create(const dvsim_vic_params *params);
void dvsim_vic_free(dvsim_vic *vic);

/* ---- what the host's stores do when they reach the card. DVSIM_EINVAL: no such word or counter. */
int dvsim_vic_store(dvsim_vic *vic, uint32_t addr, uint64_t word);
int dvsim_vic_preset(dvsim_vic *vic, int64_t now_ps, uint32_t counter, int64_t value);
int dvsim_vic_load(dvsim_vic *vic, int64_t now_ps, uint32_t addr, uint32_t tag); /* told at now + load - crossing */
void dvsim_vic_popped(dvsim_vic *vic, uint32_t words);                          /* places of the FIFO are free */

/* A packet, its header given or in SRAM. DVSIM_ESTATE: the queue is full; the host has counted wrongly. */
int dvsim_vic_send(dvsim_vic *vic, int64_t now_ps, uint64_t header, uint64_t payload);
int dvsim_vic_send_cached(dvsim_vic *vic, int64_t now_ps, uint32_t addr, uint64_t payload);

/* 1 if this is a packet that the card sends: a known operation, a card, counter and address that exist, and for
 * a query a reply that is one, too. */
int dvsim_vic_can_send(const dvsim_vic *vic, uint64_t header, uint64_t payload);

/* ---- transfers. The payloads are copied; headers wait in SRAM from `headers` on, or count up from one header
 * (`put`). DVSIM_EINVAL: a range that does not exist. DVSIM_ENOMEM: no memory. */
int dvsim_vic_engine_send(dvsim_vic *vic, int64_t now_ps, uint32_t tag, uint32_t headers, const uint64_t *payloads,
                          uint32_t words);
int dvsim_vic_engine_put(dvsim_vic *vic, int64_t now_ps, uint32_t tag, uint64_t header, const uint64_t *payloads,
                         uint32_t words);
int dvsim_vic_engine_read(dvsim_vic *vic, int64_t now_ps, uint32_t tag, uint32_t addr, uint32_t words);

/* As dvsim_vic_engine_read, by a further entry of a table that is loaded: without the setup. */
int dvsim_vic_engine_entry(dvsim_vic *vic, int64_t now_ps, uint32_t tag, uint32_t addr, uint32_t words);

/* For a host that has no place for more: the engine that reads stops when it has moved so many words in all
 * since dvsim_vic_create. At first it never does. */
void dvsim_vic_allow(dvsim_vic *vic, int64_t now_ps, int64_t words);

/* When an engine can move its next word, INT64_MAX: not before something else happens. Move what is due. */
int64_t dvsim_vic_due_ps(const dvsim_vic *vic);
void dvsim_vic_move(dvsim_vic *vic, int64_t now_ps);

/* ---- the port. The packet that is to leave next, NULL: none; `free_at` says whether a card has a place in its
 * FIFO. When it has left: dvsim_vic_took, then dvsim_vic_reserve at the target of a FIFO packet. */
typedef int dvsim_vic_free_at(void *context, uint32_t card);
const dvsim_vic_packet *dvsim_vic_offer(dvsim_vic *vic, dvsim_vic_free_at *free_at, void *context);
void dvsim_vic_took(dvsim_vic *vic, int64_t now_ps);
int dvsim_vic_waits(const dvsim_vic *vic); /* 1 if any packet waits here */
const dvsim_vic_packet *dvsim_vic_held(const dvsim_vic *vic); /* a stored packet that is first in its queue, or NULL */

int64_t dvsim_vic_fifo_words(const dvsim_vic *vic); /* that are in the FIFO */
int dvsim_vic_has_place(const dvsim_vic *vic);
void dvsim_vic_reserve(dvsim_vic *vic);

/* A packet comes out of the fabric. `lose`: a FIFO word is lost, by a fault. DVSIM_ENOMEM: no memory
 * for a reply. */
int dvsim_vic_arrive(dvsim_vic *vic, int64_t now_ps, const dvsim_vic_packet *packet, int lose);

int64_t dvsim_vic_counter(const dvsim_vic *vic, uint32_t counter);
dvsim_vic_counts dvsim_vic_counts_now(const dvsim_vic *vic);

#endif
