/* Starting the programs, and making sure that none outlives the job. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "join.h"
#include "launcher.h"
#include "pmi.h"
#include "seat.h"

/* False: no memory. Without VIC_JOB the program would get a card that belongs to no job, and not know it. */
static bool set_environment(const struct launch *launch, uint32_t card)
{
    char job[64], mine[16], all[16];
    int length = snprintf(job, sizeof job, "%d:%016" PRIx64, launch->memory, launch->job->nonce);
    if (launch->place != 0) {
        snprintf(job + length, sizeof job - (size_t)length, ":%u", launch->place);
    }
    snprintf(mine, sizeof mine, "%u", card);
    snprintf(all, sizeof all, "%u", launch->job->config.cards);
    return timed_preload(launch) && pmi_environment(launch, card) && setenv("VIC_JOB", job, 1) == 0 && setenv("VIC_CARD", mine, 1) == 0 &&
           setenv("VIC_CARDS", all, 1) == 0;
}

/* Its streams: only card 0 has the launcher's standard input, with --prefix output goes through pipes. */
static bool set_streams(const struct launch *launch, uint32_t card)
{
    const struct child *child = &launch->child[card];
    if (card != 0 && !launch->joins) {
        int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (nothing < 0 || dup2(nothing, 0) < 0) {
            return false;
        }
    }
    return child->out.from < 0 || (dup2(child->out.to, 1) >= 0 && dup2(child->err.to, 2) >= 0);
}

/* Which program could not be run, and why. */
struct refusal {
    uint32_t card;
    int error;
};

/* In the child: run the program, or write to `failed` why that is not possible. */
static void become(const struct launch *launch, uint32_t card, pid_t parent, int failed)
{
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(137); /* the launcher died before the line above */
    }
    if (kill_is_due(launch, card)) {
        close(failed); /* the launcher does not wait for it, and kills it */
        for (;;) {
            pause();
        }
    }
    timed_pin(launch);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (set_streams(launch, card) && set_environment(launch, card)) {
        char **argument = program_of(launch->options, card)->argument;
        execvp(argument[0], argument);
    }
    struct refusal refusal = {card, errno};
    ssize_t told = write(failed, &refusal, sizeof refusal);
    _exit(told == (ssize_t)sizeof refusal && refusal.error == ENOENT ? 127 : 126);
}

/* Pipes for both streams. `to` is the writing end until the child has it. */
static int open_streams(struct child *child)
{
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) != 0) {
        return errno;
    }
    if (pipe2(err, O_CLOEXEC) != 0) {
        int error = errno;
        close(out[0]);
        close(out[1]);
        return error;
    }
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    child->out.from = out[0];
    child->out.to = out[1];
    child->err.from = err[0];
    child->err.to = err[1];
    return 0;
}

int child_start(struct launch *launch, uint32_t card, int failed)
{
    struct child *child = &launch->child[card];
    child->started_ns = job_clock_ns();
    if (launch->options->prefix) {
        stream_finish(&child->out, card, launch->job->config.cards); /* of its last life */
        stream_finish(&child->err, card, launch->job->config.cards);
        int error = open_streams(child);
        if (error != 0) {
            return error;
        }
    }
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        become(launch, card, parent, failed);
    }
    int error = pid < 0 ? errno : 0;
    if (launch->options->prefix) {
        close(child->out.to);
        close(child->err.to);
        child->out.to = 1;
        child->err.to = 2;
    }
    if (error != 0) {
        return error;
    }
    child->pid = pid;
    child->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (child->pidfd < 0) { /* a process that cannot be watched must not run */
        error = errno;
        kill(pid, SIGKILL);
        return error;
    }
    launch->running++;
    return 0;
}

static void end_all(struct launch *launch)
{
    for (uint32_t i = 0; i < launch->job->config.cards; i++) {
        if (launch->child[i].pid != 0) {
            kill(launch->child[i].pid, SIGKILL);
        }
    }
    children_end_orphans();
}

