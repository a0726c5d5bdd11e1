/* heap.c: events, the first of which is at hand; for the files of this folder only. */
#include <stdlib.h>

#include "workload/internal.h"

int heap_push(heap *all, event one)
{
    if (all->count == all->room) {
        int32_t room = all->room ? 2 * all->room : 4;
        event *at = realloc(all->at, (size_t)room * sizeof *at);
        if (!at) {
            return DVSIM_ENOMEM;
        }
        all->at = at;
        all->room = room;
    }
    int64_t place = all->count++;
    while (place && event_earlier(one, all->at[(place - 1) / 2])) {
        all->at[place] = all->at[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    all->at[place] = one;
    return DVSIM_OK;
}

event heap_pop(heap *all)
{
    event first = all->at[0], one = all->at[--all->count];
    int64_t place = 0;
    for (;;) {
        int64_t child = 2 * place + 1;
        if (child >= all->count) {
            break;
        }
        child += child + 1 < all->count && event_earlier(all->at[child + 1], all->at[child]);
        if (!event_earlier(all->at[child], one)) {
            break;
        }
        all->at[place] = all->at[child];
        place = child;
    }
    if (all->count) {
        all->at[place] = one;
    }
    return first;
}
