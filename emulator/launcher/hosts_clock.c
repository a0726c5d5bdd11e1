/* Timed mode over hosts: the coordinator is in vicrun, beside copies of what it shares with the cards (mirror.h). A window is
 * what it is on one machine. At its begin each host is told of the cards whose turn it is, at its end it says what they have
 * done; so nothing of the order of events depends on how many hosts there are, or on who answers first. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hosts.h"
#include "launcher.h"
#include "mirror.h"

enum { PART = 1 << 20 }; /* a longer message is cut behind a card */

struct letter { /* what a host has said; without bytes: it is lost */
    struct letter *next;
    uint32_t host;
    size_t bytes;
    char text[];
};

struct far_clock {
    struct launch launch;
    const struct hosts *hosts;
    struct coordinator_far far;
    struct known **known; /* per host and card: what the host knows */
    struct turns turns;
    host_say *say;
    void *team;
    pthread_mutex_t lock; /* of: */
    struct letter *first, **last;
};

static bool is_of(const struct far_clock *clock, uint32_t host, uint32_t card)
{
    const struct host *of = &clock->hosts->host[host];
    return card - of->first < of->cards;
}

static void send_part(struct far_clock *clock, uint32_t host)
{
    struct turns *turns = &clock->turns;
    bool gone = atomic_load(&timed_shared_of(clock->launch.job)->coordinated) == 2;
    if (turns->failed) {
        clock->launch.coordinator->failed = true;
    } else if (gone || !turns_empty(turns)) {
        turns_end(turns, gone);
        clock->say(clock->team, host, HOST_TURN, turns->text, turns->used);
    }
    turns_begin(turns);
}

/* Openings and closings come first: the cards may ask for them in their turn. */
static void tell_host(struct far_clock *clock, uint32_t host)
{
    const struct job *job = clock->launch.job;
    struct known *known = clock->known[host];
    turns_begin(&clock->turns);
    for (uint32_t i = 0; i < job->config.cards; i++) {
        if (!is_of(clock, host, i)) {
            mirror_write(&clock->turns, job, (struct turn_record){.card = i}, &known[i], MOVES_ONLY);
        }
    }
    for (uint32_t i = 0; i < job->config.cards; i++) {
        uint32_t go = atomic_load(&timed_card_of(job, i)->go);
        if (is_of(clock, host, i) && go != known[i].go) {
            known[i].go = go;
            mirror_write(&clock->turns, job, (struct turn_record){.card = i, .go = go, .state = CARD_RUNNING}, &known[i],
                         TO_CARD);
        }
        if (clock->turns.used > PART) {
            send_part(clock, host);
        }
    }
    send_part(clock, host);
}

static void tell(void *context)
{
    struct far_clock *clock = context;
    for (uint32_t i = 0; i < clock->hosts->count; i++) {
        tell_host(clock, i);
    }
}

static void end_card(const struct job *job, uint32_t card, uint32_t end)
{
    uint32_t runs = CARD_RUNS;
    atomic_compare_exchange_strong(&job->card[card].end, &runs, end == CARD_ENDED ? CARD_ENDED : CARD_DIED);
}

/* Nothing changes a card whose program has ended, and an answer to another turn is no answer. */
static void take_record(const struct far_clock *clock, uint32_t host, const struct turn_record *record)
{
    const struct job *job = clock->launch.job;
    struct timed_card *shared = timed_card_of(job, record->card);
    bool over = atomic_load(&job->card[record->card].end) != CARD_RUNS;
    if (!over && is_of(clock, host, record->card) && record->go == atomic_load(&shared->go)) {
        atomic_store(&shared->state, record->state);
    }
    if (record->end != CARD_RUNS) {
        end_card(job, record->card, record->end);
    }
}

static void take_letter(const struct far_clock *clock, struct letter *letter)
{
    const struct turn_head *head = (const void *)letter->text;
    struct turns turns = {.text = letter->text, .used = sizeof *head, .room = letter->bytes};
    const struct turn_record *record;
    for (uint32_t i = 0; letter->bytes >= sizeof *head && i < head->records; i++) {
        record = mirror_read(&turns, clock->launch.job, clock->known[letter->host], FROM_CARD);
        if (record == NULL) {
            break;
        }
        take_record(clock, letter->host, record);
    }
    for (uint32_t i = 0; letter->bytes == 0 && i < clock->launch.job->config.cards; i++) {
        if (is_of(clock, letter->host, i)) {
            end_card(clock->launch.job, i, CARD_DIED);
        }
    }
}

