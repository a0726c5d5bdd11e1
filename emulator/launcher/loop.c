/* Watching the job: ends and deaths, signals, output, and the fault `kill`. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "launcher.h"

/* ---- signals to the launcher, which are for the programs */

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* Blocks the signals that the programs get from here. Called before the first program starts, so that no signal is lost. */
int take_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        struct sigaction action = {0};
        sigaction(passed_on[i], NULL, &action);
        if (action.sa_handler != SIG_IGN) { /* nohup ignores SIGHUP: so it shall stay */
            sigaddset(&set, passed_on[i]);
        }
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that is too large is an error of a call: EFBIG */
    signal(SIGCHLD, SIG_DFL); /* if it was ignored, children could not be waited for */
    int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0) {
        fprintf(stderr, "vicrun: cannot take signals: %s\n", strerror(errno));
    }
    return signals;
}

/* A terminal sends its signals to all processes of the group by itself; joiners may be of another. */
void pass_signal(struct launch *launch, int signals)
{
    struct signalfd_siginfo info;
    if (read(signals, &info, sizeof info) == (ssize_t)sizeof info) {
        bool asks = info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT;
        bool knows = !launch->joins && launch->job->config.hosts <= 1;
        if (asks && knows && !launch->signalled) {
            interrupt_here(launch, (int)info.ssi_signo);
        }
        if (info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2) {
            children_asked_to_end(launch);
        }
        if (info.ssi_code != SI_KERNEL) {
            children_signal(launch, (int)info.ssi_signo);
        } else {
            joiners_signal(launch, (int)info.ssi_signo);
        }
    }
}

bool kill_is_due(const struct launch *launch, uint32_t card)
{
    const struct job_config *config = &launch->job->config;
    for (uint32_t i = 0; config->mode == 0 && i < config->kills; i++) {
        const struct job_event *event = &config->kill[i];
        if (event->card == card && (launch->kills >> i & 1) == 0 && job_time_ns(launch->job) >= event->at_ns) {
            return true;
        }
    }
    return false;
}

/* Kill what is due; milliseconds until the next, -1 if there is none. */
static int kill_due(struct launch *launch)
{
    const struct job_config *config = &launch->job->config;
    int64_t next = -1;
    if (config->mode == 1) {
        return -1; /* model time is its business */
    }
    for (uint32_t i = 0; i < config->kills; i++) {
        const struct job_event *event = &config->kill[i];
        uint64_t now = job_time_ns(launch->job);
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

/* Of two times in milliseconds; -1: never. */
static int sooner(int a, int b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

static void watch(struct pollfd *watched, int fd)
{
    *watched = (struct pollfd){.fd = fd, .events = POLLIN};
}

/* A job without programs waits for joiners until a signal ends it. */
bool programs_have_ended(const struct launch *launch)
{
    bool over = launch->signalled || atomic_load(&launch->job->shared->poison) != 0;
    uint32_t places = 0;
    while (places < launch->options->programs && is_free_slot(&launch->options->program[places])) {
        places++;
    }
    bool waits = places == launch->options->programs && !over;
    return launch->running + launch->waiting + launch->joiners == 0 && !waits;
}

enum { PER_CARD = 4 }; /* descriptors */

static nfds_t watch_all(const struct launch *launch, int signals, struct pollfd *watched)
{
    uint32_t cards = launch->job->config.cards;
    bool has_room[] = {writer_has_room(1), writer_has_room(2)};
    for (uint32_t i = 0; i < cards; i++) {
        const struct child *child = &launch->child[i];
        struct pollfd *mine = watched + PER_CARD * (size_t)i;
        watch(&mine[0], child->pidfd);
        watch(&mine[1], has_room[0] ? child->out.from : -1);
        watch(&mine[2], has_room[1] ? child->err.from : -1);
        watch(&mine[3], child->lost ? -1 : child->joiner);
    }
    struct pollfd *others = watched + PER_CARD * (size_t)cards;
    watch(others++, signals);
    watch(others++, launch->socket);
    watch(others++, launch->writers);
    watch(others++, launch->boss);
    for (int i = 0; i < PENDING_MOST; i++) {
        watch(others++, launch->socket >= 0 ? launch->pending[i] : -1);
    }
    watch(others++, launch->owners > 0 ? launch->owners : -1);
    return (nfds_t)(others - watched);
}

/* Deaths first: others wait for them. */
static void attend(struct launch *launch, int signals, const struct pollfd *watched)
{
    uint32_t cards = launch->job->config.cards;
    const struct pollfd *others = watched + PER_CARD * (size_t)cards;
    if (others[0].revents != 0) {
        pass_signal(launch, signals);
        if (launch->signalled) {
            stop_restarts(launch);
        }
    }
    for (uint32_t i = 0; i < cards; i++) {
        const struct pollfd *mine = watched + PER_CARD * (size_t)i;
        if (mine[0].revents != 0) {
            const struct child *child = &launch->child[i];
            (child->lost ? joiner_gone : note_end)(launch, i);
        }
        if (mine[3].revents != 0 && launch->child[i].joiner == mine[3].fd) {
            joiner_hear(launch, i);
        }
    }
    for (uint32_t i = 0; i < cards; i++) {
        const struct pollfd *mine = watched + PER_CARD * (size_t)i;
        if (mine[1].revents != 0) {
            stream_copy(&launch->child[i].out, i, cards);
        }
        if (mine[2].revents != 0) {
            stream_copy(&launch->child[i].err, i, cards);
        }
    }
    if (others[2].revents != 0) {
        writers_heard();
    }
    if (others[3].revents != 0) {
        launch->hear(launch);
    }
    for (int i = 0; i < PENDING_MOST; i++) {
        if (others[4 + i].revents != 0) {
            pending_hear(launch, &launch->pending[i]);
        }
    }
    if (others[1].revents != 0) {
        joiner_come(launch);
    }
    if (others[4 + PENDING_MOST].revents != 0) {
        launch->owners_ns = 0;
    }
}

/* Nothing can be watched any more: all programs end, and are waited for. */
static void give_up(struct launch *launch, const char *why)
{
    fprintf(stderr, "vicrun: cannot watch the programs: %s\n", why);
    launch->code = launch->code != 0 ? launch->code : 1;
    launch->signalled = true;
    children_signal(launch, SIGKILL);
    for (uint32_t i = 0; i < launch->job->config.cards; i++) {
        if (launch->child[i].pidfd >= 0 && !launch->child[i].lost) {
            note_end(launch, i);
        }
    }
}

void loop(struct launch *launch, int signals)
{
    size_t most = PER_CARD * (size_t)launch->job->config.cards + 5 + PENDING_MOST;
    struct pollfd *watched = calloc(most, sizeof *watched);
    if (watched == NULL) {
        give_up(launch, "no memory");
        return;
    }
    while (launch->held || !programs_have_ended(launch)) {
        int ms = sooner(kill_due(launch), restart_due(launch)); /* first: they change what is watched */
        ms = sooner(ms, kill_late(launch));
        ms = sooner(ms, owners_due(launch));
        ms = sooner(ms, stats_due(launch));
        ms = sooner(ms, standstill_due(launch));
        ms = sooner(ms, launch->due != NULL ? launch->due(launch) : -1);
        nfds_t count = watch_all(launch, signals, watched);
        if (poll(watched, count, ms) >= 0) {
            attend(launch, signals, watched);
        } else if (errno != EINTR) {
            give_up(launch, strerror(errno));
            break;
        }
    }
    free(watched);
}
