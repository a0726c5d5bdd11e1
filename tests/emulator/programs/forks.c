/* A process that has a card forks. "closed": all that its child tries says so, and harms nobody; "locked": another
 * thread is in the library just then; "opening": and opens a card; "workers": children have cards of their own in
 * loopback; "ends": a thread that has a card ends, in the child only. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "vic_client.h"
#include "vic_collective.h"

enum { HANGS_S = 20, HELD_NS = 1000000 };

static vic_t *card;
static _Atomic bool armed_clock, armed_calloc, held, forked;
static _Thread_local bool victim;
static sem_t sem;

/* Hold this thread where it is until the process has forked, or for so long that it should have tried. */
static void hold(_Atomic bool *armed, int times)
{
    bool yes = true;
    if (victim && atomic_compare_exchange_strong(armed, &yes, false)) {
        atomic_store(&held, true);
        for (int i = 0; i < times && !atomic_load(&forked); i++) {
            syscall(SYS_nanosleep, &(struct timespec){0, HELD_NS}, NULL);
        }
    }
}

/* libvic looks at the clock in timed mode with the lock of a card, */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    hold(&armed_clock, 30000);
    return (int)syscall(SYS_clock_gettime, clock, now);
}

/* and makes a card with that of all cards; for that one a fork waits. */
extern void *__libc_calloc(size_t n, size_t size);
void *calloc(size_t n, size_t size)
{
    hold(&armed_calloc, 1000);
    return __libc_calloc(n, size);
}

static pid_t fork_child(void)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(HANGS_S); /* what hangs is killed, and found so */
    } else {
        atomic_store(&forked, true);
    }
    return pid;
}

