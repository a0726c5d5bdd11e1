/* --stats: what each card did. */
#include <inttypes.h>
#include <stdio.h>

#include "launcher.h"

void stats_print(const struct launch *launch)
{
    const struct job *job = launch->job;
    bool several = launch->options->programs > 1;
    fprintf(stderr, "vicrun: %5s %12s %14s %10s %10s %12s %10s %10s%s\n", "card", "calls", "words sent", "waits",
            "sleeps", "waited ms", "FIFO peak", "lost", several ? "  program" : "");
    for (uint32_t i = job->first; i < job->first + job->here; i++) { /* of this host */
        uint64_t stat[STATS];
        for (int k = 0; k < STATS; k++) {
            stat[k] = atomic_load(&job->card[i].stat[k]);
        }
        fprintf(stderr,
                "vicrun: %5u %12" PRIu64 " %14" PRIu64 " %10" PRIu64 " %10" PRIu64 " %12.3f %10" PRIu64 " %10" PRIu64
                "%s%s\n",
                i, stat[STAT_CALLS], stat[STAT_WORDS], stat[STAT_WAITS], stat[STAT_SLEEPS],
                (double)stat[STAT_WAIT_NS] / 1e6, stat[STAT_FIFO_PEAK], stat[STAT_DROPPED], several ? "  " : "",
                several ? program_of(launch->options, i)->argument[0] : "");
    }
}
