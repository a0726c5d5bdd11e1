/* client.h: an open vic_client, for the files of this folder. They use vic.h, vic_message.h, debug.h and, for handles,
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
    uint32_t holders; /* threads that use it; the last of them frees it if it is done */
    bool sent;        /* at least once */
    bool done;        /* confirmed or given up: it is in no list */
    size_t bytes, capacity;
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
    lock_t sending;              /* of a thread that sends to it */
    _Atomic uint64_t sent_opens; /* its vic_peer_opens when sending to it began; set under `sending`, */
    _Atomic uint64_t ends;       /* as is its vic_message_ends */
    _Atomic uint32_t due;        /* there may be something to send */
    uint64_t room_ns;            /* how long a send waits for room; under `sending` */
    /* under the client's lock: */
    struct entry *first, *last, *unsent; /* unsent: the first that was not sent in its opening `sent_opens` */
    bool used;                           /* something was published to it without confirms */
    bool asked;                          /* for its patterns */
    uint64_t sent_stamp;                 /* the patterns of this client up to this stamp were sent to it */
    uint64_t wants_session, wants_opens; /* its client and opening that have bound these patterns */
    struct pattern *wants;
    uint32_t wants_count;
};

/* A received message that no call has taken yet. */
struct item {
    struct item *next;
    size_t size;
    const char *reason;
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
    _Atomic uint32_t blocking_card; /* the card that has to confirm and has sent something else, or UINT32_MAX */

    lock_t lock; /* of what follows, and of parts of peers */
    struct peer *peers;
    struct entry **buckets;
    size_t bucket_mask, unconfirmed_bytes;
    struct entry *spare; /* memory of entries that ended, for the next ones */
    size_t spare_bytes;
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
    uint32_t rounds;
    struct wait_whole whole;
};

/* The wait goes on in the call that follows; the result is for wait_whole_end. */
static inline int client_continues(struct progress *progress)
{
    return progress->whole.since_ns != 0 && wait_whole_begin(&progress->whole, 0);
}

/* What another thread does after client_arm ends the next client_progress soon. */
void client_arm(struct vic_client *c, const struct progress *progress);

/* Receive something, or wait for the thread that does. VIC_OK: look again. VIC_ENOSPC: the inbox is full; if messages are to
 * be confirmed, only if something else stands before their confirms. Another status ends the wait, after one more look. */
int client_progress(struct vic_client *c, struct progress *progress, uint64_t deadline_ns);

/* The same for threads that send: with a full inbox it waits if another thread receives, else VIC_ENOSPC. */
int client_progress_sending(struct vic_client *c, struct progress *progress, uint64_t deadline_ns);

/* Note that this thread receives, until it ends. */
void client_be_receiver(struct vic_client *c);

/* The end of a call that may have called client_progress_sending. Returns its status. */
int client_end_sending(struct vic_client *c, int status);

/* Wake threads that wait, as something has changed. */
void client_ring(struct vic_client *c);

/* ---- outbox.c: subscriptions, patterns and messages for one card, in this order; again if it was opened anew */

/* Send until nothing more is due, or `last` (or NULL) is sent. VIC_EBUSY: the card is not open.
 * VIC_ETIMEDOUT: no room now; `patient`: it may wait a little for it. Needs `sending`. */
int client_send_due(struct vic_client *c, uint32_t to, const struct entry *last, bool may_wait,
                uint64_t deadline_ns);

/* Send all cards what is due. Takes locks that are free. */
void client_send_all_due(struct vic_client *c, uint64_t deadline_ns);

/* The same from time to time. All waits call it. */
void client_tend(struct vic_client *c, uint64_t deadline_ns);

/* Send a short envelope. */
int client_send_short(struct vic_client *c, uint32_t to, const struct vic_envelope *e, uint64_t timeout_ns);

/* ---- publish.c: messages that are not confirmed */

/* Both need the lock. */
struct entry *client_entry_find(struct vic_client *c, uint64_t id);
void client_entry_end(struct vic_client *c, struct entry *entry);

/* Takes the lock. */
void client_entry_release(struct vic_client *c, struct entry *entry);

/* ---- receive.c */

/* Receive one message and do what it says. Needs `receiving`. */
int client_receive(struct vic_client *c, uint64_t timeout_ns);

/* The same of one card, while the inbox is full: confirms, and what a bridge delivers, which its credit limits.
 * VIC_ENOSPC: it has sent something else, which stays the next. */
int client_receive_confirms(struct vic_client *c, uint32_t from, uint64_t timeout_ns);

void client_forget_late(struct vic_client *c);

bool client_inbox_full(struct vic_client *c);

/* ---- subscribe.c */

/* Both need the lock. The link to the subscription with this number, or to NULL; take it out of the list, and free it. */
struct subscription **client_subscription(struct vic_client *c, uint64_t number);
void client_end_subscription(struct subscription **at);

/* ---- topics.c; all need the lock */

/* A VIC_BIND or VIC_UNBIND. */
int client_wants(struct vic_client *c, uint32_t src, const struct vic_envelope *e, uint64_t opens);

/* True if one of the patterns matches the key. */
bool client_has_bound(const struct pattern *patterns, const struct vic_envelope *e);

/* Free patterns that were unbound, when all cards that had them know that. */
void client_forget_patterns(struct vic_client *c);

void client_free_patterns(struct pattern *patterns);

/* ---- client.c */

/* VIC_EINVAL: a name that is NULL or too long, or a body that is or with it. */
int client_no_name(const struct vic_client *c, const char *name, const void *body, size_t bytes) FAIL_COLD;

static inline int client_no_card(const struct vic_client *c, uint32_t card)
{
    return fail(VIC_ERANGE, "card %u does not exist (0 .. %u)", card, c->cards - 1);
}

#endif
