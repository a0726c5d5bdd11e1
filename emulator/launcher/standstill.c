/* Functional mode: who waits for what, on SIGINT and SIGQUIT, and when nothing has moved for 5 s. In timed mode the
 * coordinator knows of a deadlock at once (coordinator_report.c). */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "functional/claims.h"
#include "launcher.h"

enum { LOOK_MS = 1000, SOON_MS = 200, BETWEEN_MS = 10, SHOWN = 32 /* cards */ };
static const uint64_t PATIENCE_NS = UINT64_C(5000000000), NS_PER_MS = 1000000;

/* A card that does not take part: it has no program, or that has ended, or closed it. NULL: it has it open. */
static const char *why_away(const struct launch *launch, uint32_t card)
{
    const struct child *child = &launch->child[card];
    const struct card_shared *shared = &launch->job->card[card];
    uint32_t opens = seat_opens(atomic_load(&shared->seat));
    if (atomic_load(&shared->end) != CARD_RUNS) {
        return "its program has ended";
    }
    if (child->pidfd < 0 && child->joiner < 0) {
        return child->restart_ns != 0 ? "its program is about to be started again" : "it has no program";
    }
    return opens == 0 ? "its program has not opened it" : opens % 2 == 0 ? "its program has closed it" : NULL;
}

/* The wait of a card that has gone on for longest, or NULL. */
static const struct card_wait *longest_wait(const struct card_shared *card, uint64_t *since_ns)
{
    const struct card_wait *longest = NULL;
    *since_ns = UINT64_MAX;
    for (int i = 0; i < WAITS; i++) {
        uint64_t since = atomic_load(&card->wait[i].since_ns);
        uint32_t kind = atomic_load(&card->wait[i].kind);
        if (kind != WAIT_NOTHING && kind < WAIT_KINDS && since < *since_ns) {
            longest = &card->wait[i];
            *since_ns = since;
        }
    }
    return longest;
}

/* Counters and words in the FIFO, with what is there of them. */
static void say_counters(const struct card_shared *card, const struct card_wait *wait)
{
    uint64_t counters = atomic_load(&wait->counters), words = atomic_load(&wait->words);
    const char *or = "";
    for (uint64_t left = counters; left != 0; left &= left - 1) {
        unsigned counter = (unsigned)__builtin_ctzll(left);
        fprintf(stderr, "%scounter %u to read 0 (it reads %" PRId64 ")", or, counter,
                atomic_load(&card->counter[counter].value));
        or = " or ";
    }
    if (words > 0) {
        uint64_t there = positions(atomic_load(&card->fifo_head), atomic_load(&card->fifo_tail));
        fprintf(stderr, "%s%" PRIu64 " word%s in its FIFO (%" PRIu64 " there)", or, words, words == 1 ? "" : "s",
                there > POSITION / 2 ? 0 : there);
    }
}

/* Those that are not in the barrier. Who came or went last stands in the word only, see claims.h. */
static void say_missing(const struct job *job)
{
    uint64_t word = atomic_load(&job->shared->barrier);
    uint32_t last = (uint32_t)(word >> 33 & 0x1ffff) - 1, said = 0;
    fputs(barrier_count(word) + 1 < job->config.cards ? "cards" : "card", stderr);
    for (uint32_t i = 0; i < job->config.cards; i++) {
        uint32_t mark = i == last ? barrier_mark(word) : atomic_load(&job->card[i].barrier_mark);
        if (!mark_is_in(mark, word) && said++ < SHOWN / 2) {
            fprintf(stderr, "%s %u", said == 1 ? "" : ",", i);
        }
    }
    fprintf(stderr, "%s to come", said > SHOWN / 2 ? ", ..." : "");
}

