/* Looking at cards: see look.h. */
#define _GNU_SOURCE
#include "look.h"

#include <stdlib.h>
#include <unistd.h>

#include "functional/claims.h"
#include "launcher.h"

enum { BETWEEN_MS = 10 };

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
    return job->config.hosts > 1 ? waits : mark_is_in(mark, look->barrier);
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

void look_card(const struct job *job, uint32_t number, struct card_look *look)
{
    const struct card_shared *card = &job->card[number];
    *look = (struct card_look){.end = atomic_load(&card->end), .opens = seat_opens(atomic_load(&card->seat)),
                               .slept_ns = atomic_load(&card->slept_ns), .fifo_head = atomic_load(&card->fifo_head),
                               .fifo_tail = atomic_load(&card->fifo_tail), .barrier = atomic_load(&job->shared->barrier)};
    for (int i = 0; i < STATS; i++) {
        look->stat[i] = atomic_load(&card->stat[i]);
    }
    for (int i = 0; i < COUNTERS; i++) {
        look->counter[i] = atomic_load(&card->counter[i].value);
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

void look_cards(const struct launch *launch, uint32_t first, uint32_t cards, bool patiently, struct card_look *look)
{
    bool missing = true;
    for (int tries = 0; missing && tries < (patiently ? BETWEEN_MS : 1); tries++) {
        if (tries > 0) {
            usleep(1000);
        }
        missing = false;
        for (uint32_t i = 0; i < cards; i++) {
            if (tries == 0 || (look[i].away == AWAY_NOT && look_longest(&look[i]) == NULL)) {
                look_at(launch, first + i, &look[i]);
            }
            missing |= look[i].away == AWAY_NOT && look_longest(&look[i]) == NULL;
        }
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
