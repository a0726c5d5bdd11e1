/* Looking at cards: see look.h. */
#define _GNU_SOURCE
#include "look.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "functional/claims.h"
#include "launcher.h"

enum { BETWEEN_MS = 40 };

/* Words in the surprise FIFO of a card: of the one in shared memory, or of what its host sees in model time. */
static uint64_t fifo_depth(const struct job *job, uint32_t number, const struct card_look *look)
{
    if (job->config.mode == 1) {
        const struct view *view = &timed_card_of(job, number)->view;
        uint64_t out = __atomic_load_n(&view->fifo_out, __ATOMIC_RELAXED);
        uint64_t in = __atomic_load_n(&view->fifo_in, __ATOMIC_RELAXED);
        return in > out ? in - out : 0;
    }
    uint64_t used = positions(look->fifo_head, look->fifo_tail), voids = atomic_load(&job->card[number].fifo_voids);
    return used > POSITION / 2 || used < voids ? 0 : used - voids;
}

/* Over hosts the first host counts who is in the barrier; here it is known who waits in it. On one machine, who came or went
 * last stands in the word only, see claims.h. */
static bool is_in_barrier(const struct job *job, uint32_t number, const struct card_look *look)
{
    bool waits = false;
    for (int i = 0; i < WAITS; i++) {
        waits |= look->wait[i].kind == WAIT_BARRIER;
    }
    uint32_t last = (uint32_t)(look->barrier >> 33 & 0x1ffff) - 1;
    uint32_t mark = number == last ? barrier_mark(look->barrier) : atomic_load(&job->card[number].barrier_mark);
    return job->config.hosts > 1 || job->config.mode == 1 ? waits : mark_is_in(mark, look->barrier);
}

static void look_at_waits(const struct card_shared *card, struct card_look *look)
{
    for (int i = 0; i < WAITS; i++) {
        const struct card_wait *wait = &card->wait[i];
        uint64_t since_ns = atomic_load(&wait->since_ns);
        look->wait[i] = (struct look_wait){atomic_load(&wait->kind), atomic_load(&wait->dest), atomic_load(&wait->counters),
                                           atomic_load(&wait->words), since_ns};
        look->wait[i].kind = look->wait[i].kind < WAIT_KINDS ? look->wait[i].kind : WAIT_NOTHING;
    }
}

/* All that is in the memory of the job, which is everything but `away` and `free`. */
static void look_card(const struct job *job, uint32_t number, struct card_look *look)
{
    const struct card_shared *card = &job->card[number];
    *look = (struct card_look){.end = atomic_load(&card->end), .opens = seat_opens(atomic_load(&card->seat)),
                               .slept_ns = atomic_load(&card->slept_ns), .fifo_head = atomic_load(&card->fifo_head),
                               .fifo_tail = atomic_load(&card->fifo_tail), .barrier = atomic_load(&job->shared->barrier)};
    for (int i = 0; i < STATS; i++) {
        look->stat[i] = atomic_load(&card->stat[i]);
    }
    for (int i = 0; i < COUNTERS; i++) {
        look->counter[i] = job->config.mode == 1
                               ? __atomic_load_n(&timed_card_of(job, number)->view.counter[i], __ATOMIC_RELAXED)
                               : atomic_load(&card->counter[i].value);
    }
    look_at_waits(card, look);
    look->fifo = fifo_depth(job, number, look);
    look->in_barrier = is_in_barrier(job, number, look);
    if (job->config.hosts > 1 && job_is_here(job, number)) {
        const struct ring *ring = job_ring(job, number);
        look->sends = atomic_load(&ring->head) != atomic_load(&ring->tail) || atomic_load(&ring->flying) != 0;
    }
}

static enum card_away why_away(const struct child *child, const struct card_look *look)
{
    if (look->end != CARD_RUNS) {
        return AWAY_ENDED;
    }
    if (child->pidfd < 0 && child->joiner < 0) {
        return child->restart_ns != 0 ? AWAY_RESTARTS : AWAY_NONE;
    }
    return look->opens == 0 ? AWAY_UNOPENED : look->opens % 2 == 0 ? AWAY_CLOSED : AWAY_NOT;
}

static void look_at(const struct launch *launch, uint32_t card, struct card_look *look)
{
    const struct child *child = &launch->child[card];
    look_card(launch->job, card, look);
    look->away = why_away(child, look);
    look->free = launch->options->serve != NULL && child->pidfd < 0 && child->joiner < 0;
}

void look_again(const struct launch *launch, uint32_t first, uint32_t cards, struct card_look *look)
{
    bool missing = true;
    for (int ms = 0; missing && ms < BETWEEN_MS; ms++) {
        missing = false;
        for (uint32_t i = 0; i < cards; i++) {
            if (look[i].away == AWAY_NOT && look_longest(&look[i]) == NULL) {
                look_at(launch, first + i, &look[i]);
                missing = true;
            }
        }
        if (missing) {
            usleep(1000);
        }
    }
}

void look_cards(const struct launch *launch, uint32_t first, uint32_t cards, bool patiently, struct card_look *look)
{
    for (uint32_t i = 0; i < cards; i++) {
        look_at(launch, first + i, &look[i]);
    }
    if (patiently) {
        look_again(launch, first, cards, look);
    }
}

struct card_look *looks_new(const struct launch *launch, uint32_t first, uint32_t cards, bool patiently)
{
    struct card_look *look = calloc(cards, sizeof *look);
    if (look != NULL) {
        look_cards(launch, first, cards, patiently, look);
    }
    return look;
}

const struct look_wait *look_longest(const struct card_look *look)
{
    const struct look_wait *longest = NULL;
    for (int i = 0; i < WAITS; i++) {
        const struct look_wait *wait = &look->wait[i];
        if (wait->kind != WAIT_NOTHING && (longest == NULL || wait->since_ns < longest->since_ns)) {
            longest = wait;
        }
    }
    return longest;
}

/* ---- --stats-fd: what each card has done so far, a line of JSON for each, while the job runs. A reader that does not
 * keep up misses lines, never half of one; one that goes away is forgotten. The job waits for nobody. */

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

/* ---- --stats: what each card did */

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
