/* What has to be sent to a card: subscriptions, patterns and messages of this client. When the card was opened again, all
 * of it is sent again. */
#include <stdlib.h>

#include "client.h"

enum {
    TEND_NS = 10 * 1000 * 1000,
    SHORT = 1024,                      /* bytes that go in one piece: there is room or not */
    ROOM_NS = 3 * 1000 * 1000,     /* of a send; a long message that did not get through gets more */
    ROOM_MOST_NS = 1 * 1000 * 1000 * 1000
};

/* One message to send. */
struct errand {
    struct vic_envelope e;
    struct entry *entry; /* a message of ours, or: */
    uint64_t stamp;      /* a pattern; or 0: e says what */
    unsigned char credit[8];
    char key[VIC_KEY_MOST];
};

static void set_key(struct errand *errand, const char *text, size_t bytes)
{
    memcpy(errand->key, text, bytes);
    errand->e.key = errand->key;
    errand->e.key_bytes = bytes;
}

static bool find_subscription(struct vic_client *c, uint32_t to, struct errand *errand)
{
    for (struct subscription *s = c->subscriptions; s != NULL; s = s->next) {
        if (s->bridge == to && !s->sent) {
            unsigned kind = s->ends ? VIC_UNSUBSCRIBE : VIC_SUBSCRIBE;
            errand->e = (struct vic_envelope){.kind = kind, .id = s->number};
            set_key(errand, s->queue, s->bytes);
            vic_envelope_put_word(errand->credit, s->credit);
            errand->e.body = errand->credit;
            errand->e.bytes = s->ends ? 0 : sizeof errand->credit;
            return true;
        }
    }
    return false;
}

static bool find_pattern(struct vic_client *c, uint32_t to, struct errand *errand)
{
    const struct pattern *oldest = NULL;
    for (const struct pattern *p = c->patterns; p != NULL; p = p->next) {
        if (p->stamp > c->peers[to].sent_stamp && (oldest == NULL || p->stamp < oldest->stamp)) {
            oldest = p;
        }
    }
    if (oldest != NULL) {
        errand->e = (struct vic_envelope){.kind = oldest->bound ? VIC_BIND : VIC_UNBIND};
        set_key(errand, oldest->text, oldest->bytes);
        errand->stamp = oldest->stamp;
    }
    return oldest != NULL;
}

static bool find_errand(struct vic_client *c, uint32_t to, struct errand *errand)
{
    struct peer *peer = &c->peers[to];
    errand->entry = NULL;
    errand->stamp = 0;
    lock_take(c->card, &c->lock);
    bool found = find_subscription(c, to, errand);
    if (!found && !peer->asked) {
        errand->e = (struct vic_envelope){.kind = VIC_BIND, .flags = VIC_ASK};
        found = true;
    }
    found = found || find_pattern(c, to, errand);
    if (!found && peer->unsent != NULL) {
        errand->entry = peer->unsent;
        errand->entry->holders++;
        found = true;
    }
    lock_give(&c->lock);
    errand->e.session = c->session;
    return found;
}

static void subscription_is_sent(struct vic_client *c, const struct vic_envelope *e)
{
    struct subscription **at = client_subscription(c, e->id);
    if (*at != NULL && e->kind == VIC_UNSUBSCRIBE) {
        client_end_subscription(at);
    } else if (*at != NULL) {
        (*at)->sent = !(*at)->ends;
    }
}

static void errand_is_done(struct vic_client *c, uint32_t to, const struct errand *errand)
{
    struct peer *peer = &c->peers[to];
    lock_take(c->card, &c->lock);
    if (errand->entry != NULL) {
        c->count.repeated += errand->entry->sent;
        errand->entry->sent = true;
        if (peer->unsent == errand->entry) {
            peer->unsent = errand->entry->next;
        }
    } else if (errand->stamp != 0) {
        peer->sent_stamp = errand->stamp;
        client_forget_patterns(c);
    } else if (errand->e.kind == VIC_BIND) {
        peer->asked = true;
    } else {
        subscription_is_sent(c, &errand->e);
    }
    lock_give(&c->lock);
}

/* Has the card been opened anew, or its messages, or have they ended? Its SRAM may say for a while that they are
 * open when their program is dead and even when the next one has opened the card. What is sent then is lost, and
 * this says so when the next one has opened its messages. */
static int look_up(struct vic_client *c, uint32_t to, uint64_t *opens, uint64_t *ends, bool *anew)
{
    const struct peer *peer = &c->peers[to];
    int status = vic_peer_opens(c->card, to, opens);
    if (status == VIC_OK) {
        status = vic_message_ends(c->messages, to, ends);
    }
    *anew = status == VIC_OK && (*opens != atomic_load(&peer->sent_opens) || *ends != atomic_load(&peer->ends));
    return status;
}

