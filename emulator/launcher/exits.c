/* What becomes of the job when a program ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bell.h"
#include "functional/claims.h"
#include "join.h"
#include "launcher.h"
#include "seat.h"

enum {
    SOON_NS = 1000 * 1000 * 1000, /* a program that lives so long has worked */
    PAUSE_NS = 1000 * 1000,       /* before the second start after a short life; then 2, 4 ... */
    PAUSES = 6,                   /* ... 64 times as long */
    GONE_MS = 5000,
    OWNERS_MS = 50, /* how often to look who has opened or left a card */
    VACANT_MS = 2000 /* a card whose owner was killed may be opened again by what started that */
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

static int open_process(pid_t process)
{
    return process > 0 ? (int)syscall(SYS_pidfd_open, process, 0) : -1;
}

/* The descriptor of the owner of a card, if a program has started that process, or is it, else -1: a number in the job's
 * memory is anybody's. It is opened before its parents are asked for: if they are the right ones it has not changed
 * hands. */
static int open_started(const struct launch *launch, uint32_t card)
{
    pid_t process = seat_process(launch->job, card, atomic_load(&launch->job->card[card].seat));
    int pidfd = open_process(process);
    if (pidfd >= 0 && !children_started(process)) {
        close(pidfd);
        return -1;
    }
    return pidfd;
}

/* The program may have been started by a shell, that has ended: then it runs without it. */
static void end_owner(const struct launch *launch, uint32_t card)
{
    int pidfd = open_started(launch, card);
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
        int owner = open_started(launch, card);
        syscall(SYS_pidfd_send_signal, owner >= 0 ? owner : child->pidfd, SIGKILL, NULL, 0);
        if (owner >= 0) {
            close(owner);
        }
    }
    pthread_mutex_unlock(&reaping);
}

/* Nobody has the card any more who had this seat: undo what that left half done. The seat is the launcher's meanwhile, so
 * that nobody opens the card, who would have the same claims. False: what that needs has no room. */
static bool vacate_seat(const struct launch *launch, uint32_t card, uint64_t seat)
{
    struct card_shared *shared = &launch->job->card[card];
    uint64_t opens = seat_opens(seat), mine = opens << 32 | (uint32_t)getpid();
    if (!atomic_compare_exchange_strong(&shared->seat, &seat, mine)) {
        return true; /* somebody has opened it, and has undone that */
    }
    bool good = claims_undo(launch->job, card);
    atomic_compare_exchange_strong(&shared->seat, &mine, (opens + opens % 2) << 32);
    return good;
}

/* The card is left as if its program had closed it. False: what that needs has no room. */
static bool vacate(struct launch *launch, uint32_t card)
{
    end_owner(launch, card);
    launch->child[card].vacant_ns = 0;
    return vacate_seat(launch, card, atomic_load(&launch->job->card[card].seat));
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

/* Nobody lives who had the card, whose seat was this. False: what that needs has no room, and the job ends. */
static bool settle(struct launch *launch, uint32_t card, uint64_t seat)
{
    bool good = vacate_seat(launch, card, seat);
    if (!good) {
        end_for_want_of_room(launch, card);
    }
    return good;
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
    if (!seat_is_held(launch->job, card, seat) && !settle(launch, card, seat)) {
        return;
    }
    card_has_ended(launch, card);
}

/* Is there still somebody who may start again what had the card? */
static bool is_attended(const struct launch *launch, uint32_t card)
{
    const struct child *child = &launch->child[card];
    return child->pidfd >= 0 || child->joiner >= 0 || children_left(launch);
}

/* How a process ended that was left to the launcher; -1: another process has to ask. */
static int code_of(pid_t process)
{
    siginfo_t info = {0};
    struct child ended = {0};
    if (process <= 0 || waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG) != 0 || info.si_pid != process) {
        return -1;
    }
    child_code(&ended, &info);
    return ended.code;
}

/* The owner of a card, whose seat was this, has ended without closing it, and it was not the program that the launcher
 * started. It was killed, or it has ended with this code: see vic.h, VIC_EPEER. What started it may start it again. */
static void owner_ended(struct launch *launch, uint32_t card, uint64_t seat)
{
    struct child *child = &launch->child[card];
    struct card_shared *shared = &launch->job->card[card];
    uint32_t closing = atomic_load(&shared->closing);
    int code = code_of(child->owner);
    child->owner_code = code >= 0 ? code : closing == 0 ? -1 : closing >= CLOSING_FAILS ? (int)(closing - CLOSING_FAILS) : 0;
    bool died = child->owner_code != 0 && !launch->signalled;
    if (died && atomic_load(&shared->end) == CARD_ENDED) { /* as long as it may come back, the others wait for it */
        atomic_store(&shared->end, CARD_RUNS);
        atomic_fetch_sub(&launch->job->shared->ended, 1);
        child->bereft = true;
    }
    if (died) {
        child->vacant_ns = job_clock_ns() + (uint64_t)VACANT_MS * 1000000;
        child->vacant_opens = seat_opens(seat) + seat_opens(seat) % 2;
    }
    if (died && launch->job->config.mode == 1) { /* model time stands until it comes back or the job ends */
        child->vacant_opens = seat_opens(seat);
    } else {
        settle(launch, card, seat);
    }
    ring_all(launch);
}

/* The exit code of a joined program matters to the vicrun that brought it, not to the job. */
static void keep_code(struct launch *launch, uint32_t card)
{
    if (launch->child[card].joiner < 0 && launch->code == 0) {
        launch->code = launch->child[card].code;
    }
}

