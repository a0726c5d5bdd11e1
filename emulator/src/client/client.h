/* client.h: an open vic_client, as its parts see it. Under it are vic.h, vic_message.h, debug.h and, for its handles,
 * layer.h.
 *
 * Order of locks: that of sending to a peer, or that of receiving, before `lock`, which is held for a few
 * instructions, never over a call of the card.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "deadline.h"
#include "debug.h"
#include "layer.h"
#include "lock.h"
#include "message/from.h"
#include "vic_client.h"
#include "waits.h"

enum { SCRATCH = 64 << 10, PATTERNS_MOST = 1024 };

/* A message that is not confirmed. */
struct entry {
    struct entry *next, *before; /* of the same peer, by id */
    struct entry *chain;         /* of the same bucket */
    uint64_t id;
    uint32_t peer;
    uint32_t holders; /* threads that use it; who lets go of a done one last frees it */
    bool sent;        /* at least once */
    bool done;        /* confirmed, or given up: in no list */
    size_t bytes;
    unsigned char envelope[];
};

struct pattern {
    struct pattern *next;
    uint64_t stamp; /* of ours: when it was last bound or unbound */
    bool bound;
    size_t bytes;
    char text[];
};

struct subscription {
    struct subscription *next;
    uint32_t number, bridge;
    uint64_t credit;
    bool sent, ends; /* sent: that it is, or that it ends */
    size_t bytes;
    char queue[];
};

/* Another card, or this one. */
struct peer {
    lock_t sending;   /* who sends to it has this */
    _Atomic uint64_t met;    /* its vic_peer_opens when sending to it began; set under `sending`, */
    _Atomic uint64_t ends;   /* as is its vic_message_ends */
    _Atomic uint32_t due;    /* there may be something to send */
    uint64_t room_ns;    /* how long a send waits for room; under `sending` */
    /* under the client's lock: */
    struct entry *first, *last, *unsent; /* from `unsent` on: not sent since `met` */
    bool used;                           /* published to, without confirms */
    bool asked;                          /* for its patterns */
    uint64_t sent_stamp;                 /* it has our patterns up to this stamp */
    uint64_t wants_session, wants_opens; /* whose patterns these are: */
    struct pattern *wants;
    uint32_t wants_count;
};

/* Something received that nobody took yet. */
struct item {
    struct item *next;
    size_t size;
    struct vic_delivery delivery;
};

struct vic_client {
    struct gate gate;
    vic_t *card;
    vic_message_t *messages;
    size_t max_bytes;
    uint32_t me, cards;
    unsigned flags;
    size_t window_messages, window_bytes;
    uint64_t session;
    unsigned wake; /* counter: threads that wait for the one that receives wait under it */
    _Atomic uint32_t waiters, calls;
    _Atomic uint64_t tend_ns;
    _Atomic uint32_t receivers, stuck; /* threads that receive; of those: in a send, with a full inbox */

    lock_t receiving; /* who calls vic_message_recv has this */
    unsigned char *scratch, *late; /* late: a message that is not yet dealt with, or NULL; in scratch or not */
    size_t late_bytes;
    uint32_t late_src;
    _Atomic uint32_t in_the_way; /* the card that has to confirm and has sent something else, UINT32_MAX: nobody has to */

    lock_t lock; /* of what follows, and of parts of peers */
    struct peer *peers;
    struct entry **buckets;
    size_t bucket_mask, unconfirmed_bytes;
    uint64_t id; /* of the last message published */
    struct subscription *subscriptions;
    uint32_t subscription; /* the last number */
    struct pattern *patterns;
    uint64_t stamp;
    uint32_t patterns_count;
    struct item *inbox, **inbox_end;
    size_t inbox_bytes;
    struct vic_client_count count;
};

/* ---- progress.c: waiting */

struct progress {
    uint32_t turns;
    struct wait_whole whole;
};

/* The wait goes on in another call; for wait_whole_end. */
static inline int client_continues(struct progress *progress)
{
    return progress->whole.since_ns != 0 && wait_whole_begin(&progress->whole, 0);
}

/* What another thread does between client_arm and the client_progress after it makes that end soon. */
void client_arm(struct vic_client *c, const struct progress *progress);

/* Receive something, or wait for who does. VIC_OK: look again. VIC_ENOSPC: what is received has to be taken; if messages of
 * ours are to be confirmed, only when something else comes before their confirms. Else a reason not to wait any longer, but to look once more. */
