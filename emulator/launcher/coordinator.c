/* Timed mode: which card may go on, and until when; the events of cards and network in order of model time. */
#define _GNU_SOURCE
#include "coordinator.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "vic.h"

enum { PATIENCE_NS = 100 * 1000 * 1000 };
static const uint64_t HELD_NS = 200000000, COMPLAIN_NS = UINT64_C(5000000000);

uint32_t coordinator_look(struct coordinator *coord)
{
    return atomic_load(&timed_shared_of(coord->job)->bell);
}

uint64_t coordinator_sleep(struct coordinator *coord, uint32_t seen)
{
    struct timespec slice = {0, PATIENCE_NS};
    uint64_t before = job_clock_ns();
    syscall(SYS_futex, &timed_shared_of(coord->job)->bell, FUTEX_WAIT, seen, &slice, NULL, 0);
    return job_clock_ns() - before;
}

/* Wait until no card runs. */
static void await_cards(struct coordinator *coord)
{
    uint64_t waited = 0;
    for (;;) {
        uint32_t seen = coordinator_look(coord);
        struct side *runs = NULL;
        for (uint32_t i = 0; i < coord->cards && runs == NULL; i++) {
            struct side *side = &coord->side[i];
            if (state_of(side) == CARD_RUNNING && has_ended(side)) { /* it died in its turn */
                atomic_store(&side->shared->state, CARD_CLOSED);
            }
            runs = state_of(side) == CARD_RUNNING ? side : NULL;
        }
        if (runs == NULL) {
            return;
        }
        waited += coordinator_sleep(coord, seen);
        if (waited > COMPLAIN_NS && !runs->complained) {
            runs->complained = true;
            report_waiting(coord, runs->number);
        }
    }
}

/* Note that the program of a card has ended. If it ended well without opening the card, or without closing it, the
 * other cards see from now on that it has left, as in functional mode (exits.c). */
static void end_side(struct side *side, uint32_t state)
{
    struct timed_card *shared = side->shared;
    int64_t sim_ps = side->coord->sim_ps;
    side->end_ps = state == CARD_ABSENT ? 0 : state == CARD_CLOSED ? time_of(&shared->next_ps) : sim_ps;
    side->end_ps = side->end_ps != NEVER ? side->end_ps : sim_ps; /* it died in its turn */
    atomic_store(&shared->state, CARD_CLOSED);
    bool well = atomic_load(&side->coord->job->card[side->number].end) == CARD_ENDED;
    if (well && atomic_load(&shared->moves) == 0) {
        timed_move(shared, side->end_ps);
    }
    if (well && atomic_load(&shared->moves) % 2 == 1) {
        timed_move_closed(shared, side->end_ps, 2 * side->coord->pcie.crossing_ps);
    }
    barrier_ended(side->coord);
}

/* Read what a card has posted, and set next_ps: the model time at which it goes on. */
static void look_at(struct side *side)
{
    struct timed_card *shared = side->shared;
    uint32_t state = state_of(side);
    if (shared->post_tail != shared->post_head) {
        events_read_posts(side);
    }
    side->wake = side->coming = false;
    if (state == CARD_CLOSED && shared->news_head != shared->news_tail) {
        news_apply_all(side);
    }
    if (side->end_ps == NEVER && state != CARD_RUNNING && has_ended(side)) {
        end_side(side, state);
    }
    if (side->end_ps != NEVER) {
        side->next_ps = NEVER;
    } else if (state == CARD_STOPPED || state == CARD_LATE) {
        side->next_ps = side->ran ? time_of(&shared->next_ps) : side->next_ps; /* news may have brought it nearer */
        if (side->ran && shared->stop_status == VIC_ECLOSED) {
            shared->stop_ps = NEVER; /* that was for the waits of then */
        }
        side->ran = false;
        side->wake = shared->urgent || shared->news_tail - shared->news_head > NEWS_ROOM / 2;
        side->coming = state == CARD_LATE;
        if (side->coming && side->next_ps > side->coord->sim_ps) { /* its other threads may come first */
            side->next_ps = side->coord->sim_ps;
        }
    } else if (state == CARD_CLOSED || state == CARD_AWAY) { /* it may come back at once */
        uint64_t now = job_clock_ns();
        side->closed_ns = side->closed_ns ? side->closed_ns : now;
        side->ran = false;
        side->next_ps = now - side->closed_ns < HELD_NS ? time_of(&shared->next_ps) : NEVER;
    } else if (state == CARD_COMING) {
        /* where it was when it closed or left, if that was waited for */
        bool held = side->closed_ns != 0 && side->next_ps != NEVER;
        side->next_ps = side->ran ? time_of(&shared->next_ps) : held ? side->next_ps : side->coord->sim_ps;
        side->coming = true;
        side->ran = false;
    }
}

