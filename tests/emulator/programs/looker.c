/* Looks again and again, in the way that the argument says, for what never comes; says what ended that, and closes. */
#define _GNU_SOURCE
#include <time.h>

#include "harness.h"
#include "vic_message.h"

/* A loop of a program's own: no call of it waits. */
static int poll_once(vic_t *card, const char *how)
{
    uint64_t word;
    int64_t value;
    size_t n;
    int status = strcmp(how, "polls") == 0 ? vic_fifo_poll(card, &word, 1, &n) : vic_counter_get(card, 0, &value);
    vic_relax(card);
    return status == VIC_OK ? VIC_ETIMEDOUT : status;
}

static int look(vic_t *card, vic_message_t *messages, const char *how)
{
    uint64_t word;
    size_t n;
    uint32_t from;
    if (strcmp(how, "gets") == 0 || strcmp(how, "polls") == 0) {
        return poll_once(card, how);
    }
    if (strcmp(how, "fifo") == 0) {
        return vic_fifo_wait(card, &word, 1, 1, &n, 0);
    }
    if (strcmp(how, "barrier") == 0) {
        return vic_barrier(card, 0);
    }
    if (strcmp(how, "message") == 0) {
        return vic_message_recv(messages, &from, &word, sizeof word, &n, 0);
    }
    if (strcmp(how, "slowly") == 0) {
        nanosleep(&(struct timespec){0, 200000000}, NULL);
    } else if (strcmp(how, "relaxed") == 0) {
        vic_relax(card);
    }
    return vic_counter_wait(card, 0, strcmp(how, "shortly") == 0 ? 2000 : 0);
}

int main(int argc, char **argv)
{
    vic_t *card;
    vic_message_t *messages = NULL;
    CHECK(argc > 1);
    OK(vic_open(&card));
    if (strcmp(argv[1], "message") == 0) {
        OK(vic_message_open(card, NULL, &messages));
    }
    OK(vic_counter_set(card, 0, 1));
    int status = look(card, messages, argv[1]);
    CHECK(status == VIC_ETIMEDOUT);
    puts("looks");
    fflush(stdout);
    while (status == VIC_ETIMEDOUT) {
        status = look(card, messages, argv[1]);
    }
    const int said = status;
    for (int i = strcmp(argv[1], "slowly") == 0 ? 1 : 100; i > 0 && status == said; i--) { /* and it goes on saying so, at once */
        status = look(card, messages, argv[1]);
    }
    printf("%s\n%s\n", vic_strerror(said), vic_strerror(status));
    return 0;
}
