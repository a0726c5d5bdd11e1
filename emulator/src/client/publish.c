/* Messages to brokers: the window of those that are not confirmed, vic_client_publish and vic_client_flush. */
#include <stdlib.h>

#include "client.h"

enum { TEND_CALLS = 256, SLICE_NS = 50 * 1000 * 1000, SLICE_MOST_NS = 1000 * 1000 * 1000 };

/* With the lock: memory that an earlier entry had, or NULL. */
static struct entry *take_spare(struct vic_client *c)
{
    struct entry *entry = c->spare;
    if (entry != NULL) {
        c->spare = entry->next;
        c->spare_bytes -= entry->capacity;
    }
    return entry;
}

/* With the lock: true if memory of so many bytes may stay. Large memory that the system gives anew costs more than all that is
 * done with it, so as much stays as the window has room for. */
static bool may_stay(const struct vic_client *c, size_t bytes)
{
    return c->unconfirmed_bytes + c->spare_bytes + bytes <= c->window_bytes;
}

/* Memory for an entry whose envelope has so many bytes. NULL: no memory. */
static struct entry *new_entry(struct vic_client *c, uint32_t peer, size_t bytes)
{
    size_t capacity = bytes;
    lock_take(c->card, &c->lock);
    struct entry *entry = take_spare(c); /* one that does not fit makes room for those that do */
    while (c->spare != NULL && !may_stay(c, bytes)) {
        free(take_spare(c));
    }
    lock_give(&c->lock);
    if (entry == NULL || entry->capacity < bytes || entry->capacity / 2 > bytes) {
        free(entry);
        entry = malloc(sizeof *entry + bytes);
    } else {
        capacity = entry->capacity;
    }
    if (entry != NULL) {
        *entry = (struct entry){.peer = peer, .holders = 1, .bytes = bytes, .capacity = capacity};
    }
    return entry;
}

/* With the lock. */
static void free_entry(struct vic_client *c, struct entry *entry)
{
    if (!may_stay(c, entry->capacity)) {
        free(entry);
        return;
    }
    c->spare_bytes += entry->capacity;
    entry->next = c->spare;
    c->spare = entry;
}

static struct entry **bucket_of(struct vic_client *c, uint64_t id)
{
    return &c->buckets[id & c->bucket_mask];
}

struct entry *client_entry_find(struct vic_client *c, uint64_t id)
{
    struct entry *entry = *bucket_of(c, id);
    while (entry != NULL && entry->id != id) {
        entry = entry->chain;
    }
    return entry;
}

static void link_entry(struct vic_client *c, struct entry *entry)
{
    struct peer *peer = &c->peers[entry->peer];
    entry->id = ++c->id;
    vic_envelope_put_word(entry->envelope + 16, entry->id);
    entry->before = peer->last;
    *(peer->last != NULL ? &peer->last->next : &peer->first) = entry;
    peer->last = entry;
    peer->unsent = peer->unsent != NULL ? peer->unsent : entry;
    entry->chain = *bucket_of(c, entry->id);
    *bucket_of(c, entry->id) = entry;
    c->count.unconfirmed++;
    c->unconfirmed_bytes += entry->bytes;
}

/* Take it out of all lists. Its holders keep it in memory. */
void client_entry_end(struct vic_client *c, struct entry *entry)
{
    struct peer *peer = &c->peers[entry->peer];
    struct entry **at = bucket_of(c, entry->id);
    while (*at != entry) {
        at = &(*at)->chain;
    }
    *at = entry->chain;
    *(entry->before != NULL ? &entry->before->next : &peer->first) = entry->next;
    *(entry->next != NULL ? &entry->next->before : &peer->last) = entry->before;
    peer->unsent = peer->unsent == entry ? entry->next : peer->unsent;
    c->count.unconfirmed--;
    c->unconfirmed_bytes -= entry->bytes;
    entry->done = true;
    if (entry->holders == 0) {
        free_entry(c, entry);
    }
}

void client_entry_release(struct vic_client *c, struct entry *entry)
{
    lock_take(c->card, &c->lock);
    if (--entry->holders == 0 && entry->done) {
        free_entry(c, entry);
    }
    lock_give(&c->lock);
}

static bool try_link(struct vic_client *c, struct entry *entry)
{
    lock_take(c->card, &c->lock);
    uint64_t many = c->count.unconfirmed;
    bool fits = many == 0 || (many < c->window_messages && c->unconfirmed_bytes <= c->window_bytes &&
                              entry->bytes <= c->window_bytes - c->unconfirmed_bytes);
    if (fits) {
        link_entry(c, entry);
    }
    lock_give(&c->lock);
    return fits;
}

