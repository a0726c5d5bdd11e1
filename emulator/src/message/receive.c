/* vic_message_recv and vic_message_flush. */
#include <stdlib.h>
#include <string.h>

#include "message.h"

enum {
    POLL_NS = 20 * 1000,   /* after so long a look with timeout 0 notices ends, too */
    LONG_NS = 1000 * 1000, /* after waiting so long all rings are looked at, whatever the counters say */
    TEND_CALLS = 4096      /* after so many of them those that never wait look after what they sent */
};

/* A message that waits in host memory. */
static int take_stored(struct vic_message *m, struct taker *taker, struct stored **at)
{
    struct stored *first = *at;
    uint32_t name = first->name;
    incoming_move_out(taker);
    taker->src = first->src;
    taker->bytes = first->bytes;
    if (first->bytes > taker->capacity) {
        return VIC_ENOSPC;
    }
    memcpy(taker->data, first->data, first->bytes);
    *at = first->next;
    m->last = m->last == &first->next ? at : m->last;
    m->stored_bytes -= sizeof *first + first->bytes;
    free(first);
    m->in[taker->src].delivered += name == m->in[taker->src].name;
    incoming_publish(m, taker->src, m->epoch);
    return VIC_OK;
}

/* VIC_ETIMEDOUT: there is no message. */
static int take(struct vic_message *m, struct taker *taker)
{
    int status = VIC_OK;
    if (vic_time_ns(m->card) >= m->suspect_ns) {
        incoming_suspect(m);
    }
    if (!taker->done && incoming_stored(m, taker) == NULL) {
        status = incoming_scan(m, taker);
    }
    if (taker->done) {
        return VIC_OK;
    }
    struct stored **at = incoming_stored(m, taker);
    if (at != NULL) {
        return take_stored(m, taker, at);
    }
    return status == VIC_OK ? VIC_ETIMEDOUT : status;
}

/* Look once. `last`: the taker will not come again. */
static int take_once(struct vic_message *m, struct taker *taker, bool everywhere, bool last)
{
    lock_take(m->card, &m->in_lock);
    if (everywhere) {
        incoming_suspect(m);
    }
    int status = take(m, taker);
    if (last || status != VIC_ETIMEDOUT) {
        incoming_move_out(taker);
    }
    m->wakes |= m->first != NULL || status == VIC_OK; /* where one was, more may be */
    incoming_wake(m, 1);
    lock_give(&m->in_lock);
    return status;
}

static int wait_for_one(struct vic_message *m, struct taker *taker, uint64_t deadline_ns)
{
    struct backoff backoff = {.whole.kind = WAIT_MESSAGE, .whole.endless = deadline_ns == VIC_FOREVER};
    int status, reason = VIC_OK;
    atomic_fetch_add(&m->takers, 1);
    for (;;) {
        backoff_arm(m, &backoff);
        status = take_once(m, taker, backoff.slice_ns >= LONG_NS || (reason != VIC_OK && reason != VIC_ETIMEDOUT), reason != VIC_OK);
        if (status != VIC_ETIMEDOUT || reason != VIC_OK) {
            break;
        }
        credit_tend_all(m);
        reason = backoff_bell(m, &backoff, deadline_ns);
    }
    atomic_fetch_sub(&m->takers, 1);
    return status == VIC_ETIMEDOUT ? reason : status;
}

/* True if a look with timeout 0 that found nothing is no more than that. */
static bool is_poll(struct vic_message *m)
{
    uint64_t now = vic_time_ns(m->card);
    bool poll = now != 0 && now - atomic_load_explicit(&m->poll_ns, memory_order_relaxed) < POLL_NS; /* 0: the card is closed */
    if (!poll) {
        atomic_store_explicit(&m->poll_ns, now, memory_order_relaxed);
    }
    return poll;
}

static int receive(struct vic_message *m, struct taker *taker, uint64_t timeout_ns)
{
    if (lock_try(&m->in_lock)) { /* the usual case: a message is there, and no other thread takes it */
        int status = take(m, taker);
        if (status != VIC_ETIMEDOUT) {
            incoming_move_out(taker);
            m->wakes |= m->first != NULL;
            incoming_wake(m, 0);
            lock_give(&m->in_lock);
            return status;
        }
        bool poll = timeout_ns == 0 && is_poll(m);
        if (poll) {
            incoming_move_out(taker);
            incoming_wake(m, 0);
        }
        lock_give(&m->in_lock);
        if (poll) {
            return fail_as(VIC_ETIMEDOUT);
        }
    }
    int status = wait_for_one(m, taker, deadline_after(m->card, timeout_ns));
    if (status == VIC_ECLOSED || status == VIC_EPEER) { /* the next look notices that, too */
        atomic_store_explicit(&m->poll_ns, vic_time_ns(m->card) - POLL_NS, memory_order_relaxed);
    }
    return status;
}

