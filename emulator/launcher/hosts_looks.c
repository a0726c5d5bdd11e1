/* What the cards of all hosts do: each host is asked, and answers with looks at its cards. Of these are standstills found, who
 * waits for what is told from them, and they are the statistics. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "launcher.h"

enum { LOOK_MS = 1000, STATS_MS = 500, ANSWER_MS = 1000 /* to a signal: it is passed on then, whoever has not answered */,
       SILENT_MS = 10000 /* after a signal that ends programs: who has not answered is given up */ };
static const uint64_t NS_PER_MS = 1000000;

struct far_host {
    bool asked, known;
    int64_t ahead_ns; /* the time of the job here, less that of the job there */
    uint64_t until_ns; /* job_clock_ns: until then it is to answer to a signal; 0: it need not, or it has */
};

struct far_looks {
    const struct options *options;
    host_say *say;
    void *team;
    struct far_host *host;
    struct card_look *look; /* of all cards, as they were last told */
    struct standstill still;
    int stats_fd;
    bool runs, waits;           /* waits: for answers */
    uint64_t start_ns, next_ns; /* job_clock_ns; 0: not yet, never */
    uint32_t number;            /* of a signal that waits until it is told who waits for what, 0: none */
    uint64_t signal_ns;         /* until then, job_clock_ns */
    bool signalled;
};

struct far_looks *looks_make(const struct options *options, host_say *say, void *team)
{
    struct far_looks *looks = calloc(1, sizeof *looks);
    if (looks == NULL) {
        return NULL;
    }
    *looks = (struct far_looks){.options = options, .say = say, .team = team, .stats_fd = options->stats_fd};
    looks->host = calloc(options->hosts.count, sizeof *looks->host);
    looks->look = calloc(options->job.cards, sizeof *looks->look);
    if (looks->host == NULL || looks->look == NULL) {
        looks_finish(looks, false);
        return NULL;
    }
    return looks;
}

void looks_start(struct far_looks *looks)
{
    looks->runs = true;
    looks->start_ns = job_clock_ns();
    looks->next_ns = looks->start_ns + LOOK_MS * NS_PER_MS;
}

static uint64_t now_of(const struct far_looks *looks)
{
    return job_clock_ns() - looks->start_ns;
}

static void ask(struct far_looks *looks, bool patiently)
{
    const struct host_look question = {patiently};
    looks->waits = true;
    for (uint32_t i = 0; i < looks->options->hosts.count; i++) {
        looks->host[i].asked = true;
        looks->say(looks->team, i, HOST_LOOK, &question, sizeof question);
    }
}

static void pass_on(struct far_looks *looks, uint32_t number)
{
    for (uint32_t i = 0; i < looks->options->hosts.count; i++) {
        looks->say(looks->team, i, HOST_SIGNAL, &number, sizeof number);
    }
}

/* Says who has not answered: what is said of its cards is older. */
static void tell_signal(struct far_looks *looks)
{
    uint32_t number = looks->number;
    looks->number = 0;
    for (uint32_t i = 0; i < looks->options->hosts.count; i++) {
        if (looks->host[i].asked) {
            fprintf(stderr, "vicrun: host %s: has not said in %d ms what its cards wait for\n",
                    looks->options->hosts.host[i].name, ANSWER_MS);
        }
    }
    report_interrupt(looks->look, looks->options->job.cards, now_of(looks), (int)number);
    pass_on(looks, number);
}

void looks_signal(struct far_looks *looks, uint32_t number)
{
    bool asks = number == SIGINT || number == SIGQUIT, ends = number != SIGUSR1 && number != SIGUSR2;
    if (looks->number != 0) { /* one that does not want to wait */
        tell_signal(looks);
    }
    if (asks && looks->runs && !looks->signalled) {
        looks->number = number;
        looks->signal_ns = job_clock_ns() + ANSWER_MS * NS_PER_MS;
        ask(looks, true);
    } else {
        pass_on(looks, number);
        if (ends) {
            ask(looks, false);
        }
    }
    for (uint32_t i = 0; ends && looks->runs && i < looks->options->hosts.count; i++) {
        uint64_t *until_ns = &looks->host[i].until_ns;
        *until_ns = *until_ns != 0 ? *until_ns : job_clock_ns() + SILENT_MS * NS_PER_MS;
    }
    looks->signalled |= ends;
}

