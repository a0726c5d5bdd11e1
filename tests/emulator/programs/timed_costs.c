/* What calls cost: prints name=nanoseconds, by the clock of the card. Two cards; card 0 measures. */
#include "harness.h"

enum { N = 100 };

static uint64_t t0;
#define COST(name, call) \
    do { \
        t0 = vic_time_ns(card); \
        OK(call); \
        printf("%s=%llu\n", name, (unsigned long long)(vic_time_ns(card) - t0)); \
    } while (0)

void run(const struct self *self)
{
    vic_t *card = self->card;
    uint64_t headers[N], words[N] = {0};
    int64_t value;
    size_t n;
    int done;
    vic_dma_t *dma;
    for (uint32_t i = 0; i < N; i++) {
        headers[i] = vic_header(1, VIC_WRITE, i, 3);
    }
    OK(vic_counter_set(card, 3, 1));
    OK(vic_barrier(card, VIC_FOREVER));
    if (self->me == 1) {
        OK(vic_counter_wait(card, 3, VIC_FOREVER));
        printf("arrival=%llu\n", (unsigned long long)vic_time_ns(card));
        OK(vic_compute_ns(card, 1000000)); /* it is still there */
        return;
    }
    printf("sent=%llu\n", (unsigned long long)vic_time_ns(card));
    COST("send1", vic_send(card, headers, words, 1));
    COST("compute", vic_compute_ns(card, 5000));
    COST("nothing", vic_alloc(card, 1, &(vic_addr_t){0}));
    COST("send", vic_send(card, headers, words, N));
    COST("write", vic_write(card, 0, headers, N));
    COST("cached", vic_send_cached(card, 0, words, N));
    COST("read", vic_read(card, 0, words, N));
    COST("preset", vic_counter_set(card, 3, 7));
    COST("get", vic_counter_get(card, 3, &value));
    CHECK(value == 7);
    COST("poll", vic_fifo_poll(card, words, N, &n));
    COST("put", vic_put(card, 1, 0, words, 10, 3));
    COST("put_engine", vic_put(card, 1, 0, words, N, 3));
    COST("dma_start", vic_dma_send(card, 0, words, N, &dma));
    COST("test", vic_dma_test(card, dma, &done));
    CHECK(done == 0);
    COST("dma_wait", vic_dma_wait(card, &dma, VIC_FOREVER));
    uint64_t ready;
    size_t sent;
    COST("strided", vic_put_strided(card, 1, 0, 2, words, N, 3));
    COST("get_call", vic_get(card, 1, 0, N, 0, 3));
    COST("try", vic_try_send(card, headers, words, N, &sent));
    CHECK(sent == N);
    OK(vic_counter_set(card, 5, 0));
    COST("any", vic_wait(card, UINT64_C(0xff), 1, &ready, VIC_FOREVER));
    CHECK((ready >> 5 & 1) == 1);
    t0 = vic_time_ns(card);
    vic_relax(card);
    printf("relax=%llu\n", (unsigned long long)(vic_time_ns(card) - t0));
    t0 = vic_time_ns(card);
    IS(vic_counter_wait(card, 3, 1000), VIC_ETIMEDOUT);
    printf("timeout=%llu\n", (unsigned long long)(vic_time_ns(card) - t0));
}