int client_progress(struct vic_client *c, struct progress *progress, uint64_t deadline_ns);

/* The same for who sends: waits if there is another thread that takes what is received, else VIC_ENOSPC. */
int client_progress_sending(struct vic_client *c, struct progress *progress, uint64_t deadline_ns);

/* ---- receivers.c */

/* This thread takes what is received, until it ends. */
void client_be_receiver(struct vic_client *c);

/* The inbox is full, and this thread is in a send: will another one take something? Not one that is in a send and
 * has found the same. */
bool client_others_receive(struct vic_client *c);

/* VIC_ENOSPC: which window is full, and why confirms do not help. */
int client_fail_full(struct vic_client *c) FAIL_COLD;

/* client_leave of a call that may have asked that. */
int client_leave_sending(struct vic_client *c, int status);

/* Something has changed: threads that wait shall look. */
void client_ring(struct vic_client *c);

/* ---- outbox.c: subscriptions, patterns and messages for one card, in this order; again if it was opened anew */

/* Send until nothing more is due, or `last` (or NULL) is sent. VIC_EBUSY: the card is not open.
 * VIC_ETIMEDOUT: no room now; `patient`: it may wait a little for it. Needs `sending`. */
int client_send_due(struct vic_client *c, uint32_t to, const struct entry *last, bool patient,
                uint64_t deadline_ns);

/* Send all cards what is due. Takes locks that are free. */
void client_send_all_due(struct vic_client *c, uint64_t deadline_ns);

/* The same, now and then. Waits call it. */
void client_tend(struct vic_client *c, uint64_t deadline_ns);

/* Send an envelope that is short. */
int client_say(struct vic_client *c, uint32_t to, const struct vic_envelope *e, uint64_t timeout_ns);

/* ---- publish.c: messages that are not confirmed */

/* Both need the lock. */
struct entry *client_entry_find(struct vic_client *c, uint64_t id);
void client_entry_end(struct vic_client *c, struct entry *entry);

/* Takes the lock. */
void client_entry_release(struct vic_client *c, struct entry *entry);

/* ---- receive.c */

/* Take one message off the card and do what it says. Needs `receiving`. */
int client_receive(struct vic_client *c, uint64_t timeout_ns);

/* The same of one card, while the inbox is full: confirms, and what a bridge delivers, which its credit limits.
 * VIC_ENOSPC: it has sent something else, which stays the next. */
int client_receive_confirms(struct vic_client *c, uint32_t from, uint64_t timeout_ns);

void client_forget_late(struct vic_client *c);

bool client_inbox_full(struct vic_client *c);

/* Copy something into the inbox; `opens` are those of the sender. Needs the lock. */
int client_keep(struct vic_client *c, uint32_t src, const struct vic_envelope *e, uint64_t opens);

/* ---- dispatch.c */

/* Do what a message says. VIC_ENOSPC, only if `full`: it is a message that the inbox has no room for; nothing is done. */
int client_dispatch(struct vic_client *c, uint32_t src, const void *data, size_t bytes, bool full);

/* ---- subscribe.c */

/* Needs the lock. */
void client_end_subscription(struct vic_client *c, uint32_t number);

/* ---- topics.c; all need the lock */

/* A VIC_BIND or VIC_UNBIND. */
int client_wants(struct vic_client *c, uint32_t src, const struct vic_envelope *e, uint64_t opens);

/* Has this one bound a pattern that the key has? */
bool client_has_bound(const struct pattern *patterns, const struct vic_envelope *e);

/* Drop patterns that were unbound, once all that knew them know that. */
void client_forget_patterns(struct vic_client *c);

void client_free_patterns(struct pattern *patterns);

/* ---- client.c */

static inline int client_enter(struct vic_client *c)
{
    return c == NULL ? fail_null(1, "") : gate_enter(&c->gate);
}

/* VIC_EINVAL: a name that is NULL or too long, or a body that is or with it. */
int client_no_name(const struct vic_client *c, const char *name, const void *body, size_t bytes) FAIL_COLD;

static inline int client_no_card(const struct vic_client *c, uint32_t card)
{
    return fail(VIC_ERANGE, "card %u does not exist (0 .. %u)", card, c->cards - 1);
}

static inline int client_leave(struct vic_client *c, int status)
{
    return gate_leave(&c->gate, status);
}

#endif
