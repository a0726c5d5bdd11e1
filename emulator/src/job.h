/* job.h: the memory that the cards of a job share, and how a process finds it.
 *
 * The launcher makes it: a memfd, which has no name, so that nothing can be left behind and nobody can
 * attach who did not inherit it. Its size is sealed. The launcher holds a lock on its first byte (fcntl) as long as it
 * lives, and the owner of card N one on byte 1 + N; a process that has the descriptor asks for these locks. Programs inherit the descriptor over exec and find it by
 * VIC_JOB = "descriptor:nonce", for who joined "descriptor:nonce:place". Layout, each part at a multiple of 4096 bytes:
 *
 *     struct job_shared | struct card_shared x cards | FIFO ring x cards | trace x cards | SRAM x cards
 *                       | timed mode only: timed/shared.h
 *                       | on hosts (--hosts) only: ring to other hosts x cards of this one
 *
 * A job over several hosts has such a memory on each of them, with places for all cards. Of the cards of other hosts it
 * holds what the agent of this host has heard: whether they are open, and how much room their FIFOs have.
 *
 * Whatever is read from it may have been written by a peer that is broken or hostile. So the sizes are
 * checked and copied once, when the job is attached; an index that is read later is masked.
 */
#ifndef VIC_JOB_H
#define VIC_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"
#include "waits.h"

enum {
    JOB_LAYOUT = 23, /* changes with anything in this header, and with what hosts and joiners say: test_layout.py */
    JOB_FAULTS = 16,
    COUNTERS = 64,
    SCRATCH = 63,
    FIRST_RESERVED = 61, /* 61 and 62 are the barrier's */
    MOST_CARDS = 65536,  /* what a header can name */
    MOST_SRAM = 1 << 22, /* words, likewise */
    RING_WORDS = 1 << 17, /* of a ring to other hosts */
    RING_BATCH = 128,     /* packets that are written to it at once: 2 KiB of the stack */
    LINE = 128           /* two cache lines: neighbours are fetched together */
};

/* A time in which a card does not answer, or at which it dies. */
struct job_event {
    uint32_t card;
    uint64_t at_ns, for_ns;
};

/* The modelled hardware, for timed mode; models/host/pcie.h and models/network/network.h explain it. */
struct job_model {
    int64_t crossing_ps, load_ps, look_ps, pop_ps, setup_ps; /* pio_write, pio_read, poll_mirror, fifo_pop, dma_setup */
    int64_t store_rate, port_rate;                           /* B/s: pio_rate, port_rate */
    int64_t link_ps;
    uint32_t send_words, planes, angles;
    uint32_t spread; /* 1: cards may run on all cores; 0: on one */
};

/* What the launcher decides; the same on every card. */
struct job_config {
    uint32_t cards, mode; /* mode as in struct vic_attr */
    uint32_t sram_words;
    uint32_t counters; /* 4 .. 64: 0 .. counters - 4 for programs, 61, 62, 63 */
    uint32_t fifo_words, dma_entries;
    uint32_t fifo_depth; /* the fault of that name, in fifo_words already; 0: none */
    uint32_t reorder, check, stats; /* flags */
    uint32_t outlives;              /* flag: the job outlives its cards, which may come back */
    uint32_t trace_records;         /* per card, 0: no trace */
    uint32_t hosts, first, here;    /* 0: one machine; else how many, and this one's cards first .. first + here - 1 */
    uint64_t seed, reorder_seed;
    uint64_t dma_setup_ns, pcie_rate; /* nominal time of a transfer, for dma_slow; rate in bytes/s */
    double dma_slow;                  /* factor on the time of a transfer; 1: none */
    double fifo_drop, extra_polls;    /* probabilities */
    uint32_t stalls, kills;
    struct job_event stall[JOB_FAULTS], kill[JOB_FAULTS];
    struct job_model model;
};

/* Where threads sleep that wait for a card, see bell.h. */
struct bell {
    _Atomic uint32_t rung;     /* the futex */
    _Atomic uint32_t sleepers; /* 1: there may be some */
};

enum card_end { CARD_RUNS = 0, CARD_ENDED = 1, CARD_DIED = 2 };

#define JOB_OVER UINT32_MAX /* over hosts: the launcher of them all is gone, and nobody had died before */

enum { CLOSING_FAILS = 256 }; /* the process exits with another code than 0, and has not closed its card */

enum card_stat {
    STAT_CALLS,
    STAT_WORDS, /* sent */
    STAT_WAITS, /* that did not find what they waited for at once */
    STAT_SLEEPS,
    STAT_WAIT_NS,
    STAT_FIFO_PEAK,
    STAT_DROPPED, /* FIFO words lost by the fault */
    STATS
};

