/* Receiving: from the card into the inbox, and from there to the program. */
#include <stdlib.h>

#include "client.h"

bool client_inbox_full(struct vic_client *c)
{
    lock_take(c->card, &c->lock);
    bool full = c->inbox_bytes >= c->window_bytes;
    lock_give(&c->lock);
    return full;
}

/* ---- doing what received messages say. They may hold anything */

/* Copy something into the inbox; `opens` are those of the sender; `confirm`, or NULL, says why it is there. Needs the lock. */
static int keep(struct vic_client *c, uint32_t src, const struct vic_envelope *e, uint64_t opens,
                const struct vic_envelope *confirm)
{
    enum { ALIGN = 16 };
    size_t body = (e->key_bytes + 1 + ALIGN - 1) / ALIGN * ALIGN;
    size_t head = (sizeof(struct item) + ALIGN - 1) / ALIGN * ALIGN;
    size_t why_bytes = confirm != NULL ? confirm->key_bytes : 0, size = head + body + e->bytes + why_bytes + 2;
    struct item *item = malloc(size);
    if (item == NULL) {
        return VIC_ESYS;
    }
    char *key = (char *)item + head;
    if (e->key_bytes > 0) {
        memcpy(key, e->key, e->key_bytes);
    }
    key[e->key_bytes] = 0;
    if (e->bytes > 0) {
        memcpy(key + body, e->body, e->bytes);
    }
    key[body + e->bytes] = 0; /* the body of a refusal is a text */
    char *why = key + body + e->bytes + 1;
    if (why_bytes > 0) {
        memcpy(why, confirm->key, why_bytes);
    }
    why[why_bytes] = 0;
    bool delivered = e->kind == VIC_DELIVER;
    uint64_t subscription = delivered ? e->subscription : e->kind == VIC_REFUSAL ? e->id : 0;
    *item = (struct item){NULL, size, e->kind == VIC_REFUSAL ? key + body : why,
                          {.kind = e->kind, .flags = e->flags, .src = src,
                           .subscription = (uint32_t)subscription,
                           .session = delivered ? e->origin_session : e->session,
                           .id = delivered ? e->origin_id : e->id,
                           .key = key, .key_bytes = e->key_bytes, .body = key + body, .bytes = e->bytes,
                           .token = {e->session, e->id, opens}, .memory = item}};
    *c->inbox_end = item;
    c->inbox_end = &item->next;
    c->inbox_bytes += item->size;
    return VIC_OK;
}

/* Give a refusal to the program, with the message that it had published. */
static int give_back(struct vic_client *c, struct entry *entry, const struct vic_envelope *confirm, uint64_t opens)
{
    struct vic_envelope e;
    vic_envelope_unpack(entry->envelope, entry->bytes, &e);
    e.kind = VIC_CONFIRM;
    e.flags = confirm->flags;
    return keep(c, entry->peer, &e, opens, confirm);
}

static int confirm(struct vic_client *c, uint32_t src, const struct vic_envelope *e, uint64_t opens)
{
    int status = VIC_OK;
    for (size_t i = 0; i < vic_envelope_ids(e) && e->session == c->session; i++) {
        struct entry *entry = client_entry_find(c, vic_envelope_id(e, i));
        if (entry == NULL || entry->peer != src) {
            continue;
        }
        if (e->flags != 0 && (c->flags & VIC_CLIENT_RETURNS) != 0) {
            status = give_back(c, entry, e, opens);
        }
        if (status != VIC_OK) {
            return status; /* this one and what follows are confirmed when there is memory */
        }
        c->count.confirmed++;
        c->count.returned += (e->flags & VIC_RETURNED) != 0;
        c->count.refused += (e->flags & VIC_REFUSED) != 0;
        client_entry_end(c, entry);
    }
    return VIC_OK;
}

static bool knows(struct vic_client *c, uint32_t src, uint64_t session, uint64_t number)
{
    const struct subscription *s = *client_subscription(c, number);
    return s != NULL && s->bridge == src && !s->ends && session == c->session;
}

static int refusal(struct vic_client *c, uint32_t src, const struct vic_envelope *e, uint64_t opens)
{
    if (!knows(c, src, e->session, e->id)) {
        return VIC_OK;
    }
    int status = keep(c, src, e, opens, NULL);
    if (status == VIC_OK) {
        client_end_subscription(client_subscription(c, e->id));
    }
    return status;
}

/* True if the message goes to the inbox, and no credit limits how many such messages come. */
static bool fills(const struct vic_client *c, const struct vic_envelope *e)
{
    return e->kind == VIC_TOPIC || (e->kind == VIC_PUBLISH && (c->flags & VIC_CLIENT_BRIDGE) != 0);
}

