/* shared.h: what the process of a card and the coordinator of a timed job share, beside job.h.
 *
 * The two take turns: a card that runs (state CARD_RUNNING) owns its part, else the coordinator does. So the
 * rings need no atomics; the words that hand over do. The coordinator trusts nothing that it finds here: sizes
 * are its own, indices are masked, packets are checked.
 *
 *     posts   from the card: what its calls do, each with the time at which it reaches the card
 *     news    to the card: what its host can see, each with the time from which on
 *
 * Times are model time in picoseconds.
 */
#ifndef VIC_TIMED_SHARED_H
#define VIC_TIMED_SHARED_H

#include "job.h"

enum {
    POST_WORDS = 1 << 14, /* of the ring of posts */
    POST_MOST = 2048,     /* words behind one post */
    NEWS_ROOM = 1 << 13,
    WATCHED_MOST = 16, /* threads of a card whose waits the coordinator knows */
    MOVES_KEPT = 16    /* openings and closings of a card that are told apart in two crossings */
};
#define NEVER INT64_MAX

enum card_state {
    CARD_ABSENT,  /* has not been open */
    CARD_COMING,  /* a thread waits to be let in: the first, or after a time away */
    CARD_LATE,    /* stopped, and meanwhile a thread has come that was outside of model time */
    CARD_RUNNING, /* the card's turn */
    CARD_STOPPED, /* it has nothing to do before `next_ps` */
    CARD_AWAY,    /* all its threads do something else, outside of model time, which waits a moment */
    CARD_CLOSED   /* it may be opened again at `next_ps`; likewise */
};

/* A post: this, then `words` words. */
enum post_kind {
    POST_STORE,   /* words to SRAM word `a` .. */
    POST_PRESET,  /* counter a; one word */
    POST_LOAD,    /* `count` words from SRAM word a; tag b */
    POST_SEND,    /* headers and payloads, by turns */
    POST_CACHED,  /* payloads; headers from SRAM word a */
    POST_POPPED,  /* `count` words were taken from the FIFO */
    POST_STAGE,   /* payloads of the transfer that follows */
    POST_ENGINE_SEND, /* headers from SRAM word a; tag b; count */
    POST_ENGINE_PUT,  /* the first header is the word that follows; tag b; count */
    POST_ENGINE_READ, /* `count` words from SRAM word a; tag b */
    POST_CHECK,   /* are `count` headers from SRAM word a good? payloads are staged; the thread waits */
    POST_BARRIER, /* the card is in; tag b */
    POST_BARRIER_LEFT, /* or would like not to have been; the thread waits for an answer */
    POST_KINDS
};
struct post {
    int64_t at_ps, step_ps; /* the first is there at at_ps, the others step_ps apart */
    uint32_t kind, words;
    uint32_t a, b;
    uint64_t count;
};
enum { POST_HEAD = sizeof(struct post) / sizeof(uint64_t) };

struct news {
    int64_t at_ps;
    uint32_t what, index; /* dvsim_vic_event of models/card/vic.h, or: */
    uint64_t value;
};
enum { NEWS_RELEASED = 16 }; /* index: tag of the entry into the barrier; value: status */

enum { /* what is waited for and is no news: other threads of the process have to do it */
    WATCH_BARRIER = 64, /* leave the barrier */
    WATCH_THREAD,       /* end; index: its id */
    WATCH_SLOT         /* change something; index: where, see threads/hooks.h */
};

/* What a thread waits for, so that the coordinator need not wake it for anything else. Wrong news wake it for
 * nothing; that changes no result. */
struct watched {
    uint32_t what, index;
    uint64_t least; /* of the value, or of all FIFO words ever told */
};

/* What the host can see, as of its own clock. */
struct view {
    int64_t counter[COUNTERS];
    uint32_t presets[COUNTERS]; /* on their way: what the card said before is old */
    uint64_t sent, taken;       /* stored packets, and those that left the card's queue */
    uint64_t fifo_in, fifo_out; /* words, ever */
};