struct counter {
    _Alignas(LINE) _Atomic int64_t value;
    _Atomic uint32_t awaited;  /* bell.h */
    _Atomic uint32_t reported; /* VIC_CHECK has reported it */
};

struct card_shared {
    _Alignas(LINE) _Atomic uint64_t seat; /* the process that has the card, see seat_owner */
    _Atomic uint64_t since;               /* when that process began, see seat.h */
    _Atomic uint32_t end;                 /* enum card_end of its program, by the launcher */
    _Atomic uint32_t place;               /* who opens it must be of this place: the launcher counts who joined, and who was lost */
    _Atomic uint32_t closing;             /* it takes nothing any more, though it is not closed yet: 1, or CLOSING_FAILS + exit code */
    _Alignas(LINE) struct bell arrival;
    _Alignas(LINE) _Atomic uint64_t fifo_tail; /* functional/claims.h */
    _Atomic uint64_t fifo_voids;               /* places in the FIFO that will never be filled */
    _Atomic uint32_t fifo_awaited;             /* bell.h */
    _Alignas(LINE) _Atomic uint64_t fifo_head;
    struct bell space; /* of the FIFO, for blocked senders: a reader that moves the head rings it */
    _Alignas(LINE) _Atomic uint32_t barrier_mark; /* functional/claims.h */
    _Alignas(LINE) _Atomic uint64_t stat[STATS];
    _Alignas(LINE) struct card_wait wait[WAITS];
    _Atomic uint64_t slept_ns; /* when a wait, but to receive, last began or ended to sleep, in the time of the job */
    struct counter counter[COUNTERS];
};

struct job_shared {
    uint64_t magic;
    uint32_t layout;
    char version[20]; /* of the library that made it */
    uint64_t nonce, bytes;
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    int32_t launcher;  /* process */
    struct job_config config;
    _Alignas(LINE) _Atomic uint32_t poison; /* 1 + the card that died first; or JOB_OVER */
    _Atomic uint32_t ended;                 /* cards whose program has ended well */
    _Alignas(LINE) _Atomic uint64_t barrier; /* functional/claims.h */
    struct bell released;
    _Alignas(LINE) struct bell agent; /* of this host: programs have sent, or read from a FIFO */
};

struct fifo_slot {
    _Atomic uint64_t ticket; /* which word it is, functional/claims.h */
    _Atomic uint64_t word;
};

/* What the program of a card has sent to other hosts; functional/remote.h says how it is written. */
struct ring {
    _Alignas(LINE) _Atomic uint64_t tail; /* words that were ever written, by the program */
    _Alignas(LINE) _Atomic uint64_t head; /* and taken, by the agent */
    _Atomic uint32_t flying;              /* some of these have not been delivered yet, or not been answered */
    _Atomic uint32_t held;                /* words for the FIFO of the card have come, and wait for room */
    _Atomic uint32_t leaves;              /* how often the card has written RECORD_LEAVE */
    _Atomic uint32_t left;                /* the last of these that is answered */
    struct bell space;
    /* functional/claims.h: room in FIFOs of other hosts for what is about to be written behind `claimed_at` */
    _Alignas(LINE) _Atomic uint64_t claimed_at;
    _Atomic uint64_t noted;
    _Atomic uint32_t claims;
    _Atomic uint64_t claim[RING_BATCH];
    _Alignas(LINE) uint64_t word[RING_WORDS];
};

/* A job as this process sees it: checked copies and addresses. Lives until the process ends. */
struct job {
    struct job_shared *shared;
    struct job_config config;
    uint64_t nonce, bytes, start_ns; /* start_ns: in vichost set late, by any thread, hosts/agent.h */
    int launcher;  /* pidfd, readable when it is gone; -1: this process is it, or there was no descriptor to be had */
    bool is_launcher;
    _Atomic int fd;         /* by which the job was last attached, -1: loopback; see job_descriptor */
    uint64_t device, inode; /* of that */
    _Atomic uint64_t looked_ns;  /* when job_orphaned last looked */
    _Atomic bool orphaned;       /* the launcher is gone */
    uint32_t ring; /* slots of a FIFO, a power of two: fifo_words, and as many for what programs leave half done */
    struct card_shared *card;
    struct fifo_slot *slots;
    _Atomic uint64_t *fifo_known; /* per card: how far its FIFO had been read when this process last looked */
    unsigned char *traces;
    size_t trace_bytes;
    _Atomic uint64_t *sram;
    size_t sram_stride; /* words */
    unsigned char *timed;
    uint32_t first, here; /* the cards of this host: all of them, unless the job is over several */
    uint32_t straight;    /* of these, puts go straight into SRAM: all, or none (--reorder) */
    struct ring *rings;   /* of these, else none */
    struct job *next;
};

/* One card with the sizes of models/cards/data-vortex-8.toml, without faults. */
extern const struct job_config job_usual;

