/* The threads that call vic_client_recv. Each counts from its first call until it ends; not by its pthread_t,
 * which says nothing of a thread that has ended, and may be that of another one then. */
#include <stdlib.h>

#include "client.h"

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

bool client_others_receive(struct vic_client *c)
{
    struct receiving *self = find(c);
    if (self != NULL && !self->stuck) {
        self->stuck = true;
        atomic_fetch_add(&c->stuck, 1);
    }
    return atomic_load(&c->receivers) > atomic_load(&c->stuck);
}

int client_end_sending(struct vic_client *c, int status)
{
    struct receiving *self = atomic_load(&c->stuck) != 0 ? find(c) : NULL;
    if (self != NULL && self->stuck) {
        self->stuck = false;
        atomic_fetch_sub(&c->stuck, 1);
    }
    if (status == VIC_ENOSPC) { /* said last: it has looked once more since */
        client_fail_full(c);
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
