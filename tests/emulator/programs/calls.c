/* Does every call do what vic.h says, and refuse what it says? Any number of cards; each works on itself and
 * on its right neighbour. */
#include "harness.h"

static void constants(void)
{
    int64_t value;
    OK(vic_constant("VIC_EPEER", &value));
    CHECK(value == VIC_EPEER);
    OK(vic_constant("VIC_FOREVER", &value));
    CHECK((uint64_t)value == VIC_FOREVER);
    OK(vic_constant("VIC_COUNTER_ADD", &value));
    CHECK(value == VIC_COUNTER_ADD);
    IS(vic_constant("VIC_NOTHING", &value), VIC_EINVAL);
    IS(vic_constant(NULL, &value), VIC_EINVAL);
    IS(vic_constant("VIC_OK", NULL), VIC_EINVAL);
    CHECK(strcmp(vic_version(), VIC_VERSION) == 0);
    char numbers[40];
    snprintf(numbers, sizeof numbers, "%d.%d.%d", VIC_VERSION_MAJOR, VIC_VERSION_MINOR, VIC_VERSION_PATCH);
    CHECK(strcmp(numbers, VIC_VERSION) == 0);
    CHECK(VIC_VERSION_NUMBER == (VIC_VERSION_MAJOR * 100 + VIC_VERSION_MINOR) * 100 + VIC_VERSION_PATCH);
    for (int status = -10; status <= 1; status++) {
        CHECK(vic_strerror(status) != NULL && vic_strerror(status)[0] != 0);
    }
    CHECK(strcmp(vic_strerror(INT32_MIN), vic_strerror(INT32_MAX)) == 0);
    CHECK(strcmp(vic_strerror(VIC_EPEER), vic_strerror(VIC_ECLOSED)) != 0);
}

static void null_is_refused(vic_t *card)
{
    uint64_t word = 0;
    size_t n;
    int done;
    vic_dma_t *dma = NULL;
    struct vic_attr attr;
    IS(vic_open(NULL), VIC_EINVAL);
    IS(vic_close(NULL), VIC_EINVAL);
    IS(vic_query_attr(NULL, &attr), VIC_EINVAL);
    IS(vic_query_attr(card, NULL), VIC_EINVAL);
    IS(vic_peer_opens(NULL, 0, &word), VIC_EINVAL);
    IS(vic_peer_opens(card, 0, NULL), VIC_EINVAL);
    CHECK(vic_time_ns(NULL) == 0);
    IS(vic_compute_ns(NULL, 1), VIC_EINVAL);
    vic_relax(NULL);
    IS(vic_alloc(NULL, 1, &(vic_addr_t){0}), VIC_EINVAL);
    IS(vic_alloc(card, 1, NULL), VIC_EINVAL);
    IS(vic_free(NULL, 0), VIC_EINVAL);
    IS(vic_write(NULL, 0, &word, 1), VIC_EINVAL);
    IS(vic_write(card, 0, NULL, 1), VIC_EINVAL);
    IS(vic_read(NULL, 0, &word, 1), VIC_EINVAL);
    IS(vic_read(card, 0, NULL, 1), VIC_EINVAL);
    IS(vic_send(NULL, &word, &word, 1), VIC_EINVAL);
    IS(vic_send(card, NULL, &word, 1), VIC_EINVAL);
    IS(vic_send(card, &word, NULL, 1), VIC_EINVAL);
    IS(vic_send_cached(NULL, 0, &word, 1), VIC_EINVAL);
    IS(vic_send_cached(card, 0, NULL, 1), VIC_EINVAL);
    IS(vic_dma_send(NULL, 0, &word, 1, &dma), VIC_EINVAL);
    IS(vic_dma_send(card, 0, NULL, 1, &dma), VIC_EINVAL);
    IS(vic_dma_send(card, 0, &word, 1, NULL), VIC_EINVAL);
    IS(vic_put(NULL, 0, 0, &word, 1, 0), VIC_EINVAL);
    IS(vic_put(card, 0, 0, NULL, 1, 0), VIC_EINVAL);
    IS(vic_dma_read(NULL, &word, 0, 1, &dma), VIC_EINVAL);
    IS(vic_dma_read(card, NULL, 0, 1, &dma), VIC_EINVAL);
    IS(vic_dma_read(card, &word, 0, 1, NULL), VIC_EINVAL);
    IS(vic_dma_test(NULL, dma, &done), VIC_EINVAL);
    IS(vic_dma_test(card, NULL, &done), VIC_EINVAL);
    IS(vic_dma_wait(NULL, &dma, 0), VIC_EINVAL);
    IS(vic_dma_wait(card, NULL, 0), VIC_EINVAL);
    IS(vic_dma_wait(card, &dma, 0), VIC_EINVAL);
    IS(vic_counter_alloc(NULL, &(unsigned){0}), VIC_EINVAL);
    IS(vic_counter_alloc(card, NULL), VIC_EINVAL);
    IS(vic_counter_free(NULL, 0), VIC_EINVAL);
    IS(vic_counter_set(NULL, 0, 1), VIC_EINVAL);
    IS(vic_counter_get(NULL, 0, &(int64_t){0}), VIC_EINVAL);
    IS(vic_counter_get(card, 0, NULL), VIC_EINVAL);
    IS(vic_counter_wait(NULL, 0, 0), VIC_EINVAL);
    IS(vic_fifo_poll(NULL, &word, 1, &n), VIC_EINVAL);
    IS(vic_fifo_poll(card, NULL, 1, &n), VIC_EINVAL);
    IS(vic_fifo_poll(card, &word, 1, NULL), VIC_EINVAL);
    IS(vic_fifo_wait(NULL, &word, 1, 1, &n, 0), VIC_EINVAL);
    IS(vic_fifo_wait(card, NULL, 1, 1, &n, 0), VIC_EINVAL);
    IS(vic_fifo_wait(card, &word, 1, 1, NULL, 0), VIC_EINVAL);
    IS(vic_barrier(NULL, 0), VIC_EINVAL);
}

