/* Does every message reach the bridge, and every confirm its publisher? Each card has publishers and card 0 a
 * bridge of the same library, all in threads of their own; some messages are refused. */
#include <pthread.h>
#include <stdatomic.h>

#include "client.h"

enum { THREADS = 2, ALL = 1200, MOST = 9000, REFUSE = 7 };

struct shared {
    const struct self *self;
    vic_client_t *client;
    _Atomic uint32_t seat;
    uint32_t each; /* messages of a thread */
};

static void *publish_some(void *what)
{
    struct shared *shared = what;
    uint32_t seat = atomic_fetch_add(&shared->seat, 1);
    unsigned char data[MOST];
    for (uint32_t i = 0; i < shared->each; i++) {
        uint64_t name = name_of(shared->self->me, seat, i);
        size_t bytes = 16 + (i % 50 == 0 ? name % (MOST - 16) : name % 100);
        uint64_t head[2] = {name, (uint64_t)shared->self->me << 48 | (uint64_t)seat << 32 | i};
        fill(data, bytes, name);
        memcpy(data, head, sizeof head);
        char key[32];
        snprintf(key, sizeof key, "card%u.%u", shared->self->me, seat);
        OK(vic_client_publish(shared->client, 0, key, data, bytes, LONG));
    }
    OK(vic_client_flush(shared->client, LONG));
    return NULL;
}

/* Takes everything, each thread's in order; confirms a few at a time, the last first. */
static void *bridge(void *what)
{
    enum { HELD = 5 };
    struct shared *shared = what;
    uint32_t cards = shared->self->cards, left = cards * THREADS * shared->each;
    uint32_t *next = calloc((size_t)cards * THREADS, sizeof *next);
    struct vic_delivery held[HELD];
    uint32_t holds = 0;
    CHECK(next != NULL);
    while (left > 0) {
        OK(vic_client_recv(shared->client, &held[holds], LONG));
        const struct vic_delivery *d = &held[holds++];
        uint64_t head[2];
        unsigned char expected[MOST];
        memcpy(head, d->body, sizeof head);
        fill(expected, d->bytes, head[0]);
        memcpy(expected, head, sizeof head);
        CHECK(d->kind == VIC_PUBLISH && d->flags == VIC_CONFIRM_WANTED);
        CHECK(memcmp(expected, d->body, d->bytes) == 0);
        uint32_t from = (uint32_t)(head[1] >> 48), seat = head[1] >> 32 & 0xffff, i = (uint32_t)head[1];
        CHECK(from == d->src && head[0] == name_of(from, seat, i) && i == next[from * THREADS + seat]++);
        char key[32];
        snprintf(key, sizeof key, "card%u.%u", from, seat);
        CHECK(strcmp(key, d->key) == 0 && d->key_bytes == strlen(key));
        left--;
        while (holds == HELD || (left == 0 && holds > 0)) {
            uint64_t name;
            holds--;
            memcpy(&name, held[holds].body, sizeof name);
            OK(vic_client_ack(shared->client, &held[holds], name % REFUSE == 0));
            IS(vic_client_ack(shared->client, &held[holds], 0), VIC_EINVAL);
            while (left > 0 && holds > 0) {
                uint64_t other;
                holds--;
                memcpy(&other, held[holds].body, sizeof other);
                OK(vic_client_ack(shared->client, &held[holds], other % REFUSE == 0));
            }
        }
    }
    free(next);
    return NULL;
}

void run(const struct self *self)
{
    unsigned flags = self->me == 0 ? VIC_CLIENT_BRIDGE : 0;
    /* the window of one card is smaller than what the bridge holds back would be if it waited for more */
    struct shared shared = {.self = self, .client = open_client(self, 64, flags)};
    uint32_t publishers = self->cards * THREADS;
    uint32_t all = self->attr.mode == 0 ? ALL : ALL / 10; /* threads by turns are slow */
    shared.each = publishers < all ? all / publishers : 1;
    pthread_t thread[THREADS], taker;
    if (self->me == 0) {
        CHECK(pthread_create(&taker, NULL, bridge, &shared) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&thread[i], NULL, publish_some, &shared) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    if (self->me == 0) {
        pthread_join(taker, NULL);
    }
    uint64_t refused = 0;
    for (uint32_t k = 0; k < THREADS * shared.each; k++) {
        refused += name_of(self->me, k / shared.each, k % shared.each) % REFUSE == 0;
    }
    struct vic_client_count counts = counts_of(shared.client);
    CHECK(counts.published == THREADS * shared.each && counts.confirmed == counts.published);
    CHECK(counts.refused == refused && counts.returned == 0 && counts.repeated == 0 && counts.unconfirmed == 0);
    CHECK(counts.strange == 0 && counts.session != 0);
    OK(vic_barrier(self->card, LONG));
    OK(vic_client_close(shared.client));
    OK(vic_barrier(self->card, LONG));
}
