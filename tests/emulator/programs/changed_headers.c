/* A header that another thread changes while it is sent: after each single instruction of the call in turn. The call
 * sends what it has checked, or says what is wrong; the process lives.
 *
 *     changed_headers STEP
 *
 * every STEP-th instruction. Exit code 77: this machine lets nobody be traced. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

enum { PACKETS = 2, MOST = 100 * 1000 };

struct shared {
    uint64_t header[PACKETS], payload[PACKETS];
    volatile int sends, over;
};

/* What there is at first, and what becomes of the first header and payload. */
static const struct change {
    enum vic_op op;
    uint64_t header, payload;
} changes[] = {
    {VIC_FIFO, UINT64_C(0xffff) << 32 | 1 << 28, 5},        /* another card, which does not exist */
    {VIC_FIFO, 0x3fffff, 5},                                /* a word of SRAM that may not exist */
    {VIC_WRITE, UINT64_C(0xffff) << 32, 5},
    {VIC_WRITE, UINT64_MAX, 5},
    {VIC_QUERY, UINT64_C(0xffff) << 32 | 2 << 28, UINT64_C(0xffff) << 32}, /* nor that of the reply */
    {VIC_COUNTER_SET, UINT64_C(0xffff) << 32 | 3 << 28, 5},
};
enum { CHANGES = sizeof changes / sizeof *changes };

static void prepare(struct shared *all, const struct change *change)
{
    for (int i = 0; i < PACKETS; i++) {
        all->header[i] = vic_header(0, change->op, 1, 1);
        all->payload[i] = change->op == VIC_QUERY ? vic_header(0, VIC_WRITE, 2, 1) : 5;
    }
}

static void send_again_and_again(struct shared *all)
{
    vic_t *card;
    uint64_t words[PACKETS];
    size_t n;
    CHECK(vic_open(&card) == VIC_OK);
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    while (!all->over) {
        raise(SIGSTOP);
        all->sends = 1;
        int status = vic_send(card, all->header, all->payload, PACKETS);
        all->sends = 0;
        CHECK(status == VIC_OK || status == VIC_ERANGE || status == VIC_EINVAL);
        OK(vic_fifo_poll(card, words, PACKETS, &n));
        OK(vic_counter_set(card, 1, 1));
    }
    OK(vic_close(card));
    _exit(0);
}

/* Stopped again, and by what. */
static bool stops(pid_t child, int number)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    if (!WIFSTOPPED(status)) {
        fprintf(stderr, "FAILED: it ended with status 0x%x\n", status);
        _Exit(1);
    }
    if (WSTOPSIG(status) != number && WSTOPSIG(status) == SIGSEGV) {
        fprintf(stderr, "FAILED: a bad access\n");
        kill(child, SIGKILL);
        _Exit(1);
    }
    return WSTOPSIG(status) == number;
}

static void step(pid_t child)
{
    CHECK(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0);
    while (!stops(child, SIGTRAP)) {
        CHECK(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0);
    }
}

/* Change it after so many instructions of the call; false: it has not so many. */
static bool change_after(struct shared *all, pid_t child, const struct change *change, int instructions)
{
    prepare(all, change);
    while (!all->sends) {
        step(child);
    }
    for (int i = 0; i < instructions && all->sends; i++) {
        step(child);
    }
    bool inside = all->sends != 0;
    all->header[0] = change->header;
    all->payload[0] = change->payload;
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    while (!stops(child, SIGSTOP)) {
        CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    }
    return inside;
}

int main(int argc, char **argv)
{
    struct shared *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int every = argc == 2 ? atoi(argv[1]) : 1, status;
    CHECK(all != MAP_FAILED && every > 0);
    pid_t child = fork();
    if (child == 0) {
        send_again_and_again(all);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (!WIFSTOPPED(status)) {
        return 77;
    }
    for (int i = 0; i < CHANGES; i++) {
        int instructions = 0;
        while (change_after(all, child, &changes[i], instructions)) {
            instructions += every;
            CHECK(instructions < MOST);
        }
        CHECK(instructions > 30); /* it has been inside of the call */
    }
    all->over = 1;
    CHECK(ptrace(PTRACE_DETACH, child, NULL, NULL) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}
