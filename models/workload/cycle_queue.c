/* cycle_queue.c: a binary heap of what is to come. */
#include <stdlib.h>

#include "workload/cycle_parts.h"

static int earlier(const cycle_entry *a, const cycle_entry *b)
{
    return a->at < b->at || (a->at == b->at && a->serial < b->serial);
}

int cycle_put(cycle_queue *queue, int64_t at, int64_t what)
{
    if (queue->count == queue->room) {
        const int64_t room = queue->room > 0 ? 2 * queue->room : 256;
        cycle_entry *longer = realloc(queue->entries, (size_t)room * sizeof *longer);
        if (!longer) {
            return DVSIM_ENOMEM;
        }
        queue->entries = longer;
        queue->room = room;
    }
    const cycle_entry entry = {at, queue->serial++, what};
    int64_t place = queue->count++;
    while (place > 0 && earlier(&entry, &queue->entries[(place - 1) / 2])) {
        queue->entries[place] = queue->entries[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    queue->entries[place] = entry;
    return DVSIM_OK;
}

cycle_entry cycle_take(cycle_queue *queue)
{
    const cycle_entry first = queue->entries[0], last = queue->entries[--queue->count];
    int64_t place = 0;
    for (int64_t child; (child = 2 * place + 1) < queue->count; place = child) {
        child += child + 1 < queue->count && earlier(&queue->entries[child + 1], &queue->entries[child]);
        if (!earlier(&queue->entries[child], &last)) {
            break;
        }
        queue->entries[place] = queue->entries[child];
    }
    queue->entries[place] = last;
    return first;
}
