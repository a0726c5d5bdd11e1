/* May several threads of a card send and receive at the same time? Three of each, on every card; what is received is
 * counted by who sent it; then one closes while others wait. */
#include <pthread.h>
#include <stdatomic.h>

#include "message.h"

enum { THREADS = 3, ALL = 1800, MOST = 3000 };

struct shared {
    const struct self *self;
    vic_message_t *messages;
    _Atomic uint32_t seat;
    _Atomic int64_t left;
    _Atomic uint64_t sum;
    uint32_t each; /* messages of a thread to a card */
};

static void *send_some(void *what)
{
    struct shared *shared = what;
    uint32_t seat = atomic_fetch_add(&shared->seat, 1);
    unsigned char data[MOST];
    for (uint32_t i = 0; i < shared->each; i++) {
        for (uint32_t to = 0; to < shared->self->cards; to++) {
            uint64_t name = name_of(shared->self->me, to, seat << 16 | i);
            size_t bytes = 8 + name % (MOST - 8);
            fill(data, bytes, name);
            memcpy(data, &name, 8);
            OK(vic_message_send(shared->messages, to, data, bytes, LONG));
        }
    }
    OK(vic_message_flush(shared->messages, LONG));
    return NULL;
}

static void *receive_some(void *what)
{
    struct shared *shared = what;
    unsigned char data[MOST], copy[MOST];
    while (atomic_load(&shared->left) > 0) {
        size_t bytes;
        uint64_t name;
        int status = vic_message_recv(shared->messages, NULL, data, MOST, &bytes, 3 * 1000 * 1000);
        if (status == VIC_ETIMEDOUT) {
            continue;
        }
        OK(status);
        memcpy(&name, data, 8);
        fill(copy, bytes, name);
        memcpy(copy, &name, 8);
        CHECK(bytes == 8 + name % (MOST - 8) && memcmp(data, copy, bytes) == 0);
        atomic_fetch_add(&shared->sum, name);
        atomic_fetch_sub(&shared->left, 1);
    }
    return NULL;
}

static void *wait_for_ever(void *what)
{
    struct shared *shared = what;
    unsigned char data[8];
    size_t bytes;
    IS(vic_message_recv(shared->messages, NULL, data, 8, &bytes, VIC_FOREVER), VIC_ECLOSED);
    return NULL;
}

void run(const struct self *self)
{
    struct shared shared = {.self = self, .messages = open_messages(self, 2048, MOST)};
    uint32_t pairs = self->cards * self->cards * THREADS;
    uint32_t all = self->attr.mode == 0 ? ALL : ALL / 50; /* threads that poll by turns are slow */
    shared.each = pairs < all ? all / pairs : 1;
    atomic_store(&shared.left, (int64_t)shared.each * THREADS * self->cards);
    pthread_t sender[THREADS], receiver[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&sender[i], NULL, send_some, &shared) == 0);
        CHECK(pthread_create(&receiver[i], NULL, receive_some, &shared) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(sender[i], NULL);
        pthread_join(receiver[i], NULL);
    }
    uint64_t sum = 0;
    for (uint32_t from = 0; from < self->cards; from++) {
        for (uint32_t k = 0; k < THREADS * shared.each; k++) {
            sum += name_of(from, self->me, k / shared.each << 16 | k % shared.each);
        }
    }
    CHECK(atomic_load(&shared.left) == 0 && atomic_load(&shared.sum) == sum); /* each once */
    OK(vic_barrier(self->card, LONG));
    CHECK(pthread_create(&receiver[0], NULL, wait_for_ever, &shared) == 0);
    uint64_t start = vic_time_ns(self->card);
    while (vic_time_ns(self->card) - start < 2 * 1000 * 1000) {
        vic_relax(self->card);
    }
    OK(vic_message_close(shared.messages));
    pthread_join(receiver[0], NULL);
    OK(vic_barrier(self->card, LONG));
}
