/* What becomes of the job when a program ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bell.h"
#include "join.h"
#include "launcher.h"

enum {
    SOON_NS = 1000 * 1000 * 1000, /* a program that lives so long has worked */
    PAUSE_NS = 1000 * 1000,       /* before the second start after a short life; then 2, 4 ... */
    PAUSES = 6,                   /* ... 64 times as long */
    GONE_MS = 5000,
    LATE_MS = 100 /* how often to look for processes that open a card whose program has ended */
};

/* Everybody looks again at what became of the others. */
static void ring_all(const struct launch *launch)
{
    bell_wake_all(launch->job);
    if (launch->job->config.mode == 1) {
        coordinator_kick(launch->job);
    }
}

static void say_end(const struct launch *launch, uint32_t card, bool by_signal, const char *more)
{
    int code = launch->child[card].code;
    if (launch->signalled) {
        return;
    }
    if (by_signal) {
        fprintf(stderr, "vicrun: card %u was killed by signal %d (%s)%s\n", card, code - 128,
                strsignal(code - 128), more);
    } else {
        fprintf(stderr, "vicrun: card %u ended with exit code %d%s\n", card, code, more);
    }
}

/* One thread reaps programs, the coordinator kills in another one, which must not hit a new process with the same
 * number. */
static pthread_mutex_t reaping = PTHREAD_MUTEX_INITIALIZER;

/* The descriptor of a process that a program has started, or that is one, else -1: a number in the job's memory is
 * anybody's. It is opened before its parents are asked for: if they are the right ones it has not changed hands. */
static int open_started(uint32_t process)
{
    int pidfd = process != 0 ? (int)syscall(SYS_pidfd_open, process, 0) : -1;
    if (pidfd >= 0 && !children_started((pid_t)process)) {
        close(pidfd);
        return -1;
    }
    return pidfd;
}

/* The program may have been started by a shell, that has ended: then it runs without it. */
static void end_owner(uint32_t owner)
{
    int pidfd = open_started(owner);
    if (pidfd >= 0) {
        struct pollfd gone = {.fd = pidfd, .events = POLLIN};
        syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
        poll(&gone, 1, GONE_MS);
        close(pidfd);
    }
}

void launch_kill(void *what, uint32_t card)
{
    const struct launch *launch = what;
    const struct child *child = &launch->child[card];
    pthread_mutex_lock(&reaping);
    if (child->joiner >= 0) {
        joiner_send(launch, card, JOIN_SIGNAL, SIGKILL);
    } else if (child->pidfd >= 0) {
        int owner = open_started(seat_owner(atomic_load(&launch->job->card[card].seat)));
        syscall(SYS_pidfd_send_signal, owner >= 0 ? owner : child->pidfd, SIGKILL, NULL, 0);
        if (owner >= 0) {
            close(owner);
        }
    }
    pthread_mutex_unlock(&reaping);
}

/* The card is left as if its program had closed it. False: what that needs has no room. */
static bool vacate(struct launch *launch, uint32_t card)
{
    struct card_shared *shared = &launch->job->card[card];
    uint32_t owner = seat_owner(atomic_load(&shared->seat));
    end_owner(owner);
    bool good = repair(launch->job, card);
    seat_leave(shared, owner);
    return good;
}

static void end_job(struct launch *launch, uint32_t card)
{
    uint32_t nobody = 0;
    atomic_store(&launch->job->card[card].end, CARD_DIED);
    atomic_compare_exchange_strong(&launch->job->shared->poison, &nobody, card + 1);
    launch->code = launch->code == 0 ? launch->child[card].code : launch->code;
}

void card_has_ended(struct launch *launch, uint32_t card)
{
    atomic_store(&launch->job->card[card].end, CARD_ENDED);
    atomic_fetch_add(&launch->job->shared->ended, 1);
    ring_all(launch);
}

bool card_runs_again(struct launch *launch, uint32_t card)
{
    struct card_shared *shared = &launch->job->card[card];
    if (atomic_load(&shared->end) != CARD_ENDED) {
        return false;
    }
    seat_leave(shared, seat_owner(atomic_load(&shared->seat)));
    atomic_store(&shared->end, CARD_RUNS);
    atomic_fetch_sub(&launch->job->shared->ended, 1);
    return true;
}

