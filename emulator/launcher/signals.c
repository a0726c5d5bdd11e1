/* Signals to the launcher, which are for the programs. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "launcher.h"

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* Before the first program starts, so that none is lost. */
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
        bool knows = launch->coordinator == NULL && !launch->joins && launch->job->config.hosts <= 1;
        if (asks && knows && !launch->signalled) {
            interrupt_here(launch, (int)info.ssi_signo);
        }
        launch->signalled |= info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2;
        if (info.ssi_code != SI_KERNEL) {
            children_signal(launch, (int)info.ssi_signo);
        } else {
            joiners_signal(launch, (int)info.ssi_signo);
        }
    }
}
