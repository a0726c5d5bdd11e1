/* What comes before and behind the life of a job: its memory, streams and descriptors; output and reports. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
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

/* poll() takes so many for each card, whether they are open or not. */
enum { DESCRIPTORS_PER_CARD = 4 };

int launch_prepare(uint32_t cards, uint32_t others, const char *where)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    rlim_t needed = DESCRIPTORS_PER_CARD * (rlim_t)cards + others;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < needed) {
        rlim_t room = limit.rlim_max > others ? limit.rlim_max - others : 0;
        fprintf(stderr, "vicrun: %s-n: %u cards need %ju file descriptors, of which this process may have %ju (ulimit -Hn): enough "
                        "for %ju cards\n",
                where != NULL ? where : "", cards, (uintmax_t)needed, (uintmax_t)limit.rlim_max,
                (uintmax_t)(room / DESCRIPTORS_PER_CARD));
        return 2;
    }
    if (limit.rlim_cur < needed) {
        limit.rlim_cur = needed;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    return -1;
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
        return fail(errno == EFBIG ? "the memory of the job is larger than files may be here (ulimit -f)"
                                   : "cannot make the memory of the job");
    }
    launch->job = job_attach(launch->memory, nonce, &why);
    launch->child = calloc(launch->options->job.cards, sizeof *launch->child);
    if (launch->job == NULL || launch->child == NULL) {
        fprintf(stderr, "vicrun: %s\n", launch->job == NULL ? why : "no memory");
        return 1;
    }
    for (uint32_t i = 0; i < launch->options->job.cards; i++) {
        struct child *child = &launch->child[i];
        child->pidfd = child->owner_fd = child->out.from = child->err.from = child->joiner = -1;
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

/* ---- does the job fit? Asked before anything is made, for the case that every word of it is used */

/* A number behind a word at the start of a line. */
static uint64_t number_after(const char *path, const char *word)
{
    FILE *file = fopen(path, "r");
    char line[256];
    uint64_t value = UINT64_MAX;
    if (file == NULL) {
        return value;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, word, strlen(word)) == 0 && sscanf(line + strlen(word), "%" SCNu64, &value) == 1) {
            break;
        }
    }
    fclose(file);
    return value;
}

/* What a control group may still take, and those in it; version 2 only. */
static uint64_t left_in(const char *group)
{
    char path[PATH_MAX + 128];
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
    uint64_t most = number_after(path, "");
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", group);
    uint64_t used = number_after(path, "");
    return most == UINT64_MAX || used == UINT64_MAX ? UINT64_MAX : most > used ? most - used : 0;
}

/* The least of the group of this process and of those around it. */
static uint64_t group_available(void)
{
    FILE *file = fopen("/proc/self/cgroup", "r");
    char line[PATH_MAX + 64]; /* a group's path is of less than PATH_MAX characters */
    uint64_t left = UINT64_MAX;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "0::/", 4) != 0) {
            continue;
        }
        for (char *end = line + strcspn(line, "\n"); end != NULL; end = strrchr(line + 3, '/')) {
            *end = 0;
            uint64_t here = left_in(line + 3);
            left = here < left ? here : left;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return left;
}

int memory_check(const struct job_config *job, const char *where)
{
    uint64_t kib = number_after("/proc/meminfo", "MemAvailable:"), group = group_available();
    uint64_t available = kib == UINT64_MAX ? UINT64_MAX : kib * 1024, needed = job_bytes(job);
    available = group < available ? group : available;
    if (needed <= available) {
        return -1;
    }
    struct job_config one = *job;
    one.cards = 1;
    fprintf(stderr,
            "vicrun: %s-n: %u cards need %" PRIu64 " bytes of memory, %" PRIu64 " are available: enough for %" PRIu64
            " cards of this size\n",
            where != NULL ? where : "", job->cards, needed, available, available / job_bytes(&one));
    return 2;
}
