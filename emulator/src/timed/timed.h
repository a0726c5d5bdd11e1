/* timed.h: the provider that runs a program in the virtual time of the modelled hardware.
 *
 * A thread has a clock that only calls move, by what they cost on the hardware. Of the threads of a process
 * one at a time is in the program, the one whose clock is least; it hands on when it calls the library. What
 * a call does to the card is posted with the time at which it gets there; what the host can see of the card
 * is news with the time from which it is seen. The coordinator (launcher/coordinator.h) carries posts out and
 * makes news, window by window. A call that looks at something waits until the news of its time are there.
 *
 * Nothing of this depends on how fast anything runs, or on how many cores: see docs/emulator-timed.md.
 */
#ifndef VIC_TIMED_H
#define VIC_TIMED_H

#include "cancel.h"
#include "handle.h"
#include "timed/model.h"
#include "timed/shared.h"

struct timed;

/* A member waits for any of several counters, or for `least` words in the FIFO. The coordinator gets one entry for
 * each. */
enum { WATCH_ANY = 32 };

/* A thread that uses a card. */
struct member {
    struct timed *own; /* NULL: the handle is gone */
    struct member *next, *next_of_thread;
    pthread_cond_t turn;
    enum { MEMBER_OUT, MEMBER_RUNS, MEMBER_READY, MEMBER_PARKED } state; /* OUT: outside of the library */
    bool granted;
    uint32_t id;
    int32_t tid;
    int64_t clock_ps;
    int64_t key_ps;   /* it can go on then; NEVER */
    int64_t begin_ps; /* looks of a wait are counted from this time on */
    int64_t look_ps;  /* apart; 1: it does not look, the hardware stops it */
    struct watched watched;
    int64_t endless_ps; /* its present wait is all or part of one without timeout, since then; NEVER */
    uint64_t slices_ns;   /* wait_slices_ns, which it saw first at: */
    int64_t slices_ps;
    uint64_t any; /* counters, with WATCH_ANY */
    uint64_t events_seen, *into; /* news of its own tag so far, and where their words go: */
    size_t into_words;    /* so many more */
    int32_t event_value;
    struct record *record; /* of a thread that was announced, else NULL */
    bool late; /* it came while another thread waited for the coordinator */
    bool lost; /* it lost its turn, and has not come back */
    uint64_t cpu_ns, left_ns;   /* CPU time when last read, and the wall clock when it left its last call */
    uint64_t came_ns, inside_ns; /* when it came into the present one; in calls since CPU time was read */
    uint64_t unstated_ns;          /* computed since its last vic_compute_ns */
    uint64_t switches; /* of the kernel, when it was last looked at from outside */
    _Atomic bool calls; /* it is about to take the lock */
    _Atomic bool has_turn; /* it is own->user: its thread looks at this without the lock, and perhaps when own has gone */
};

struct move {
    struct transfer *transfer;
    uint64_t *host; /* where words out of SRAM go, */
    size_t words;   /* so many more */
};

struct timed {
    struct vic *card;
    struct timed_card *shared;
    dvsim_pcie pcie;
    pthread_mutex_t lock; /* of all that follows; held in calls, but not while a thread waits */
    struct member *members;
    struct member *user; /* the thread that runs in the program, or in a call that goes on */
    uint32_t inside;     /* members that are not OUT */
    bool driving;        /* a thread waits for the coordinator */
    bool closing, orphaned;  /* orphaned: the coordinator has gone */
    int64_t now_ps;      /* the last grant */
    int64_t applied_ps;  /* of the latest news that was applied */
    int64_t closed_ps;
    uint32_t ids;
    uint64_t draws;
    struct move *moves; /* [dma_entries] */
    struct member *closer; /* for the thread that closes, if it is none yet: closing needs no memory */
    uint32_t in_barrier;
    uint32_t tags;
    struct timed *next; /* all of the process */
};

static inline struct timed *timed_of(const struct vic *card)
{
    return card->own;
}

/* What was read from memory that others may have written over: a time that is none is the nearest that there can be,
 * and from the last one on calls can move clocks for long; a status that is none says that a peer is broken. */
