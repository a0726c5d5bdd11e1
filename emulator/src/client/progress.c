/* Waiting: one thread receives for all, the others wait for what it receives. */
#include <stdio.h>
#include <stdlib.h>

#include "client.h"

/* ---- the threads that call vic_client_recv. Each counts from its first call until it ends; not by its pthread_t, which
 * says nothing of a thread that has ended, and may be that of another one then */

struct receiving {
    struct receiving *next;
    struct vic_client *client; /* no later one has its address, see slab.h */
    bool stuck;                /* in a send, since the inbox was full */
};

static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local struct receiving *mine; /* of this thread, of all clients */

static void end_thread(void *list)
{
    for (struct receiving *r = list, *next; r != NULL; r = next) {
        next = r->next;
        atomic_fetch_sub(&r->client->receivers, 1);
        free(r);
    }
    mine = NULL;
}

static void make_key(void)
{
    pthread_key_create(&at_end, end_thread);
}

static void forget_closed(void)
{
    for (struct receiving **at = &mine; *at != NULL;) {
        struct receiving *r = *at;
        if (!gate_is_open(&r->client->gate)) {
            *at = r->next;
            free(r);
        } else {
            at = &r->next;
        }
    }
}

static struct receiving *find(const struct vic_client *c)
{
    struct receiving *r = mine;
    while (r != NULL && r->client != c) {
        r = r->next;
    }
    return r;
}

/* The inbox is full, and this thread is in a send. True if another thread receives that is not in a send with a full inbox,
 * too. */
static bool others_receive(struct vic_client *c)
{
    struct receiving *self = find(c);
    if (self != NULL && !self->stuck) {
        self->stuck = true;
        atomic_fetch_add(&c->stuck, 1);
    }
    return atomic_load(&c->receivers) > atomic_load(&c->stuck);
}

/* VIC_ENOSPC: which window is full, and why confirms do not help. */
FAIL_COLD static int fail_full(struct vic_client *c)
{
    char why[80] = "no confirm is awaited that could get past them";
    uint32_t from = atomic_load(&c->blocking_card);
    if (from != UINT32_MAX) {
        snprintf(why, sizeof why, "card %u, which has to confirm, has sent something else before", from);
    }
    return fail(VIC_ENOSPC, "window_bytes of the client, %zu, are full of messages that were received and not taken, and %s: "
                            "call vic_client_recv", c->window_bytes, why);
}

int client_end_sending(struct vic_client *c, int status)
{
    struct receiving *self = atomic_load(&c->stuck) != 0 ? find(c) : NULL;
    if (self != NULL && self->stuck) {
        self->stuck = false;
        atomic_fetch_sub(&c->stuck, 1);
    }
    if (status == VIC_ENOSPC) { /* said last: it has looked once more since */
        fail_full(c);
    }
    return status;
}

void client_be_receiver(struct vic_client *c)
{
    if (find(c) != NULL) {
        return;
    }
    struct receiving *r = malloc(sizeof *r);
    if (r == NULL) {
        return; /* without memory other threads do not wait for this one */
    }
    pthread_once(&once, make_key);
    forget_closed();
    *r = (struct receiving){mine, c, false};
    mine = r;
    pthread_setspecific(at_end, mine);
    atomic_fetch_add(&c->receivers, 1);
}

enum {
    SPINS = 64,                  /* rounds before a wait sleeps */
    SLICE_NS = 10 * 1000 * 1000, /* after which is looked for what makes no noise */
    NUDGE_NS = 1000 * 1000,      /* of who waits for another thread: the counter is a hint */
    MANY = 32                    /* messages that are taken at a time if they are there */
};

void client_ring(struct vic_client *c)
{
    if (atomic_load(&c->waiters) != 0) {
        vic_counter_set(c->card, c->wake, 0);
    }
}

void client_arm(struct vic_client *c, const struct progress *progress)
{
    if (progress->rounds >= SPINS) {
        vic_counter_set(c->card, c->wake, 1);
    }
}

/* A card has died: receive what has come before that. The thread that receives for all holds the lock for a moment only, as
 * its wait ends as well. */