struct timed_card {
    _Alignas(LINE) _Atomic uint32_t go; /* futex of the card: its turn */
    _Atomic uint32_t state;
    /* of the card, when it stops */
    int64_t next_ps;  /* no thread does anything before, unless news come; NEVER */
    int64_t now_ps;   /* the latest clock of its threads, and time of news that they know */
    uint32_t urgent;  /* it only needs room for posts, or the answer to a check */
    uint32_t watches; /* more than WATCHED_MOST: any news wake it */
    struct watched watched[WATCHED_MOST];
    uint32_t lost; /* threads that do something else since they lost their turn, and may come back */
    int64_t endless_ps; /* since then all its threads are in waits without timeout, perhaps in parts; NEVER: they are not */
    uint32_t unhooked; /* flag: libvic-threads.so is not in its program */
    uint64_t looks, unstated_ns, lost_threads; /* polls; CPU time between calls that nobody said */
    /* of the coordinator, when it lets the card run */
    int64_t until_ps; /* all news before are there */
    int64_t stop_ps;  /* from then on waits end with stop_status; NEVER */
    int32_t stop_status;
    int64_t floor_ps;    /* a thread that comes late acts then or later */
    uint32_t answers;    /* to checks and barriers left, ever */
    int32_t answer;
    uint32_t epoch; /* how often it was opened: tags of others are old */
    /* of the card, for all: how often it was opened or closed, and when, the last times */
    _Atomic uint32_t moves;
    _Atomic int64_t move_ps[MOVES_KEPT];
    bool move_skipped;
    uint32_t post_head, post_tail, news_head, news_tail;
    struct view view;
    uint64_t post[POST_WORDS];
    struct news news[NEWS_ROOM];
    uint64_t fifo[]; /* job.ring words */
};

struct timed_shared {
    _Alignas(LINE) _Atomic uint32_t bell; /* futex of the coordinator: look again */
    _Atomic uint32_t running;             /* cards */
    _Alignas(LINE) _Atomic uint32_t coordinated; /* there is a coordinator */
};

static inline uint64_t timed_card_bytes(uint32_t ring)
{
    return (sizeof(struct timed_card) + ring * sizeof(uint64_t) + 4095) / 4096 * 4096;
}

static inline struct timed_shared *timed_shared_of(const struct job *job)
{
    return (struct timed_shared *)(void *)job->timed;
}

static inline struct timed_card *timed_card_of(const struct job *job, uint32_t card)
{
    return (struct timed_card *)(void *)(job->timed + 4096 + card * timed_card_bytes(job->ring));
}

/* The card was opened or closed. */
static inline void timed_move(struct timed_card *card, int64_t at_ps)
{
    uint32_t moves = atomic_load(&card->moves);
    atomic_store(&card->move_ps[moves % MOVES_KEPT], at_ps);
    atomic_store(&card->moves, moves + 1);
}

/* It was closed; who asks knows of it `delay_ps` later. A time that somebody may still look at is not overwritten: rather
 * nobody hears of this closing and the next opening. */
static inline void timed_move_closed(struct timed_card *card, int64_t at_ps, int64_t delay_ps)
{
    uint32_t moves = atomic_load(&card->moves);
    int64_t oldest_ps = atomic_load(&card->move_ps[(moves + 1) % MOVES_KEPT]);
    card->move_skipped = moves + 2 > MOVES_KEPT && oldest_ps > at_ps - 2 * delay_ps;
    if (!card->move_skipped) {
        timed_move(card, at_ps);
    }
}

static inline void view_apply(struct view *view, uint64_t *fifo, uint32_t ring, const struct news *news)
{
    uint32_t counter = news->index % COUNTERS;
    switch (news->what) {
    case 0: /* DVSIM_VIC_COUNTER */
        if (view->presets[counter] == 0) {
            view->counter[counter] = (int64_t)news->value;
        }
        break;
    case 1: /* DVSIM_VIC_PRESET */
        if (view->presets[counter] > 0 && --view->presets[counter] == 0) {
            view->counter[counter] = (int64_t)news->value;
        }
        break;
    case 2: fifo[view->fifo_in++ & (ring - 1)] = news->value; break; /* DVSIM_VIC_FIFO */
    case 3: view->taken = news->value; break;                        /* DVSIM_VIC_TAKEN */
    default: break;
    }
}

#endif
