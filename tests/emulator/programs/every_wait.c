/* Threads that wait for what never comes, one for each call, and what ends that: the rows of test_every_wait.py.
 *
 *     every_wait sleeps|waits ROW ...
 *
 * Card 0 says "begun ROW" and "ROW STATUS" for each row. It reads commands from its input, or from the file COMMANDS of
 * the environment: s: a signal to each thread, f: a fork, c: close the card; it says "done" after each. Card 1 does
 * nothing ("sleeps"; USR1: it ends, USR2: it writes over what the two cards share), or waits as well.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "every_wait.h"
#include "functional/claims.h"
#include "handle.h"

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

static bool is(const char *text, const char *other_text)
{
    return strcmp(text, other_text) == 0;
}

static void open_teams(void)
{
    for (int i = 0; i < TEAMS; i++) {
        OK(vic_team_open(card, NULL, 0, &team[i], LONG));
    }
}

/* The other card has sent a message of a queue, and takes nothing more: fill the ring there. */
static void fill_ring(void)
{
    static const size_t sizes[] = {BYTES, 1000, 8, 0};
    uint32_t cards;
    /* for what is on its way to another host */
    const uint64_t enough_ns = self_of(card).attr.mode == 1 ? 100 * 1000 : 20 * 1000 * 1000;
    OK(vic_client_subscribe(client, other, "queue", 1, NULL));
    OK(vic_client_recv(client, &delivery, LONG));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int status = VIC_OK;
        while (status == VIC_OK) {
            status = vic_client_topic(client, "t", words, sizes[i], &cards, enough_ns);
        }
        IS(status, VIC_ETIMEDOUT);
    }
}

static void set_up(const char *first)
{
    OK(vic_counter_set(card, NEVER_0, 1));
    for (uint32_t i = 0; i < MANY; i++) {
        headers[i] = vic_header(other, VIC_FIFO, 0, VIC_NO_COUNTER);
    }
    OK(vic_write(card, HEADERS, headers, MANY));
    if (strncmp(first, "team", 4) == 0) {
        open_teams();
    } else if (strncmp(first, "client", 6) == 0) {
        struct vic_client_config window = {.window_messages = 4};
        OK(vic_client_open(card, &ring, &window, &client));
        if (is(first, "client_topic")) {
            fill_ring();
        }
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
        while (row < rows + ROWS && !is(row->name, names[i])) {
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

/* As a bridge that has bound a topic, too: card 0 may send, and has a delivery to acknowledge. */
static void say_hello(void)
{
    unsigned char room[512];
    struct vic_envelope e = {.kind = VIC_BIND, .session = 5, .key = "t", .key_bytes = 1};
    size_t bytes;
    OK(vic_envelope_pack(room, sizeof room, &e, &bytes));
    OK(vic_message_send(messages, 0, room, bytes, LONG));
    do {
        OK(vic_message_recv(messages, NULL, room, sizeof room, &bytes, LONG));
        OK(vic_envelope_unpack(room, bytes, &e));
    } while (e.kind != VIC_SUBSCRIBE);
    e = (struct vic_envelope){.kind = VIC_DELIVER, .session = 5, .id = 1, .subscriber = e.session, .subscription = e.id};
    OK(vic_envelope_pack(room, sizeof room, &e, &bytes));
    OK(vic_message_send(messages, 0, room, bytes, LONG));
}

static void be_peer(uint32_t mode, bool waits, const char *first)
{
    struct sigaction action = {.sa_handler = on_asked};
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    if (strncmp(first, "team", 4) == 0) {
        open_teams();
    } else {
        OK(vic_message_open(card, &ring, &messages));
    }
    if (is(first, "client_topic")) {
        say_hello();
    }
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
    CHECK(argc > 2);
    const char *commands = getenv("COMMANDS");
    setvbuf(stdout, NULL, _IOLBF, 0);
    OK(vic_open(&card));
    struct self self = self_of(card);
    other = self.cards - 1;
    if (self.me == 0) {
        int fd = commands != NULL ? open(commands, O_RDONLY | O_CLOEXEC) : 0;
        CHECK(fd >= 0 && (fd == 0 || dup2(fd, 0) == 0));
        wait_in(argc - 2, argv + 2);
    } else {
        be_peer(self.attr.mode, is(argv[1], "waits"), argv[2]);
    }
    vic_close(card);
    return 0;
}