static void be_good(pid_t pid)
{
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void nothing_works(void)
{
    int64_t value;
    uint64_t word = 0;
    size_t n;
    vic_addr_t addr;
    vic_dma_t *dma;
    uint64_t opens, headers = vic_header(0, VIC_WRITE, 0, 0);
    struct vic_attr attr;
    IS(vic_query_attr(card, &attr), VIC_ECLOSED);
    IS(vic_counter_set(card, 0, 1), VIC_ECLOSED);
    IS(vic_counter_get(card, 0, &value), VIC_ECLOSED);
    IS(vic_counter_wait(card, 0, VIC_FOREVER), VIC_ECLOSED);
    IS(vic_fifo_poll(card, &word, 1, &n), VIC_ECLOSED);
    IS(vic_fifo_wait(card, &word, 1, 1, &n, VIC_FOREVER), VIC_ECLOSED);
    IS(vic_barrier(card, VIC_FOREVER), VIC_ECLOSED);
    IS(vic_put(card, 0, 0, &word, 1, 0), VIC_ECLOSED);
    IS(vic_send(card, &headers, &word, 1), VIC_ECLOSED);
    IS(vic_write(card, 0, &word, 1), VIC_ECLOSED);
    IS(vic_read(card, 0, &word, 1), VIC_ECLOSED);
    IS(vic_dma_read(card, &word, 0, 1, &dma), VIC_ECLOSED);
    IS(vic_alloc(card, 1, &addr), VIC_ECLOSED);
    IS(vic_compute_ns(card, 1), VIC_ECLOSED);
    IS(vic_peer_opens(card, 0, &opens), VIC_ECLOSED);
    vic_relax(card);
    CHECK(vic_time_ns(card) == 0);
    IS(vic_close(card), VIC_ECLOSED);
}

static void works(void)
{
    uint64_t word = 7, read = 0;
    OK(vic_counter_set(card, 0, 1));
    OK(vic_put(card, 0, 3, &word, 1, 0));
    OK(vic_counter_wait(card, 0, LONG));
    OK(vic_read(card, 3, &read, 1));
    CHECK(read == 7);
}

static void closed(void)
{
    vic_client_t *client;
    vic_message_t *messages;
    size_t bytes;
    uint32_t src;
    struct vic_client_count counts;
    OK(vic_message_open(card, NULL, &messages));
    pid_t pid = fork_child();
    if (pid == 0) {
        nothing_works();
        IS(vic_message_send(messages, 0, "x", 1, VIC_FOREVER), VIC_ECLOSED);
        IS(vic_message_recv(messages, &src, &bytes, 1, &bytes, VIC_FOREVER), VIC_ECLOSED);
        IS(vic_message_flush(messages, VIC_FOREVER), VIC_ECLOSED);
        IS(vic_message_close(messages), VIC_ECLOSED);
        exit(0); /* which closes nothing */
    }
    be_good(pid);
    works();
    char data[1];
    OK(vic_message_send(messages, 0, "y", 1, LONG));
    OK(vic_message_recv(messages, &src, data, 1, &bytes, LONG));
    CHECK(data[0] == 'y');
    OK(vic_message_close(messages));
    OK(vic_client_open(card, NULL, NULL, &client));
    pid = fork_child();
    if (pid == 0) {
        IS(vic_client_counts(client, &counts), VIC_ECLOSED);
        IS(vic_client_flush(client, VIC_FOREVER), VIC_ECLOSED);
        IS(vic_client_close(client), VIC_ECLOSED);
        exit(0);
    }
    be_good(pid);
    OK(vic_client_counts(client, &counts));
    OK(vic_client_close(client));
}

/* A team is closed in the child as its card is; the parent goes on with it. */
static void team_is_closed(void)
{
    vic_team_t *team;
    uint64_t word = 5;
    OK(vic_team_open(card, NULL, 0, &team, LONG));
    pid_t pid = fork_child();
    if (pid == 0) {
        vic_team_t *again;
        IS(vic_team_barrier(team, VIC_FOREVER), VIC_ECLOSED);
        IS(vic_allreduce(team, VIC_SUM, &word, &word, 1, VIC_FOREVER), VIC_ECLOSED);
        IS(vic_team_close(team), VIC_ECLOSED);
        IS(vic_team_open(card, NULL, 0, &again, VIC_FOREVER), VIC_ECLOSED);
        exit(0);
    }
    be_good(pid);
    OK(vic_allreduce(team, VIC_SUM, &word, &word, 1, LONG));
    CHECK(word == 5);
    OK(vic_team_close(team));
}

static void *look_once(void *what)
{
    victim = true;
    vic_relax(card);
    return what;
}

static void *wait_for_post(void *what)
{
    CHECK(sem_wait(&sem) == 0);
    return what;
}

static void await_held(void)
{
    while (!atomic_load(&held)) {
        syscall(SYS_nanosleep, &(struct timespec){0, HELD_NS}, NULL);
    }
}

/* Not in model time: made before there was a card. */
static void *fork_when_held(void *what)
{
    await_held();
    pid_t pid = fork_child();
    if (pid == 0) {
        CHECK(sem_post(&sem) == 0); /* for which somebody waits, in the parent */
        nothing_works();
        _exit(0);
    }
    be_good(pid);
    return what;
}

static void locked(void)
{
    pthread_t forks, looks, waits;
    sem_init(&sem, 0, 0);
    CHECK(pthread_create(&forks, NULL, fork_when_held, NULL) == 0);
    OK(vic_open(&card));
    CHECK(pthread_create(&waits, NULL, wait_for_post, NULL) == 0);
    OK(vic_compute_ns(card, 1000));
    atomic_store(&armed_clock, true);
    CHECK(pthread_create(&looks, NULL, look_once, NULL) == 0);
    CHECK(pthread_join(looks, NULL) == 0);
    CHECK(sem_post(&sem) == 0 && pthread_join(waits, NULL) == 0 && pthread_join(forks, NULL) == 0);
    works();
    OK(vic_close(card));
}

static void *open_held(void *what)
{
    victim = true;
    atomic_store(&armed_calloc, true);
    OK(vic_open(&card));
    return what;
}

static void open_of_my_own(void)
{
    vic_t *mine;
    OK(vic_open(&mine));
    card = mine;
    works();
    OK(vic_close(mine));
}

static void opening(void)
{
    pthread_t opens;
    CHECK(pthread_create(&opens, NULL, open_held, NULL) == 0);
    await_held();
    pid_t pid = fork_child();
    if (pid == 0) {
        open_of_my_own();
        exit(0);
    }
    be_good(pid);
    CHECK(pthread_join(opens, NULL) == 0);
    works();
    OK(vic_close(card));
}

static void workers(void)
{
    enum { WORKERS = 2 };
    int both[2], go[2];
    pid_t pid[WORKERS];
    char c = 'x';
    OK(vic_open(&card));
    CHECK(pipe(both) == 0 && pipe(go) == 0);
    for (int i = 0; i < WORKERS; i++) {
        pid[i] = fork_child();
        if (pid[i] == 0) {
            vic_t *mine;
            uint64_t word = (uint64_t)i + 1, found = 0;
            IS(vic_counter_set(card, 0, 1), VIC_ECLOSED);
            OK(vic_open(&mine));
            OK(vic_write(mine, 0, &word, 1));
            CHECK(write(both[1], &c, 1) == 1 && close(go[1]) == 0);
            CHECK(read(go[0], &c, 1) == 0); /* both are open */
            OK(vic_read(mine, 0, &found, 1));
            CHECK(found == word); /* nobody else writes there */
            card = mine;
            works();
            exit(0);
        }
    }
    for (int i = 0; i < WORKERS; i++) {
        CHECK(read(both[0], &c, 1) == 1);
    }
    CHECK(close(go[1]) == 0);
    for (int i = 0; i < WORKERS; i++) {
        be_good(pid[i]);
    }
    works();
    OK(vic_close(card));
}

/* Two cards. What libvic does at the end of a thread would tell the launcher that the parent's card has nobody: after
 * 0.2 s model time goes on without it. */
static void ends(void)
{
    struct self self = self_of(card);
    OK(vic_counter_set(card, 0, 1));
    OK(vic_barrier(card, LONG));
    if (self.me == 1) {
        OK(vic_counter_wait(card, 0, SECOND / 1000));
        return;
    }
    uint64_t word = 1;
    pid_t pid = fork_child();
    if (pid == 0) {
        pthread_exit(NULL);
    }
    be_good(pid);
    syscall(SYS_nanosleep, &(struct timespec){0, SECOND / 2}, NULL);
    OK(vic_put(card, 1, 0, &word, 1, 0));
}

int main(int count, char **argument)
{
    const char *how = count > 1 ? argument[1] : "";
    if (strcmp(how, "closed") == 0) {
        OK(vic_open(&card));
        closed();
        team_is_closed();
        OK(vic_close(card));
    } else if (strcmp(how, "locked") == 0) {
        locked();
    } else if (strcmp(how, "opening") == 0) {
        opening();
    } else if (strcmp(how, "workers") == 0) {
        workers();
    } else {
        OK(vic_open(&card));
        ends();
        OK(vic_close(card));
    }
    return 0;
}
