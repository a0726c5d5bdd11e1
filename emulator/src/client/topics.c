/* Fan-out: the patterns that cards have bound, and messages to all cards that have bound one that matches. */
#include <stdlib.h>

#include "client.h"

enum { SLICE_NS = 20 * 1000 * 1000, SLICE_MOST_NS = 1000 * 1000 * 1000, DRAIN = 1000 };

static struct pattern **find(struct pattern **at, const char *text, size_t bytes)
{
    while (*at != NULL && ((*at)->bytes != bytes || memcmp((*at)->text, text, bytes) != 0)) {
        at = &(*at)->next;
    }
    return at;
}

/* At the end of a list. */
static int add(struct pattern **at, const char *text, size_t bytes)
{
    struct pattern *p = malloc(sizeof *p + bytes);
    if (p == NULL) {
        return VIC_ESYS;
    }
    *p = (struct pattern){.bytes = bytes, .bound = true};
    if (bytes > 0) {
        memcpy(p->text, text, bytes);
    }
    *at = p;
    return VIC_OK;
}

static void drop(struct pattern **at)
{
    struct pattern *p = *at;
    *at = p->next;
    free(p);
}

void client_free_patterns(struct pattern *patterns)
{
    while (patterns != NULL) {
        drop(&patterns);
    }
}

/* ---- patterns of other cards */

int client_wants(struct vic_client *c, uint32_t src, const struct vic_envelope *e, uint64_t opens)
{
    struct peer *peer = &c->peers[src];
    if (peer->wants_session != e->session) {
        client_free_patterns(peer->wants);
        peer->wants = NULL;
        peer->wants_count = 0;
        peer->wants_session = e->session;
    }
    peer->wants_opens = opens;
    if ((e->flags & VIC_ASK) != 0) {
        peer->sent_stamp = 0;
        atomic_store(&peer->due, 1);
        atomic_store(&c->tend_ns, 0);
        return VIC_OK;
    }
    struct pattern **at = find(&peer->wants, e->key, e->key_bytes);
    if (e->kind == VIC_UNBIND && *at != NULL) {
        drop(at);
        peer->wants_count--;
    } else if (e->kind == VIC_BIND && *at == NULL && peer->wants_count < PATTERNS_MOST) {
        int status = add(at, e->key, e->key_bytes);
        peer->wants_count += status == VIC_OK;
        return status;
    }
    return VIC_OK;
}

bool client_has_bound(const struct pattern *patterns, const struct vic_envelope *e)
{
    while (patterns != NULL &&
           !(patterns->bound && vic_topic_matches(patterns->text, patterns->bytes, e->key, e->key_bytes))) {
        patterns = patterns->next;
    }
    return patterns != NULL;
}

/* ---- patterns of this card */

void client_forget_patterns(struct vic_client *c)
{
    uint64_t all = UINT64_MAX; /* every card that we have sent anything knows so much */
    for (uint32_t to = 0; to < c->cards; to++) {
        const struct peer *peer = &c->peers[to];
        all = peer->asked && peer->sent_stamp < all ? peer->sent_stamp : all;
    }
    for (struct pattern **at = &c->patterns; *at != NULL;) {
        if (!(*at)->bound && (*at)->stamp <= all) {
            drop(at);
            c->patterns_count--;
        } else {
            at = &(*at)->next;
        }
    }
}

static int change(struct vic_client *c, const char *text, size_t bytes, bool binds)
{
    struct pattern **at = find(&c->patterns, text, bytes);
    if (*at == NULL && binds) {
        int status = c->patterns_count < PATTERNS_MOST
                         ? add(at, text, bytes)
                         : fail(VIC_ENOSPC, "%d patterns are bound, the most there can be", (int)PATTERNS_MOST);
        if (status != VIC_OK) {
            return status;
        }
        c->patterns_count++;
    } else if (*at == NULL || (*at)->bound == binds) {
        return binds ? VIC_OK : fail(VIC_EINVAL, "'%.60s' is not bound", text);
    }
    (*at)->bound = binds;
    (*at)->stamp = ++c->stamp;
    for (uint32_t to = 0; to < c->cards; to++) {
        atomic_store(&c->peers[to].due, 1);
    }
    client_forget_patterns(c);
    return VIC_OK;
}

static int change_and_send(struct vic_client *c, const char *text, bool binds)
{
    size_t bytes = text != NULL ? strlen(text) : 0;
    if (text == NULL || bytes > VIC_KEY_MOST) {
        return client_no_name(c, text, NULL, 0);
    }
    lock_take(c->card, &c->lock);
    int status = change(c, text, bytes, binds);
    lock_give(&c->lock);
    if (status == VIC_OK) {
        client_send_all_due(c, 0);
    }
    return status;
}

