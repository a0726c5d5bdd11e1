/* --stats-fd: what each card has done so far, a line of JSON for each, while the job runs. A reader that does not
 * keep up misses lines, never half of one; one that goes away is forgotten. The job waits for nobody. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "functional/claims.h"
#include "launcher.h"

enum { PERIOD_MS = 500 };
static const uint64_t NS_PER_MS = 1000000;

static const char *state_of_card(const struct card_shared *card)
{
    uint32_t end = atomic_load(&card->end), opens = seat_opens(atomic_load(&card->seat));
    if (end != CARD_RUNS) {
        return end == CARD_DIED ? "died" : "ended";
    }
    return opens == 0 ? "starting" : opens & 1 ? "open" : "closed";
}

/* Words in the surprise FIFO of a card: of the one in shared memory, or of what its host sees in model time. */
static uint64_t fifo_depth(const struct job *job, uint32_t number)
{
    const struct card_shared *card = &job->card[number];
    if (job->config.mode == 1) {
        const struct view *view = &timed_card_of(job, number)->view;
        uint64_t out = __atomic_load_n(&view->fifo_out, __ATOMIC_RELAXED);
        uint64_t in = __atomic_load_n(&view->fifo_in, __ATOMIC_RELAXED);
        return in > out ? in - out : 0;
    }
    uint64_t head = atomic_load(&card->fifo_head);
    uint64_t used = positions(head, atomic_load(&card->fifo_tail)), voids = atomic_load(&card->fifo_voids);
    return used > POSITION / 2 || used < voids ? 0 : used - voids;
}

/* Writes to a pipe of up to PIPE_BUF bytes are whole, and go in at once when there is room for as many. */
static bool is_ready(int fd)
{
    struct pollfd there = {.fd = fd, .events = POLLOUT};
    return poll(&there, 1, 0) == 1 && (there.revents & POLLOUT) != 0;
}

void stats_show(struct launch *launch)
{
    const struct job *job = launch->job;
    uint64_t now = job_clock_ns() - job->start_ns;
    for (uint32_t i = 0; i < job->config.cards && launch->stats_fd >= 0 && is_ready(launch->stats_fd); i++) {
        const struct card_shared *card = &job->card[i];
        uint64_t stat[STATS];
        char line[512];
        for (int k = 0; k < STATS; k++) {
            stat[k] = atomic_load(&card->stat[k]);
        }
        int length = snprintf(line, sizeof line,
                              "{\"at_ns\":%" PRIu64 ",\"card\":%u,\"cards\":%u,\"state\":\"%s\",\"calls\":%" PRIu64
                              ",\"words\":%" PRIu64 ",\"wait_ns\":%" PRIu64 ",\"fifo\":%" PRIu64
                              ",\"fifo_peak\":%" PRIu64 ",\"lost\":%" PRIu64 "}\n",
                              now, i, job->config.cards, state_of_card(card), stat[STAT_CALLS], stat[STAT_WORDS],
                              stat[STAT_WAIT_NS], fifo_depth(job, i), stat[STAT_FIFO_PEAK], stat[STAT_DROPPED]);
        if (write(launch->stats_fd, line, (size_t)length) < 0) {
            close(launch->stats_fd);
            launch->stats_fd = -1;
        }
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