static void memory(const struct self *self)
{
    vic_t *card = self->card;
    uint64_t words[3] = {1, UINT64_MAX, 3}, back[3] = {0};
    vic_addr_t end = self->attr.sram_words;
    OK(vic_write(card, end - 3, words, 3));
    OK(vic_read(card, end - 3, back, 3));
    CHECK(memcmp(words, back, sizeof words) == 0);
    OK(vic_write(card, end, words, 0));
    IS(vic_write(card, end - 2, words, 3), VIC_ERANGE);
    IS(vic_write(card, end, words, 1), VIC_ERANGE);
    IS(vic_write(card, UINT32_MAX, words, 1), VIC_ERANGE);
    IS(vic_write(card, 0, words, SIZE_MAX), VIC_ERANGE);
    IS(vic_read(card, end - 2, back, 3), VIC_ERANGE);
    IS(vic_read(card, 5, back, SIZE_MAX - 2), VIC_ERANGE);
    IS(vic_dma_read(card, back, end - 2, 3, &(vic_dma_t *){NULL}), VIC_ERANGE);
}

static void headers(const struct self *self)
{
    vic_t *card = self->card;
    uint64_t word = 7, end = self->attr.sram_words;
    const uint64_t good = vic_header(0, VIC_WRITE, 1, 0);
    struct {
        uint64_t header;
        int status;
    } cases[] = {
        {good | UINT64_C(1) << 48, VIC_EINVAL},
        {good | UINT64_C(1) << 63, VIC_EINVAL},
        {UINT64_MAX, VIC_EINVAL},
        {vic_header(0, (enum vic_op)5, 0, 0), VIC_EINVAL},
        {vic_header(0, (enum vic_op)99, 0, 0), VIC_EINVAL},
        {vic_header(self->cards, VIC_WRITE, 0, 0), VIC_ERANGE},
        {vic_header(UINT32_MAX, VIC_FIFO, 0, 0), VIC_ERANGE},
        {vic_header(0, VIC_WRITE, (vic_addr_t)end, 0), VIC_ERANGE},
        {vic_header(0, VIC_QUERY, UINT32_MAX, 0), VIC_ERANGE},
        {vic_header(0, VIC_WRITE, 0, 64), VIC_ERANGE},
        {vic_header(0, VIC_COUNTER_SET, 0, UINT32_MAX), VIC_ERANGE},
    };
    int64_t before, after;
    OK(vic_counter_get(card, 0, &before));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t pair[2] = {good, cases[i].header}, payload[2] = {1, 2};
        IS(vic_send(card, pair, payload, 2), cases[i].status);
        OK(vic_write(card, 8, pair, 2));
        IS(vic_send_cached(card, 8, payload, 2), cases[i].status);
        IS(vic_dma_send(card, 8, payload, 2, &(vic_dma_t *){NULL}), cases[i].status);
        uint64_t query = vic_header(0, VIC_QUERY, 0, 0); /* the reply's header is looked at as well */
        IS(vic_send(card, &query, &cases[i].header, 1), cases[i].status);
    }
    uint64_t query = vic_header(0, VIC_QUERY, 0, 0);
    IS(vic_send(card, &query, &query, 1), VIC_EINVAL); /* a reply is no query */
    OK(vic_counter_get(card, 0, &after));
    CHECK(before == after); /* nothing of all that was sent */
    OK(vic_send(card, &good, &word, 0));
    IS(vic_send_cached(card, (vic_addr_t)end - 1, &word, 2), VIC_ERANGE);
    IS(vic_dma_send(card, (vic_addr_t)end, &word, 1, &(vic_dma_t *){NULL}), VIC_ERANGE);
    IS(vic_put(card, self->cards, 0, &word, 1, 0), VIC_ERANGE);
    IS(vic_put(card, 0, (vic_addr_t)end, &word, 1, 0), VIC_ERANGE);
    IS(vic_put(card, 0, 0, &word, 1, 64), VIC_ERANGE);
    OK(vic_put(card, 0, 0, &word, 0, 0));
}