static void say_wait(const struct job *job, uint32_t number, const struct card_wait *wait)
{
    static const char *const calls[WAIT_KINDS] = {
        [WAIT_ROOM] = "room in the FIFO of card %u (a send)",
        [WAIT_HELD] = "packets that --reorder holds back",
        [WAIT_TRANSFER] = "a transfer (vic_dma_wait)",
        [WAIT_MESSAGE] = "a message (vic_message_recv)",
        [WAIT_OPEN] = "card %u to open its messages, with the same config (vic_message_send)",
        [WAIT_RING] = "card %u to receive, its ring is full (vic_message_send, vic_client_topic)",
        [WAIT_FLUSH] = "card %u to receive what was sent (vic_message_flush)",
        [WAIT_RECV] = "something to receive (vic_client_recv)",
        [WAIT_PUBLISH] = "card %u, the bridge, to confirm or to take messages: the window is full, or the bridge is not there "
                         "(vic_client_publish)",
        [WAIT_CONFIRM] = "bridges to confirm what was published (vic_client_flush)",
        [WAIT_ACK] = "card %u to take an acknowledgement (vic_client_ack)",
        [WAIT_TEAM] = "the others of its team (a collective)",
    };
    uint32_t kind = atomic_load(&wait->kind), dest = atomic_load(&wait->dest);
    if (kind == WAIT_COUNTERS) {
        say_counters(&job->card[number], wait);
    } else if (kind == WAIT_BARRIER) {
        say_missing(job);
        fputs(" (vic_barrier)", stderr);
    } else if (kind < WAIT_KINDS && calls[kind] != NULL) {
        fprintf(stderr, calls[kind], dest);
    }
}

/* The longest wait of each of the first cards; NULL: it waits for nothing, even if one looks for a while, as between two
 * slices of a wait. Returns whether there is any. */
static bool find_waits(const struct launch *launch, uint32_t cards, const struct card_wait **wait, uint64_t *since_ns)
{
    bool found = false, missing = true;
    for (uint32_t i = 0; i < cards; i++) {
        wait[i] = NULL;
    }
    for (int tries = 0; missing && tries < BETWEEN_MS; tries++) {
        missing = false;
        for (uint32_t i = 0; i < cards; i++) {
            if (wait[i] == NULL && why_away(launch, i) == NULL) {
                wait[i] = longest_wait(&launch->job->card[i], &since_ns[i]);
                missing |= wait[i] == NULL;
            }
            found |= wait[i] != NULL;
        }
        if (missing) {
            usleep(1000);
        }
    }
    return found;
}

static void say_card(const struct launch *launch, uint32_t card, const struct card_wait *wait, uint64_t since_ns)
{
    uint64_t now = job_clock_ns() - launch->job->start_ns;
    const char *away = why_away(launch, card);
    fprintf(stderr, "vicrun:   card %u ", card);
    if (wait == NULL) {
        fprintf(stderr, "waits for nothing: %s\n", away != NULL ? away : "its program computes, or waits elsewhere");
        return;
    }
    fputs("waits for ", stderr);
    say_wait(launch->job, card, wait);
    fprintf(stderr, ", for %.1f s now\n", now > since_ns ? (double)(now - since_ns) / 1e9 : 0);
}

/* Says what `before` is about only if there is a wait, else `otherwise`, if that is not NULL. */
static void report(const struct launch *launch, const char *before, const char *otherwise)
{
    const struct card_wait *wait[SHOWN];
    uint64_t since_ns[SHOWN];
    uint32_t cards = launch->job->config.cards, shown = cards < SHOWN ? cards : SHOWN;
    if (!find_waits(launch, shown, wait, since_ns) && otherwise != NULL) {
        fprintf(stderr, "vicrun: %s\n", otherwise);
        return;
    }
    fprintf(stderr, "vicrun: %s\n", before);
    for (uint32_t i = 0; i < shown; i++) {
        say_card(launch, i, wait[i], since_ns[i]);
    }
    if (shown < cards) {
        fprintf(stderr, "vicrun:   and %u more cards\n", cards - shown);
    }
}

void report_interrupt(const struct launch *launch, const char *signal)
{
    char before[64], otherwise[128];
    snprintf(before, sizeof before, "%s: who waits for what", signal);
    snprintf(otherwise, sizeof otherwise, "%s: no card waits: the programs compute, sleep, or wait elsewhere", signal);
    report(launch, before, otherwise);
}

/* Waits of messages, clients and teams ask other cards by queries, which the scratch counters there count. */
static bool somebody_asks(const struct job *job)
{
    for (uint32_t i = 0; i < job->config.cards * WAITS; i++) {
        if (atomic_load(&job->card[i / WAITS].wait[i % WAITS].kind) >= WAIT_MESSAGE) {
            return true;
        }
    }
    return false;
}

