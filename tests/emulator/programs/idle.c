/* What stands still, and what only has nothing to do. The argument: "server", cards that wait for whatever somebody sends,
 * while the last one is elsewhere; "deadlock", one that looks round again and again, and others that wait for each other;
 * "nobody", all wait for whatever somebody sends; "message", one sends to the last, which is elsewhere;
 * "slices", all wait for each other in slices; "announced", likewise, or receive, with long pauses between slices, which they
 * have announced, as Python does that gets no core. */
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "vic_client.h"

enum { MINE = 5 };

static void receive(vic_t *card, uint64_t timeout_ns)
{
    vic_message_t *messages;
    char text[512]; /* a client on another card asks which topics are wanted here */
    size_t bytes;
    int status = VIC_OK;
    OK(vic_message_open(card, NULL, &messages));
    while (status == VIC_OK || status == VIC_ETIMEDOUT) {
        status = vic_message_recv(messages, NULL, text, sizeof text, &bytes, timeout_ns);
    }
}

static void send(vic_t *card, uint32_t dest)
{
    vic_message_t *messages;
    OK(vic_message_open(card, NULL, &messages));
    vic_message_send(messages, dest, "x", 1, VIC_FOREVER);
}

static void receive_as_client(vic_t *card)
{
    struct vic_delivery delivery;
    vic_client_t *client;
    OK(vic_client_open(card, NULL, NULL, &client));
    vic_client_recv(client, &delivery, VIC_FOREVER);
}

static void take(vic_t *card)
{
    uint64_t word;
    size_t n;
    vic_fifo_wait(card, &word, 1, 1, &n, VIC_FOREVER);
}

static void pause_between(void)
{
    nanosleep(&(struct timespec){0, 400 * 1000 * 1000}, NULL);
}

static void announced(vic_t *card, uint32_t me)
{
    struct timespec now;
    vic_message_t *messages;
    char text[512];
    size_t bytes;
    int status = VIC_ETIMEDOUT;
    OK(vic_message_open(card, NULL, &messages));
    clock_gettime(CLOCK_MONOTONIC, &now);
    vic_wait_slices((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
    for (; status == VIC_ETIMEDOUT; pause_between()) {
        status = me == 0 ? vic_message_recv(messages, NULL, text, sizeof text, &bytes, 1000 * 1000)
                         : vic_counter_wait(card, MINE, 1000 * 1000);
    }
}

int main(int argc, char **argv)
{
    vic_t *card;
    CHECK(argc == 2 && vic_open(&card) == VIC_OK);
    struct self self = self_of(card);
    bool server = strcmp(argv[1], "server") == 0, last = self.me + 1 == self.cards;
    OK(vic_counter_set(card, MINE, 2));
    OK(vic_barrier(card, LONG));
    if (last) {
        printf("%d\n", (int)getpid());
        fflush(stdout);
    }
    if ((server || strcmp(argv[1], "message") == 0) && last) {
        pause();
    } else if (strcmp(argv[1], "message") == 0) {
        send(card, self.cards - 1);
    } else if (strcmp(argv[1], "slices") == 0) {
        while (vic_counter_wait(card, MINE, 50 * 1000 * 1000) == VIC_ETIMEDOUT) {
        }
    } else if (strcmp(argv[1], "announced") == 0) {
        announced(card, self.me);
    } else if (strcmp(argv[1], "deadlock") == 0) {
        self.me == 0 ? receive(card, 100 * 1000 * 1000) : (void)vic_counter_wait(card, MINE, VIC_FOREVER);
    } else if (self.me == 0) {
        receive(card, VIC_FOREVER);
    } else if (self.me == 1) {
        receive_as_client(card);
    } else {
        take(card);
    }
    return 0;
}