static int act(struct vic_client *c, uint32_t src, const struct vic_envelope *e, uint64_t opens)
{
    switch (e->kind) {
    case VIC_CONFIRM:
        return confirm(c, src, e, opens);
    case VIC_DELIVER:
        return knows(c, src, e->subscriber, e->subscription) ? keep(c, src, e, opens, NULL) : VIC_ERANGE;
    case VIC_REFUSAL:
        return refusal(c, src, e, opens);
    case VIC_BIND:
    case VIC_UNBIND:
        return client_wants(c, src, e, opens);
    case VIC_TOPIC:
        return client_has_bound(c->patterns, e) ? keep(c, src, e, opens, NULL) : VIC_OK;
    case VIC_PUBLISH:
        if ((c->flags & VIC_CLIENT_BRIDGE) != 0) {
            return keep(c, src, e, opens, NULL);
        }
        break;
    default:
        break;
    }
    c->count.strange++;
    return VIC_OK;
}

/* Do what a message says. VIC_ENOSPC, only if `full`: it is a message that the inbox has no room for; nothing is done. */
static int dispatch(struct vic_client *c, uint32_t src, const void *data, size_t bytes, bool full)
{
    struct vic_envelope e;
    uint64_t opens = 0;
    bool sound = vic_envelope_unpack(data, bytes, &e) == VIC_OK;
    int status = VIC_OK;
    vic_peer_opens(c->card, src, &opens);
    lock_take(c->card, &c->lock);
    if (sound) {
        status = full && fills(c, &e) ? VIC_ENOSPC : act(c, src, &e, opens);
    } else {
        c->count.strange++;
    }
    lock_give(&c->lock);
    if (status == VIC_ERANGE) { /* of an earlier client's subscription; without room the next one is answered */
        struct vic_envelope no = {.kind = VIC_UNSUBSCRIBE, .session = e.subscriber, .id = e.subscription};
        client_send_short(c, src, &no, 0);
        status = VIC_OK;
    }
    return status;
}

/* ---- receiving */

/* A message for which there is no memory or room stays in c->late, and is the next. */
static int receive(struct vic_client *c, uint32_t only, bool full, uint64_t timeout_ns)
{
    int status = VIC_OK;
    if (c->late == NULL) {
        c->late = c->scratch;
        status = message_recv_from(c->messages, only, &c->late_src, c->late, SCRATCH, &c->late_bytes, timeout_ns);
        if (status == VIC_ENOSPC) { /* a long one: it stays the next */
            c->late = malloc(c->late_bytes);
            status = c->late != NULL ? message_recv_from(c->messages, only, &c->late_src, c->late, c->late_bytes,
                                                         &c->late_bytes, 0)
                                     : VIC_ESYS;
        }
    }
    bool received = status == VIC_OK;
    if (received) {
        status = dispatch(c, c->late_src, c->late, c->late_bytes, full);
    }
    if (!received || (status != VIC_ESYS && status != VIC_ENOSPC)) {
        client_forget_late(c);
    }
    return status;
}

int client_receive(struct vic_client *c, uint64_t timeout_ns)
{
    return receive(c, MESSAGE_ANY, false, timeout_ns);
}

int client_receive_confirms(struct vic_client *c, uint32_t from, uint64_t timeout_ns)
{
    return receive(c, from, true, timeout_ns);
}

void client_forget_late(struct vic_client *c)
{
    if (c->late != c->scratch) {
        free(c->late);
    }
    c->late = NULL;
}

/* Give the first message of the inbox to the program. False if there is none. */
static bool take(struct vic_client *c, struct vic_delivery *delivery)
{
    lock_take(c->card, &c->lock);
    struct item *item = c->inbox;
    if (item != NULL) {
        c->inbox = item->next;
        c->inbox_end = c->inbox == NULL ? &c->inbox : c->inbox_end;
        c->inbox_bytes -= item->size;
        c->count.delivered++;
        *delivery = item->delivery;
    }
    lock_give(&c->lock);
    return item != NULL;
}

static int vic_client_recv_call(vic_client_t *c, struct vic_delivery *delivery, uint64_t timeout_ns)
{
    int reason = VIC_OK;
    if (delivery == NULL) {
        return fail_null(0, "delivery != NULL");
    }
    client_be_receiver(c);
    uint64_t deadline_ns = deadline_after(c->card, timeout_ns);
    struct progress progress = {.whole.kind = WAIT_RECV, .whole.endless = deadline_ns == VIC_FOREVER};
    for (;;) {
        client_arm(c, &progress);
        if (take(c, delivery)) {
            client_ring(c); /* there is room for threads that send */
            return VIC_OK;
        }
        if (reason != VIC_OK) {
            return reason;
        }
        reason = client_progress(c, &progress, deadline_ns);
        reason = reason == VIC_ENOSPC ? VIC_OK : reason; /* another thread has emptied the inbox meanwhile */
    }
}

