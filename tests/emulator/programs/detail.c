/* Does vic_error_detail say what was wrong, to the thread that failed, with the numbers of the call? */
#include <pthread.h>
#include <vic_client.h>

#include "harness.h"

#define SAYS(call, expected, text)                                                                          \
    do {                                                                                                    \
        IS(call, expected);                                                                                 \
        if (strcmp(vic_error_detail(), text) != 0) {                                                        \
            fprintf(stderr, "FAILED %s:%d: %s: '%s', expected '%s'\n", __FILE__, __LINE__, #call,           \
                    vic_error_detail(), text);                                                              \
            _Exit(1);                                                                                       \
        }                                                                                                   \
    } while (0)

static vic_t *card;

static void *another_thread(void *what)
{
    (void)what;
    CHECK(strcmp(vic_error_detail(), "") == 0);
    SAYS(vic_counter_set(card, 64, 1), VIC_ERANGE, "counter 64 does not exist (0 .. 60 and 61 .. 63)");
    return NULL;
}

static void sends(void)
{
    uint64_t headers[600] = {0}, words[600] = {0};
    vic_dma_t *dma;
    for (size_t i = 0; i < 600; i++) {
        headers[i] = vic_header(0, VIC_WRITE, 0, VIC_NO_COUNTER);
    }
    headers[550] = vic_header(2, VIC_WRITE, 0, 0);
    SAYS(vic_send(card, headers, words, 600), VIC_ERANGE, "packet 550: card 2 does not exist (0 .. 1)");
    headers[550] = vic_header(0, VIC_QUERY, 0, 0);
    words[550] = vic_header(0, VIC_WRITE, 32768, 0);
    SAYS(vic_send(card, headers, words, 600), VIC_ERANGE,
         "packet 550, the reply that it asks for: addr 32768 is not in SRAM (32768 words)");
    words[550] = headers[550];
    SAYS(vic_send(card, headers, words, 600), VIC_EINVAL,
         "packet 550, the reply that it asks for: it is a query itself");
    OK(vic_write(card, 0, headers, 600));
    IS(vic_send_cached(card, 0, words, 600), VIC_EINVAL);
    CHECK(strstr(vic_error_detail(), "repl") != NULL); /* by timed mode's coordinator: which one is not said */
    IS(vic_dma_send(card, 0, words, 600, &dma), VIC_EINVAL);
    CHECK(strstr(vic_error_detail(), "repl") != NULL);
    SAYS(vic_send_cached(card, 32767, words, 2), VIC_ERANGE,
         "headers 32767 .. 32768 is not in SRAM (32768 words)");
    SAYS(vic_get(card, 0, 0, 8, 32766, 0), VIC_ERANGE, "local 32766 .. 32773 is not in SRAM (32768 words)");
}

static void clients(void)
{
    struct vic_message_config rings = {.window_bytes = 17 << 20};
    char key[300];
    vic_client_t *client;
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = 0;
    SAYS(vic_client_open(card, &rings, NULL, &client), VIC_EINVAL, "window_bytes 17825792 is more than 16777216");
    OK(vic_client_open(card, NULL, NULL, &client));
    SAYS(vic_client_publish(client, 0, key, NULL, 0, 0), VIC_EINVAL,
         "a key, queue, topic or pattern of 299 bytes is longer than 255");
    SAYS(vic_client_publish(client, 7, "", NULL, 0, 0), VIC_ERANGE, "card 7 does not exist (0 .. 1)");
    SAYS(vic_client_unbind(client, "a.b"), VIC_EINVAL, "'a.b' is not bound");
    struct vic_delivery delivery;
    SAYS(vic_client_recv(client, &delivery, 0), VIC_ETIMEDOUT, vic_strerror(VIC_ETIMEDOUT));
    OK(vic_client_close(client));
}

void run(const struct self *self)
{
    uint64_t word, ready;
    vic_addr_t addr;
    size_t n;
    card = self->card;
    if (self->me != 0) {
        OK(vic_barrier(card, LONG)); /* it is there as long as the other one fails */
        return;
    }
    CHECK(strcmp(vic_error_detail(), "") == 0);
    SAYS(vic_read(card, 32766, &word, 4), VIC_ERANGE, "addr 32766 .. 32769 is not in SRAM (32768 words)");
    SAYS(vic_write(card, 40000, &word, 1), VIC_ERANGE, "addr 40000 is not in SRAM (32768 words)");
    SAYS(vic_put(card, 2, 0, &word, 1, 0), VIC_ERANGE, "card 2 does not exist (0 .. 1)");
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, another_thread, NULL) == 0);
    pthread_join(thread, NULL);
    CHECK(strcmp(vic_error_detail(), "card 2 does not exist (0 .. 1)") == 0);
    OK(vic_alloc(card, 30000, &addr));
    CHECK(strcmp(vic_error_detail(), "card 2 does not exist (0 .. 1)") == 0); /* that did not fail */
    SAYS(vic_alloc(card, 3000, &addr), VIC_ENOSPC, "3000 words side by side are not free in SRAM; at most 2768 are");
    OK(vic_free(card, 0));
    SAYS(vic_free(card, 8), VIC_EINVAL, "addr 8 is not what a vic_alloc gave, or was freed");
    SAYS(vic_fifo_wait(card, &word, 2, 1, &n, 0), VIC_EINVAL, "min 2 is more than max 1");
    SAYS(vic_wait(card, 0, 65, &ready, 0), VIC_EINVAL, "65 words do not fit in the FIFO (64 words)");
    SAYS(vic_wait(card, 0, 0, &ready, 0), VIC_EINVAL, "there is nothing to wait for: counters and fifo_min are 0");
    SAYS(vic_read(card, 0, NULL, 1), VIC_EINVAL, "NULL where it must not be; this is not so: words != NULL");
    OK(vic_counter_set(card, 1, 1));
    SAYS(vic_counter_wait(card, 1, 1000), VIC_ETIMEDOUT, vic_strerror(VIC_ETIMEDOUT));
    sends();
    clients();
    OK(vic_barrier(card, LONG));
    OK(vic_close(card));
    SAYS(vic_read(card, 0, &word, 1), VIC_ECLOSED,
         "this was closed: by this program, or by a fork, which closes all in the child");
    exit(0);
}