bool looks_give_up(struct far_looks *looks, uint32_t host)
{
    uint64_t *until_ns = &looks->host[host].until_ns;
    bool silent = *until_ns != 0 && job_clock_ns() >= *until_ns;
    *until_ns = silent ? 0 : *until_ns;
    return silent;
}

static void show(struct far_looks *looks)
{
    uint32_t cards = looks->options->job.cards;
    bool more = true;
    for (uint32_t i = 0; more && i < cards; i++) {
        more = stats_write(&looks->stats_fd, &looks->look[i], i, cards, now_of(looks));
    }
}

/* All hosts have answered. */
static void all_are_known(struct far_looks *looks)
{
    char before[STANDSTILL_TEXT] = "";
    uint32_t cards = looks->options->job.cards;
    int ms = LOOK_MS;
    looks->waits = false;
    if (looks->number != 0) {
        tell_signal(looks);
    }
    if (!looks->signalled) {
        ms = standstill_judge(&looks->still, looks->look, cards, now_of(looks), before);
    }
    if (before[0] != 0) {
        report_waits(looks->look, cards, now_of(looks), before);
    }
    if (looks->stats_fd >= 0) {
        show(looks);
        ms = ms < STATS_MS ? ms : STATS_MS;
    }
    looks->next_ns = looks->runs ? job_clock_ns() + (uint64_t)ms * NS_PER_MS : 0;
}

/* From the time of the job there to that of here. */
static uint64_t time_here(const struct far_host *host, uint64_t ns)
{
    return host->ahead_ns >= 0 || ns > (uint64_t)-host->ahead_ns ? ns + (uint64_t)host->ahead_ns : 0;
}

/* The first answer says how the clocks differ, and that stays: a wait that goes on has the same time in all. */
static void take(struct far_looks *looks, uint32_t number, uint64_t now_ns, const struct card_look *look)
{
    const struct host *of = &looks->options->hosts.host[number];
    struct far_host *host = &looks->host[number];
    if (!host->known) {
        host->known = true;
        host->ahead_ns = (int64_t)(now_of(looks) - now_ns);
    }
    for (uint32_t i = 0; i < of->cards; i++) {
        struct card_look *mine = &looks->look[of->first + i];
        memcpy(mine, look + i, sizeof *mine);
        mine->away = mine->away < AWAYS ? mine->away : AWAY_NONE;
        mine->slept_ns = time_here(host, mine->slept_ns);
        for (int k = 0; k < WAITS; k++) {
            mine->wait[k].since_ns = time_here(host, mine->wait[k].since_ns);
        }
    }
}

void looks_hear(struct far_looks *looks, uint32_t host, const void *what, size_t bytes)
{
    struct host_looks head;
    bool all = true;
    if (bytes != sizeof head + looks->options->hosts.host[host].cards * sizeof(struct card_look)) {
        return;
    }
    memcpy(&head, what, sizeof head);
    take(looks, host, head.now_ns, (const void *)((const char *)what + sizeof head));
    looks->host[host].asked = false;
    looks->host[host].until_ns = 0;
    for (uint32_t i = 0; i < looks->options->hosts.count; i++) {
        all = all && !looks->host[i].asked;
    }
    if (all && looks->waits) {
        all_are_known(looks);
    }
}

uint64_t looks_due(struct far_looks *looks)
{
    uint64_t now_ns = job_clock_ns();
    if (looks->number != 0 && now_ns >= looks->signal_ns) {
        tell_signal(looks);
    }
    if (looks->runs && !looks->waits && looks->next_ns != 0 && now_ns >= looks->next_ns) {
        ask(looks, false);
    }
    uint64_t next_ns = looks->number != 0 ? looks->signal_ns : looks->runs && !looks->waits ? looks->next_ns : 0;
    for (uint32_t i = 0; i < looks->options->hosts.count; i++) {
        uint64_t until_ns = looks->host[i].until_ns;
        next_ns = until_ns != 0 && (next_ns == 0 || until_ns < next_ns) ? until_ns : next_ns;
    }
    return next_ns;
}

void looks_stop(struct far_looks *looks)
{
    looks->runs = looks->waits = false;
    if (looks->number != 0) {
        tell_signal(looks);
    }
}

void looks_finish(struct far_looks *looks, bool started)
{
    if (looks == NULL) {
        return;
    }
    if (started && looks->stats_fd >= 0) {
        show(looks);
    }
    if (started && looks->options->report) {
        stats_table(looks->options, looks->look, 0, looks->options->job.cards);
    }
    free(looks->host);
    free(looks->look);
    free(looks);
}
