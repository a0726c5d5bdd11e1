/* vicrun: runs a program once per emulated card. The job's memory is a descriptor without a name; programs
 * die with the launcher (PR_SET_PDEATHSIG), the launcher sees every death (pidfd) and tells the others by the
 * poison word, what the programs leave behind is adopted and ended: nothing stays, whatever dies. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "hosts.h"
#include "launcher.h"
#include "pmi.h"

/* The command line as it was given: reading it cuts it where programs end. */
static char **copy_of(int argc, char **argv)
{
    size_t bytes = ((size_t)argc + 1) * sizeof *argv;
    char **copy = malloc(bytes);
    return copy != NULL ? memcpy(copy, argv, bytes) : NULL;
}

int main(int argc, char **argv)
{
    struct options options;
    launch_have_streams();
    char **given = copy_of(argc, argv);
    int code = options_read(argc, argv, &options);
    code = code == -1 ? options_take_stats_fd(&options) : code;
    if (code == -1) {
        code = options.hosts.count > 0 ? hosts_run(&options, given)
               : options.join != NULL  ? join_job(&options)
                                       : memory_check(&options.job, NULL);
    }
    free(given);
    if (code != -1) {
        options_free(&options);
        return code;
    }
    struct launch launch = {.options = &options, .socket = -1, .writers = -1, .stats_fd = options.stats_fd, .boss = -1};
    enum { OTHERS = 16 };
    int signals = take_signals();
    code = signals < 0 ? 1 : launch_prepare(options.job.cards, OTHERS, NULL);
    if (code == -1) {
        code = launch_make(&launch);
    }
    if (code == -1) {
        code = serve_open(&launch);
    }
    if (code == -1) {
        code = timed_make(&launch) && pmi_make(&launch) ? children_start(&launch, 0, options.job.cards) : 1;
    }
    if (code == -1) {
        launch.writers = writers_open(); /* before there is a thread that says something */
        if (!pmi_start(&launch) || !timed_start(&launch)) {
            children_signal(&launch, SIGKILL);
        }
        loop(&launch, signals);
        pmi_finish(&launch);
        launch_finish(&launch, signals);
        code = launch.code;
    }
    if (launch.coordinator != NULL) { /* no program was started */
        coordinator_free(launch.coordinator);
    }
    serve_close(&launch);
    free(launch.child);
    options_free(&options);
    return code;
}
