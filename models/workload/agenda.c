/* agenda.c: what is to happen, in the order of time.
 *
 * An event needs a processor, and a message or a send a port, too. What finds them busy is put off until they
 * are free, and of those put off the one that is there longest comes first. So each rank has a queue for each
 * set of resources that events may need: those that wait for them, in the order in which they came, and those
 * of later times. An event moves once from the second to the first, however often others overtake it.
 *
 * Over the ranks there is one heap of the first event of each. A rank in it may stand too early, since what it
 * needs became busy meanwhile; that is put right when it comes up.
 */
#include <stdlib.h>

#include "workload/internal.h"

int agenda_create(agenda *all, int64_t ranks, int64_t sets)
{
    all->ranks = ranks;
    all->sets = sets;
    all->queues = calloc((size_t)(ranks * sets) + 1, sizeof *all->queues);
    all->at = malloc(((size_t)ranks + 1) * sizeof *all->at);
    all->place = malloc(((size_t)ranks + 1) * sizeof *all->place);
    if (!all->queues || !all->at || !all->place) {
        return DVSIM_ENOMEM;
    }
    for (int64_t rank = 0; rank < ranks; rank++) {
        all->at[rank] = (standing){.time = DVSIM_NEVER, .rank = (int32_t)rank};
        all->place[rank] = (int32_t)rank;
    }
    return DVSIM_OK;
}

void agenda_free(agenda *all)
{
    for (int64_t one = 0; all->queues && one < all->ranks * all->sets; one++) {
        free(all->queues[one].due.at);
        free(all->queues[one].later.at);
    }
    free(all->queues);
    free(all->at);
    free(all->place);
}

static bool stands_before(standing one, standing other)
{
    return one.time != other.time ? one.time < other.time : one.order < other.order;
}

static void settle(agenda *all, int64_t place, standing rank)
{
    all->at[place] = rank;
    all->place[rank.rank] = (int32_t)place;
}

static void sift_up(agenda *all, int64_t place, standing rank)
{
    while (place && stands_before(rank, all->at[(place - 1) / 4])) {
        settle(all, place, all->at[(place - 1) / 4]);
        place = (place - 1) / 4;
    }
    settle(all, place, rank);
}

static void sift_down(agenda *all, standing rank)
{
    int64_t place = 0;
    for (;;) {
        int64_t child = 4 * place + 1, last = child + 4 < all->ranks ? child + 4 : all->ranks;
        if (child >= last) {
            break;
        }
        int64_t least = child;
        for (int64_t other = child + 1; other < last; other++) {
            if (stands_before(all->at[other], all->at[least])) {
                least = other;
            }
        }
        if (!stands_before(all->at[least], rank)) {
            break;
        }
        settle(all, place, all->at[least]);
        place = least;
    }
    settle(all, place, rank);
}

int agenda_put(dvsim_replay *replay, int32_t rank, int64_t set, event one)
{
    agenda *all = &replay->agenda;
    queue *into = &all->queues[rank * all->sets + set];
    int64_t free = resources_free(replay, rank, set);
    bool waits = one.time <= free;
    if (heap_push(waits ? &into->due : &into->later, waits ? (event){0, one.order, one.what} : one)) {
        return DVSIM_ENOMEM; /* of those that wait the order alone counts */
    }
    int64_t place = all->place[rank];
    standing now = {waits ? free : one.time, one.order, one.what, rank, (int32_t)set, all->at[place].stale};
    if (stands_before(now, all->at[place])) {
        sift_up(all, place, now);
    }
    return DVSIM_OK;
}

/* Find the first event of a rank; DVSIM_ENOMEM. */
static int first_of(dvsim_replay *replay, int32_t rank, standing *first)
{
    agenda *all = &replay->agenda;
    *first = (standing){.time = DVSIM_NEVER, .rank = rank};
    for (int64_t set = 0; set < all->sets; set++) {
        queue *one = &all->queues[rank * all->sets + set];
        if (!one->due.count && !one->later.count) {
            continue;
        }
        int64_t free = resources_free(replay, rank, set);
        while (one->later.count && one->later.at[0].time <= free) {
            event moved = heap_pop(&one->later);
            moved.time = 0;
            if (heap_push(&one->due, moved)) {
                return DVSIM_ENOMEM;
            }
        }
        bool due = one->due.count;
        event at = due ? one->due.at[0] : one->later.at[0];
        standing found = {due ? free : at.time, at.order, at.what, rank, (int32_t)set, 0};
        if (stands_before(found, *first)) {
            *first = found;
        }
    }
    return DVSIM_OK;
}

/* Put the ranks right until the first is. */
static int look(dvsim_replay *replay)
{
    agenda *all = &replay->agenda;
    while (all->at[0].stale) {
        standing first;
        if (first_of(replay, all->at[0].rank, &first)) {
            return DVSIM_ENOMEM;
        }
        sift_down(all, first);
    }
    return DVSIM_OK;
}

/* What stands next is likely to come next: have it at hand then. */
static void fetch(const dvsim_replay *replay)
{
    const agenda *all = &replay->agenda;
    for (int64_t place = 1; place < 5 && place < all->ranks; place++) {
        int64_t operation = all->at[place].what / 2;
        __builtin_prefetch(&replay->works[operation]);
        __builtin_prefetch(&replay->course[operation]);
        __builtin_prefetch(&all->queues[all->at[place].rank * all->sets + all->at[place].set]);
    }
}

int agenda_next(dvsim_replay *replay, int64_t *time)
{
    int failed = look(replay);
    *time = replay->agenda.at[0].time;
    return failed;
}

int agenda_take(dvsim_replay *replay, event *one)
{
    agenda *all = &replay->agenda;
    if (look(replay)) {
        return DVSIM_ENOMEM;
    }
    standing *first = &all->at[0];
    if (first->time == DVSIM_NEVER) {
        return 0;
    }
    queue *from = &all->queues[first->rank * all->sets + first->set];
    *one = heap_pop(from->due.count ? &from->due : &from->later);
    one->time = first->time;
    first->stale = 1;
    fetch(replay);
    return 1;
}
