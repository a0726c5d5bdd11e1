/* Threads that wait for what never comes, one for each call, and what ends that: the rows of test_every_wait.py.
 *
 *     every_wait ROW ...      card 0: says "begun ROW" and "ROW STATUS" for each; reads commands from its input:
 *                             s: a signal to each thread, f: a fork, c: close the card; says "done" after each
 *     every_wait sleeps       card 1: does nothing; USR1: ends, USR2: writes over what the two cards share
 *     every_wait waits        card 1: waits as well
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functional/claims.h"
#include "handle.h"
#include "harness.h"
#include "vic_client.h"

enum { NEVER_0 = 40, MANY = 4096, BYTES = 30000, HEADERS = 20000, ENOUGH = 200 };

static vic_t *card;
static uint32_t other;
static vic_message_t *messages;
static vic_client_t *client;
static uint64_t headers[MANY], words[MANY];
static const struct vic_message_config ring = {1 << 16, 1 << 16, 0};

/* ---- a row is a call that waits, after what it needs for that */

static int counter_wait(void)
{
    return vic_counter_wait(card, NEVER_0, VIC_FOREVER);
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

static int client_recv(void)
{
    struct vic_delivery delivery;
    return vic_client_recv(client, &delivery, VIC_FOREVER);
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

static const struct row {
    const char *name;
    int (*wait)(void);
} rows[] = {
    {"counter_wait", counter_wait},     {"fifo_wait", fifo_wait},       {"barrier", barrier},
    {"send", send},                     {"send_cached", send_cached},   {"dma_wait", dma_wait},
    {"message_recv", message_recv},     {"message_send", message_send}, {"message_flush", message_flush},
    {"client_recv", client_recv},       {"client_publish", client_publish},
    {"client_flush", client_flush},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- card 0 */

static void on_signal(int number)
{
    (void)number;
}

static void handle(int number)
{
    struct sigaction action = {.sa_handler = on_signal}; /* calls of the system are ended by it */
    CHECK(sigaction(number, &action, NULL) == 0);
}

static void *run_row(void *what)
{
    const struct row *row = what;
    printf("begun %s\n", row->name);
    int status = row->wait();
    printf("%s %s\n", row->name, vic_strerror(status));
    return NULL;
}

static void set_up(const char *first)
{
    OK(vic_counter_set(card, NEVER_0, 1));
    for (uint32_t i = 0; i < MANY; i++) {
        headers[i] = vic_header(other, VIC_FIFO, 0, VIC_NO_COUNTER);
    }
    OK(vic_write(card, HEADERS, headers, MANY));
    if (strncmp(first, "client", 6) == 0) {
        struct vic_client_config window = {.window_messages = 4};
        OK(vic_client_open(card, &ring, &window, &client));
    } else {
        OK(vic_message_open(card, &ring, &messages));
    }
}

static void fork_once(void)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(vic_counter_wait(card, NEVER_0, VIC_FOREVER) == VIC_ECLOSED ? 0 : 1);
    }
    int status;
    pid_t got;
    while ((got = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    CHECK(got == child && status == 0);
}

static void wait_in(int count, char **names)
{
    pthread_t thread[ROWS];
    char command;
    ssize_t got;
    handle(SIGUSR1);
    set_up(names[0]);
    for (int i = 0; i < count; i++) {
        const struct row *row = rows;
        while (row < rows + ROWS && strcmp(row->name, names[i]) != 0) {
            row++;
        }
        CHECK(row < rows + ROWS && pthread_create(&thread[i], NULL, run_row, (void *)(uintptr_t)row) == 0);
    }
    while ((got = read(0, &command, 1)) > 0 || (got < 0 && errno == EINTR)) {
        for (int i = 0; i < count && got > 0 && command == 's'; i++) {
            pthread_kill(thread[i], SIGUSR1);
        }
        if (got > 0 && command == 'f') {
            fork_once();
        } else if (got > 0 && command == 'c') {
            OK(vic_close(card));
        }
        puts("done");
    }
    for (int i = 0; i < count; i++) {
        pthread_join(thread[i], NULL);
    }
    puts("all ended");
}

/* ---- card 1 */

static volatile sig_atomic_t asked;

static void on_asked(int number)
{
    asked = number;
}

/* Whatever a peer can reach that is no size and says of no program that it has ended. */
static void corrupt(void)
{
    uint64_t random = 1;
    struct job *job = card->job;
    for (uint32_t i = 0; i < 2; i++) {
        struct card_shared *shared = &job->card[i];
        struct fifo_slot *slots = job_slots(job, i);
        atomic_store(&shared->fifo_tail, draw(&random));
        atomic_store(&shared->fifo_head, draw(&random));
        atomic_store(&shared->fifo_voids, draw(&random));
        atomic_store(&shared->barrier_mark, (uint32_t)draw(&random));
        atomic_store(&shared->arrival.sleepers, 0);
        atomic_store(&shared->space.sleepers, 0);
        for (uint32_t slot = 0; slot < job->ring; slot++) {
            atomic_store(&slots[slot].ticket, draw(&random));
        }
        for (uint32_t word = 0; word < HEADERS; word++) {
            atomic_store(&job_sram(job, i)[word], draw(&random));
        }
        for (uint32_t counter = 0; counter < COUNTERS; counter++) {
            atomic_store(&shared->counter[counter].value, (int64_t)draw(&random));
        }
    }
    atomic_store(&job->shared->barrier, draw(&random));
    atomic_store(&job->shared->released.sleepers, 0);
}

static void be_peer(uint32_t mode, bool waits)
{
    struct sigaction action = {.sa_handler = on_asked};
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    OK(vic_message_open(card, &ring, &messages));
    OK(vic_counter_set(card, NEVER_0, 1));
    OK(vic_compute_ns(card, mode == 1 ? SECOND / 100 : 0)); /* so far the others go on in model time */
    vic_relax(card);
    printf("peer %d\n", (int)getpid());
    if (waits) {
        vic_counter_wait(card, NEVER_0, VIC_FOREVER);
        return;
    }
    while (asked != SIGUSR1) {
        sigsuspend(&none);
        if (asked == SIGUSR2) {
            corrupt();
            asked = 0;
            puts("done");
        }
    }
}

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    setvbuf(stdout, NULL, _IOLBF, 0);
    OK(vic_open(&card));
    struct self self = self_of(card);
    other = self.cards - 1;
    if (self.me == 0) {
        wait_in(argc - 1, argv + 1);
    } else {
        be_peer(self.attr.mode, strcmp(argv[1], "waits") == 0);
    }
    vic_close(card);
    return 0;
}
