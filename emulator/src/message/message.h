/* message.h: an open vic_message, as its parts see it. Only vic.h is under it, layer.h for its handles, debug.h and
 * cancel.h. */
#ifndef MESSAGE_MESSAGE_H
#define MESSAGE_MESSAGE_H

#include <stdatomic.h>

#include "deadline.h"
#include "debug.h"
#include "from.h"
#include "layer.h"
#include "lock.h"
#include "vic_message.h"
#include "waits.h"
#include "wire.h"

enum { MOST_ACTIVITY = 7 };

/* A message in host memory, whole or in parts. */
struct stored {
    struct stored *next;
    uint32_t src, name; /* of its stream */
    size_t bytes;
    unsigned char data[];
};

/* A thread in vic_message_recv. */
struct taker {
    uint32_t only; /* the card whose messages it takes, or MESSAGE_ANY */
    unsigned char *data;
    size_t capacity;
    struct inward *from; /* a message of this card is put together in data; or NULL */
    bool done;
    uint32_t src;
    size_t bytes;
};

/* What comes from one card. */
struct inward {
    uint64_t stream;
    uint32_t name, old_name; /* of the stream, 0: none has begun; of the one before */
    bool new_hello;            /* there may be a new hello */
    uint32_t place;          /* of the next frame */
    uint32_t delivered;      /* messages of the stream that the program has */
    uint32_t sender;    /* sender_tag of the last frame */
    bool hot;           /* something may be there */
    uint32_t skip, looks; /* looks to leave out at a frame that is not whole; left out so far */
    /* the message that is put together, if total > 0 */
    uint32_t total, got;
    struct taker *taker; /* in somebody's buffer, or if this is NULL */
    struct stored *own;  /* here */
};

/* Reasons to ask a peer whether it still is open: not the same as when it was asked last. */
struct hint {
    int64_t news; /* the counter */
    uint32_t openings;
};

/* What goes to one card. */
struct outward {
    lock_t lock; /* of all of this; held while a message is sent */
    uint32_t epoch;           /* of the receiver; 0: not known to be open */
    uint64_t stream;
    uint32_t sent, taken;     /* places */
    uint32_t messages;        /* sent completely */
    uint32_t received;        /* of those */
    bool lost;                /* a peer closed and had not received all: not reported yet */
    _Atomic uint64_t ends;    /* openings of the peer that were seen to end */
    _Atomic uint32_t openings; /* of the peer, of which messages have come */
    bool strange;             /* what it says makes no sense to us: it may have another config, */
    uint64_t strange_ns;      /* as it has been known to have since then, or 0 */
    bool asked;               /* a query is on its way */
    uint64_t asked_ns;
    struct hint asked_at, known_at; /* when the query on its way was sent; that whose answer we have */
    uint64_t *mirror;         /* of the ring */
    uint32_t earlier;         /* places from `taken` on that an earlier opening of ours sent: not in the mirror */
    uint32_t stuck;           /* the place at which the peer was when we looked after it, */
    uint64_t stuck_ns, resend_ns; /* since when, until when that is long */
    struct state hello;       /* what we said when the stream began */
    uint32_t streams;         /* that we have begun */
    bool resumes;             /* `saved` and `hello` hold what an earlier opening of ours left */
    struct state saved;
};

struct vic_message {
    struct gate gate;
    vic_t *card;
    uint32_t me, cards;
    size_t max_bytes;
    struct layout layout;
    struct greeting greeting;
    uint32_t epoch;
    unsigned activity[MOST_ACTIVITY]; /* counters; card c's packets count number c % activities here */
    uint32_t activities;
    unsigned bell; /* counter: 0 when a message came; who waits sets it to 1 */
    unsigned news; /* counter: changes when a peer closes */
    _Atomic uint32_t takers;   /* threads that wait to receive */
    _Atomic uint32_t calls;    /* to receive */
    _Atomic uint64_t tend_ns;  /* when to look after what was sent */

    lock_t in_lock; /* of what follows */
    struct inward *in;
    int64_t seen[MOST_ACTIVITY], seen_news;
    uint32_t turn, scans;
    uint64_t *bounce;
    struct stored *first, **last; /* messages to be received */
    size_t stored_bytes;
    bool wakes; /* there may be something for another taker */

    struct outward *out;
};

/* ---- backoff.c: waiting */

int lock_take_until(struct vic_message *m, lock_t *lock, uint64_t deadline_ns); /* a status */