static int enter_window(struct vic_client *c, struct entry *entry, uint64_t deadline_ns)
{
    struct progress progress = {.whole = {WAIT_PUBLISH, entry->peer, 0, deadline_ns == VIC_FOREVER}};
    int reason = VIC_OK;
    for (;;) {
        client_arm(c, &progress);
        if (try_link(c, entry)) {
            return VIC_OK;
        }
        if (reason != VIC_OK) {
            return reason;
        }
        reason = client_progress_sending(c, &progress, deadline_ns);
    }
}

/* True if it was sent or confirmed, by any thread. `give_up`: if not, end it, unless another thread is sending it. */
static bool is_away(struct vic_client *c, struct entry *entry, bool give_up, bool *ended)
{
    lock_take(c->card, &c->lock);
    bool away = entry->sent || entry->done;
    *ended = !away && give_up && entry->holders == 1;
    if (*ended) {
        c->id -= c->id == entry->id; /* nobody has it: a next try is the same message, and goes on where this was */
        client_entry_end(c, entry);
    }
    c->count.published += away;
    lock_give(&c->lock);
    return away;
}

/* Send it, and what is before it. */
static int send_entry(struct vic_client *c, struct entry *entry, uint64_t deadline_ns)
{
    struct peer *peer = &c->peers[entry->peer];
    struct progress progress = {.whole = {WAIT_PUBLISH, entry->peer, 0, deadline_ns == VIC_FOREVER}};
    int reason = VIC_OK;
    for (;;) {
        int status = VIC_ETIMEDOUT;
        bool ended, mine = lock_try(&peer->sending);
        client_arm(c, &progress);
        if (mine) {
            int outermost = client_continues(&progress);
            status = client_send_due(c, entry->peer, entry, true, deadline_ns);
            wait_whole_end(outermost);
            lock_give(&peer->sending);
        }
        if (is_away(c, entry, reason != VIC_OK, &ended)) {
            return VIC_OK;
        }
        if (ended) {
            return reason;
        }
        if (status != VIC_OK && status != VIC_ETIMEDOUT && status != VIC_EBUSY) {
            reason = status;
        } else if (!mine && reason == VIC_OK && deadline_left(c->card, deadline_ns) > 0) {
            vic_relax(c->card); /* another thread sends to this card */
        } else if (reason == VIC_OK) {
            reason = client_progress_sending(c, &progress, deadline_ns);
        } else {
            vic_relax(c->card); /* another thread sends this message */
        }
    }
}

static int publish_kept(struct vic_client *c, struct entry *entry, uint64_t deadline_ns)
{
    int status = enter_window(c, entry, deadline_ns);
    if (status != VIC_OK) {
        free(entry);
        return status;
    }
    status = send_entry(c, entry, deadline_ns);
    client_entry_release(c, entry);
    return status;
}

/* Publish without a confirm. */
static int publish_once(struct vic_client *c, struct entry *entry, uint64_t deadline_ns)
{
    struct progress progress = {.whole = {WAIT_PUBLISH, entry->peer, 0, deadline_ns == VIC_FOREVER}};
    int status = VIC_OK;
    lock_take(c->card, &c->lock);
    uint64_t id = ++c->id;
    vic_envelope_put_word(entry->envelope + 16, id);
    lock_give(&c->lock);
    uint64_t room_ns = SLICE_NS, opens = 0;
    while (status == VIC_OK) {
        status = vic_peer_opens(c->card, entry->peer, &opens);
        if (status == VIC_OK && opens % 2 != 0) {
            uint64_t slice = deadline_slice(c->card, room_ns, deadline_ns);
            int outermost = client_continues(&progress);
            status = vic_message_send(c->messages, entry->peer, entry->envelope, entry->bytes, slice);
            wait_whole_end(outermost);
            room_ns = room_ns < SLICE_MOST_NS ? 2 * room_ns : room_ns;
            if (status != VIC_ETIMEDOUT) {
                break;
            }
        }
        status = client_progress_sending(c, &progress, deadline_ns);
    }
    if (status == VIC_OK) {
        struct peer *peer = &c->peers[entry->peer];
        lock_take(c->card, &c->lock);
        c->count.published++;
        peer->used = true;
        free_entry(c, entry);
        lock_give(&c->lock);
    } else {
        lock_take(c->card, &c->lock);
        c->id -= c->id == id;
        lock_give(&c->lock);
        free(entry);
    }
    return status;
}

