/* Who waits for what, on SIGINT and SIGQUIT, and in functional mode when nothing has moved for 5 s. In timed mode the
 * coordinator knows of a deadlock at once (coordinator_stuck.c). All of it is about looks at the cards (look.h), wherever
 * they were taken. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>

#include "functional/claims.h"
#include "launcher.h"

enum { LOOK_MS = 1000, SOON_MS = 200, SHOWN = 32 /* cards */ };
static const uint64_t QUIET_NS = UINT64_C(5000000000), NS_PER_MS = 1000000;

/* Counters and words in the FIFO, with what is there of them. */
static void say_counters(const struct card_look *look, const struct look_wait *wait)
{
    const char *or = "";
    for (uint64_t left = wait->counters; left != 0; left &= left - 1) {
        unsigned counter = (unsigned)__builtin_ctzll(left);
        fprintf(stderr, "%scounter %u to read 0 (it reads %" PRId64 ")", or, counter, look->counter[counter]);
        or = " or ";
    }
    if (wait->words > 0) {
        fprintf(stderr, "%s%" PRIu64 " word%s in its FIFO (%" PRIu64 " there)", or, wait->words,
                wait->words == 1 ? "" : "s", look->fifo);
    }
}

/* Those that are not in the barrier. */
static void say_missing(const struct card_look *look, uint32_t cards)
{
    uint32_t missing = 0, said = 0;
    for (uint32_t i = 0; i < cards; i++) {
        missing += look[i].in_barrier == 0;
    }
    fputs(missing > 1 ? "cards" : "card", stderr);
    for (uint32_t i = 0; i < cards; i++) {
        if (look[i].in_barrier == 0 && said++ < SHOWN / 2) {
            fprintf(stderr, "%s %u", said == 1 ? "" : ",", i);
        }
    }
    fprintf(stderr, "%s to come", said > SHOWN / 2 ? ", ..." : "");
}

static void say_wait(const struct card_look *look, uint32_t cards, uint32_t number, const struct look_wait *wait)
{
    if (wait->kind == WAIT_COUNTERS) {
        say_counters(&look[number], wait);
    } else if (wait->kind == WAIT_BARRIER) {
        say_missing(look, cards);
        fputs(" (vic_barrier)", stderr);
    } else if (wait_text(wait->kind) != NULL) {
        fprintf(stderr, wait_text(wait->kind), wait->dest);
    }
}

static void say_card(const struct card_look *look, uint32_t cards, uint32_t number, uint64_t now_ns)
{
    static const char *const away[AWAYS] = {
        [AWAY_NOT] = "its program computes, or waits elsewhere",
        [AWAY_ENDED] = "its program has ended",
        [AWAY_RESTARTS] = "its program is about to be started again",
        [AWAY_NONE] = "it has no program",
        [AWAY_UNOPENED] = "its program has not opened it",
        [AWAY_CLOSED] = "its program has closed it",
    };
    const struct card_look *card = &look[number];
    const struct look_wait *wait = card->away == AWAY_NOT ? look_longest(card) : NULL;
    fprintf(stderr, "vicrun:   card %u ", number);
    if (wait == NULL) {
        fprintf(stderr, "waits for nothing: %s\n", away[card->away]);
        return;
    }
    fputs("waits for ", stderr);
    say_wait(look, cards, number, wait);
    fprintf(stderr, ", for %.1f s now\n", now_ns > wait->since_ns ? (double)(now_ns - wait->since_ns) / 1e9 : 0);
}

void report_waits(const struct card_look *look, uint32_t cards, uint64_t now_ns, const char *before)
{
    uint32_t shown = cards < SHOWN ? cards : SHOWN;
    fprintf(stderr, "vicrun: %s\n", before);
    for (uint32_t i = 0; i < shown; i++) {
        say_card(look, cards, i, now_ns);
    }
    if (shown < cards) {
        fprintf(stderr, "vicrun:   and %u more cards\n", cards - shown);
    }
}

void report_interrupt(const struct card_look *look, uint32_t cards, uint64_t now_ns, int number)
{
    const char *name = number == SIGINT ? "SIGINT" : "SIGQUIT";
    char before[STANDSTILL_TEXT];
    bool waits = false;
    for (uint32_t i = 0; i < cards; i++) {
        waits |= look[i].away == AWAY_NOT && look_longest(&look[i]) != NULL;
    }
    if (!waits) {
        fprintf(stderr, "vicrun: %s: no card waits: the programs compute, sleep, or wait elsewhere\n", name);
        return;
    }
    snprintf(before, sizeof before, "%s: who waits for what", name);
    report_waits(look, cards, now_ns, before);
}

/* Waits of messages, clients and teams ask other cards by queries, which the scratch counters there count. */
static bool somebody_asks(const struct card_look *look, uint32_t cards)
{
    for (uint32_t i = 0; i < cards * WAITS; i++) {
        if (look[i / WAITS].wait[i % WAITS].kind >= WAIT_MESSAGE) {
            return true;
        }
    }
    return false;
}