static const char too_much[] = ": too much of what it sent is left half done in FIFOs; the job ends";

static void end_for_want_of_room(struct launch *launch, uint32_t card)
{
    struct child *child = &launch->child[card];
    say_end(launch, card, false, too_much);
    child->code = child->code != 0 ? child->code : 1;
    end_job(launch, card);
}

/* The program has ended and left a process that has the card open: from now on that process is watched. */
static bool leaves_owner(struct launch *launch, uint32_t card, uint64_t seat)
{
    struct child *child = &launch->child[card];
    uint32_t owner = seat_owner(seat);
    bool other = owner != 0 && (pid_t)owner != child->pid && children_started((pid_t)owner);
    child->pidfd = other ? (int)syscall(SYS_pidfd_open, owner, 0) : -1;
    child->left = child->pidfd >= 0 ? owner : 0;
    return child->left != 0;
}

/* Nobody lives who had the card, whose seat was this. False: what that needs has no room, and the job ends. */
static bool settle(struct launch *launch, uint32_t card, uint64_t seat)
{
    if (!repair(launch->job, card)) {
        end_for_want_of_room(launch, card);
        return false;
    }
    if (seat_opens(seat) != 0) { /* otherwise a process that was left behind may still open it: late_due */
        seat_end(&launch->job->card[card], seat);
    }
    return true;
}

/* Of an own program, whose card will not be used any more, unless somebody joins; or of a joiner: its place is
 * free. However it ended, its threads may have been in the middle of a call. */
static void end_card(struct launch *launch, uint32_t card)
{
    if (launch->child[card].joiner >= 0) {
        if (!vacate(launch, card)) {
            end_for_want_of_room(launch, card);
        }
        return;
    }
    uint64_t seat = atomic_load(&launch->job->card[card].seat);
    if (!leaves_owner(launch, card, seat) && !settle(launch, card, seat)) {
        return;
    }
    card_has_ended(launch, card);
}

void left_ended(struct launch *launch, uint32_t card)
{
    struct child *child = &launch->child[card];
    close(child->pidfd);
    child->pidfd = -1;
    uint64_t seat = atomic_load(&launch->job->card[card].seat);
    bool whole = seat_owner(seat) == child->left; /* no process has opened the card since */
    child->left = 0;
    if (whole || !leaves_owner(launch, card, seat)) {
        settle(launch, card, seat);
    }
    ring_all(launch);
}

/* A process that runs on in the background opens a card when it likes, or has done so and died. */
int late_due(struct launch *launch)
{
    int next = -1;
    for (uint32_t i = 0; i < launch->job->config.cards; i++) {
        const struct child *child = &launch->child[i];
        const struct card_shared *shared = &launch->job->card[i];
        if (!job_is_here(launch->job, i) || atomic_load(&shared->end) != CARD_ENDED || child->pidfd >= 0 || child->joiner >= 0) {
            continue;
        }
        next = LATE_MS;
        uint64_t seat = atomic_load(&shared->seat);
        if (seat_opens(seat) == 0 && !children_left(launch)) {
            seat_end(&launch->job->card[i], seat);
        }
        pid_t owner = (pid_t)seat_owner(seat);
        if (owner > 0 && !leaves_owner(launch, i, seat) && kill(owner, 0) != 0 && errno == ESRCH) {
            settle(launch, i, seat);
            ring_all(launch);
        }
    }
    return next;
}

/* When to start it again, unless it never lives long. */
static bool restart_later(struct launch *launch, uint32_t card)
{
    struct child *child = &launch->child[card];
    uint64_t now = job_clock_ns();
    uint32_t most = launch->options->short_lives;
    child->short_lives = now - child->started_ns < SOON_NS ? child->short_lives + 1 : 0;
    if (most != 0 && child->short_lives >= most) {
        return false;
    }
    uint32_t pauses = child->short_lives < PAUSES ? child->short_lives : PAUSES;
    child->restart_ns = now + (uint64_t)(PAUSE_NS << pauses);
    launch->waiting++;
    return true;
}

/* The exit code of a joined program matters to the vicrun that brought it, not to the job. */
static void keep_code(struct launch *launch, uint32_t card)
{
    if (launch->child[card].joiner < 0 && launch->code == 0) {
        launch->code = launch->child[card].code;
    }
}