static void receive_last(struct vic_client *c)
{
    lock_take(c->card, &c->receiving);
    while (!client_inbox_full(c) && client_receive(c, 0) == VIC_OK) {
    }
    lock_give(&c->receiving);
}

static int wait_for_receiver(struct vic_client *c, struct progress *progress, uint64_t deadline_ns)
{
    uint64_t slice = deadline_slice(c->card, NUDGE_NS, deadline_ns);
    if (progress->rounds++ < SPINS && slice > 0) {
        vic_relax(c->card);
        return VIC_OK;
    }
    atomic_fetch_add(&c->waiters, 1);
    int status = vic_counter_wait(c->card, c->wake, slice);
    atomic_fetch_sub(&c->waiters, 1);
    if (status != VIC_OK && status != VIC_ETIMEDOUT) {
        receive_last(c);
    }
    status = status == VIC_ETIMEDOUT ? VIC_OK : status;
    return status == VIC_OK && slice == 0 ? VIC_ETIMEDOUT : status;
}

/* The next card from `from` on that has to confirm messages of this client, UINT32_MAX if there is none. */
static uint32_t who_confirms(struct vic_client *c, uint32_t from)
{
    uint32_t found = UINT32_MAX;
    lock_take(c->card, &c->lock);
    for (uint32_t i = 0; i < c->cards && found == UINT32_MAX && c->count.unconfirmed > 0; i++) {
        uint32_t card = (from + i) % c->cards;
        found = c->peers[card].first != NULL ? card : UINT32_MAX;
    }
    lock_give(&c->lock);
    return found;
}

/* The inbox is full, but confirms may wait behind what other cards have sent: receive those. */
static int receive_confirms(struct vic_client *c, struct progress *progress, uint64_t deadline_ns)
{
    bool waits = progress->whole.kind == WAIT_PUBLISH || progress->whole.kind == WAIT_CONFIRM;
    uint32_t from = waits ? who_confirms(c, progress->rounds++ % c->cards) : UINT32_MAX;
    uint64_t slice = deadline_slice(c->card, NUDGE_NS, deadline_ns);
    int status = from != UINT32_MAX ? client_receive_confirms(c, from, slice) : VIC_ENOSPC;
    if (status == VIC_ENOSPC) {
        atomic_store(&c->blocking_card, from != UINT32_MAX ? c->late_src : from);
    }
    return status == VIC_ETIMEDOUT && slice > 0 ? VIC_OK : status;
}

static int receive_for_all(struct vic_client *c, struct progress *progress, uint64_t deadline_ns)
{
    if (client_inbox_full(c)) {
        return receive_confirms(c, progress, deadline_ns);
    }
    uint64_t slice = deadline_slice(c->card, SLICE_NS, deadline_ns);
    int status = client_receive(c, slice);
    int more = status;
    for (int i = 1; more == VIC_OK && i < MANY && !client_inbox_full(c); i++) {
        more = client_receive(c, 0);
    }
    return status == VIC_ETIMEDOUT && slice > 0 ? VIC_OK : status;
}

int client_progress(struct vic_client *c, struct progress *progress, uint64_t deadline_ns)
{
    if (!gate_is_open(&c->gate)) {
        return VIC_ECLOSED;
    }
    int status, outermost = wait_whole_begin(&progress->whole, vic_time_ns(c->card));
    client_tend(c, deadline_ns);
    if (lock_try(&c->receiving)) {
        status = receive_for_all(c, progress, deadline_ns);
        lock_give(&c->receiving);
        client_ring(c);
    } else {
        status = wait_for_receiver(c, progress, deadline_ns);
    }
    wait_whole_end(outermost);
    return !gate_is_open(&c->gate) ? VIC_ECLOSED : status;
}

/* The inbox is full: wait until another thread takes something, unless there is none, or all of them are sending, too, and
 * each would wait for the others. */
int client_progress_sending(struct vic_client *c, struct progress *progress, uint64_t deadline_ns)
{
    int status = client_progress(c, progress, deadline_ns);
    return status == VIC_ENOSPC && others_receive(c) ? wait_for_receiver(c, progress, deadline_ns) : status;
}
