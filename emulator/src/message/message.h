/* message.h: an open vic_message, for the files of this folder. They use vic.h, layer.h for handles, debug.h and
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

enum { MOST_ACTIVITY = 7, OTHER_COUNTERS = 3 };

/* A message in host memory, complete or being put together. */
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
    struct inward *from; /* the card whose message is being put together in data, or NULL */
    bool done;
    uint32_t src;
    size_t bytes;
};

/* What comes from one card. */
struct inward {
    uint64_t stream;
    uint32_t name, old_name; /* of the stream, 0 if none has begun; of the one before it */
    bool new_hello;          /* the card may have written a new hello */
    uint32_t position;          /* of the next frame */
    uint32_t delivered;      /* messages of the stream that the program has */
    uint32_t sender;    /* sender_tag of the last frame */
    bool active, doubt;   /* its ring may hold a frame; it did not when it was looked at last, but words had come */
    size_t words;         /* of its last frame: as many are fetched at once for the next one */
    uint32_t skip, looks; /* scans to leave out while a frame is incomplete; left out so far */
    /* the message that is being put together, if total > 0: in the buffer of `taker`, or if that is NULL in `own` */
    uint32_t total, got;
    struct taker *taker;
    struct stored *own;
};

/* What is known without a query. If it has changed since the last query to a peer, the peer may have closed. */
struct hint {
    int64_t news; /* the counter */
    uint32_t openings;
};

/* What goes to one card. */
struct outward {
    lock_t lock; /* of all of this; held while a message is sent */
    uint32_t epoch;           /* of the receiver; 0: it is closed, as far as is known */
    uint64_t stream;
    uint32_t sent, taken;     /* positions */
    uint32_t messages;        /* that were sent completely */
    uint32_t received;        /* of those, by the peer's program */
    size_t begun_bytes;       /* of a message of which the first pieces were sent, until time was over, */
    size_t begun_at;          /* so many bytes of it; 0: there is none */
    uint64_t begun_hash;      /* of these */
    bool counts;              /* something was sent to the peer that a flush waits for */
    bool lost;                /* a peer closed before it had received all, and no call has reported that yet */
    _Atomic uint64_t ends;    /* openings of the peer that have ended, as far as is known */
    _Atomic uint32_t openings; /* of the peer, from which messages have come */
    bool unreadable;          /* its state was: the peer may have another config */
    uint64_t differs_ns;      /* since when it is known to have another config, or 0 */
    bool asked;               /* a query is on its way */
    uint64_t asked_ns;
    struct hint asked_at, known_at; /* when the query on its way was sent; when the last one with an answer was */
    uint64_t *mirror;         /* of the ring */
    uint32_t earlier;         /* positions from `taken` on that an earlier opening of this card sent: not in the mirror */
    uint32_t stuck;           /* the position of the peer at the last credit_tend, */
    uint64_t stuck_ns, resend_ns; /* since when it is there; for how long until its frame is sent again */
    struct state hello;       /* of the stream */
    uint32_t streams;         /* begun so far */
    bool resumes;             /* `saved` and `hello` are those of an earlier opening of this card */
    struct state saved;
};

struct vic_message {
    struct gate gate;
    vic_t *card;
    uint32_t me, cards;
    bool timed;
    size_t max_bytes;
    struct layout layout;
    struct peer_config peer_config;
    uint32_t epoch;
    size_t read_most;     /* see layer.h */
    unsigned frames; /* counter: the last word of every frame that comes counts here: what timed mode looks at first, */
    unsigned activity[MOST_ACTIVITY]; /* the others here: those of card c count number c % activities */
    uint32_t activities;
    unsigned bell; /* counter: set to 1 by a thread that waits, and to 0 by a message that comes */
    unsigned news; /* counter: changes when a peer opens or closes */
    _Atomic uint32_t takers;   /* threads that wait to receive */
    _Atomic uint32_t calls;    /* of vic_message_recv */
    _Atomic uint64_t tend_ns;  /* time of the next credit_tend_all */
    _Atomic uint64_t poll_ns;  /* since when a look with timeout 0 has not noticed ends */

