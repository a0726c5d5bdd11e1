/* every_wait.h: the calls that wait, each after what it needs for that: the rows of test_every_wait.py. */
#ifndef EVERY_WAIT_H
#define EVERY_WAIT_H

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "harness.h"
#include "vic_client.h"
#include "vic_collective.h"

enum { NEVER_0 = 40, MANY = 4096, BYTES = 30000, HEADERS = 20000, ENOUGH = 200, TEAMS = 6, TEAM_WORDS = 4 };

static vic_t *card;
static uint32_t other;
static vic_message_t *messages;
static vic_client_t *client;
static vic_team_t *team[TEAMS];
static struct vic_delivery delivery;
static uint64_t headers[MANY], words[MANY];
static const struct vic_message_config ring = {1 << 16, 1 << 16, 0};

static int counter_wait(void)
{
    return vic_counter_wait(card, NEVER_0, VIC_FOREVER);
}

static int wait_for_any(void)
{
    uint64_t ready;
    return vic_wait(card, UINT64_C(1) << NEVER_0, 0, &ready, VIC_FOREVER);
}

/* As an event loop does it. */
static int event_fd(void)
{
    uint64_t ready, count;
    int fd, status = vic_event_fd(card, UINT64_C(1) << NEVER_0, 0, &fd);
    while (status == VIC_OK || status == VIC_ETIMEDOUT) {
        struct pollfd look = {.fd = fd, .events = POLLIN};
        if (poll(&look, 1, -1) == 1 && read(fd, &count, sizeof count) < 0) {
            CHECK(errno == EBADF || errno == EAGAIN); /* vic_close has closed it by now */
        }
        status = vic_wait(card, UINT64_C(1) << NEVER_0, 0, &ready, 0);
    }
    return status;
}

static int fifo_wait(void)
{
    size_t n;
    uint64_t word;
    return vic_fifo_wait(card, &word, 1, 1, &n, VIC_FOREVER);
}

static int barrier(void)
{
    return vic_barrier(card, VIC_FOREVER);
}

static int send(void)
{
    int status = VIC_OK;
    for (int i = 0; i < ENOUGH && status == VIC_OK; i++) {
        status = vic_send(card, headers, words, MANY);
    }
    return status;
}

static int send_cached(void)
{
    int status = VIC_OK;
    for (int i = 0; i < ENOUGH && status == VIC_OK; i++) {
        status = vic_send_cached(card, HEADERS, words, MANY);
    }
    return status;
}

static int dma_wait(void)
{
    vic_dma_t *dma;
    int status = VIC_OK;
    for (int i = other == 0 ? 2 : 1; i > 0 && status == VIC_OK; i--) { /* the first may fit into the FIFO in loopback */
        OK(vic_dma_send(card, HEADERS, words, MANY, &dma));
        status = vic_dma_wait(card, &dma, VIC_FOREVER);
    }
    return status;
}

static int message_recv(void)
{
    size_t n;
    return vic_message_recv(messages, NULL, words, sizeof words, &n, VIC_FOREVER);
}

static int message_send(void)
{
    int status = VIC_OK;
    for (int i = 0; i < ENOUGH && status == VIC_OK; i++) {
        status = vic_message_send(messages, other, words, BYTES, VIC_FOREVER);
    }
    return status;
}

static int message_flush(void)
{
    int status = vic_message_send(messages, other, "", 0, VIC_FOREVER);
    return status == VIC_OK ? vic_message_flush(messages, VIC_FOREVER) : status;
}

static int message_flush_to(void)
{
    int status = vic_message_send(messages, other, "", 0, VIC_FOREVER);
    return status == VIC_OK ? vic_message_flush_to(messages, other, VIC_FOREVER) : status;
}

static int client_recv(void)
{
    struct vic_delivery d;
    return vic_client_recv(client, &d, VIC_FOREVER);
}

static int client_publish(void)
{
    int status = VIC_OK;
    for (int i = 0; i < ENOUGH && status == VIC_OK; i++) {
        status = vic_client_publish(client, other, "k", words, 8, VIC_FOREVER);
    }
    return status;
}

static int client_flush(void)
{
    int status = vic_client_publish(client, other, "k", words, 8, VIC_FOREVER);
    return status == VIC_OK ? vic_client_flush(client, VIC_FOREVER) : status;
}

static int client_topic(void)
{
    uint32_t cards;
    return vic_client_topic(client, "t", words, BYTES, &cards, VIC_FOREVER);
}

static int client_ack(void)
{
    return vic_client_ack(client, &delivery, 0);
}

static int team_open(void)
{
    vic_team_t *one;
    return vic_team_open(card, NULL, 0, &one, VIC_FOREVER);
}

/* The other card makes no call on any of these teams. */
static uint64_t in[2 * TEAM_WORDS], out[TEAMS][2 * TEAM_WORDS];

static int team_barrier(void)
{
    return vic_team_barrier(team[0], VIC_FOREVER);
}

static int team_broadcast(void)
{
    return vic_broadcast(team[1], 1, out[1], TEAM_WORDS, VIC_FOREVER);
}

static int team_reduce(void)
{
    return vic_reduce(team[2], 0, VIC_SUM, in, out[2], TEAM_WORDS, VIC_FOREVER);
}

static int team_allreduce(void)
{
    return vic_allreduce(team[3], VIC_SUM, in, out[3], TEAM_WORDS, VIC_FOREVER);
}

static int team_gather(void)
{
    return vic_gather(team[4], 0, in, TEAM_WORDS, out[4], VIC_FOREVER);
}

static int team_alltoall(void)
{
    return vic_alltoall(team[5], in, out[5], TEAM_WORDS, VIC_FOREVER);
}

static const struct row {
    const char *name;
    int (*wait)(void);
} rows[] = {
    {"counter_wait", counter_wait},   {"wait", wait_for_any},           {"event_fd", event_fd},
    {"fifo_wait", fifo_wait},         {"barrier", barrier},             {"send", send},
    {"send_cached", send_cached},     {"dma_wait", dma_wait},           {"message_recv", message_recv},
    {"message_send", message_send},   {"message_flush", message_flush}, {"message_flush_to", message_flush_to},
    {"client_recv", client_recv},     {"client_publish", client_publish}, {"client_flush", client_flush},
    {"client_topic", client_topic},   {"client_ack", client_ack},       {"team_open", team_open},
    {"team_barrier", team_barrier},   {"team_broadcast", team_broadcast}, {"team_reduce", team_reduce},
    {"team_allreduce", team_allreduce}, {"team_gather", team_gather},   {"team_alltoall", team_alltoall},
};
enum { ROWS = sizeof rows / sizeof *rows };

#endif
