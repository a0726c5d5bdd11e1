/* Timed mode in the launcher: the coordinator is a thread of it, and all run on one core unless asked
 * otherwise. From one core to another a wake-up takes ten times as long as within one, and programs take
 * turns all the time. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

static const uint64_t UNSTATED_NS = 10 * 1000 * 1000; /* is worth a word */

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
    }
    return launch->coordinator != NULL;
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

/* In a child: libvic-threads.so, which lies beside this program as libvic does, comes before all libraries. False:
 * no memory. */
bool timed_preload(const struct launch *launch)
{
#ifndef __SANITIZE_ADDRESS__ /* whose library wants to be the first */
    char here[PATH_MAX], all[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    const char *others = getenv("LD_PRELOAD");
    if (launch->job->config.mode != 1 || length <= 0) {
        return true;
    }
    here[length] = 0;
    *strrchr(here, '/') = 0; /* the kernel names whole paths */
    snprintf(all, sizeof all, "%s/../lib/libvic-threads.so", here);
    if (access(all, R_OK) == 0 && strpbrk(all, ": ") == NULL) { /* those separate names there */
        if (others != NULL && *others != 0) {
            snprintf(all + strlen(all), sizeof all - strlen(all), ":%s", others);
        }
        return setenv("LD_PRELOAD", all, 1) == 0;
    }
#else
    (void)launch;
#endif
    return true;
}

bool timed_start(struct launch *launch)
{
    int error = launch->coordinator != NULL ? coordinator_start(launch->coordinator, launch->core) : 0;
    if (error != 0) {
        fprintf(stderr, "vicrun: timed: no thread: %s\n", strerror(error));
    }
    return error == 0;
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
