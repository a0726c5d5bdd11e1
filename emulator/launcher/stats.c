/* --stats: what each card did. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "launcher.h"

void stats_table(const struct options *options, const struct card_look *look, uint32_t first, uint32_t cards)
{
    bool several = options->programs > 1;
    fprintf(stderr, "vicrun: %5s %12s %14s %10s %10s %12s %10s %10s%s\n", "card", "calls", "words sent", "waits",
            "sleeps", "waited ms", "FIFO peak", "lost", several ? "  program" : "");
    for (uint32_t i = 0; i < cards; i++) {
        const uint64_t *stat = look[i].stat;
        fprintf(stderr,
                "vicrun: %5u %12" PRIu64 " %14" PRIu64 " %10" PRIu64 " %10" PRIu64 " %12.3f %10" PRIu64 " %10" PRIu64
                "%s%s\n",
                first + i, stat[STAT_CALLS], stat[STAT_WORDS], stat[STAT_WAITS], stat[STAT_SLEEPS],
                (double)stat[STAT_WAIT_NS] / 1e6, stat[STAT_FIFO_PEAK], stat[STAT_DROPPED], several ? "  " : "",
                several ? program_of(options, first + i)->argument[0] : "");
    }
}

void stats_print(const struct launch *launch)
{
    const struct job *job = launch->job; /* of this host */
    struct card_look *look = looks_new(launch, job->first, job->here, false);
    if (look != NULL) {
        stats_table(launch->options, look, job->first, job->here);
    }
    free(look);
}
