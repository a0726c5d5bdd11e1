/* Each call in a thread with the smallest stack that there is, PTHREAD_STACK_MIN. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <pthread.h>

#include "client.h"
#include "vic_collective.h"

enum { N = 600, SHORT_NS = 20 * 1000 * 1000 };
static const struct self *self;
static uint64_t words[N], more[4 * N];
static vic_addr_t addrs[N];

static void *puts_of(void *what)
{
    vic_t *card = self->card;
    OK(vic_write(card, 0, words, N));
    OK(vic_read(card, 0, more, 100));
    OK(vic_put(card, 0, 0, words, 20, VIC_NO_COUNTER)); /* in timed mode by stores, and by the engine: */
    OK(vic_put(card, 0, 0, words, N, VIC_NO_COUNTER));
    OK(vic_put_strided(card, 0, 0, 1, words, N, VIC_NO_COUNTER));
    OK(vic_put_indexed(card, 0, addrs, words, N, VIC_NO_COUNTER));
    OK(vic_get(card, 0, 0, N, N, VIC_NO_COUNTER));
    return what;
}

static void *sends(void *what)
{
    vic_t *card = self->card;
    vic_dma_t *dma;
    size_t sent;
    for (uint32_t i = 0; i < N; i++) {
        more[i] = vic_header(0, VIC_WRITE, i, VIC_NO_COUNTER);
    }
    OK(vic_send(card, more, words, N));
    OK(vic_try_send(card, more, words, 1, &sent));
    OK(vic_write(card, N, more, N));
    OK(vic_send_cached(card, N, words, N));
    OK(vic_dma_send(card, N, words, N, &dma));
    OK(vic_dma_wait(card, &dma, VIC_FOREVER));
    OK(vic_dma_read(card, more, 0, N, &dma));
    OK(vic_dma_wait(card, &dma, VIC_FOREVER));
    return what;
}

static void *waits(void *what)
{
    vic_t *card = self->card;
    uint64_t ready;
    size_t n;
    OK(vic_counter_set(card, 5, 1));
    IS(vic_counter_wait(card, 5, SHORT_NS), VIC_ETIMEDOUT);
    IS(vic_wait(card, 32, 1, &ready, SHORT_NS), VIC_ETIMEDOUT);
    IS(vic_fifo_wait(card, more, 1, 1, &n, SHORT_NS), VIC_ETIMEDOUT);
    OK(vic_barrier(card, VIC_FOREVER));
    pause_ns(1000000);
    return what;
}

static void *messages(void *what)
{
    struct vic_message_config config = {2 * N * 8, 4096, 0};
    vic_message_t *m;
    uint32_t src;
    size_t bytes;
    OK(vic_message_open(self->card, &config, &m));
    OK(vic_message_send(m, 0, words, N * 8, VIC_FOREVER));
    OK(vic_message_recv(m, &src, more, sizeof more, &bytes, VIC_FOREVER));
    OK(vic_message_flush(m, VIC_FOREVER));
    IS(vic_message_recv(m, &src, more, sizeof more, &bytes, SHORT_NS), VIC_ETIMEDOUT);
    OK(vic_message_close(m));
    return what;
}

static void *clients(void *what)
{
    struct vic_delivery delivery;
    vic_client_t *client = open_client(self, 0, 0);
    OK(vic_client_bind(client, "a.#"));
    IS(vic_client_recv(client, &delivery, SHORT_NS), VIC_ETIMEDOUT);
    OK(vic_client_close(client));
    return what;
}

static void *teams(void *what)
{
    uint32_t all[] = {0};
    vic_team_t *team;
    OK(vic_team_open(self->card, all, 1, &team, VIC_FOREVER));
    OK(vic_allreduce(team, VIC_SUM, words, more, N, VIC_FOREVER));
    OK(vic_team_close(team));
    return what;
}

void run(const struct self *mine)
{
    static void *(*const all[])(void *) = {puts_of, sends, waits, messages, clients, teams};
    pthread_attr_t attr;
    self = mine;
    for (uint32_t i = 0; i < N; i++) {
        addrs[i] = i;
    }
    CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN) == 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, &attr, all[i], NULL) == 0 && pthread_join(thread, NULL) == 0);
    }
}