static void take(void *context)
{
    struct far_clock *clock = context;
    pthread_mutex_lock(&clock->lock);
    struct letter *first = clock->first;
    clock->first = NULL;
    clock->last = &clock->first;
    pthread_mutex_unlock(&clock->lock);
    while (first != NULL) {
        struct letter *next = first->next;
        take_letter(clock, first);
        free(first);
        first = next;
    }
}

static void put_letter(struct far_clock *clock, uint32_t host, const void *what, size_t bytes)
{
    struct letter *letter = clock != NULL ? malloc(sizeof *letter + bytes) : NULL;
    if (letter == NULL) {
        return;
    }
    letter->next = NULL;
    letter->host = host;
    letter->bytes = bytes;
    if (bytes > 0) {
        memcpy(letter->text, what, bytes);
    }
    pthread_mutex_lock(&clock->lock);
    *clock->last = letter;
    clock->last = &letter->next;
    pthread_mutex_unlock(&clock->lock);
    coordinator_kick(clock->launch.job);
}

void clock_hear(struct far_clock *clock, uint32_t host, const void *what, size_t bytes)
{
    if (bytes > 0) {
        put_letter(clock, host, what, bytes);
    }
}

void clock_lost(struct far_clock *clock, uint32_t host)
{
    put_letter(clock, host, NULL, 0);
}

/* The fault `kill`. */
static void kill_far(void *context, uint32_t card)
{
    struct far_clock *clock = context;
    turns_begin(&clock->turns);
    turns_add(&clock->turns, (struct turn_record){.card = card, .kill = 1});
    for (uint32_t i = 0; i < clock->hosts->count; i++) {
        if (is_of(clock, i, card)) {
            send_part(clock, i);
        }
    }
}

static bool make_known(struct far_clock *clock)
{
    uint32_t count = clock->hosts->count;
    clock->known = calloc(count, sizeof *clock->known);
    for (uint32_t i = 0; clock->known != NULL && i < count; i++) {
        clock->known[i] = calloc(clock->launch.job->config.cards, sizeof **clock->known);
        if (clock->known[i] == NULL) {
            return false;
        }
    }
    return clock->known != NULL;
}

bool clock_make(struct far_clock **made, const struct options *options, host_say *say, void *team)
{
    *made = NULL;
    if (options->job.mode != 1) {
        return true;
    }
    struct far_clock *clock = memory_check(&options->job, NULL) == -1 ? calloc(1, sizeof *clock) : NULL;
    if (clock == NULL) {
        return false;
    }
    clock->launch = (struct launch){.options = options, .socket = -1, .writers = -1, .stats_fd = -1, .boss = -1};
    clock->hosts = &options->hosts;
    clock->say = say;
    clock->team = team;
    clock->last = &clock->first;
    pthread_mutex_init(&clock->lock, NULL);
    clock->far = (struct coordinator_far){clock, take, tell};
    *made = clock;
    if (launch_make(&clock->launch) != -1 || !timed_make(&clock->launch) || !make_known(clock)) {
        return false;
    }
    clock->launch.coordinator->far = &clock->far;
    clock->launch.coordinator->kill = kill_far;
    clock->launch.coordinator->context = clock;
    return true;
}

bool clock_start(struct far_clock *clock)
{
    return clock == NULL || timed_start(&clock->launch);
}

const struct job *clock_job(const struct far_clock *clock)
{
    return clock != NULL ? clock->launch.job : NULL;
}

int clock_finish(struct far_clock *clock, int code)
{
    if (clock == NULL) {
        return code;
    }
    struct coordinator *all = clock->launch.coordinator;
    clock->launch.code = code;
    if (all != NULL && all->started) {
        timed_finish(&clock->launch);
    } else if (all != NULL) {
        coordinator_free(all);
    }
    if (clock->known != NULL) {
        take(clock); /* what came too late */
    }
    for (uint32_t i = 0; clock->known != NULL && i < clock->hosts->count; i++) {
        free(clock->known[i]);
    }
    free(clock->known);
    free(clock->turns.text);
    free(clock->launch.child);
    code = clock->launch.code;
    pthread_mutex_destroy(&clock->lock);
    free(clock);
    return code;
}
