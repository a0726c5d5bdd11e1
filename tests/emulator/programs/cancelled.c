/* Card 0 cancels threads of its own that are in a call, and uses its card afterwards: nothing is left locked or half
 * done. Card 1 only has its card open, with a full FIFO. The argument: "waits", threads that wait for what never comes;
 * "message", one that waits below a lock; "team", one in a collective; "often", again and again at any moment. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "harness.h"
#include "vic_collective.h"
#include "vic_message.h"

enum { NEVER_0 = 20, END = 40, GO = 41, TIMES = 300 };

static vic_t *card;
static vic_message_t *messages;
static vic_team_t *team;
static _Atomic int begun, left;

static uint64_t to_1(void)
{
    return vic_header(1, VIC_FIFO, 0, VIC_NO_COUNTER);
}

static void *counter(void *what)
{
    begun = 1;
    vic_counter_wait(card, NEVER_0, VIC_FOREVER);
    return what;
}

static void *fifo(void *what)
{
    uint64_t word;
    size_t n;
    begun = 1;
    vic_fifo_wait(card, &word, 1, 1, &n, VIC_FOREVER);
    return what;
}

static void *barrier(void *what)
{
    begun = 1;
    vic_barrier(card, VIC_FOREVER);
    return what;
}

static void *send(void *what)
{
    uint64_t header = to_1(), word = 0;
    begun = 1;
    vic_send(card, &header, &word, 1);
    return what;
}

static void *receive(void *what)
{
    uint64_t word;
    size_t n;
    begun = 1;
    OK(vic_message_recv(messages, NULL, &word, sizeof word, &n, LONG));
    left = 1;
    pthread_testcancel();
    return what;
}

static void *open_team(void *what)
{
    vic_team_t *none;
    begun = 1;
    IS(vic_team_open(card, NULL, 0, &none, 200 * 1000 * 1000), VIC_ETIMEDOUT); /* card 1 comes later */
    pthread_testcancel();
    return what;
}

static void *meet(void *what)
{
    begun = 1;
    IS(vic_team_barrier(team, VIC_FOREVER), VIC_ECLOSED); /* card 1 does not come */
    pthread_testcancel();
    return what;
}

/* Short waits, and what has locks: until it is cancelled. */
static void *often(void *what)
{
    uint64_t word = 0;
    size_t n;
    vic_addr_t addr;
    for (begun = 1;; pthread_testcancel()) {
        IS(vic_counter_wait(card, NEVER_0, 3000), VIC_ETIMEDOUT);
        IS(vic_fifo_wait(card, &word, 1, 1, &n, 200000), VIC_ETIMEDOUT);
        IS(vic_barrier(card, 3000), VIC_ETIMEDOUT);
        IS(vic_message_recv(messages, NULL, &word, sizeof word, &n, 2000), VIC_ETIMEDOUT);
        OK(vic_alloc(card, 8, &addr));
        OK(vic_free(card, addr));
    }
    return what;
}

static pthread_t begin(void *(*what)(void *))
{
    pthread_t thread;
    begun = left = 0;
    CHECK(pthread_create(&thread, NULL, what, NULL) == 0);
    while (!begun) {
        vic_relax(card);
    }
    return thread;
}

static void cancel(pthread_t thread)
{
    void *result = NULL;
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
    CHECK(result == PTHREAD_CANCELED);
}

/* The card as it was: who was in a barrier has not taken part, nobody has its turn. */
static void look(void)
{
    int64_t value;
    IS(vic_barrier(card, 1000000), VIC_ETIMEDOUT);
    IS(vic_counter_wait(card, NEVER_0, 1000000), VIC_ETIMEDOUT);
    OK(vic_counter_get(card, NEVER_0, &value));
    CHECK(value == 1);
}

static void cancel_waits(void)
{
    void *(*const wait[])(void *) = {counter, fifo, barrier, send};
    for (size_t i = 0; i < sizeof wait / sizeof *wait; i++) {
        pthread_t thread = begin(wait[i]);
        usleep(30000); /* it sleeps */
        cancel(thread);
        look();
    }
}

static void cancel_message(void)
{
    uint64_t word = 7;
    pthread_t thread = begin(receive);
    for (int i = 0; i < 1000; i++) {
        vic_relax(card);
    }
    CHECK(pthread_cancel(thread) == 0);
    usleep(50000);
    CHECK(left == 0); /* it has locks, and gets its message first */
    OK(vic_message_send(messages, 0, &word, sizeof word, LONG));
    cancel(thread);
    CHECK(left == 1);
}

/* It ends first: else nobody could open, or close, a team any more. */
static void cancel_team(void)
{
    pthread_t thread = begin(open_team);
    cancel(thread);
    uint64_t word = 0;
    OK(vic_put(card, 1, 0, &word, 1, GO));
    OK(vic_team_open(card, NULL, 0, &team, LONG));
    thread = begin(meet);
    CHECK(pthread_cancel(thread) == 0);
    usleep(50000);
    OK(vic_team_close(team));
    CHECK(pthread_join(thread, NULL) == 0);
}

static void cancel_often(void)
{
    uint64_t random = 1;
    for (int i = 0; i < TIMES; i++) {
        pthread_t thread = begin(often);
        for (uint64_t turns = draw(&random) % 40; turns > 0; turns--) {
            vic_relax(card);
        }
        cancel(thread);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 2 && vic_open(&card) == VIC_OK);
    struct self self = self_of(card);
    uint64_t header = to_1(), word = 0;
    OK(vic_counter_set(card, NEVER_0, 1));
    OK(vic_counter_set(card, END, 1));
    OK(vic_counter_set(card, GO, 1));
    if (self.me == 0) {
        for (uint32_t i = 0; i < self.attr.fifo_words && self.attr.mode == 0; i++) {
            OK(vic_send(card, &header, &word, 1));
        }
        if (strcmp(argv[1], "team") != 0) {
            OK(vic_message_open(card, NULL, &messages));
        }
        if (strcmp(argv[1], "waits") == 0) {
            cancel_waits();
        } else if (strcmp(argv[1], "message") == 0) {
            cancel_message();
        } else if (strcmp(argv[1], "team") == 0) {
            cancel_team();
        } else {
            cancel_often();
        }
        look();
        if (strcmp(argv[1], "team") != 0) {
            OK(vic_message_close(messages));
        }
        OK(vic_put(card, 1, 0, &word, 1, END));
    } else if (strcmp(argv[1], "team") == 0) {
        OK(vic_counter_wait(card, GO, VIC_FOREVER));
        OK(vic_team_open(card, NULL, 0, &team, LONG));
        OK(vic_counter_wait(card, END, VIC_FOREVER));
        OK(vic_team_close(team));
    } else {
        OK(vic_counter_wait(card, END, VIC_FOREVER));
    }
    OK(vic_barrier(card, LONG));
    OK(vic_close(card));
    return 0;
}