int children_start(struct launch *launch, uint32_t first, uint32_t cards)
{
    int failed[2], error = 0;
    if (pipe2(failed, O_CLOEXEC) != 0) {
        fprintf(stderr, "vicrun: %s\n", strerror(errno));
        return 1;
    }
    uint32_t card = first;
    for (; card < first + cards && error == 0; card++) {
        error = is_free_slot(program_of(launch->options, card)) ? 0 : child_start(launch, card, failed[1]);
    }
    close(failed[1]);
    if (error != 0) {
        fprintf(stderr, "vicrun: cannot start program %u of %u: %s\n", card - 1, first + cards,
                strerror(error));
        end_all(launch);
        return 1;
    }
    /* the pipe closes itself in each program that could be run */
    struct refusal refused;
    ssize_t told = read(failed[0], &refused, sizeof refused);
    while (told < 0 && errno == EINTR) {
        told = read(failed[0], &refused, sizeof refused);
    }
    close(failed[0]);
    if (told == (ssize_t)sizeof refused) {
        const char *name = program_of(launch->options, refused.card)->argument[0];
        /* a name without a slash is looked for in PATH, not here */
        bool here = refused.error == ENOENT && strchr(name, '/') == NULL && access(name, F_OK) == 0;
        fprintf(stderr, "vicrun: %scannot run '%s': %s%s%s%s\n", launch->where != NULL ? launch->where : "", name, strerror(refused.error),
                here ? "; did you mean './" : "", here ? name : "", here ? "'?" : "");
        end_all(launch);
        return refused.error == ENOENT ? 127 : 126;
    }
    return -1;
}

/* Also children by adoption: the launcher is the subreaper of the processes that programs leave. */
static const char own_children[] = "/proc/thread-self/children";

bool children_started(pid_t process)
{
    struct process_stat stat;
    do {
        process = process_stat(process, &stat) ? stat.parent : 0;
    } while (process > 1 && process != getpid());
    return process == getpid();
}

static bool is_program(const struct launch *launch, pid_t process)
{
    for (uint32_t i = 0; i < launch->job->config.cards; i++) {
        if (launch->child[i].pid == process) {
            return true;
        }
    }
    return false;
}

bool children_left(const struct launch *launch)
{
    FILE *file = fopen(own_children, "r");
    bool left = file == NULL; /* the kernel does not tell */
    int pid;
    while (file != NULL && !left && fscanf(file, "%d", &pid) == 1) {
        struct process_stat stat;
        bool lives = !is_program(launch, pid) && process_stat(pid, &stat) && stat.parent == getpid();
        left = lives && (stat.state != 'Z' || stat.threads > 0);
    }
    if (file != NULL) {
        fclose(file);
    }
    return left;
}

void children_signal(const struct launch *launch, int number)
{
    for (uint32_t i = 0; i < launch->job->config.cards; i++) {
        if (launch->child[i].pidfd >= 0) {
            syscall(SYS_pidfd_send_signal, launch->child[i].pidfd, number, NULL, 0);
        } else if (launch->child[i].joiner >= 0) {
            joiner_send(launch, i, JOIN_SIGNAL, number);
        }
    }
}

static void signal_adopted(int number)
{
    FILE *file = fopen(own_children, "r");
    int pid;
    while (file != NULL && fscanf(file, "%d", &pid) == 1) {
        kill(pid, number);
    }
    if (file != NULL) {
        fclose(file);
    }
}

void children_asked_to_end(struct launch *launch)
{
    uint64_t after_ns = launch->options->kill_after_ns;
    launch->signalled = true;
    if (launch->kill_ns == 0 && after_ns != 0) {
        launch->kill_ns = job_clock_ns() + after_ns;
    }
}

int kill_late(struct launch *launch)
{
    enum { AGAIN_MS = 100 }; /* one that is adopted when its parent is gone */
    if (launch->kill_ns == 0) {
        return -1;
    }
    uint64_t now = job_clock_ns();
    if (now < launch->kill_ns) {
        uint64_t ms = (launch->kill_ns - now) / 1000000 + 1;
        return ms > 1000000 ? 1000000 : (int)ms;
    }
    if (!launch->killed) {
        fprintf(stderr, "vicrun: programs that still run %g s after a signal are killed (--kill-after)\n",
                (double)launch->options->kill_after_ns / 1e9);
        launch->killed = true;
    }
    children_signal(launch, SIGKILL);
    signal_adopted(SIGKILL);
    return AGAIN_MS;
}

void children_end_orphans(void)
{
    enum { TERM_MS = 300, KILL_MS = 5000 };
    for (int ms = 0; ms < KILL_MS; ms++) {
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        }
        if (pid < 0) {
            return; /* none left */
        }
        if (ms == 0 || ms >= TERM_MS) {
            signal_adopted(ms == 0 ? SIGTERM : SIGKILL);
        }
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}