GATED(vic_client_recv, c, true, (vic_client_t *c, struct vic_delivery *delivery, uint64_t timeout_ns),
      (c, delivery, timeout_ns), "timeout", VALUES((int64_t)timeout_ns),
      "kind src 'key bytes", VALUES(delivery->kind, delivery->src, TEXT(delivery->key), (int64_t)delivery->bytes))

const char *vic_client_reason(const struct vic_delivery *delivery)
{
    const struct item *item = delivery != NULL ? delivery->memory : NULL;
    return item != NULL ? item->reason : "";
}

static int vic_client_release_call(vic_client_t *c, struct vic_delivery *delivery)
{
    if (c == NULL || delivery == NULL) {
        return fail_null(c == NULL, "delivery != NULL");
    }
    free(delivery->memory);
    delivery->memory = NULL;
    delivery->key = NULL;
    delivery->body = NULL;
    return VIC_OK;
}

LOGGED(vic_client_release, (vic_client_t *c, struct vic_delivery *delivery), (c, delivery),
       c == NULL ? NULL : c->card, "id", VALUES(delivery != NULL ? (int64_t)delivery->id : 0), "", NULL)

/* Answer the card that sent it, unless that has closed since. */
static int answer(struct vic_client *c, const struct vic_delivery *delivery, const struct vic_envelope *e,
                  uint64_t deadline_ns)
{
    enum { SLICE_NS = 10 * 1000 * 1000 };
    struct progress progress = {.whole = {WAIT_ACK, delivery->src, 0, deadline_ns == VIC_FOREVER}};
    for (;;) {
        uint64_t opens;
        int status = vic_peer_opens(c->card, delivery->src, &opens);
        if (status != VIC_OK || opens != delivery->token[2]) {
            return status;
        }
        int outermost = client_continues(&progress);
        status = client_send_short(c, delivery->src, e, deadline_slice(c->card, SLICE_NS, deadline_ns));
        wait_whole_end(outermost);
        if (status != VIC_ETIMEDOUT || deadline_left(c->card, deadline_ns) == 0) {
            return status;
        }
        status = client_progress(c, &progress, deadline_after(c->card, deadline_slice(c->card, SLICE_NS, deadline_ns)));
        if (status != VIC_OK && status != VIC_ETIMEDOUT && status != VIC_ENOSPC) {
            return status;
        }
    }
}

static int vic_client_ack_within_call(vic_client_t *c, struct vic_delivery *delivery, int reject, uint64_t timeout_ns)
{
    int status = VIC_OK;
    if (delivery == NULL || delivery->kind == 0 || delivery->src >= c->cards) {
        return fail(VIC_EINVAL, "this is no delivery, or it was acknowledged");
    }
    struct vic_envelope e = {.session = delivery->token[0], .id = delivery->token[1]};
    if (delivery->kind == VIC_DELIVER) {
        e.kind = VIC_ACK;
        e.flags = reject != 0 ? VIC_REJECTED : 0;
        status = answer(c, delivery, &e, deadline_after(c->card, timeout_ns));
    } else if (delivery->kind == VIC_PUBLISH && (delivery->flags & VIC_CONFIRM_WANTED) != 0) {
        e.kind = VIC_CONFIRM;
        e.flags = reject != 0 ? VIC_REFUSED : 0;
        status = answer(c, delivery, &e, deadline_after(c->card, timeout_ns));
    }
    if (status == VIC_OK) {
        vic_client_release_call(c, delivery);
        delivery->kind = 0; /* once */
    }
    return status;
}

GATED(vic_client_ack_within, c, true, (vic_client_t *c, struct vic_delivery *delivery, int reject, uint64_t timeout_ns),
      (c, delivery, reject, timeout_ns), "id reject timeout",
      VALUES(delivery != NULL ? (int64_t)delivery->id : 0, reject, (int64_t)timeout_ns), "", NULL)

static int vic_client_ack_call(vic_client_t *c, struct vic_delivery *delivery, int reject)
{
    return vic_client_ack_within_call(c, delivery, reject, VIC_FOREVER);
}

GATED(vic_client_ack, c, true, (vic_client_t *c, struct vic_delivery *delivery, int reject), (c, delivery, reject),
      "id reject", VALUES(delivery != NULL ? (int64_t)delivery->id : 0, reject), "", NULL)