/* NULL, or what is wrong with a configuration, for a person. Static text. */
const char *job_config_fault(const struct job_config *config);

/* Can a launcher of this version ("major.minor.patch") and this one have a job together? If JOB_LAYOUT is the same. */
bool job_version_fits(const char *version);

/* Bytes of a job; needs a configuration without fault. */
uint64_t job_bytes(const struct job_config *config);

/* Make a job. The descriptor is inherited over exec. -1: the operating system refused, see errno. */
int job_create(const struct job_config *config, uint64_t nonce);

/* Map the job of a descriptor. The same nonce gives the same mapping, once per process. NULL: this library cannot join
 * it, and *reason is a static text that says why; or, with errno = ENOMEM, there is no memory. */
struct job *job_attach(int fd, uint64_t nonce, const char **reason);

/* True if the launcher is gone; a call of the system. job_orphaned asks at most every 20 ms, so it may be called often;
 * after the first true it is true for ever. */
bool job_launcher_has_ended(const struct job *job);
bool job_orphaned(struct job *job);

/* The descriptor of the job, to ask for locks; -1: there is none, or the program has closed it. */
int job_descriptor(const struct job *job);

/* True if job_orphaned was true before. It only loads, for calls that look once and find nothing. */
static inline bool job_known_orphaned(const struct job *job)
{
    return atomic_load_explicit(&job->orphaned, memory_order_relaxed);
}

/* One card without a launcher, made at the first call. NULL: no memory. */
struct job *job_loopback(void);

static inline struct fifo_slot *job_slots(const struct job *job, uint32_t card)
{
    return job->slots + (size_t)card * job->ring;
}

static inline _Atomic uint64_t *job_sram(const struct job *job, uint32_t card)
{
    return job->sram + card * job->sram_stride;
}

static inline bool job_is_here(const struct job *job, uint32_t card)
{
    return card - job->first < job->here;
}

/* For a card of this host, in a job over several hosts. */
static inline struct ring *job_ring(const struct job *job, uint32_t card)
{
    return &job->rings[card - job->first];
}

static inline struct trace_head *job_trace(const struct job *job, uint32_t card)
{
    return (struct trace_head *)(void *)(job->traces + card * job->trace_bytes);
}

/* card_shared.seat: how often the card was opened or left, and the process that has it open, 0: none. One word,
 * so that an opening is counted with it, whoever dies when. The count is odd while the card is open. */
static inline uint32_t seat_owner(uint64_t seat)
{
    return (uint32_t)seat;
}

static inline uint32_t seat_opens(uint64_t seat)
{
    return (uint32_t)(seat >> 32);
}

/* The card is open, for this process; whoever had it before has left it. */
static inline uint64_t seat_taken(uint64_t seat, uint32_t process)
{
    return (uint64_t)((seat_opens(seat) | 1) + (seat_opens(seat) & 1) * 2) << 32 | process;
}

/* This process leaves the card; false: it does not have it. */
static inline bool seat_leave(struct card_shared *card, uint32_t process)
{
    uint64_t seat = atomic_load(&card->seat);
    while (process != 0 && seat_owner(seat) == process) {
        if (atomic_compare_exchange_weak(&card->seat, &seat, (uint64_t)(seat_opens(seat) + 1) << 32)) {
            return true;
        }
    }
    return false;
}

/* The program of a card has ended, and no process has the card or will open it, though it never was: it counts as opened
 * and left. A process that opens it all the same keeps it. */
static inline void seat_end(struct card_shared *card)
{
    uint64_t never = 0;
    atomic_compare_exchange_strong(&card->seat, &never, UINT64_C(2) << 32);
}

/* The program of a card has ended, and no process that it left behind has the card open. */
static inline bool card_is_left(const struct card_shared *card)
{
    uint32_t end = atomic_load(&card->end);
    return end == CARD_DIED || (end == CARD_ENDED && seat_owner(atomic_load(&card->seat)) == 0);
}

/* The counters of a card as a set of bits. */
static inline uint64_t job_counters(const struct job_config *config)
{
    uint64_t usable = (UINT64_C(1) << (config->counters - 3)) - 1;
    return usable | UINT64_C(7) << FIRST_RESERVED;
}

uint64_t job_clock_ns(void); /* CLOCK_MONOTONIC */

/* The time of the job. */
static inline uint64_t job_time_ns(const struct job *job)
{
    return job_clock_ns() - __atomic_load_n(&job->start_ns, __ATOMIC_ACQUIRE);
}

/* Say, once for each counter, that it read this when a packet of the card `from` came. */
void check_report(const struct job *job, uint32_t card, unsigned counter, int64_t read, uint32_t from);

/* Is this variable in the environment, and neither empty nor 0? */
bool job_asked(const char *name);

#endif
