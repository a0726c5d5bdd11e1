/* Timed mode in the launcher: the coordinator is a thread of it, and all run on one core unless asked
 * otherwise. From one core to another a wake-up takes ten times as long as within one, and programs take
 * turns all the time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

static const uint64_t UNSTATED_NS = 10 * 1000 * 1000; /* is worth a word */

/* What LD_PRELOAD is to begin with: libvic-threads.so, which lies beside this program as libvic does. Blanks and colons
 * separate names there, and $ begins a word that is replaced: a path with those is named by a descriptor of this process. */
static char hooks[PATH_MAX];

static bool find_hooks(void)
{
    ssize_t length = readlink("/proc/self/exe", hooks, sizeof hooks - sizeof "../lib/libvic-threads.so");
    char *end = length > 0 ? strrchr(hooks, '/') : NULL; /* the kernel names whole paths */
    if (end == NULL) {
        hooks[0] = 0;
        return false;
    }
    strcpy(end, "/../lib/libvic-threads.so");
    if (strpbrk(hooks, ": $") != NULL) {
        int fd = open(hooks, O_RDONLY | O_CLOEXEC);
        snprintf(hooks, sizeof hooks, "/proc/%d/fd/%d", (int)getpid(), fd);
    }
    return access(hooks, R_OK) == 0;
}

bool timed_make(struct launch *launch)
{
    launch->core = -1;
    if (launch->job->config.mode != 1) {
        return true;
    }
    launch->core = launch->job->config.model.spread ? -1 : sched_getcpu();
    launch->coordinator = coordinator_make(launch->job, launch_kill, launch);
    if (launch->coordinator == NULL) {
        fprintf(stderr,
                "vicrun: timed: no memory for a network of %u cards, or the card's parameters are out of "
                "range\n",
                launch->job->config.cards);
        return false;
    }
    if (!find_hooks()) {
        fprintf(stderr, "vicrun: timed: cannot read ../lib/libvic-threads.so, seen from this program, which keeps threads in "
                        "model time: %s\n", strerror(errno));
        return false;
    }
    return true;
}

void timed_pin(const struct launch *launch)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    if (launch->core >= 0) {
        CPU_SET((size_t)launch->core, &one);
        sched_setaffinity(0, sizeof one, &one); /* if not, all is only slower */
    }
}

/* Puts a text before what a variable has, or behind it. */
static bool add_to(const char *name, const char *text, char between, bool before)
{
    const char *others = getenv(name);
    if (others == NULL || *others == 0) {
        return setenv(name, text, 1) == 0;
    }
    char *all = malloc(strlen(others) + strlen(text) + 2);
    if (all != NULL) {
        sprintf(all, "%s%c%s", before ? text : others, between, before ? others : text);
    }
    bool good = all != NULL && setenv(name, all, 1) == 0;
    free(all);
    return good;
}

/* In a child: the hooks come before all libraries, that of the address sanitizer as well, which is to let that pass. False:
 * no memory. */
bool timed_preload(const struct launch *launch)
{
    return launch->job->config.mode != 1 ||
           (add_to("LD_PRELOAD", hooks, ':', true) && add_to("ASAN_OPTIONS", "verify_asan_link_order=0", ':', false));
}

bool timed_start(struct launch *launch)
{
    int error = launch->coordinator != NULL ? coordinator_start(launch->coordinator, launch->core) : 0;
    if (error != 0) {
        fprintf(stderr, "vicrun: timed: no thread: %s\n", strerror(error));
    }
    return error == 0;
}

/* Programs whose threads and sleeps were not in model time, so that other times came out. */
static void say_unhooked(struct launch *launch)
{
    for (uint32_t i = 0; launch->job->config.mode == 1 && i < launch->job->here; i++) {
        uint32_t card = launch->job->first + i;
        if (timed_card_of(launch->job, card)->unhooked != 0) {
            fprintf(stderr,
                    "vicrun: timed: card %u: its threads and sleeps were not in model time, as its program was loaded without "
                    "libvic-threads.so: LD_PRELOAD must reach it, which set-user-ID programs do not allow\n", card);
            launch->code = launch->code != 0 ? launch->code : 1;
        }
    }
}

/* What model time does not know of. */
static void say_unstated(const struct launch *launch)
{
    for (uint32_t i = 0; i < launch->job->config.cards; i++) {
        const struct timed_card *card = timed_card_of(launch->job, i);
        if (card->unstated_ns >= UNSTATED_NS) {
            fprintf(stderr,
                    "vicrun: timed: card %u computed for %.1f ms between its calls without saying so: model "
                    "time does not know of it (vic_compute_ns)\n",
                    i, (double)card->unstated_ns / 1e6);
        }
        if (card->lost_threads > 0) {
            fprintf(stderr,
                    "vicrun: timed: card %u: %" PRIu64 " times a thread slept outside of the library while "
                    "others waited for it; how they go on together may differ from run to run\n",
                    i, card->lost_threads);
        }
    }
}

void timed_finish(struct launch *launch)
{
    struct coordinator *all = launch->coordinator;
    say_unhooked(launch);
    if (all == NULL) {
        return;
    }
    bool deadlock = coordinator_finish(all);
    say_unstated(launch);
    if (launch->job->config.stats || job_asked("VIC_INFO")) {
        coordinator_report(all, stderr);
    }
    if (deadlock && launch->code == 0) {
        launch->code = 1;
    }
    coordinator_free(all);
    launch->coordinator = NULL;
}