#define LATEST_PS (NEVER / 4 * 3)
static inline int64_t sound_ps(int64_t ps)
{
    return ps < 0 ? 0 : ps < LATEST_PS ? ps : LATEST_PS;
}
static inline int sound_status(int status)
{
    return status <= VIC_OK && status >= VIC_ERANGE ? status : VIC_EPEER;
}

/* The depth of calls of the library in this thread, whose own waits are not for the hooks. What a signal handler
 * changes meanwhile is deferred, without a lock, until the thread has left the library, or waits in it. */
extern _Thread_local uint32_t timed_depth;
extern _Thread_local int timed_cancel; /* of cancel_off, of the outermost */
extern _Thread_local volatile bool timed_deferred;
void timed_notify_deferred(void); /* hooks.c */

static inline void timed_come(void)
{
    if (timed_depth++ == 0) {
        timed_cancel = cancel_off();
    }
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void timed_go(void)
{
    if (--timed_depth == 0) {
        cancel_back(timed_cancel);
    }
    atomic_signal_fence(memory_order_seq_cst); /* from here on a handler notifies by itself */
    if (__builtin_expect(timed_deferred, 0) && timed_depth == 0) {
        timed_notify_deferred();
    }
}

static inline void own_lock(struct timed *own)
{
    timed_come();
    pthread_mutex_lock(&own->lock);
}

static inline void own_unlock(struct timed *own)
{
    pthread_mutex_unlock(&own->lock);
    timed_go();
}

/* A thread that was announced before it was made; outlives it until it is joined or detached. */
struct record {
    struct member *member; /* until it runs */
    struct timed *own;
    uint32_t id;
    bool ended;    /* with the lock of own, too */
    bool detached; /* the second of the two frees it */
};

void record_end(struct record *record); /* its thread has ended; with the lock of own */

/* ---- threads.c: whose turn it is */

void timed_thread_ends(struct timed *own, struct member *me); /* the end of a thread */
void timed_lose(struct member *me); /* it waits for another process, out of model time */

/* Begin a call: returns when this thread is the least, with the lock. `looks`: it is going to look at
 * something. NULL, without the lock: it is the first of this thread, and there is no memory for it. */
struct member *timed_enter(struct vic *card, bool looks);
void timed_leave(struct member *me);

/* The same for a call that returns a status; without memory it returns VIC_ESYS. */
#define ENTER(me, card, looks)                                                                              \
    struct member *me = timed_enter(card, looks);                                                           \
    if (me == NULL) {                                                                                       \
        return VIC_ESYS;                                                                                    \
    }

/* Until all that can be seen at the thread's clock is known; the same after one look more. */
void timed_observe(struct member *me);
void timed_look(struct member *me);

/* Look at begin + look, begin + 2 look, ... until `sees`, and take what it sees. VIC_OK, VIC_ETIMEDOUT,
 * VIC_EPEER, VIC_ECLOSED. `watched` is the news without which nothing changes. */
typedef bool timed_sees(struct member *me, void *what);
int timed_wait(struct member *me, struct watched watched, timed_sees *sees, void *what, uint64_t timeout_ns);

/* The same until `n` news of a tag are there; their words go to `into` unless it is NULL. */
int timed_wait_event(struct member *me, uint32_t what, uint32_t tag, size_t n, uint64_t *into,
                    uint64_t timeout_ns);

/* Something that others may watch has changed by a call of this process. */
void timed_hint(struct timed *own, uint32_t what, uint32_t index, uint64_t value, int64_t at_ps);

/* The same at a time that need not be known: of a thread, or the present one if it is out of model time, NULL. */
void timed_notify(struct timed *own, uint32_t what, uint32_t index, const struct member *by);

/* The coordinator is to look at the posts, and to answer if it was asked; the thread keeps its turn. */
void timed_drain(struct member *me, bool wait_answer);

int timed_join(struct timed *own);  /* the process is in, from the time of its thread on */
void timed_leave_job(struct timed *own); /* the card is closed */
void timed_forget(struct timed *own);
void timed_known(struct timed *own); /* one more of the process, until timed_forget */
void timed_hook(struct timed *own); /* hooks of threads that are going to be made, see threads/hooks.h */
struct member *timed_announce(struct timed *own, struct member *maker); /* NULL: no memory */
void timed_begin(struct member *me); /* an announced thread, in it: returns when it is its turn */
void timed_unannounce(struct member *member);
void timed_changed(uint32_t slot);     /* from any thread */
void timed_pass(struct member *me, uint64_t ns); /* in a call: so much later, when others have had their turn */
struct member *timed_me(void); /* the member of this thread that is in the program, or NULL */
int64_t timed_clock_ps(const struct vic *card);

void turn_wait(struct member *me); /* READY or PARKED: until it is granted */
void turn_give_up(struct timed *own, struct member *me);

/* ---- waits.c */
int64_t wait_look_from(const struct member *m, int64_t at_ps); /* its first look from then on */
bool wait_goes_on(const struct member *m);                     /* whatever became of the others */

/* ---- members.c: which thread is which member */
struct member *member_find(const struct timed *own); /* this thread, or NULL */
struct member *member_new(struct timed *own);        /* this thread, from now on; NULL: no memory */
void timed_closer(struct timed *own);                /* this thread is a member, and needs no memory for it */
void member_be(struct member *me);                   /* this thread is that announced member */

/* ---- token.c: the process and the coordinator take turns */

/* Give the turn away, and come back with it; without the lock meanwhile. */
void token_pass(struct timed *own, enum card_state state, int64_t next_ps, bool urgent);
void token_kick(struct timed *own); /* from a thread that comes while another waits */
void token_leave(struct timed *own, enum card_state state, int64_t next_ps); /* give it away for good */

/* ---- cpu_time.c: CPU time between calls */
void cpu_time_enter(struct member *me);  /* a call begins */
void cpu_time_leave(struct member *me);
void cpu_time_stated(struct member *me);  /* vic_compute_ns has stated what it computed */
void cpu_time_read(struct member *me);  /* after a wait */
/* Another thread: has it been asleep since this was last asked, or computed for 1 s without a call? */
bool cpu_time_sleeps(struct member *me);

/* ---- token.c: openings of the card, and of any peer */
void opens_first(struct timed *own);
void opens_again(struct timed *own, int64_t at_ps);
void opens_close(struct timed *own, int64_t at_ps);
uint64_t timed_peer_opens(const struct vic *card, uint32_t peer);

/* ---- posts.c */

/* Post; cuts what is longer than a post. `each`: words of an item. */
void post_items(struct member *me, struct post post, const uint64_t *words, size_t n, unsigned each);
void post_bare(struct member *me, const struct post *post); /* without words */
void post_one(struct member *me, enum post_kind kind, int64_t at_ps, uint32_t a, uint32_t b, uint64_t count);
int post_check(struct member *me, vic_addr_t headers, const uint64_t *payloads, size_t n);

/* ---- news.c: apply what is known up to a time */
bool news_until(struct timed *own, int64_t at_ps); /* true: something was applied */
void news_hint(struct timed *own);                 /* waits may end with news that are known to come */
struct move *news_move(struct timed *own, uint32_t tag); /* the transfer with this tag, or NULL */

/* True if, by the fault extra-polls, this look does not see what has come. Never when waits end, as this may be the last
 * look. */
bool timed_overlooks(const struct member *me);

/* ---- waits.c, send.c, timed.c, transfer.c: the table */
PROVIDER_CALLS(timed)
int timed_finish_transfers(struct vic *card);

/* Of what the host waits for: transfers by their number; puts, loads and barriers by one of their own. */
static inline uint32_t tag_of(const struct timed *own, uint32_t number)
{
    return (own->shared->epoch & 0x7ff) << 21 | number;
}
enum { TAG_OWN = 1 << 20 };
static inline uint32_t tag_new(struct timed *own)
{
    return tag_of(own, TAG_OWN | (own->tags++ & (TAG_OWN - 1)));
}

#endif
