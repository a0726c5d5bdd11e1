/* The barrier: one word of the job counts the cards that are in it (claims.h). The card that completes a generation
 * starts the next one. A card that gives up takes its part back, unless the generation was completed meanwhile. */
#include "claims.h"
#include "functional.h"
#include "race.h"
#include "remote.h"

struct visit {
    struct vic *card;
    uint32_t generation;
};

static bool is_complete(void *what)
{
    const struct visit *visit = what;
    return barrier_generation(atomic_load(&visit->card->job->shared->barrier)) != visit->generation;
}

/* A card that has been left does not come any more. */
static bool somebody_is_gone(void *what)
{
    const struct visit *visit = what;
    bool gone = false;
    for (uint32_t i = 0; i < visit->card->cards && !gone; i++) {
        gone = card_is_left(&visit->card->job->card[i]);
    }
    return gone;
}

/* Another thread of this card may enter the barrier next. */
static void leave(struct vic *card)
{
    atomic_store(&functional_of(card)->in_barrier, 0);
    bell_ring(&card->me->arrival);
}

/* Go out of the barrier; false: it was complete. */
static bool go_out(struct visit *visit)
{
    if (visit->card->job->config.hosts > 1) {
        remote_leave(visit->card);
        return !is_complete(visit);
    }
    return barrier_go(visit->card->job, visit->card->number);
}

/* The thread is cancelled: it has not taken part, unless all cards are in. */
static void go(void *what)
{
    struct visit *visit = what;
    go_out(visit);
    leave(visit->card);
}

/* Over hosts, the agents count the cards that are in, and announce when all are. */
static void arrive_over_hosts(struct vic *card, uint32_t *generation)
{
    *generation = barrier_generation(atomic_load(&card->job->shared->barrier));
    remote_arrive(card, *generation);
}

/* Take part; true if this card was the last. */
static bool arrive(struct vic *card, uint32_t *generation)
{
    _Atomic uint64_t *barrier = &card->job->shared->barrier;
    uint64_t old = atomic_load(barrier);
    for (;;) {
        barrier_note(card->job, old);
        uint32_t step = (atomic_load(&card->me->barrier_mark) + 1) | 1;
        *generation = barrier_generation(old);
        bool last = barrier_count(old) + 1 >= card->cards;
        uint64_t next = (uint64_t)((*generation + 1) % GENERATIONS) << 17;
        uint64_t new = last ? next : barrier_word(*generation, barrier_count(old) + 1, card->number, step);
        STEP();
        if (atomic_compare_exchange_weak(barrier, &old, new)) {
            STEP();
            if (last) {
                atomic_store(&card->me->barrier_mark, (step + 1) % STEPS); /* it never was in */
            }
            return last;
        }
    }
}

static int cross(struct vic *card, uint64_t timeout_ns)
{
    struct visit visit = {card, 0};
    struct bell *released = &card->job->shared->released;
    if (card->job->config.hosts > 1) {
        arrive_over_hosts(card, &visit.generation);
    } else if (arrive(card, &visit.generation)) {
        bell_ring(released);
        return VIC_OK;
    }
    struct wait wait = {.bell = released, .ready = is_complete, .what = &visit, .progress = pending_progress,
                        .coming = pending_coming, .hopeless = somebody_is_gone, .undo = go,
                        .kind = WAIT_BARRIER};
    int status = wait_for(card, &wait, timeout_ns);
    race_point(1, 300000);
    STEP();
    return status != VIC_OK && go_out(&visit) ? status : VIC_OK;
}

static bool is_my_turn(void *what)
{
    uint32_t nobody = 0;
    return atomic_compare_exchange_strong(&functional_of(what)->in_barrier, &nobody, 1);
}

int functional_barrier(struct vic *card, uint64_t timeout_ns)
{
    uint64_t start = card->ops->time_ns(card);
    struct wait turn = {.bell = &card->me->arrival, .ready = is_my_turn, .what = card, .progress = pending_progress,
                        .coming = pending_coming, .kind = WAIT_BARRIER};
    int status = wait_for(card, &turn, timeout_ns);
    if (status != VIC_OK) {
        return status;
    }
    if (timeout_ns != VIC_FOREVER) {
        uint64_t spent = card->ops->time_ns(card) - start;
        timeout_ns = spent < timeout_ns ? timeout_ns - spent : 0;
    }
    status = cross(card, timeout_ns);
    STEP();
    leave(card);
    return status;
}