static int vic_client_bind_call(vic_client_t *c, const char *pattern)
{
    return change_and_send(c, pattern, true);
}

GATED(vic_client_bind, c, true, (vic_client_t *c, const char *pattern), (c, pattern), "'pattern", VALUES(TEXT(pattern)), "", NULL)

static int vic_client_unbind_call(vic_client_t *c, const char *pattern)
{
    return change_and_send(c, pattern, false);
}

GATED(vic_client_unbind, c, true, (vic_client_t *c, const char *pattern), (c, pattern), "'pattern", VALUES(TEXT(pattern)), "", NULL)

/* ---- messages */

/* Receive what has come: it may tell which cards have bound what. */
static void receive_available(struct vic_client *c)
{
    if (lock_try(&c->receiving)) {
        for (int i = 0; i < DRAIN && !client_inbox_full(c) && client_receive(c, 0) == VIC_OK; i++) {
        }
        lock_give(&c->receiving);
        client_ring(c);
    }
}

static bool peer_wants(struct vic_client *c, uint32_t to, const struct vic_envelope *e)
{
    uint64_t opens;
    if (vic_peer_opens(c->card, to, &opens) != VIC_OK || opens % 2 == 0) {
        return false;
    }
    lock_take(c->card, &c->lock);
    const struct peer *peer = &c->peers[to];
    bool wants_it = peer->wants_opens == opens && client_has_bound(peer->wants, e);
    lock_give(&c->lock);
    return wants_it;
}

/* Count in *sent if it was sent; not if the card has left, or no longer wants it. */
static int send_to(struct vic_client *c, uint32_t to, const struct vic_envelope *e, const void *data,
                   size_t bytes, uint32_t *sent, uint64_t deadline_ns)
{
    struct progress progress = {.whole = {WAIT_RING, to, 0, deadline_ns == VIC_FOREVER}};
    int status = VIC_OK;
    uint64_t slice = SLICE_NS;
    while (status == VIC_OK && peer_wants(c, to, e)) {
        int outermost = client_continues(&progress);
        status = vic_message_send(c->messages, to, data, bytes, deadline_slice(c->card, slice, deadline_ns));
        wait_whole_end(outermost);
        slice = slice < SLICE_MOST_NS ? 2 * slice : slice;
        if (status == VIC_OK) {
            ++*sent;
            return VIC_OK;
        }
        if (status == VIC_ETIMEDOUT) {
            status = client_progress_sending(c, &progress, deadline_ns);
        }
    }
    return status;
}

static int vic_client_topic_call(vic_client_t *c, const char *topic, const void *body, size_t bytes,
                                 uint32_t *cards, uint64_t timeout_ns)
{
    int status = VIC_OK;
    size_t key_bytes = topic != NULL ? strlen(topic) : 0, header = vic_envelope_header(VIC_TOPIC);
    if (topic == NULL || (body == NULL && bytes > 0) || key_bytes > VIC_KEY_MOST || bytes > c->max_bytes ||
        header + key_bytes > c->max_bytes - bytes) {
        return client_no_name(c, topic, body, bytes);
    }
    struct vic_envelope e = {.kind = VIC_TOPIC, .session = c->session, .key = topic, .key_bytes = key_bytes,
                             .body = body, .bytes = bytes};
    size_t all = header + key_bytes + bytes;
    void *data = malloc(all);
    if (data == NULL) {
        return VIC_ESYS;
    }
    uint64_t deadline_ns = deadline_after(c->card, timeout_ns);
    client_tend(c, 0);
    receive_available(c);
    lock_take(c->card, &c->lock);
    e.id = ++c->id;
    lock_give(&c->lock);
    vic_envelope_pack(data, all, &e, &all);
    uint32_t sent = 0;
    for (uint32_t to = 0; to < c->cards && status == VIC_OK; to++) {
        status = send_to(c, to, &e, data, all, &sent, deadline_ns);
    }
    free(data);
    lock_take(c->card, &c->lock);
    c->count.topics += sent;
    lock_give(&c->lock);
    if (cards != NULL) {
        *cards = sent;
    }
    return client_end_sending(c, status);
}

GATED(vic_client_topic, c, true,
      (vic_client_t *c, const char *topic, const void *body, size_t bytes, uint32_t *cards, uint64_t timeout_ns),
      (c, topic, body, bytes, cards, timeout_ns),
      "'topic bytes timeout", VALUES(TEXT(topic), (int64_t)bytes, (int64_t)timeout_ns),
      cards != NULL ? "cards" : "", VALUES(cards != NULL ? *cards : 0))