static int vic_message_recv_call(vic_message_t *m, uint32_t *src, void *data, size_t capacity, size_t *bytes,
                                 uint64_t timeout_ns)
{
    return message_recv_from(m, MESSAGE_ANY, src, data, capacity, bytes, timeout_ns);
}

LOGGED(vic_message_recv,
       (vic_message_t *m, uint32_t *src, void *data, size_t capacity, size_t *bytes, uint64_t timeout_ns),
       (m, src, data, capacity, bytes, timeout_ns),
       m == NULL ? NULL : m->card, "capacity timeout", VALUES((int64_t)capacity, (int64_t)timeout_ns),
       src != NULL ? "bytes src" : "bytes", VALUES((int64_t)*bytes, src != NULL ? *src : 0))

int message_recv_from(vic_message_t *m, uint32_t only, uint32_t *src, void *data, size_t capacity, size_t *bytes,
                      uint64_t timeout_ns)
{
    unsigned char nothing[1];
    if (m == NULL || bytes == NULL || (data == NULL && capacity > 0)) {
        return fail_null(m == NULL, "bytes != NULL && (data != NULL || capacity == 0)");
    }
    int status = gate_enter(&m->gate);
    if (status != VIC_OK) {
        return status;
    }
    if (atomic_fetch_add_explicit(&m->calls, 1, memory_order_relaxed) % TEND_CALLS == TEND_CALLS - 1) {
        credit_tend_all(m);
    }
    struct taker taker = {.only = only, .data = data != NULL ? data : nothing, .capacity = capacity};
    status = receive(m, &taker, timeout_ns);
    if (status == VIC_OK || status == VIC_ENOSPC) {
        *bytes = taker.bytes;
        if (src != NULL) {
            *src = taker.src;
        }
    }
    return gate_leave(&m->gate, status);
}

/* What a flush waits for: messages that one peer has to receive. */
struct goal {
    bool begun;
    uint32_t epoch, messages;
};

/* Needs the lock. */
static bool is_received(struct outward *out, struct goal *goal, bool *lost)
{
    /* another incarnation: of the one before all that can be known is known */
    bool done = out->epoch == 0 || out->epoch != goal->epoch || (int32_t)(out->received - goal->messages) >= 0;
    *lost |= done && out->lost;
    out->lost = out->lost && !done;
    return done;
}

/* `ended`: waits end, this is the last look. */
static bool flush_look(struct vic_message *m, uint32_t dest, struct goal *goal, bool *lost, bool ended,
                       struct backoff *backoff, uint64_t deadline_ns)
{
    struct outward *out = &m->out[dest];
    if (ended ? lock_take_until(m, &out->lock, deadline_ns) != VIC_OK : !lock_try(&out->lock)) {
        return false; /* a message is being sent */
    }
    if (!goal->begun) {
        *goal = (struct goal){true, out->epoch, out->messages};
    }
    if (out->epoch != 0 && out->messages != out->received &&
        (ended ? credit_look_last(m, dest, backoff, deadline_ns) : credit_look(m, dest))) {
        credit_tend(m, dest);
    }
    bool done = is_received(out, goal, lost);
    lock_give(&out->lock);
    return done;
}

static int flush_one(struct vic_message *m, uint32_t dest, bool *lost, uint64_t deadline_ns)
{
    struct backoff backoff = {.whole = {WAIT_FLUSH, dest, 0, deadline_ns == VIC_FOREVER}};
    struct goal goal = {false, 0, 0};
    int status = VIC_OK;
    while (!flush_look(m, dest, &goal, lost, status != VIC_OK && status != VIC_ETIMEDOUT, &backoff, deadline_ns)) {
        if (status != VIC_OK) {
            return status;
        }
        incoming_serve(m);
        credit_tend_all(m);
        status = backoff_wait(m, &backoff, deadline_ns); /* what came before the end counts: once more */
    }
    return VIC_OK;
}

static int vic_message_flush_to_call(vic_message_t *m, uint32_t dest, uint64_t timeout_ns)
{
    bool lost = false;
    int status = dest < m->cards ? flush_one(m, dest, &lost, deadline_after(m->card, timeout_ns)) : message_no_card(m, dest);
    return lost ? message_lost() : status;
}

GATED(vic_message_flush_to, m, true, (vic_message_t *m, uint32_t dest, uint64_t timeout_ns), (m, dest, timeout_ns),
      "dest timeout", VALUES(dest, (int64_t)timeout_ns), "", NULL)

static int vic_message_flush_call(vic_message_t *m, uint64_t timeout_ns)
{
    uint64_t deadline_ns = deadline_after(m->card, timeout_ns);
    bool lost = false;
    int status = VIC_OK;
    for (uint32_t dest = 0; dest < m->cards && status == VIC_OK; dest++) {
        status = flush_one(m, dest, &lost, deadline_ns);
    }
    return lost ? message_lost() : status;
}

GATED(vic_message_flush, m, true, (vic_message_t *m, uint64_t timeout_ns), (m, timeout_ns),
      "timeout", VALUES((int64_t)timeout_ns), "", NULL)