static void counters(vic_t *card)
{
    int64_t value;
    OK(vic_counter_set(card, 5, -7));
    OK(vic_counter_get(card, 5, &value));
    CHECK(value == -7);
    OK(vic_counter_set(card, 5, INT64_MAX));
    OK(vic_counter_get(card, 5, &value));
    CHECK(value == INT64_MAX);
    IS(vic_counter_wait(card, 5, 0), VIC_ETIMEDOUT);
    IS(vic_counter_wait(card, 5, 1000), VIC_ETIMEDOUT);
    OK(vic_counter_set(card, 5, 0));
    OK(vic_counter_wait(card, 5, 0));
    IS(vic_counter_set(card, 64, 0), VIC_ERANGE);
    IS(vic_counter_get(card, UINT32_MAX, &value), VIC_ERANGE);
    IS(vic_counter_wait(card, 64, 0), VIC_ERANGE);
    IS(vic_counter_wait(card, VIC_NO_COUNTER, 0), VIC_EINVAL);
    IS(vic_counter_free(card, 64), VIC_ERANGE);
    IS(vic_counter_free(card, VIC_NO_COUNTER), VIC_EINVAL);
    IS(vic_counter_free(card, 0), VIC_EINVAL);
}

/* To the right neighbour, who has the same words in the end; every operation. */
static void operations(const struct self *self)
{
    vic_t *card = self->card;
    uint32_t right = (self->me + 1) % self->cards;
    uint64_t words[4] = {11, 12, 13, 14}, back[4] = {0}, got;
    size_t n;
    OK(vic_counter_set(card, 1, 4));
    OK(vic_counter_set(card, 2, 1));
    OK(vic_counter_set(card, 3, 1));
    OK(vic_counter_set(card, 6, 1000));
    OK(vic_barrier(card, LONG));
    OK(vic_put(card, right, 100, words, 4, 1));
    OK(vic_counter_wait(card, 1, LONG));
    OK(vic_read(card, 100, back, 4));
    CHECK(memcmp(words, back, sizeof words) == 0);
    uint64_t fifo = vic_header(right, VIC_FIFO, 0, 2), value = 4711 + self->me;
    OK(vic_send(card, &fifo, &value, 1));
    OK(vic_fifo_wait(card, &got, 1, 1, &n, LONG));
    CHECK(n == 1 && got == 4711 + (self->me + self->cards - 1) % self->cards);
    OK(vic_counter_wait(card, 2, LONG));
    uint64_t query = vic_header(right, VIC_QUERY, 102, VIC_NO_COUNTER);
    uint64_t reply = vic_header(self->me, VIC_WRITE, 200, 3);
    OK(vic_barrier(card, LONG)); /* its words have come */
    OK(vic_send(card, &query, &reply, 1));
    OK(vic_counter_wait(card, 3, LONG));
    OK(vic_read(card, 200, &got, 1));
    CHECK(got == 13);
    uint64_t add = vic_header(right, VIC_COUNTER_ADD, 0, 6), minus = (uint64_t)-1000;
    OK(vic_send(card, &add, &minus, 1));
    OK(vic_counter_wait(card, 6, LONG));
    OK(vic_counter_set(card, 6, 1));
    OK(vic_barrier(card, LONG));
    uint64_t set = vic_header(right, VIC_COUNTER_SET, 0, 6), zero = 0;
    OK(vic_send(card, &set, &zero, 1));
    OK(vic_counter_wait(card, 6, LONG));
}