static uint64_t mix(uint64_t print, uint64_t value)
{
    return (print ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

/* All numbers that change when packets move: nothing else shows of a card that sends and never waits. */
static uint64_t print_of(const struct card_look *look, uint32_t cards)
{
    uint64_t print = 0;
    unsigned counters = somebody_asks(look, cards) ? SCRATCH : COUNTERS;
    for (uint32_t i = 0; i < cards; i++) {
        print = mix(mix(mix(print, look[i].barrier), look[i].fifo_head), look[i].fifo_tail);
        for (unsigned k = 0; k < counters; k++) {
            print = mix(print, (uint64_t)look[i].counter[k]);
        }
    }
    return print;
}

/* What the threads of a card wait for. */
struct waits {
    bool stuck; /* for long, for something that only another card can do: no bridge, which may wait for its broker, */
                /* nor for whatever comes: a server without requests */
    uint64_t since_ns; /* the longest of those that are long */
};

static struct waits waits_of(const struct card_look *look, uint64_t before_ns)
{
    struct waits all = {.since_ns = UINT64_MAX};
    for (int i = 0; i < WAITS; i++) {
        const struct look_wait *wait = &look->wait[i];
        bool is_long = wait->kind != WAIT_NOTHING && wait->since_ns <= before_ns;
        bool asks = wait->kind == WAIT_PUBLISH || wait->kind == WAIT_CONFIRM || wait->kind == WAIT_ACK;
        all.stuck |= is_long && !asks && !wait_receives(wait->kind, wait->counters);
        all.since_ns = is_long && wait->since_ns < all.since_ns ? wait->since_ns : all.since_ns;
    }
    return all;
}

/* Somebody has waited for long for what another card has to do, and nobody has begun or ended a shorter wait since (but to
 * receive, see wait.c). *newest: when the last of the long ones began; *all: nobody does anything else. Where all wait for
 * long nobody is left who could send. What is on its way between hosts may still end a wait. */
static bool stands_still(const struct card_look *look, uint32_t cards, uint64_t now_ns, uint64_t quiet_ns,
                         uint64_t *newest, bool *all)
{
    bool stuck = false, moves = false;
    *newest = 0;
    *all = true;
    if (now_ns < quiet_ns) {
        return false;
    }
    for (uint32_t i = 0; i < cards; i++) {
        moves |= look[i].sends != 0;
        if (look[i].away != AWAY_NOT) {
            *all = *all && look[i].end != CARD_RUNS;
            if (look[i].free != 0) {
                return false; /* a program may join */
            }
            continue;
        }
        struct waits waits = waits_of(&look[i], now_ns - quiet_ns);
        if (waits.since_ns != UINT64_MAX) {
            *newest = waits.since_ns > *newest ? waits.since_ns : *newest;
        } else if (look[i].slept_ns > now_ns - quiet_ns) {
            return false;
        } else {
            *all = false;
        }
        stuck |= waits.stuck;
    }
    return !moves && (stuck || (*newest != 0 && *all));
}

int standstill_judge(struct standstill *still, const struct card_look *look, uint32_t cards, uint64_t now_ns,
                     char before[STANDSTILL_TEXT])
{
    uint64_t newest;
    bool all;
    before[0] = 0;
    still->quiet_ns = still->quiet_ns != 0 ? still->quiet_ns : QUIET_NS;
    bool is_still = stands_still(look, cards, now_ns, still->quiet_ns, &newest, &all);
    if (!is_still && newest != 0 && newest != still->told_ns) { /* a wait in slices is between two of them now and then */
        return SOON_MS;
    }
    if (!is_still || newest == still->told_ns) {
        still->print = 0;
        return LOOK_MS;
    }
    uint64_t print = print_of(look, cards);
    if (print != still->print) { /* once more, a second later */
        still->print = print;
        return LOOK_MS;
    }
    snprintf(before, STANDSTILL_TEXT, "standstill: for %.0f s %s", (double)still->quiet_ns / 1e9,
             all ? "every program waits, and nothing is on its way" : "no wait has ended");
    still->told_ns = newest;
    still->quiet_ns *= 2; /* if something moves after all, it was none */
    return LOOK_MS;
}

void interrupt_here(const struct launch *launch, int number)
{
    struct card_look *look = looks_new(launch, 0, launch->job->config.cards, true);
    bool timed = launch->coordinator != NULL;
    if (look != NULL) {
        uint64_t now_ns = timed ? (uint64_t)__atomic_load_n(&launch->coordinator->sim_ps, __ATOMIC_RELAXED) / 1000
                                : job_time_ns(launch->job);
        report_interrupt(look, launch->job->config.cards, now_ns, number);
    }
    free(look);
}

int standstill_due(struct launch *launch)
{
    uint64_t now = job_clock_ns();
    char before[STANDSTILL_TEXT] = "";
    bool hosts = launch->job->config.hosts > 1; /* vicrun looks at all of them */
    if (launch->job->config.mode == 1 || launch->joins || launch->signalled || hosts) {
        return -1;
    }
    if (now < launch->look_ns) {
        return (int)((launch->look_ns - now) / NS_PER_MS) + 1;
    }
    uint32_t cards = launch->job->config.cards;
    struct card_look *look = looks_new(launch, 0, cards, false);
    int ms = look != NULL ? standstill_judge(&launch->still, look, cards, job_time_ns(launch->job), before) : LOOK_MS;
    if (before[0] != 0) {
        look_again(launch, 0, cards, look); /* the others wait, whatever they do by now */
        report_waits(look, cards, job_time_ns(launch->job), before);
    }
    free(look);
    launch->look_ns = now + (uint64_t)ms * NS_PER_MS;
    return ms;
}