/* All that moves when packets move: of a card that sends and never waits nothing else is seen. */
static uint64_t print_of(const struct job *job)
{
    uint64_t print = atomic_load(&job->shared->barrier);
    unsigned counters = somebody_asks(job) ? SCRATCH : COUNTERS;
    for (uint32_t i = 0; i < job->config.cards; i++) {
        const struct card_shared *card = &job->card[i];
        print = (print ^ atomic_load(&card->fifo_head)) * UINT64_C(0x9e3779b97f4a7c15);
        print = (print ^ atomic_load(&card->fifo_tail)) * UINT64_C(0x9e3779b97f4a7c15);
        for (unsigned k = 0; k < counters; k++) {
            print = (print ^ (uint64_t)atomic_load(&card->counter[k].value)) * UINT64_C(0x9e3779b97f4a7c15);
        }
    }
    return print;
}

/* What the threads of a card wait for. */
struct waits {
    bool stuck; /* for long, for something that only another card can do: no bridge, which may wait for its broker, */
                /* nor for whatever somebody sends: a server that nobody needs just now */
    uint64_t since_ns; /* the longest of those that are long */
};

static struct waits waits_of(const struct card_shared *card, uint64_t before_ns)
{
    struct waits all = {.since_ns = UINT64_MAX};
    for (int i = 0; i < WAITS; i++) {
        const struct card_wait *wait = &card->wait[i];
        uint64_t since = atomic_load(&wait->since_ns);
        uint32_t kind = atomic_load(&wait->kind);
        bool is_long = kind != WAIT_NOTHING && kind < WAIT_KINDS && since <= before_ns;
        bool asks = kind == WAIT_PUBLISH || kind == WAIT_CONFIRM || kind == WAIT_ACK;
        all.stuck |= is_long && !asks && !wait_receives(kind, atomic_load(&wait->counters));
        all.since_ns = is_long && since < all.since_ns ? since : all.since_ns;
    }
    return all;
}

/* Somebody has waited for long for what another card has to do, and nobody has begun or ended a shorter wait since (but to
 * receive, see wait.c). *newest: when the last of the long ones began; *all: nobody does anything else. Where all wait for
 * long nobody is left who could send. */
static bool stands_still(const struct launch *launch, uint64_t patience_ns, uint64_t *newest, bool *all)
{
    const struct job *job = launch->job;
    uint64_t now = job_clock_ns() - job->start_ns;
    bool stuck = false;
    *newest = 0;
    *all = true;
    if (now < patience_ns) {
        return false;
    }
    for (uint32_t i = 0; i < job->config.cards; i++) {
        const char *away = why_away(launch, i);
        if (away != NULL) {
            *all = *all && atomic_load(&job->card[i].end) != CARD_RUNS;
            if (launch->options->serve != NULL && launch->child[i].pidfd < 0 && launch->child[i].joiner < 0) {
                return false; /* somebody may join */
            }
            continue;
        }
        struct waits waits = waits_of(&job->card[i], now - patience_ns);
        if (waits.since_ns != UINT64_MAX) {
            *newest = waits.since_ns > *newest ? waits.since_ns : *newest;
        } else if (atomic_load(&job->card[i].slept_ns) > now - patience_ns) {
            return false;
        } else {
            *all = false;
        }
        stuck |= waits.stuck;
    }
    return stuck || (*newest != 0 && *all);
}

int standstill_due(struct launch *launch)
{
    uint64_t now = job_clock_ns(), newest;
    bool all;
    bool hosts = launch->job->config.hosts > 1; /* nobody knows what waits there */
    if (launch->job->config.mode == 1 || launch->joins || launch->signalled || hosts) {
        return -1;
    }
    if (now < launch->look_ns) {
        return (int)((launch->look_ns - now) / NS_PER_MS) + 1;
    }
    launch->look_ns = now + LOOK_MS * NS_PER_MS;
    launch->patience_ns = launch->patience_ns != 0 ? launch->patience_ns : PATIENCE_NS;
    bool still = stands_still(launch, launch->patience_ns, &newest, &all);
    if (!still && newest != 0 && newest != launch->told_ns) { /* who waits in slices is between two of them now and then */
        launch->look_ns = now + SOON_MS * NS_PER_MS;
        return SOON_MS;
    }
    if (!still || newest == launch->told_ns) {
        launch->print = 0;
        return LOOK_MS;
    }
    uint64_t print = print_of(launch->job);
    if (print != launch->print) { /* once more, a second later */
        launch->print = print;
        return LOOK_MS;
    }
    char before[96];
    snprintf(before, sizeof before, "standstill: for %.0f s %s", (double)launch->patience_ns / 1e9,
             all ? "every program waits, and nothing is on its way" : "no wait has ended");
    report(launch, before, NULL);
    launch->told_ns = newest;
    launch->patience_ns *= 2; /* if it goes on it was none */
    return LOOK_MS;
}
