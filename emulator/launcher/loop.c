/* Watching the job: ends and deaths, signals, output, and the fault `kill`. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bell.h"
#include "launcher.h"

/* Everybody looks again at what became of the others. */
static void ring_all(const struct job *job)
{
    bell_wake(&job->shared->released);
    for (uint32_t i = 0; i < job->config.cards; i++) {
        bell_wake(&job->card[i].arrival);
        bell_wake(&job->card[i].space);
    }
}

static void say_death(const struct launch *launch, uint32_t card, bool by_signal)
{
    int code = launch->child[card].code;
    if (launch->signalled) {
        return;
    }
    if (by_signal) {
        fprintf(stderr, "vicrun: card %u was killed by signal %d (%s)\n", card, code - 128, strsignal(code - 128));
    } else {
        fprintf(stderr, "vicrun: card %u ended with exit code %d without closing its card\n", card, code);
    }
}

/* A program has ended. Its card is dead, unless it ended well or had closed its card: see vic.h, VIC_EPEER. */
static void note_end(struct launch *launch, uint32_t card)
{
    struct child *child = &launch->child[card];
    struct card_shared *shared = &launch->job->card[card];
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED) != 0) {
        return;
    }
    bool by_signal = info.si_code != CLD_EXITED;
    child->code = by_signal ? 128 + info.si_status : info.si_status;
    close(child->pidfd);
    child->pidfd = -1;
    launch->running--;
    if (launch->code == 0) {
        launch->code = child->code;
    }
    bool open = atomic_load(&shared->owner) != 0 || atomic_load(&shared->opened) == 0;
    bool died = by_signal || (child->code != 0 && open);
    atomic_store(&shared->end, died ? CARD_DIED : CARD_ENDED);
    if (died) {
        uint32_t nobody = 0;
        atomic_compare_exchange_strong(&launch->job->shared->poison, &nobody, card + 1);
        say_death(launch, card, by_signal);
    } else {
        atomic_fetch_add(&launch->job->shared->ended, 1);
    }
    ring_all(launch->job);
    if (launch->coordinator != NULL) {
        coordinator_kick(launch->coordinator);
    }
}

/* A terminal sends its signals to all processes of the group by itself. */
static void pass_signal(struct launch *launch, int signals)
{
    struct signalfd_siginfo info;
    if (read(signals, &info, sizeof info) == (ssize_t)sizeof info) {
        launch->signalled |= info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2;
        if (info.ssi_code != SI_KERNEL) {
            children_signal(launch, (int)info.ssi_signo);
        }
    }
}

static uint64_t now_ns(const struct launch *launch)
{
    return job_clock_ns() - launch->job->start_ns;
}

void launch_kill(void *what, uint32_t card)
{
    const struct launch *launch = what;
    const struct child *child = &launch->child[card];
    uint32_t owner = atomic_load(&launch->job->card[card].owner);
    if (child->pidfd >= 0) {
        kill(children_started((pid_t)owner) ? (pid_t)owner : child->pid, SIGKILL);
    }
}

/* Kill what is due; milliseconds until the next, -1 if there is none. */
static int kill_due(struct launch *launch)
{
    const struct job_config *config = &launch->job->config;
    int64_t next = -1;
    if (launch->coordinator != NULL) {
        return -1; /* model time is its business */
    }
    for (uint32_t i = 0; i < config->kills; i++) {
        const struct job_event *event = &config->kill[i];
        uint64_t now = now_ns(launch);
        if (launch->kills >> i & 1) {
            continue;
        }
        if (now < event->at_ns) {
            int64_t ms = (int64_t)((event->at_ns - now) / 1000000) + 1;
            next = next < 0 || ms < next ? ms : next;
            continue;
        }
        launch->kills |= UINT64_C(1) << i;
        launch_kill(launch, event->card);
    }
    return next > 1000000 ? 1000000 : (int)next;
}

static void watch(struct pollfd *watched, int fd)
{
    *watched = (struct pollfd){.fd = fd, .events = POLLIN};
}

void loop(struct launch *launch, int signals)
{
    uint32_t cards = launch->job->config.cards;
    struct pollfd *watched = calloc(1 + 3 * (size_t)cards, sizeof *watched);
    if (watched == NULL) {
        fputs("vicrun: no memory\n", stderr);
        launch->code = 1;
        children_signal(launch, SIGKILL);
        return;
    }
    while (launch->running > 0) {
        watch(&watched[0], signals);
        for (uint32_t i = 0; i < cards; i++) {
            watch(&watched[1 + 3 * i], launch->child[i].pidfd);
            watch(&watched[2 + 3 * i], launch->child[i].out.from);
            watch(&watched[3 + 3 * i], launch->child[i].err.from);
        }
        if (poll(watched, 1 + 3 * (nfds_t)cards, kill_due(launch)) < 0 && errno != EINTR) {
            perror("vicrun: poll");
            break;
        }
        if (watched[0].revents != 0) {
            pass_signal(launch, signals);
        }
        /* deaths first: others wait for them */
        for (uint32_t i = 0; i < cards; i++) {
            if (watched[1 + 3 * i].revents != 0) {
                note_end(launch, i);
            }
        }
        for (uint32_t i = 0; i < cards; i++) {
            if (watched[2 + 3 * i].revents != 0) {
                stream_copy(&launch->child[i].out, i, cards);
            }
            if (watched[3 + 3 * i].revents != 0) {
                stream_copy(&launch->child[i].err, i, cards);
            }
        }
    }
    free(watched);
}
