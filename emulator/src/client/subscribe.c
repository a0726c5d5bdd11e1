/* Subscriptions to queues, and what is sent to bridges about them. */
#include <stdlib.h>

#include "client.h"

enum { SUBSCRIPTIONS = 1024 }; /* a bridge keeps as many refusals */

struct subscription **client_subscription(struct vic_client *c, uint64_t number)
{
    struct subscription **at = &c->subscriptions;
    while (*at != NULL && (*at)->number != number) {
        at = &(*at)->next;
    }
    return at;
}

void client_end_subscription(struct subscription **at)
{
    struct subscription *s = *at;
    *at = s->next;
    free(s);
}

/* Send it now, or if there is no room with a later call. */
static void try_to_send(struct vic_client *c, uint32_t bridge)
{
    struct peer *peer = &c->peers[bridge];
    atomic_store(&peer->due, 1);
    if (lock_try(&peer->sending)) {
        client_send_due(c, bridge, NULL, false, 0);
        lock_give(&peer->sending);
    }
}

static int vic_client_subscribe_call(vic_client_t *c, uint32_t bridge, const char *queue, uint64_t credit,
                                     uint32_t *subscription)
{
    size_t bytes = queue != NULL ? strlen(queue) : 0;
    if (queue == NULL || bytes > VIC_KEY_MOST || credit == 0) {
        return credit == 0 ? fail(VIC_EINVAL, "credit is 0; 1 is the least") : client_no_name(c, queue, NULL, 0);
    }
    if (bridge >= c->cards) {
        return client_no_card(c, bridge);
    }
    struct subscription *s = malloc(sizeof *s + bytes);
    if (s == NULL) {
        return VIC_ESYS;
    }
    *s = (struct subscription){.bridge = bridge, .credit = credit, .bytes = bytes};
    memcpy(s->queue, queue, bytes);
    uint32_t number, open = 0;
    lock_take(c->card, &c->lock);
    for (const struct subscription *other = c->subscriptions; other != NULL; other = other->next) {
        open++;
    }
    if (open < SUBSCRIPTIONS) {
        s->number = ++c->subscription;
        s->next = c->subscriptions;
        c->subscriptions = s;
    }
    number = s->number;
    lock_give(&c->lock);
    if (open == SUBSCRIPTIONS) {
        free(s);
        return fail(VIC_ENOSPC, "%d subscriptions are open, or have ended and their bridges do not know it yet", SUBSCRIPTIONS);
    }
    if (subscription != NULL) {
        *subscription = number;
    }
    try_to_send(c, bridge);
    return VIC_OK;
}

GATED(vic_client_subscribe, c, true,
      (vic_client_t *c, uint32_t bridge, const char *queue, uint64_t credit, uint32_t *subscription),
      (c, bridge, queue, credit, subscription), "bridge 'queue credit", VALUES(bridge, TEXT(queue), (int64_t)credit),
      subscription != NULL ? "subscription" : "", VALUES(subscription != NULL ? *subscription : 0))

static int vic_client_unsubscribe_call(vic_client_t *c, uint32_t subscription)
{
    int status = VIC_EINVAL;
    uint32_t bridge = 0;
    lock_take(c->card, &c->lock);
    struct subscription *s = *client_subscription(c, subscription);
    if (s != NULL && !s->ends) {
        s->ends = true;
        s->sent = false;
        bridge = s->bridge;
        status = VIC_OK;
    }
    lock_give(&c->lock);
    if (status == VIC_OK) {
        try_to_send(c, bridge);
    }
    return status == VIC_OK ? status : fail(status, "there is no subscription %u, or it has ended", subscription);
}

GATED(vic_client_unsubscribe, c, true, (vic_client_t *c, uint32_t subscription), (c, subscription),
      "subscription", VALUES(subscription), "", NULL)