static int64_t least(const struct coordinator *coord)
{
    int64_t next = NEVER;
    for (uint32_t i = 0; i < coord->cards; i++) {
        next = coord->side[i].next_ps < next ? coord->side[i].next_ps : next;
    }
    return next;
}

/* Simulate cards and network up to bound_ps; what happens may lower bound_ps. */
static void carry_on(struct coordinator *coord)
{
    coord->pause = false;
    while (!coord->pause && !coord->failed) {
        int64_t landed_ps = fabric_landed_ps(coord), event_ps = events_next_ps(coord), slot_ps = fabric_next_ps(coord);
        if (landed_ps >= coord->bound_ps && event_ps >= coord->bound_ps && slot_ps >= coord->bound_ps) {
            break;
        }
        if (landed_ps <= event_ps && landed_ps <= slot_ps) {
            fabric_land(coord);
        } else if (event_ps <= slot_ps) {
            events_do(coord);
        } else {
            fabric_slot(coord, slot_ps);
        }
    }
    int64_t reached = coord->pause || coord->bound_ps == NEVER ? coord->last_ps : coord->bound_ps;
    coord->sim_ps = reached > coord->sim_ps ? reached : coord->sim_ps;
}

static bool is_idle(struct coordinator *coord)
{
    return coord->events == 0 && fabric_landed_ps(coord) == NEVER && fabric_next_ps(coord) == NEVER;
}

static bool may_go(const struct side *side, int64_t until_ps)
{
    return is_stopped(side) ? side->wake || side->next_ps < until_ps : side->coming;
}

