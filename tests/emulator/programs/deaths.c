/* Card 1 dies in the middle of a call, at the step that VIC_STEP names in a library that counts them (emulator/src/race.h),
 * and the others see what vic.h promises.
 *
 *     deaths again WHERE LIVES   card 1's program is a supervisor: it starts a process that dies at step 1, 2 .. LIVES of the
 *                                call, and then one that does not. Nobody may be kept from anything by those before.
 *     deaths once WHERE STEP     card 1 dies at a step, or behind the call; the waits of the others end with VIC_EPEER
 *     deaths exit CODE           as once, with an exit code instead of a signal, and the card open
 *     deaths exec WHERE STEP     card 1's process replaces itself instead, in a second thread's call, and goes on
 *     deaths thread              the first thread of card 1 ends, another one goes on
 * WHERE: put, send, get, fifo, barrier, wait, message, team, open, close */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "vic_collective.h"
#include "vic_message.h"

enum { WORDS = 50, DONE = 99, GO = 98 }; /* words of SRAM that say so */
static const uint64_t MS = 1000000;

static bool is(const char *text, const char *other)
{
    return strcmp(text, other) == 0;
}

static vic_t *opened(void)
{
    vic_t *card;
    int status = vic_open(&card);
    if (status != VIC_OK) {
        printf("vic_open: %s\n", vic_open_reason());
        exit(3);
    }
    return card;
}

static void send_words(vic_t *card, uint64_t tag)
{
    uint64_t header[WORDS], word[WORDS];
    for (int i = 0; i < WORDS; i++) {
        header[i] = vic_header(0, VIC_FIFO, 0, VIC_NO_COUNTER);
        word[i] = tag;
    }
    OK(vic_send(card, header, word, WORDS));
}

/* The call in which it dies. What the others do meanwhile is no business of these. */
static void call(vic_t *card, const char *where)
{
    uint64_t word[WORDS] = {0}, headers[1] = {vic_header(1, VIC_FIFO, 0, 4)};
    size_t n;
    if (is(where, "put")) {
        vic_put(card, 0, 100, word, WORDS, 7);
    } else if (is(where, "send")) {
        send_words(card, 0);
    } else if (is(where, "get")) {
        vic_get(card, 0, 100, WORDS, 200, 8);
    } else if (is(where, "fifo")) {
        vic_send(card, headers, word, 1);
        vic_fifo_wait(card, word, 1, WORDS, &n, MS);
    } else if (is(where, "barrier")) {
        vic_barrier(card, MS);
    } else if (is(where, "wait")) {
        vic_counter_set(card, 3, 1);
        vic_counter_wait(card, 3, MS);
    } else if (is(where, "message")) {
        vic_message_t *m;
        if (vic_message_open(card, NULL, &m) == VIC_OK) {
            vic_message_send(m, 2, word, sizeof word, MS);
            vic_message_close(m);
        }
    } else if (is(where, "team")) {
        vic_team_t *team;
        if (vic_team_open(card, NULL, 0, &team, MS) == VIC_OK) {
            vic_team_close(team);
        }
    }
}

static void die(const char *where)
{
    vic_t *card = opened();
    call(card, where);
    if (is(where, "close")) {
        vic_close(card);
    }
    kill(getpid(), SIGKILL);
}

static void tell(vic_t *card, uint32_t dest, vic_addr_t what)
{
    uint64_t word = 1;
    OK(vic_put(card, dest, what, &word, 1, VIC_NO_COUNTER));
}

static void be_told(vic_t *card, vic_addr_t what)
{
    uint64_t word = 0;
    while (word == 0) {
        vic_relax(card);
        OK(vic_read(card, what, &word, 1));
    }
}

/* All words come, and nobody crosses the barrier before all have come to it. */
static int live(vic_t *card, uint32_t me)
{
    uint64_t word[64], from[3] = {0};
    size_t n;
    if (me == 1) {
        tell(card, 2, GO);
    } else if (me == 2) {
        be_told(card, GO);
    }
    if (me != 0) {
        send_words(card, me);
    }
    while (me == 0 && (from[1] < WORDS || from[2] < WORDS)) {
        OK(vic_fifo_wait(card, word, 1, 64, &n, 30 * (uint64_t)SECOND));
        for (size_t i = 0; i < n; i++) {
            CHECK(word[i] < 3);
            from[word[i]]++;
        }
    }
    if (me == 2) {
        usleep(20000); /* the others are in the barrier */
        tell(card, 0, DONE);
        usleep(10000);
    }
    OK(vic_barrier(card, 30 * (uint64_t)SECOND));
    if (me == 0) {
        OK(vic_read(card, DONE, word, 1)); /* it was sent long before */
        CHECK(word[0] == 1);
        CHECK(from[1] == WORDS && from[2] == WORDS);
    }
    OK(vic_barrier(card, 30 * (uint64_t)SECOND));
    OK(vic_close(card));
    return 0;
}

static int supervise(const char *where, int lives)
{
    int status;
    for (int life = 1; life <= lives; life++) {
        pid_t child = fork();
        if (child == 0) {
            char step[12];
            snprintf(step, sizeof step, "%d", life);
            setenv("VIC_STEP", step, 1);
            die(where);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    pid_t child = fork();
    if (child == 0) {
        exit(live(opened(), 1));
    }
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static const char *called;

static void *in_a_call(void *card)
{
    for (;;) {
        call(card, called);
    }
    return NULL;
}

static void *go_on(void *card)
{
    usleep(300000);
    exit(live(card, 1));
}

int main(int argc, char **argv)
{
    pthread_t thread;
    uint32_t me = (uint32_t)atoi(getenv("VIC_CARD"));
    const char *how = argv[1], *where = argc > 2 ? argv[2] : "";
    bool lives_on = is(how, "again") || is(how, "exec") || is(how, "thread");
    if (me == 1 && is(how, "again")) {
        return supervise(where, atoi(argv[3]));
    }
    if (me == 1 && is(how, "once")) {
        setenv("VIC_STEP", argv[3], 1);
        die(where);
    }
    vic_t *card = opened();
    if (me == 1 && is(how, "exit")) {
        exit(atoi(where));
    }
    if (me == 1 && is(how, "exec") && argc > 3) {
        char *again[] = {argv[0], argv[1], argv[2], NULL};
        called = where;
        CHECK(pthread_create(&thread, NULL, in_a_call, card) == 0);
        usleep((useconds_t)atoi(argv[3]));
        execv("/proc/self/exe", again);
    }
    if (me == 1 && is(how, "thread")) {
        CHECK(pthread_create(&thread, NULL, go_on, card) == 0);
        pthread_exit(NULL);
    }
    struct vic_attr attr;
    OK(vic_query_attr(card, &attr));
    if (!lives_on) {
        OK(vic_counter_set(card, 0, 1));
        uint64_t timeout_ns = is(how, "exit") && atoi(where) == 0 ? SECOND : 60 * (uint64_t)SECOND; /* 0: nobody has died */
        IS(vic_counter_wait(card, 0, attr.mode == 0 ? timeout_ns : VIC_FOREVER), VIC_EPEER);
        return 0;
    }
    return live(card, me);
}
