/* What comes before and behind the life of a job: its memory, streams and descriptors; output and reports. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "entropy.h"
#include "launcher.h"

static int fail(const char *what)
{
    fprintf(stderr, "vicrun: %s: %s\n", what, strerror(errno));
    return 1;
}

/* What is opened later must not become a stream that was closed: the programs would write their output there. */
void launch_have_streams(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= 2) {
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* Four descriptors for each card, and some. */
void launch_prepare(uint32_t cards)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    struct rlimit limit = {0};
    rlim_t needed = 4 * (rlim_t)cards + 64;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < needed) {
        limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int launch_make(struct launch *launch)
{
    uint64_t nonce;
    const char *why;
    if (!entropy_draw(&nonce, sizeof nonce)) {
        return fail("no random numbers");
    }
    launch->memory = job_create(&launch->options->job, nonce);
    if (launch->memory < 0) {
        return fail("cannot make the memory of the job");
    }
    launch->job = job_attach(launch->memory, nonce, &why);
    launch->child = calloc(launch->options->job.cards, sizeof *launch->child);
    if (launch->job == NULL || launch->child == NULL) {
        fprintf(stderr, "vicrun: %s\n", launch->job == NULL ? why : "no memory");
        return 1;
    }
    for (uint32_t i = 0; i < launch->options->job.cards; i++) {
        struct child *child = &launch->child[i];
        child->pidfd = child->out.from = child->err.from = child->joiner = -1;
    }
    return -1;
}

void launch_finish(struct launch *launch, int signals)
{
    const struct options *options = launch->options;
    children_end_orphans();
    for (uint32_t i = 0; i < options->job.cards; i++) {
        writers_wait(launch, signals);
        stream_finish(&launch->child[i].out, i, options->job.cards);
        stream_finish(&launch->child[i].err, i, options->job.cards);
    }
    writers_finish(launch, signals);
    for (uint32_t i = 0; i < options->job.cards; i++) {
        if (streams_lost(&launch->child[i], i) && launch->code == 0) {
            launch->code = 1;
        }
    }
    timed_finish(launch); /* what is on its way arrives */
    uint64_t lost = 0;
    for (uint32_t i = 0; i < options->job.cards; i++) {
        lost += atomic_load(&launch->job->card[i].stat[STAT_DROPPED]);
    }
    if (lost != 0) {
        fprintf(stderr, "vicrun: --fault fifo-drop: %llu FIFO words were lost\n", (unsigned long long)lost);
    }
    if (launch->hand_over != NULL) {
        launch->hand_over(launch);
        return;
    }
    stats_show(launch);
    if (options->report) {
        stats_print(launch);
    }
    int error = options->trace != NULL ? perfetto_write(launch->job, options->trace) : 0;
    if (error != 0) {
        fprintf(stderr, "vicrun: --trace: cannot write '%s': %s\n", options->trace, strerror(error));
        launch->code = launch->code != 0 ? launch->code : 1;
    }
}