struct backoff {
    uint32_t turns;
    uint64_t slice_ns;
    struct wait_whole whole;
};

/* Let time pass, more and more of it: VIC_OK, or why not to wait any longer. */
int backoff_wait(struct vic_message *m, struct backoff *backoff, uint64_t deadline_ns);

/* The same for who receives: between a backoff_arm and the backoff_bell after it a message makes the wait end. */
void backoff_arm(struct vic_message *m, const struct backoff *backoff);
int backoff_bell(struct vic_message *m, struct backoff *backoff, uint64_t deadline_ns);

/* ---- fetch.c */

/* Read the bytes of a frame to where they belong if words can be put there; where they are then, or NULL. Needs
 * in_lock. */
unsigned char *fetch_bytes(struct vic_message *m, uint32_t addr, size_t bytes, unsigned char *to);

/* ---- incoming.c */

/* Take what has come: for a taker one message at most, without one all that the memory is for. VIC_OK,
 * VIC_ESYS. Needs in_lock. */
int incoming_scan(struct vic_message *m, struct taker *taker);

/* Forget the message of a card that is put together. */
void incoming_forget(struct inward *in);

/* ---- hello.c: has the card begun another stream? Then it is looked for. Needs in_lock. */
bool incoming_restarted(struct vic_message *m, uint32_t src);

/* ---- hello.c, the rest: a card whose config is another */

/* Say to a card with which config we are open, or not any more. */
void greeting_publish(struct vic_message *m, uint32_t src, uint32_t epoch);

/* A status for who cannot make sense of what a peer says: VIC_EINVAL if it is open with another config for long now,
 * VIC_OK if that is not known. Needs its lock. */
int greeting_look(struct vic_message *m, uint32_t dest);

/* ---- incoming.c, the rest */

/* Look at all rings in the next scan. Needs in_lock. */
void incoming_suspect(struct vic_message *m);

/* Tell senders how far we are with the messages of a card. */
void incoming_publish(struct vic_message *m, uint32_t src, uint32_t epoch);

/* Where the first message in host memory for a taker hangs; NULL: there is none. Needs in_lock. */
struct stored **incoming_stored(struct vic_message *m, const struct taker *taker);

/* Put the message of a taker that goes away into memory of ours. Needs in_lock. */
void incoming_move_out(struct taker *taker);

/* incoming_scan for those that wait for something else. */
void incoming_serve(struct vic_message *m);

/* Wake takers if there is something for them; the caller is `self` (0 or 1) of those. Needs in_lock. */
void incoming_wake(struct vic_message *m, uint32_t self);

void incoming_free(struct vic_message *m);

/* ---- credit.c: what the receivers of our messages say */

/* Is it known to be open, and has nothing been heard since that makes one doubt it? Needs its lock. */
bool credit_is_sure(struct vic_message *m, uint32_t dest);

/* Ask the peer and take in what it answers. False: nothing that can be understood yet. Needs its lock. */
bool credit_look(struct vic_message *m, uint32_t dest);

/* The same when waits end, as the peer has: an answer to what was asked before may be older than what the peer did last,
 * so it is asked once more, and waits end when that answer has come. Needs its lock. */
bool credit_look_last(struct vic_message *m, uint32_t dest, struct backoff *backoff, uint64_t deadline_ns);

/* Send again what the peer has not found for long. Needs its lock, and an answer of now. */
void credit_tend(struct vic_message *m, uint32_t dest);

/* Tell the peer where our stream begins. */
void credit_greet(struct vic_message *m, uint32_t dest);

/* credit_tend for all peers, and what we say ourselves, now and then. Waits call it. Takes locks that are free.
 */
void credit_tend_all(struct vic_message *m);

/* ---- outgoing.c */

/* Words into the ring of a peer, and ring. */
int outgoing_transmit(struct vic_message *m, uint32_t dest, uint32_t place, const uint64_t *words, size_t n);

/* ---- message.c */

static inline int message_lost(void)
{
    return fail(VIC_EPEER, "a peer had closed and not received all that was sent to it");
}

static inline int message_no_card(const struct vic_message *m, uint32_t card)
{
    return fail(VIC_ERANGE, "card %u does not exist (0 .. %u)", card, m->cards - 1);
}

static inline unsigned activity_of(const struct vic_message *m, uint32_t card)
{
    return m->activity[card % m->activities];
}

#endif