    lock_t in_lock; /* of what follows */
    struct inward *in;
    int64_t seen[MOST_ACTIVITY], seen_news, seen_frames;
    int64_t due;              /* frames that have come and were not taken, as far as the counter says */
    bool came;                /* such frames, since rings in doubt were looked at */
    bool quiet;               /* none was taken since all rings were looked at */
    bool everywhere;          /* the next scan looks at all rings, whatever the counters say */
    uint64_t suspect_ns;      /* when it does so the next time */
    uint32_t turn, scans;
    uint64_t *bounce;
    struct stored *first, **last; /* messages to be received */
    size_t stored_bytes;
    bool wakes; /* another taker may find a message */

    struct outward *out;
};

/* ---- backoff.c: waiting */

int lock_take_until(struct vic_message *m, lock_t *lock, uint64_t deadline_ns); /* a status */

struct backoff {
    uint32_t rounds;
    uint64_t slice_ns;
    struct wait_whole whole;
};

/* Let time pass, more in each round. A status other than VIC_OK ends the wait. */
int backoff_wait(struct vic_message *m, struct backoff *backoff, uint64_t deadline_ns);

/* The same for threads that receive: a message that comes after backoff_arm ends the next backoff_bell. */
void backoff_arm(struct vic_message *m, const struct backoff *backoff);
int backoff_bell(struct vic_message *m, struct backoff *backoff, uint64_t deadline_ns);

/* ---- incoming.c */

/* Take frames from the rings: for a taker, until it has one message; without one, as many messages as fit the memory.
 * VIC_OK, VIC_ESYS. Needs in_lock. */
int incoming_scan(struct vic_message *m, struct taker *taker);

/* Drop the incomplete message of a card. */
void incoming_forget(struct inward *in);

/* ---- hello.c: true if the card has begun another stream, which is the one to read now. Needs in_lock. */
bool incoming_restarted(struct vic_message *m, uint32_t src);

/* ---- hello.c, the rest: cards whose configs differ */

/* Write for a card with which config messages are open here, or that they are closed. */
void config_publish(struct vic_message *m, uint32_t src, uint32_t epoch);

/* If the state of a peer is unreadable: VIC_EINVAL if the peer has been open with another config for some time, VIC_OK if
 * that is not known. Needs its lock. */
int config_look(struct vic_message *m, uint32_t dest);

/* ---- incoming.c, the rest */

/* Look at all rings in the next scan. Needs in_lock. */
void incoming_suspect(struct vic_message *m);

/* Write for a card which of its messages were taken. */
void incoming_publish(struct vic_message *m, uint32_t src, uint32_t epoch);

/* The link to the first message in host memory for a taker; NULL if there is none. Needs in_lock. */
struct stored **incoming_stored(struct vic_message *m, const struct taker *taker);

/* Move the incomplete message of a taker that returns into memory of its own. Needs in_lock. */
void incoming_move_out(struct taker *taker);

/* Read words of this card: singly, or by a transfer if that is faster. */
int incoming_read(struct vic_message *m, uint32_t addr, uint64_t *to, size_t n);

/* incoming_scan, called by threads that wait for something else. */
void incoming_serve(struct vic_message *m);

/* Wake takers if they may find a message. `self`: 1 if the caller is a taker itself. Needs in_lock. */
void incoming_wake(struct vic_message *m, uint32_t self);

void incoming_free(struct vic_message *m);

/* ---- credit.c: what receivers write about the messages of this card */

/* Query two words of the record that a peer has for this card, for two of the record that this card has for it. */
int credit_query(struct vic_message *m, uint32_t dest, int what, int reply);

/* True if the peer is known to be open, and no hint has changed since it answered so. Needs its lock. */
bool credit_is_sure(struct vic_message *m, uint32_t dest);

/* Ask the peer, or take in its answer. False if there is no readable answer yet. Needs its lock. */
bool credit_look(struct vic_message *m, uint32_t dest);

/* The same after the peer has ended: the answer to an earlier query may be older than what the peer did last, so ask once
 * more, and wait for that answer. Needs its lock. */
bool credit_look_last(struct vic_message *m, uint32_t dest, struct backoff *backoff, uint64_t deadline_ns);

/* Send again what the peer has not taken for some time. Call it with its lock, after a credit_look that was true. */
void credit_tend(struct vic_message *m, uint32_t dest);

/* From time to time, credit_tend for all peers whose lock is free, and write the words of this card again. All waits call
 * it. */
void credit_tend_all(struct vic_message *m);

/* ---- outgoing.c */

/* Write words into the ring of a peer, and ring its bell. */
int outgoing_transmit(struct vic_message *m, uint32_t dest, uint32_t position, const uint64_t *words, size_t n);

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