static void closed(const struct self *self)
{
    vic_t *card;
    uint64_t word = 0;
    int64_t value;
    size_t n;
    int done;
    vic_dma_t *dma = NULL;
    struct vic_attr attr;
    if (vic_open(&card) != VIC_OK) {
        return; /* as a thread: the environment names no job */
    }
    (void)self;
    OK(vic_close(card));
    IS(vic_close(card), VIC_ECLOSED);
    IS(vic_query_attr(card, &attr), VIC_ECLOSED);
    IS(vic_peer_opens(card, 0, &word), VIC_ECLOSED);
    IS(vic_compute_ns(card, 1), VIC_ECLOSED);
    vic_relax(card);
    IS(vic_alloc(card, 1, &(vic_addr_t){0}), VIC_ECLOSED);
    IS(vic_free(card, 0), VIC_ECLOSED);
    IS(vic_write(card, 0, &word, 1), VIC_ECLOSED);
    IS(vic_read(card, 0, &word, 1), VIC_ECLOSED);
    IS(vic_send(card, &word, &word, 1), VIC_ECLOSED);
    IS(vic_send_cached(card, 0, &word, 1), VIC_ECLOSED);
    IS(vic_dma_send(card, 0, &word, 1, &dma), VIC_ECLOSED);
    IS(vic_put(card, 0, 0, &word, 1, 0), VIC_ECLOSED);
    IS(vic_dma_read(card, &word, 0, 1, &dma), VIC_ECLOSED);
    IS(vic_dma_test(card, dma, &done), VIC_ECLOSED);
    IS(vic_dma_wait(card, &dma, 0), VIC_ECLOSED);
    IS(vic_counter_alloc(card, &(unsigned){0}), VIC_ECLOSED);
    IS(vic_counter_free(card, 0), VIC_ECLOSED);
    IS(vic_counter_set(card, 0, 1), VIC_ECLOSED);
    IS(vic_counter_get(card, 0, &value), VIC_ECLOSED);
    IS(vic_counter_wait(card, 0, 0), VIC_ECLOSED);
    IS(vic_fifo_poll(card, &word, 1, &n), VIC_ECLOSED);
    IS(vic_fifo_wait(card, &word, 1, 1, &n, 0), VIC_ECLOSED);
    IS(vic_barrier(card, 0), VIC_ECLOSED);
}

void run(const struct self *self)
{
    constants();
    null_is_refused(self->card);
    memory(self);
    headers(self);
    counters(self->card);
    IS(vic_peer_opens(self->card, self->cards, &(uint64_t){0}), VIC_ERANGE);
    OK(vic_barrier(self->card, LONG));
    operations(self);
    OK(vic_compute_ns(self->card, 10));
    uint64_t before = vic_time_ns(self->card);
    vic_relax(self->card);
    CHECK(vic_time_ns(self->card) >= before);
    OK(vic_barrier(self->card, LONG));
#ifndef IN_PROCESS
    OK(vic_close(self->card));
    closed(self);
    vic_t *again;
    OK(vic_open(&again)); /* what main closes is closed then: see there */
    OK(vic_barrier(again, LONG));
    OK(vic_close(again));
    exit(0);
#else
    (void)closed;
#endif
}
