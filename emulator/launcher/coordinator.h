/* coordinator.h: time in a timed job. It carries out what the cards have posted, moves packets through the
 * network slot by slot, and lets each card go on as far as everything that it can see is known.
 *
 *     A store needs one crossing of PCIe to reach the card, and what happens in the card is seen one crossing
 *     later. So if no program does anything before H, cards and network can be carried forward to H + crossing,
 *     and programs may go on to H + 2 crossings. H is the least of what the cards have said they do next.
 *
 * All order is by (time, kind, card, number), never by who came first on the machine.
 */
#ifndef VICRUN_COORDINATOR_H
#define VICRUN_COORDINATOR_H

#include <pthread.h>
#include <stdio.h>

#include "card/vic.h"
#include "network/network.h"
#include "timed/model.h"
#include "timed/shared.h"

/* Ends the program of a card, by the fault `kill`. */
typedef void coordinator_kill(void *context, uint32_t card);

enum event_order { ORDER_ARRIVAL, ORDER_POST }; /* of the same time; a slot of the fabric comes after them */

struct event {
    uint32_t order, card; /* of a packet: where it comes from */
    uint32_t done;        /* items */
    struct post post;
    dvsim_vic_packet packet;
    uint64_t *staged; /* owned */
    uint64_t word[];
};

/* An event and its place in the order of all. */
struct due {
    int64_t at_ps;
    uint64_t rank; /* order, card, number */
    struct event *event;
};

struct side { /* a card, as the coordinator sees it */
    struct coordinator *coord;
    uint32_t number;
    dvsim_vic *vic;
    struct timed_card *shared;
    int64_t next_ps; /* NEVER, or when its program does something next */
    int64_t end_ps;  /* its program has ended; NEVER */
    bool wake, coming, goes, ran; /* ran: next_ps is not up to date */
    bool complained;
    uint64_t closed_ns;  /* wall clock: it is closed or away since then, and might come back */
    uint64_t fifo_words;
    uint64_t *staged;
    size_t staged_words, staged_capacity;
    bool in_barrier;
    uint32_t barrier_tag;
    int64_t barrier_ps;
};

struct flight {
    dvsim_vic_packet packet;
    uint32_t from;
    int64_t next_free;
};

struct coordinator {
    struct job *job;
    uint32_t cards;
    struct side *side;
    uint64_t *sram; /* of all cards, one after another */
    dvsim_pcie pcie;
    int64_t ahead_ps; /* model_ahead_ps */
    int64_t slot_ps, link_slots;
    dvsim_network *network;
    int64_t next_slot;
    struct flight *flights;
    size_t flights_capacity, landed_capacity;
    int64_t free_flight, in_flight;
    int64_t *landed, landed_count, landed_done; /* flights that arrive at landed_ps, by the cards they come from */
    int64_t landed_ps;
    uint32_t *landed_from; /* [cards + 1] */
    struct due *heap;
    size_t events, heap_capacity;
    uint64_t numbers;
    int64_t sim_ps;   /* cards and network are simulated up to here */
    int64_t bound_ps; /* and may be simulated up to here */
    int64_t last_ps;  /* when something last happened */
    int64_t still_ps; /* is_still: nothing has moved since then, */
    uint64_t still_print; /* as this shows */
    bool pause;       /* a card has to take its news first */
    bool check, deadlock, failed, kill_pending;
    int refused; /* why it failed, of models/, if it was not memory: DVSIM_EINVAL, DVSIM_ESTATE */
    int64_t hop_ps;   /* a word from host to host, for the barrier */
    uint64_t kills;   /* bit i: the fault `kill` i is done */
    uint64_t hash, deliveries, windows, slots, draws;
    uint64_t late; /* posts that came when their time was past: must be 0 */
    coordinator_kill *kill;
    void *context;
    _Atomic bool stop; /* all programs have ended */
    pthread_t thread;
    bool started;
};

/* NULL: there is no memory, which was printed. `kill` is called by the coordinator's thread. */
struct coordinator *coordinator_make(struct job *job, coordinator_kill *kill, void *context);
int coordinator_start(struct coordinator *coord, int core); /* on a core, -1: any; 0, or an errno */

/* A program has ended; card_shared.end has the way. */
void coordinator_kick(const struct job *job);

/* Call it when all programs have ended: lets all packets arrive, and ends the thread. True: there was a deadlock. */
bool coordinator_finish(struct coordinator *coord);
void coordinator_report(const struct coordinator *coord, FILE *file);
void coordinator_free(struct coordinator *coord);

static inline uint64_t *sram_of(const struct coordinator *coord, uint32_t card)
{
    return coord->sram + (size_t)card * coord->job->config.sram_words;
}

static inline size_t sram_bytes(const struct coordinator *coord)
{
    return (size_t)coord->cards * coord->job->config.sram_words * sizeof *coord->sram;
}

static inline uint32_t state_of(const struct side *side)
{
    return atomic_load(&side->shared->state);
}

/* A time that a program wrote, read once. NEVER if it is negative, or so large that a sum would overflow. */
static inline int64_t time_of(const int64_t *written)
{
    int64_t ps = *(const volatile int64_t *)written;
    return ps >= 0 && ps < NEVER - NEVER / 4 ? ps : NEVER;
}

static inline bool is_stopped(const struct side *side)
{
    return state_of(side) == CARD_STOPPED;
}

static inline bool has_ended(const struct side *side)
{
    return atomic_load(&side->coord->job->card[side->number].end) != CARD_RUNS;
}

/* Take what other hosts sent. Returns the bell as it was before. */
uint32_t coordinator_look(struct coordinator *coord);

/* Wait until the bell is no longer `seen`, 100 ms at most. Returns how long that took, in ns. */
uint64_t coordinator_sleep(struct coordinator *coord, uint32_t seen);

/* ---- coordinator_stuck.c: waits that cannot end well */
void ends_stop_waits(struct coordinator *coord, int64_t at_ps, int status);
void ends_announce_deaths(struct coordinator *coord);
int64_t ends_kill_due(struct coordinator *coord, int64_t least_ps); /* no card may pass the time that it returns */
void ends_when_idle(struct coordinator *coord);

/* ---- coordinator_events.c */
void events_add(struct coordinator *coord, int64_t at_ps, struct event *event);
int64_t events_next_ps(const struct coordinator *coord); /* NEVER: there is none */
void events_do(struct coordinator *coord); /* the first */
void events_read_posts(struct side *side);

/* ---- coordinator_fabric.c */
bool fabric_make(struct coordinator *coord);
int64_t fabric_next_ps(struct coordinator *coord); /* of the next slot in which something moves, NEVER */
void fabric_slot(struct coordinator *coord, int64_t now_ps);
int64_t fabric_landed_ps(const struct coordinator *coord); /* NEVER: nothing has */
void fabric_land(struct coordinator *coord);               /* the first that has */
void fabric_arrive(struct coordinator *coord, int64_t at_ps, uint32_t from, const dvsim_vic_packet *packet);
bool fabric_chance(struct coordinator *coord, double probability);

dvsim_vic_observer news_observe; /* context: a side */
void news_add(struct side *side, int64_t at_ps, uint32_t what, uint32_t index, uint64_t value);
void news_apply_all(struct side *side); /* to the view of a card that no process has open */

/* ---- coordinator_barrier.c */
void barrier_enter(struct side *side, int64_t at_ps, uint32_t tag);
bool barrier_leave(struct side *side); /* false: too late */
void barrier_ended(struct coordinator *coord); /* a program has ended */

void report_deadlock(const struct coordinator *coord);
void report_waiting(const struct coordinator *coord, uint32_t card);

#endif
