/* Doing what received messages say. They may hold anything. */
#include "client.h"

/* Give a refusal to the program, with the message that it had published. */
static int give_back(struct vic_client *c, struct entry *entry, unsigned flags, uint64_t opens)
{
    struct vic_envelope e;
    vic_envelope_unpack(entry->envelope, entry->bytes, &e);
    e.kind = VIC_CONFIRM;
    e.flags = flags;
    return client_keep(c, entry->peer, &e, opens);
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
            status = give_back(c, entry, e->flags, opens);
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

static bool knows(const struct vic_client *c, uint32_t src, uint64_t session, uint64_t number)
{
    const struct subscription *s = c->subscriptions;
    while (s != NULL && s->number != number) {
        s = s->next;
    }
    return s != NULL && s->bridge == src && !s->ends && session == c->session;
}

static int refusal(struct vic_client *c, uint32_t src, const struct vic_envelope *e, uint64_t opens)
{
    if (!knows(c, src, e->session, e->id)) {
        return VIC_OK;
    }
    int status = client_keep(c, src, e, opens);
    if (status == VIC_OK) {
        client_end_subscription(c, (uint32_t)e->id);
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
        return knows(c, src, e->subscriber, e->subscription) ? client_keep(c, src, e, opens) : VIC_ERANGE;
    case VIC_REFUSAL:
        return refusal(c, src, e, opens);
    case VIC_BIND:
    case VIC_UNBIND:
        return client_wants(c, src, e, opens);
    case VIC_TOPIC:
        return client_has_bound(c->patterns, e) ? client_keep(c, src, e, opens) : VIC_OK;
    case VIC_PUBLISH:
        if ((c->flags & VIC_CLIENT_BRIDGE) != 0) {
            return client_keep(c, src, e, opens);
        }
        break;
    default:
        break;
    }
    c->count.strange++;
    return VIC_OK;
}

int client_dispatch(struct vic_client *c, uint32_t src, const void *data, size_t bytes, bool full)
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
