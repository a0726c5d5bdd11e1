/* agenda.c: what is to happen, in the order of time; a heap with four children for each entry.
 *
 * Most events are followed by one that they cause: so the place of the one that was taken out is filled by
 * the next that is put in, which saves half of the sifting.
 */
#include <stdlib.h>

#include "workload/internal.h"

static bool earlier(event one, event other)
{
    return one.time != other.time ? one.time < other.time : one.order < other.order;
}

/* Put an event at the place of one that is gone, or deeper. */
static void sift_down(agenda *all, event one)
{
    int64_t place = 0;
    for (;;) {
        int64_t child = 4 * place + 1, last = child + 4 < all->count ? child + 4 : all->count;
        if (child >= last) {
            break;
        }
        int64_t least = child;
        for (int64_t other = child + 1; other < last; other++) {
            if (earlier(all->at[other], all->at[least])) {
                least = other;
            }
        }
        if (!earlier(all->at[least], one)) {
            break;
        }
        all->at[place] = all->at[least];
        place = least;
    }
    all->at[place] = one;
}

static void fill_hole(agenda *all)
{
    if (all->hole) {
        all->hole = false;
        event last = all->at[--all->count];
        if (all->count) {
            sift_down(all, last);
        }
    }
}

int agenda_push(agenda *all, event one)
{
    if (all->hole) {
        all->hole = false;
        sift_down(all, one);
        return DVSIM_OK;
    }
    if (all->count == all->room) {
        int64_t room = all->room ? 2 * all->room : 1024;
        event *at = realloc(all->at, (size_t)room * sizeof *at);
        if (!at) {
            return DVSIM_ENOMEM;
        }
        all->at = at;
        all->room = room;
    }
    int64_t place = all->count++;
    while (place && earlier(one, all->at[(place - 1) / 4])) {
        all->at[place] = all->at[(place - 1) / 4];
        place = (place - 1) / 4;
    }
    all->at[place] = one;
    return DVSIM_OK;
}

bool agenda_pop(agenda *all, event *one)
{
    fill_hole(all);
    if (!all->count) {
        return false;
    }
    *one = all->at[0];
    all->hole = true;
    return true;
}

int64_t agenda_next(agenda *all)
{
    fill_hole(all);
    return all->count ? all->at[0].time : DVSIM_NEVER;
}