/* Nobody has opened it again. */
static void vacant_ended(struct launch *launch, uint32_t card)
{
    struct child *child = &launch->child[card];
    int before = child->code;
    child->vacant_ns = 0;
    child->code = child->owner_code > 0 ? child->owner_code : 1;
    char what[64] = "ended without closing its card";
    if (child->owner_code > 0) {
        snprintf(what, sizeof what, "ended with exit code %d without closing its card", child->owner_code);
    }
    bool ends = launch->options->if_killed == IF_KILLED_END;
    if (child->joiner >= 0) {
        joiner_send(launch, card, JOIN_ENDED, child->code);
    }
    if (!launch->signalled) {
        fprintf(stderr, "vicrun: card %u: a process of its program %s%s\n", card, what, ends ? "" : "; the others go on");
    }
    if (ends) {
        end_job(launch, card);
    } else {
        keep_code(launch, card);
        child->code = before;
    }
    if (!ends && child->bereft) {
        card_has_ended(launch, card);
    }
    child->bereft = false;
    ring_all(launch);
}

/* Without a descriptor for it, or for the process, owners_due sees the end a little later. */
static void watch_owner(struct launch *launch, int pidfd)
{
    struct epoll_event ends = {.events = EPOLLIN};
    launch->owners = launch->owners > 0 ? launch->owners : epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(launch->owners, EPOLL_CTL_ADD, pidfd, &ends);
}

void owner_look(struct launch *launch, uint32_t card)
{
    struct child *child = &launch->child[card];
    uint64_t seat = atomic_load(&launch->job->card[card].seat);
    uint32_t owner = seat_owner(seat);
    bool direct = (pid_t)owner == child->pid && child->pid != 0 && child->joiner < 0;
    if (child->vacant_ns != 0 && seat_opens(seat) > child->vacant_opens) {
        child->vacant_ns = 0; /* it has come back */
        if (child->bereft) {
            child->bereft = false;
            card_has_ended(launch, card);
        }
    }
    if (child->vacant_ns != 0 || atomic_load(&launch->job->card[card].end) == CARD_DIED) {
        return;
    }
    if (child->owner_fd >= 0 && seat == child->owner_seat) {
        struct pollfd ended = {.fd = child->owner_fd, .events = POLLIN};
        if (poll(&ended, 1, 0) == 0) {
            return;
        }
    }
    if (child->owner_fd >= 0) {
        close(child->owner_fd);
        child->owner_fd = -1;
    }
    if (owner == 0 || direct) {
        return;
    }
    bool held = seat_is_held(launch->job, card, seat);
    if (!seat_is_known(launch->job, card, seat) && (held || (child->pidfd >= 0 && child->doubted != seat))) {
        child->doubted = seat; /* until the next look */
        return;
    }
    if (held) {
        child->owner = seat_process(launch->job, card, seat);
        child->owner_fd = open_process(child->owner);
        child->owner_seat = seat;
        watch_owner(launch, child->owner_fd);
        return;
    }
    child->owner = seat == child->owner_seat ? child->owner : (pid_t)owner;
    owner_ended(launch, card, seat);
}

int owners_due(struct launch *launch)
{
    uint64_t now = job_clock_ns();
    if (now < launch->owners_ns) {
        return (int)((launch->owners_ns - now) / 1000000) + 1;
    }
    for (uint32_t i = launch->job->first; i < launch->job->first + launch->job->here; i++) {
        struct child *child = &launch->child[i];
        owner_look(launch, i);
        if (child->lost == PROGRAM_DIES) { /* who had not locked its seat yet has by now, or has left it */
            joiner_gone(launch, i);
        }
        if (child->vacant_ns != 0 && (now >= child->vacant_ns || !is_attended(launch, i))) {
            vacant_ended(launch, i);
        }
        bool never = seat_opens(atomic_load(&launch->job->card[i].seat)) == 0;
        if (never && atomic_load(&launch->job->card[i].end) == CARD_ENDED && child->joiner < 0 && !children_left(launch)) {
            seat_end(&launch->job->card[i]);
            ring_all(launch);
        }
    }
    launch->owners_ns = now + (uint64_t)OWNERS_MS * 1000000;
    return OWNERS_MS;
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
    struct child *child = &launch->child[card];
    owner_look(launch, card);
    uint64_t seat = atomic_load(&launch->job->card[card].seat);
    bool joiner = child->joiner >= 0, vacant = child->vacant_ns != 0;
    bool killed = launch->signalled && child->owner_code != 0; /* with its card open, which is settled already */
    bool open = vacant || killed || seat_owner(seat) != 0 || (seat_opens(seat) == 0 && !joiner);
    if (vacant && child->code == 0 && launch->options->if_killed == IF_KILLED_END &&
        (joiner || !is_attended(launch, card))) {
        vacant_ended(launch, card);
        return;
    }
    if (vacant && launch->options->if_killed != IF_KILLED_END) {
        child->code = child->code != 0 ? child->code : child->owner_code > 0 ? child->owner_code : 1;
    }
    child->vacant_ns = child->code != 0 ? 0 : child->vacant_ns;
    if (atomic_load(&launch->job->card[card].end) == CARD_DIED) { /* as its process did before, which is what counts */
        keep_code(launch, card);
        ring_all(launch);
        return;
    }
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
