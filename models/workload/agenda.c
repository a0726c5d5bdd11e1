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
        all->at[rank] = (event){DVSIM_NEVER, 0, rank};
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

static void settle(agenda *all, int64_t place, event rank)
{
    all->at[place] = rank;
    all->place[rank.what] = (int32_t)place;
}

static void sift_up(agenda *all, int64_t place, event rank)
{
    while (place && event_earlier(rank, all->at[(place - 1) / 4])) {
        settle(all, place, all->at[(place - 1) / 4]);
        place = (place - 1) / 4;
    }
    settle(all, place, rank);
}

static void sift_down(agenda *all, event rank)
{
    int64_t place = 0;
    for (;;) {
        int64_t child = 4 * place + 1, last = child + 4 < all->ranks ? child + 4 : all->ranks;
        if (child >= last) {
            break;
        }
        int64_t least = child;
        for (int64_t other = child + 1; other < last; other++) {
            if (event_earlier(all->at[other], all->at[least])) {
                least = other;
            }
        }
        if (!event_earlier(all->at[least], rank)) {
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
    if (one.time <= free) {
        one.time = 0; /* of those that wait the order alone counts */
        if (heap_push(&into->due, one)) {
            return DVSIM_ENOMEM;
        }
        one.time = free;
    } else if (heap_push(&into->later, one)) {
        return DVSIM_ENOMEM;
    }
    one.what = rank;
    if (event_earlier(one, all->at[all->place[rank]])) {
        sift_up(all, all->place[rank], one);
    }
    return DVSIM_OK;
}

/* Find the first event of a rank, and the queue that has it; negative: memory. */
static int first_of(dvsim_replay *replay, int32_t rank, event *first, int64_t *in)
{
    agenda *all = &replay->agenda;
    *first = (event){DVSIM_NEVER, 0, rank};
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
        event found = due ? one->due.at[0] : one->later.at[0];
        found.time = due ? free : found.time;
        found.what = rank;
        if (event_earlier(found, *first)) {
            *first = found;
            *in = set;
        }
    }
    return DVSIM_OK;
}

/* Put the ranks right until the first is; its event is in the queue `set`. */
static int look(dvsim_replay *replay, int64_t *set)
{
    agenda *all = &replay->agenda;
    for (;;) {
        event stands = all->at[0], first;
        if (stands.time == DVSIM_NEVER) {
            return DVSIM_OK;
        }
        if (first_of(replay, (int32_t)stands.what, &first, set)) {
            return DVSIM_ENOMEM;
        }
        if (first.time == stands.time && first.order == stands.order) {
            return DVSIM_OK;
        }
        sift_down(all, first);
    }
}

int agenda_next(dvsim_replay *replay, int64_t *time)
{
    int64_t set;
    int failed = look(replay, &set);
    *time = replay->agenda.at[0].time;
    return failed;
}

int agenda_take(dvsim_replay *replay, event *one)
{
    agenda *all = &replay->agenda;
    int64_t set = 0;
    if (look(replay, &set)) {
        return DVSIM_ENOMEM;
    }
    event first = all->at[0];
    if (first.time == DVSIM_NEVER) {
        return 0;
    }
    queue *from = &all->queues[first.what * all->sets + set];
    *one = heap_pop(from->due.count ? &from->due : &from->later);
    one->time = first.time;
    return 1;
}