/* Let the cards run that have something to do. False: none has. */
static bool let_run(struct coordinator *coord)
{
    struct timed_shared *shared = timed_shared_of(coord->job);
    int64_t until = coord->sim_ps + coord->pcie.crossing_ps;
    uint32_t count = 0;
    for (uint32_t i = 0; i < coord->cards; i++) {
        coord->side[i].goes = may_go(&coord->side[i], until); /* asked once: a thread may come in between */
        count += coord->side[i].goes;
    }
    atomic_store(&shared->running, count);
    for (uint32_t i = 0; i < coord->cards; i++) {
        struct side *side = &coord->side[i];
        if (!side->goes) {
            continue;
        }
        side->shared->until_ps = until;
        side->shared->floor_ps = side->coming ? side->next_ps : coord->sim_ps;
        side->closed_ns = 0;
        side->ran = true;
        atomic_store(&side->shared->state, CARD_RUNNING);
        atomic_fetch_add(&side->shared->go, 1);
        syscall(SYS_futex, &side->shared->go, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
    coord->windows += count > 0;
    return count > 0;
}

/* Model time begins when every program has opened its card, or ended. */
static bool all_present(const struct coordinator *coord)
{
    for (uint32_t i = 0; i < coord->cards; i++) {
        if (state_of(&coord->side[i]) == CARD_ABSENT && !has_ended(&coord->side[i])) {
            return false;
        }
    }
    return true;
}

static void one_round(struct coordinator *coord)
{
    uint32_t seen = coordinator_look(coord);
    await_cards(coord);
    if (!all_present(coord)) {
        coordinator_sleep(coord, seen);
        return;
    }
    for (uint32_t i = 0; i < coord->cards; i++) {
        look_at(&coord->side[i]);
    }
    ends_announce_deaths(coord);
    int64_t next = least(coord), kill = ends_kill_due(coord, next);
    next = next < kill ? next : kill;
    coord->bound_ps = next < NEVER - coord->ahead_ps ? next + coord->ahead_ps : NEVER;
    if (coord->bound_ps < coord->sim_ps) { /* a late call: it must not stop all */
        coord->bound_ps = coord->sim_ps + 1;
    }
    carry_on(coord);
    if (is_idle(coord)) {
        ends_when_idle(coord);
    }
    if (coord->failed) {
        fputs(coord->refused == 0              ? "vicrun: timed: no memory\n"
              : coord->refused == DVSIM_ESTATE ? "vicrun: timed: the model of the network is not in the state for this\n"
                                             : "vicrun: timed: the network cannot go so far in model time\n",
              stderr);
        ends_stop_waits(coord, coord->sim_ps, VIC_ECLOSED);
    }
    if (!let_run(coord) && !atomic_load(&coord->stop) && !coord->kill_pending) {
        coordinator_sleep(coord, seen);
    }
}

static bool all_ended(const struct coordinator *coord)
{
    for (uint32_t i = 0; i < coord->cards; i++) {
        if (coord->side[i].end_ps == NEVER) {
            return false;
        }
    }
    return true;
}

static void *coordinate(void *what)
{
    struct coordinator *coord = what;
    while (!coord->failed && !(all_ended(coord) && atomic_load(&coord->stop))) {
        one_round(coord);
    }
    while (!coord->failed && !is_idle(coord)) { /* what is on its way arrives */
        coord->bound_ps = NEVER;
        carry_on(coord);
    }
    atomic_store(&timed_shared_of(coord->job)->coordinated, 2);
    return NULL;
}

int coordinator_start(struct coordinator *coord, int core)
{
    int error = pthread_create(&coord->thread, NULL, coordinate, coord);
    if (error == 0 && core >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET((size_t)core, &one);
        pthread_setaffinity_np(coord->thread, sizeof one, &one);
    }
    coord->started = error == 0;
    return error;
}

void coordinator_kick(const struct job *job)
{
    struct timed_shared *shared = timed_shared_of(job);
    atomic_fetch_add(&shared->bell, 1);
    syscall(SYS_futex, &shared->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool coordinator_finish(struct coordinator *coord)
{
    if (coord->started) {
        atomic_store(&coord->stop, true);
        coordinator_kick(coord->job);
        pthread_join(coord->thread, NULL);
    }
    for (uint32_t i = 0; i < coord->cards; i++) {
        coord->hash = coord->hash * UINT64_C(0x100000001b3) ^ (uint64_t)coord->side[i].end_ps;
    }
    return coord->deadlock;
}

struct coordinator *coordinator_make(struct job *job, coordinator_kill *kill, void *context)
{
    struct coordinator *coord = calloc(1, sizeof *coord);
    if (coord == NULL) {
        return NULL;
    }
    coord->job = job;
    coord->cards = job->config.cards;
    coord->pcie = model_pcie(&job->config);
    coord->ahead_ps = model_ahead_ps(&coord->pcie);
    coord->kill = kill;
    coord->context = context;
    coord->check = job->config.check || job_asked("VIC_CHECK");
    coord->side = calloc(coord->cards, sizeof *coord->side);
    for (uint32_t i = 0; coord->side != NULL && i < coord->cards; i++) {
        struct side *side = &coord->side[i];
        *side = (struct side){.coord = coord, .number = i, .shared = timed_card_of(job, i), .end_ps = NEVER};
        side->shared->stop_ps = NEVER;
    }
    if (coord->side == NULL || !fabric_make(coord)) {
        coordinator_free(coord);
        return NULL;
    }
    atomic_store(&timed_shared_of(job)->coordinated, 1);
    return coord;
}

void coordinator_free(struct coordinator *coord)
{
    for (uint32_t i = 0; coord->side != NULL && i < coord->cards; i++) {
        dvsim_vic_free(coord->side[i].vic);
        free(coord->side[i].staged);
    }
    for (size_t i = 0; i < coord->events; i++) {
        free(coord->heap[i].event->staged);
        free(coord->heap[i].event);
    }
    if (coord->sram != NULL) {
        munmap(coord->sram, sram_bytes(coord));
    }
    dvsim_network_free(coord->network);
    free(coord->flights);
    free(coord->landed);
    free(coord->landed_from);
    free(coord->heap);
    free(coord->side);
    free(coord);
}