static int vic_client_publish_call(vic_client_t *c, uint32_t bridge, const char *key, const void *body,
                                   size_t bytes, uint64_t timeout_ns)
{
    size_t key_bytes = key != NULL ? strlen(key) : 0;
    if (key == NULL || (body == NULL && bytes > 0) || key_bytes > VIC_KEY_MOST || bytes > c->max_bytes ||
        vic_envelope_header(VIC_PUBLISH) + key_bytes > c->max_bytes - bytes) {
        return client_no_name(c, key, body, bytes);
    }
    if (bridge >= c->cards) {
        return client_no_card(c, bridge);
    }
    bool once = (c->flags & VIC_CLIENT_AT_MOST_ONCE) != 0;
    struct vic_envelope e = {.kind = VIC_PUBLISH, .session = c->session, .key = key, .key_bytes = key_bytes,
                             .body = body, .bytes = bytes};
    e.flags = (once ? 0 : VIC_CONFIRM_WANTED) | ((c->flags & VIC_CLIENT_PERSISTENT) != 0 ? VIC_PERSISTENT : 0);
    size_t all = vic_envelope_header(VIC_PUBLISH) + key_bytes + bytes;
    struct entry *entry = new_entry(c, bridge, all);
    if (entry == NULL) {
        return VIC_ESYS;
    }
    vic_envelope_pack(entry->envelope, all, &e, &all);
    uint64_t deadline_ns = deadline_after(c->card, timeout_ns);
    if (atomic_fetch_add_explicit(&c->calls, 1, memory_order_relaxed) % TEND_CALLS == TEND_CALLS - 1) {
        client_tend(c, deadline_ns);
    }
    return client_end_sending(c, once ? publish_once(c, entry, deadline_ns) : publish_kept(c, entry, deadline_ns));
}

GATED(vic_client_publish, c, true,
      (vic_client_t *c, uint32_t bridge, const char *key, const void *body, size_t bytes, uint64_t timeout_ns),
      (c, bridge, key, body, bytes, timeout_ns),
      "bridge 'key bytes timeout", VALUES(bridge, TEXT(key), (int64_t)bytes, (int64_t)timeout_ns), "", NULL)

/* True if all messages up to this id are confirmed. */
static bool is_confirmed(struct vic_client *c, uint64_t id)
{
    bool all = true;
    lock_take(c->card, &c->lock);
    for (uint32_t to = 0; to < c->cards && c->count.unconfirmed > 0 && all; to++) {
        const struct entry *first = c->peers[to].first;
        all = first == NULL || first->id > id;
    }
    lock_give(&c->lock);
    return all;
}

static bool is_used(struct vic_client *c, uint32_t to)
{
    lock_take(c->card, &c->lock);
    bool used = c->peers[to].used;
    lock_give(&c->lock);
    return used;
}

/* Wait until the cards to which messages were published have taken them. */
static int flush_once(struct vic_client *c, uint64_t deadline_ns)
{
    struct progress progress = {.whole = {WAIT_CONFIRM, 0, 0, deadline_ns == VIC_FOREVER}};
    int status = VIC_OK, lost = VIC_OK;
    for (uint32_t to = 0; to < c->cards && status == VIC_OK;) {
        int taken = VIC_OK;
        if (is_used(c, to)) {
            taken = vic_message_flush_to(c->messages, to, deadline_slice(c->card, SLICE_NS, deadline_ns));
        }
        if (taken == VIC_ETIMEDOUT) {
            status = client_progress_sending(c, &progress, deadline_ns);
            continue;
        }
        lost = taken != VIC_OK ? taken : lost;
        to++;
    }
    return lost != VIC_OK ? lost : status;
}

static int vic_client_flush_call(vic_client_t *c, uint64_t timeout_ns)
{
    int reason = VIC_OK;
    uint64_t deadline_ns = deadline_after(c->card, timeout_ns);
    if ((c->flags & VIC_CLIENT_AT_MOST_ONCE) != 0) {
        return client_end_sending(c, flush_once(c, deadline_ns));
    }
    lock_take(c->card, &c->lock);
    uint64_t id = c->id;
    lock_give(&c->lock);
    struct progress progress = {.whole = {WAIT_CONFIRM, 0, 0, deadline_ns == VIC_FOREVER}};
    for (;;) {
        client_arm(c, &progress);
        if (is_confirmed(c, id)) {
            return client_end_sending(c, VIC_OK);
        }
        if (reason != VIC_OK) {
            return client_end_sending(c, reason);
        }
        reason = client_progress_sending(c, &progress, deadline_ns);
    }
}

GATED(vic_client_flush, c, true, (vic_client_t *c, uint64_t timeout_ns), (c, timeout_ns),
      "timeout", VALUES((int64_t)timeout_ns), "", NULL)
