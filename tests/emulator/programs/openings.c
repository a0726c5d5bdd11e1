/* Cards, messages and clients that are opened and closed very often: does anything of one opening befall another?
 * One card, in loopback or of a job of one. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

enum { OFTEN = 200 };

static const struct vic_message_config small = {1000, 1024, 0};

static void is_own(vic_t *card, uint64_t word)
{
    vic_addr_t block;
    vic_message_t *messages;
    uint64_t read = 0;
    OK(vic_alloc(card, 2000, &block)); /* where an earlier opening had its messages */
    CHECK(block == 0);
    OK(vic_write(card, block, &word, 1));
    OK(vic_message_open(card, &small, &messages));
    OK(vic_read(card, block, &read, 1));
    CHECK(read == word);
    OK(vic_free(card, block)); /* nobody else has */
    OK(vic_message_close(messages));
}

static void messages_take_nothing_of_the_program(void)
{
    for (uint64_t times = 1; times <= OFTEN; times++) {
        vic_t *card;
        vic_message_t *messages;
        OK(vic_open(&card));
        OK(vic_message_open(card, &small, &messages));
        OK(vic_message_close(messages));
        OK(vic_close(card));
        OK(vic_open(&card));
        is_own(card, times);
        OK(vic_close(card));
    }
}

/* A card is closed under its messages, which are closed never, or much later. */
static void messages_end_with_their_card(void)
{
    static vic_message_t *messages[OFTEN];
    for (int times = 0; times < OFTEN; times++) {
        vic_t *card;
        OK(vic_open(&card));
        OK(vic_message_open(card, &small, &messages[times]));
        OK(vic_close(card));
    }
    for (int times = 0; times < OFTEN; times++) {
        OK(vic_message_close(messages[times]));
        IS(vic_message_close(messages[times]), VIC_ECLOSED);
    }
}

static int by_address(const void *a, const void *b)
{
    void *const *x = a, *const *y = b;
    return ((uintptr_t)*x > (uintptr_t)*y) - ((uintptr_t)*x < (uintptr_t)*y);
}

static void are_different(void **handle, size_t n)
{
    qsort(handle, n, sizeof *handle, by_address);
    for (size_t i = 1; i < n; i++) {
        CHECK(handle[i] != handle[i - 1]);
    }
}

/* Many more than fit a page, so that whole pages are given back. */
static void closed_ones_say_so_for_ever(void)
{
    static vic_t *card[OFTEN];
    static vic_message_t *messages[OFTEN];
    static vic_client_t *client[OFTEN];
    vic_dma_t *dma = NULL;
    for (int i = 0; i < OFTEN; i++) {
        uint64_t word;
        vic_dma_t *last = dma;
        int done;
        OK(vic_open(&card[i]));
        OK(vic_message_open(card[i], &small, &messages[i]));
        OK(vic_message_close(messages[i]));
        OK(vic_client_open(card[i], &small, NULL, &client[i]));
        OK(vic_client_close(client[i]));
        OK(vic_dma_read(card[i], &word, 0, 1, &dma));
        if (last != NULL) {
            IS(vic_dma_test(card[i], last, &done), VIC_EINVAL); /* a transfer of another opening */
        }
        OK(vic_close(card[i]));
    }
    for (int i = 0; i < OFTEN; i++) {
        int64_t value;
        struct vic_delivery d;
        IS(vic_counter_get(card[i], 0, &value), VIC_ECLOSED);
        IS(vic_close(card[i]), VIC_ECLOSED);
        IS(vic_message_send(messages[i], 0, "x", 1, 0), VIC_ECLOSED);
        IS(vic_message_close(messages[i]), VIC_ECLOSED);
        IS(vic_client_recv(client[i], &d, 0), VIC_ECLOSED);
        IS(vic_client_close(client[i]), VIC_ECLOSED);
    }
    are_different((void **)card, OFTEN);
    are_different((void **)messages, OFTEN);
    are_different((void **)client, OFTEN);
}

/* ---- a thread that the machine does not let on: it is in a signal handler for as long as we like */

static int held[2], let_on[2];

static void hold(int number)
{
    char c = (char)number;
    if (write(held[1], &c, 1) != 1 || read(let_on[0], &c, 1) != 1) {
        _exit(1);
    }
}

static void *wait_for_ever(void *card)
{
    IS(vic_counter_wait(card, 0, LONG), VIC_ECLOSED);
    return NULL;
}

static double cpu_s(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static void a_wait_ends_with_its_opening(void)
{
    vic_t *card;
    pthread_t thread;
    char c;
    CHECK(pipe(held) == 0 && pipe(let_on) == 0);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = hold}, NULL);
    OK(vic_open(&card));
    OK(vic_counter_set(card, 0, 1));
    CHECK(pthread_create(&thread, NULL, wait_for_ever, card) == 0);
    nanosleep(&(struct timespec){0, 100 * 1000 * 1000}, NULL); /* it sleeps */
    CHECK(pthread_kill(thread, SIGUSR1) == 0 && read(held[0], &c, 1) == 1);
    OK(vic_close(card));
    vic_t *other = NULL;
    double end = cpu_s() + 0.6;
    while (cpu_s() < end && other != card) {
        if (other != NULL) {
            OK(vic_close(other));
        }
        OK(vic_open(&other));
    }
    CHECK(write(let_on[1], &c, 1) == 1);
    CHECK(pthread_join(thread, NULL) == 0);
    OK(vic_close(other));
}

int main(void)
{
    messages_take_nothing_of_the_program();
    messages_end_with_their_card();
    closed_ones_say_so_for_ever();
    a_wait_ends_with_its_opening();
    return 0;
}
