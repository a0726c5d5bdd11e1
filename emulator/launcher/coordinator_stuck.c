/* Waits that cannot end well: after a death, when all other programs have ended, in a deadlock. */
#include "coordinator.h"
#include "vic.h"

/* From then on waits end. False: they do already. */
static bool stop_waits(struct side *side, int64_t at_ps, int status)
{
    if (side->shared->stop_ps != NEVER) {
        return false;
    }
    side->shared->stop_ps = at_ps;
    side->shared->stop_status = status;
    side->wake = true;
    return true;
}

void ends_of_all(struct coordinator *all, int64_t at_ps, int status)
{
    for (uint32_t i = 0; i < all->cards; i++) {
        stop_waits(&all->side[i], at_ps, status);
    }
}

/* Nobody can have passed the time of a death by more than two crossings, as it was waited for. */
static int64_t after_death_ps(const struct coordinator *all, int64_t at_ps)
{
    return at_ps + 2 * all->pcie.crossing_ps;
}

void ends_tell_deaths(struct coordinator *all)
{
    for (uint32_t i = 0; i < all->cards; i++) {
        bool died = atomic_load(&all->job->card[i].end) == CARD_DIED;
        if (died && all->side[i].end_ps != NEVER) {
            ends_of_all(all, after_death_ps(all, all->side[i].end_ps), VIC_EPEER);
        }
    }
}

/* The fault `kill`: nobody passes its time before it is done. */
int64_t ends_kill_due(struct coordinator *all, int64_t least_ps)
{
    const struct job_config *c = &all->job->config;
    int64_t next = NEVER;
    for (uint32_t i = 0; i < c->kills; i++) {
        int64_t at = c->kill[i].at_ns < INT64_MAX / 2000 ? (int64_t)c->kill[i].at_ns * 1000 : NEVER / 2;
        struct side *side = &all->side[c->kill[i].card];
        if (all->kills >> i & 1 || side->end_ps != NEVER) {
            continue;
        }
        if (least_ps < at || all->sim_ps < at) {
            next = at < next ? at : next;
            continue;
        }
        all->kills |= UINT64_C(1) << i;
        ends_of_all(all, after_death_ps(all, at), VIC_EPEER);
        all->kill(all->context, side->number);
        for (uint32_t seen = coordinator_look(all); !has_ended(side); seen = coordinator_look(all)) {
            coordinator_sleep(all, seen);
        }
        side->end_ps = at;
        side->next_ps = NEVER;
        side->wake = false;
        atomic_store(&side->shared->state, CARD_CLOSED);
    }
    all->kill_pending = next != NEVER;
    return next;
}

/* Does it wait for more than what its own threads do? */
static bool waits_for_others(const struct side *side)
{
    const struct timed_card *shared = side->shared;
    bool others = shared->watches > WATCHED_MOST; /* these are not known */
    for (uint32_t i = 0; i < shared->watches && i < WATCHED_MOST; i++) {
        others = others || shared->watched[i].what < WATCH_BARRIER;
    }
    return others;
}

/* Nothing moves: who is left waits for what cannot come. */
void ends_when_idle(struct coordinator *all)
{
    struct side *last = NULL;
    uint32_t live = 0;
    int64_t ended = all->last_ps + all->pcie.crossing_ps;
    bool all_wait = true;
    for (uint32_t i = 0; i < all->cards; i++) {
        struct side *side = &all->side[i];
        if (side->end_ps == NEVER) {
            if (side->shared->lost != 0) { /* its thread that computes, or sleeps elsewhere, may do something */
                return;
            }
            last = side;
            live++;
            all_wait = all_wait && side->next_ps == NEVER && !side->wake && is_stopped(side);
        } else if (side->end_ps > ended) {
            ended = side->end_ps;
        }
    }
    if (live == 1 && last->shared->news_tail != last->shared->news_head) { /* what is known comes first */
        int64_t known = last->shared->news[(last->shared->news_tail - 1) % NEWS_ROOM].at_ps;
        ended = known > ended ? known : ended;
    }
    if (live == 1 && all->cards > 1 && is_stopped(last) && waits_for_others(last)) {
        bool first = stop_waits(last, ended, VIC_ECLOSED);
        int64_t ends_ps = (last->shared->now_ps > ended ? last->shared->now_ps : ended) + all->pcie.look_ps;
        if (first && all->sim_ps > ends_ps) { /* the wait ends before its timeout, up to which nothing happened */
            all->sim_ps = ends_ps;
        }
    } else if (live > 0 && all_wait && !all->deadlock && !all->kill_pending && last->shared->stop_ps == NEVER) {
        all->deadlock = true;
        report_deadlock(all);
        ends_of_all(all, all->last_ps, VIC_EPEER);
    }
}