/* The card was opened again, so that it knows nothing of this client; or it is closed. */
static void restart(struct vic_client *c, uint32_t to, uint64_t opens, uint64_t ends)
{
    struct peer *peer = &c->peers[to];
    lock_take(c->card, &c->lock);
    for (struct subscription **at = &c->subscriptions; *at != NULL;) {
        struct subscription *s = *at;
        if (s->bridge == to && s->ends) {
            client_end_subscription(at);
            continue;
        }
        s->sent = s->sent && s->bridge != to;
        at = &s->next;
    }
    peer->asked = false;
    peer->sent_stamp = 0;
    peer->unsent = peer->first;
    lock_give(&c->lock);
    peer->room_ns = ROOM_NS;
    atomic_store(&peer->sent_opens, opens);
    atomic_store(&peer->ends, ends);
}

static bool is_sent(struct vic_client *c, const struct entry *entry)
{
    lock_take(c->card, &c->lock);
    bool sent = entry->sent || entry->done;
    lock_give(&c->lock);
    return sent;
}

static int run_errand(struct vic_client *c, uint32_t to, const struct errand *errand, bool may_wait,
                      uint64_t deadline_ns)
{
    struct peer *peer = &c->peers[to];
    bool is_long = errand->entry != NULL && errand->entry->bytes > SHORT;
    bool waits = is_long || (may_wait && to != c->me); /* for itself nobody would make room meanwhile */
    uint64_t timeout_ns = waits ? deadline_slice(c->card, peer->room_ns, deadline_ns) : 0;
    int status;
    if (errand->entry != NULL) {
        status = vic_message_send(c->messages, to, errand->entry->envelope, errand->entry->bytes, timeout_ns);
    } else {
        unsigned char packed[VIC_ENVELOPE_MOST + VIC_KEY_MOST + 8];
        size_t bytes = 0;
        vic_envelope_pack(packed, sizeof packed, &errand->e, &bytes);
        status = message_ask(c->messages, to, packed, bytes, timeout_ns);
    }
    if (status != VIC_ETIMEDOUT) {
        peer->room_ns = ROOM_NS;
    } else if (is_long && peer->room_ns < ROOM_MOST_NS) {
        peer->room_ns *= 2;
    }
    return status;
}

int client_send_due(struct vic_client *c, uint32_t to, const struct entry *last, bool may_wait,
                uint64_t deadline_ns)
{
    struct errand errand;
    for (;;) {
        uint64_t opens, ends;
        bool anew;
        int status = look_up(c, to, &opens, &ends, &anew);
        if (status != VIC_OK) {
            return status;
        }
        if (anew) {
            restart(c, to, opens, ends);
        }
        if (opens % 2 == 0) {
            return VIC_EBUSY;
        }
        if ((last != NULL && is_sent(c, last)) || !find_errand(c, to, &errand)) {
            return VIC_OK;
        }
        status = run_errand(c, to, &errand, may_wait, deadline_ns);
        if (status == VIC_OK) {
            errand_is_done(c, to, &errand);
        }
        if (errand.entry != NULL) {
            client_entry_release(c, errand.entry);
        }
        if (status != VIC_OK) {
            return status;
        }
    }
}

int client_send_short(struct vic_client *c, uint32_t to, const struct vic_envelope *e, uint64_t timeout_ns)
{
    unsigned char packed[VIC_ENVELOPE_MOST + VIC_KEY_MOST + 8];
    size_t bytes = 0; /* what errands say is sound, and short */
    vic_envelope_pack(packed, sizeof packed, e, &bytes);
    return vic_message_send(c->messages, to, packed, bytes, timeout_ns);
}

void client_send_all_due(struct vic_client *c, uint64_t deadline_ns)
{
    for (uint32_t to = 0; to < c->cards; to++) {
        struct peer *peer = &c->peers[to];
        uint64_t opens, ends;
        bool anew, known = look_up(c, to, &opens, &ends, &anew) == VIC_OK;
        if (!known || !(anew || atomic_load(&peer->due) != 0) || !lock_try(&peer->sending)) {
            continue;
        }
        atomic_store(&peer->due, 0);
        if (client_send_due(c, to, NULL, false, deadline_ns) != VIC_OK) {
            atomic_store(&peer->due, 1);
        }
        lock_give(&peer->sending);
    }
}

void client_tend(struct vic_client *c, uint64_t deadline_ns)
{
    uint64_t due = atomic_load_explicit(&c->tend_ns, memory_order_relaxed), now = vic_time_ns(c->card);
    if (now >= due && atomic_compare_exchange_strong(&c->tend_ns, &due, now + TEND_NS)) {
        client_send_all_due(c, deadline_ns);
    }
}
