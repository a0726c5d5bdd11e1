/* --stats-fd: what each card has done so far, a line of JSON for each, while the job runs. A reader that does not
 * keep up misses lines, never half of one; one that goes away is forgotten. The job waits for nobody. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "launcher.h"

enum { PERIOD_MS = 500 };
static const uint64_t NS_PER_MS = 1000000;

static const char *card_state_name(const struct card_look *look)
{
    if (look->end != CARD_RUNS) {
        return look->end == CARD_DIED ? "died" : "ended";
    }
    return look->opens == 0 ? "starting" : look->opens & 1 ? "open" : "closed";
}

/* Writes to a pipe of up to PIPE_BUF bytes are whole, and go in at once when there is room for as many. */
static bool is_ready(int fd)
{
    struct pollfd there = {.fd = fd, .events = POLLOUT};
    return poll(&there, 1, 0) == 1 && (there.revents & POLLOUT) != 0;
}

bool stats_write(int *fd, const struct card_look *look, uint32_t card, uint32_t cards, uint64_t now_ns)
{
    char line[512];
    if (*fd < 0 || !is_ready(*fd)) {
        return false;
    }
    int length = snprintf(line, sizeof line,
                          "{\"at_ns\":%" PRIu64 ",\"card\":%u,\"cards\":%u,\"state\":\"%s\",\"calls\":%" PRIu64
                          ",\"words\":%" PRIu64 ",\"wait_ns\":%" PRIu64 ",\"fifo\":%" PRIu64
                          ",\"fifo_peak\":%" PRIu64 ",\"lost\":%" PRIu64 "}\n",
                          now_ns, card, cards, card_state_name(look), look->stat[STAT_CALLS], look->stat[STAT_WORDS],
                          look->stat[STAT_WAIT_NS], look->fifo, look->stat[STAT_FIFO_PEAK], look->stat[STAT_DROPPED]);
    if (write(*fd, line, (size_t)length) < 0) {
        close(*fd);
        *fd = -1;
    }
    return *fd >= 0;
}

void stats_show(struct launch *launch)
{
    const struct job *job = launch->job;
    bool more = launch->stats_fd >= 0;
    for (uint32_t i = 0; more && i < job->config.cards; i++) {
        struct card_look look;
        look_card(job, i, &look);
        more = stats_write(&launch->stats_fd, &look, i, job->config.cards, job_time_ns(job));
    }
}

int stats_due(struct launch *launch)
{
    uint64_t now = job_clock_ns();
    if (launch->stats_fd < 0) {
        return -1;
    }
    if (now >= launch->stats_ns) {
        stats_show(launch);
        launch->stats_ns = now + PERIOD_MS * NS_PER_MS;
    }
    return (int)((launch->stats_ns - now) / NS_PER_MS) + 1;
}