/* The job goes on after its death, or an exit code other than 0. */
static void outlive(struct launch *launch, uint32_t card, bool by_signal)
{
    struct child *child = &launch->child[card];
    char more[120] = "";
    bool ends = launch->signalled || atomic_load(&launch->job->shared->poison) != 0;
    bool restarts = launch->options->if_killed == IF_KILLED_RESTART && !ends && !child->lost && !child->last;
    if (!vacate(launch, card)) {
        say_end(launch, card, by_signal, too_much);
    } else if (!restarts) {
        say_end(launch, card, by_signal, "; the others go on");
        end_card(launch, card);
        keep_code(launch, card);
        return;
    } else if (restart_later(launch, card)) {
        say_end(launch, card, by_signal, "; it is started again");
        return;
    } else {
        snprintf(more, sizeof more, ", the last of %u times in a row within 1 s of its start: the job ends",
                 child->short_lives);
        say_end(launch, card, by_signal, more);
    }
    end_job(launch, card);
}

bool child_code(struct child *child, const siginfo_t *info)
{
    bool by_signal = info->si_code != CLD_EXITED;
    child->code = by_signal ? 128 + info->si_status : info->si_status;
    return by_signal;
}

void note_end(struct launch *launch, uint32_t card)
{
    struct child *child = &launch->child[card];
    siginfo_t info = {0};
    pthread_mutex_lock(&reaping);
    bool ended = waitid(P_PID, (id_t)child->pid, &info, WEXITED) == 0;
    if (ended) {
        close(child->pidfd);
        child->pidfd = -1;
    }
    pthread_mutex_unlock(&reaping);
    if (!ended) {
        return;
    }
    launch->running--;
    program_ended(launch, card, child_code(child, &info));
}

void program_ended(struct launch *launch, uint32_t card, bool by_signal)
{
    const struct child *child = &launch->child[card];
    uint64_t seat = atomic_load(&launch->job->card[card].seat);
    bool joiner = child->joiner >= 0, open = seat_owner(seat) != 0 || (seat_opens(seat) == 0 && !joiner);
    if (child->code != 0 && launch->options->if_killed != IF_KILLED_END) {
        outlive(launch, card, by_signal);
    } else if ((by_signal && !joiner) || (child->code != 0 && open)) { /* see vic.h, VIC_EPEER */
        end_job(launch, card);
        say_end(launch, card, by_signal, by_signal ? "" : " without closing its card");
    } else {
        end_card(launch, card);
        keep_code(launch, card);
    }
    ring_all(launch);
}

void stop_restarts(struct launch *launch)
{
    for (uint32_t i = 0; i < launch->job->config.cards && launch->waiting > 0; i++) {
        if (launch->child[i].restart_ns != 0) {
            launch->child[i].restart_ns = 0;
            launch->waiting--;
            end_card(launch, i);
            keep_code(launch, i);
            if (launch->child[i].joiner >= 0) {
                joiner_hang_up(launch, i);
            }
        }
    }
    ring_all(launch);
}

int restart_due(struct launch *launch)
{
    int64_t next = -1;
    for (uint32_t i = 0; i < launch->job->config.cards && launch->waiting > 0; i++) {
        struct child *child = &launch->child[i];
        uint64_t now = job_clock_ns();
        if (child->restart_ns == 0) {
            continue;
        }
        if (now < child->restart_ns) {
            int64_t ms = (int64_t)((child->restart_ns - now) / 1000000) + 1;
            next = next < 0 || ms < next ? ms : next;
            continue;
        }
        child->restart_ns = 0;
        launch->waiting--;
        int error = 0;
        if (child->joiner >= 0) {
            child->started_ns = now;
            joiner_send(launch, i, JOIN_AGAIN, 0);
        } else {
            error = child_start(launch, i, -1);
        }
        if (error != 0) {
            fprintf(stderr, "vicrun: card %u cannot be started again: %s; the job ends\n", i, strerror(error));
            child->code = 1;
            end_job(launch, i);
            ring_all(launch);
            next = 0; /* there may be no program left to wait for */
        }
    }
    return (int)next;
}
