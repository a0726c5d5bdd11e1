/* What looks and short messages cost in model time: lines NAME=ns of card 0. */
#include <stdio.h>
#include <stdlib.h>
#include <vic.h>
#include <vic_message.h>

enum { TIMES = 200 };

static vic_t *card;
static vic_message_t *messages;
static struct vic_attr attr;
static uint64_t bytes[32];

static void good(int status)
{
    if (status != VIC_OK) {
        fprintf(stderr, "card %u: %s\n", attr.card, vic_error_detail());
        exit(1);
    }
}

static void take(size_t size, uint64_t timeout_ns)
{
    size_t got = 0;
    uint32_t from;
    int status;
    do {
        status = vic_message_recv(messages, &from, bytes, sizeof bytes, &got, timeout_ns);
    } while (status == VIC_ETIMEDOUT);
    good(status);
    if (got != size) {
        exit(1);
    }
}

static void say(const char *name, size_t size, uint64_t since_ns, double times)
{
    if (attr.card == 0) {
        printf("%s_%zu=%.0f\n", name, size, (double)(vic_time_ns(card) - since_ns) / times);
    }
}

/* One way between cards 0 and 1. */
static void ping_pong(const char *name, size_t size, uint64_t timeout_ns)
{
    good(vic_barrier(card, VIC_FOREVER));
    uint64_t from_ns = vic_time_ns(card);
    for (int i = 0; i < TIMES && attr.card < 2; i++) {
        if (attr.card == 1) {
            take(size, timeout_ns);
        }
        good(vic_message_send(messages, 1 - attr.card, bytes, size, VIC_FOREVER));
        if (attr.card == 0) {
            take(size, timeout_ns);
        }
    }
    say(name, size, from_ns, 2.0 * TIMES);
}

/* Of messages that have come already. */
static void ready(size_t size)
{
    good(vic_barrier(card, VIC_FOREVER));
    for (int i = 0; i < TIMES && attr.card == 1; i++) {
        good(vic_message_send(messages, 0, bytes, size, VIC_FOREVER));
    }
    good(vic_barrier(card, VIC_FOREVER));
    good(vic_compute_ns(card, 100000));
    uint64_t from_ns = vic_time_ns(card);
    for (int i = 0; i < TIMES && attr.card == 0; i++) {
        take(size, 0);
    }
    say("ready", size, from_ns, TIMES);
}

int main(void)
{
    good(vic_open(&card));
    good(vic_query_attr(card, &attr));
    good(vic_message_open(card, NULL, &messages));
    for (size_t i = 0; i < 32; i++) {
        bytes[i] = i;
    }
    static const size_t sizes[] = {8, 64, 256};
    for (size_t i = 0; i < 3; i++) {
        ping_pong("wait", sizes[i], VIC_FOREVER);
        ping_pong("loop", sizes[i], 0);
        ready(sizes[i]);
    }
    good(vic_barrier(card, VIC_FOREVER));
    uint64_t from_ns = vic_time_ns(card);
    size_t got;
    for (int i = 0; i < 10 * TIMES; i++) {
        if (vic_message_recv(messages, NULL, bytes, sizeof bytes, &got, 0) != VIC_ETIMEDOUT) {
            return 1;
        }
    }
    say("empty", 0, from_ns, 10.0 * TIMES);
    good(vic_barrier(card, VIC_FOREVER));
    good(vic_message_close(messages));
    good(vic_close(card));
    return 0;
}
