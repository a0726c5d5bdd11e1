/* fresh.c: the order of operations that become free together: sends, then receives, then computing.
 *
 * LogGOPSim sorts them with std::sort by kind alone, and what is equal starts in the order that comes out.
 * Up to 16 operations keep their order; of more libstdc++ exchanges some. Finish times depend on that, so
 * the same exchanges are made here: a quicksort around the median of three down to 16, then insertions.
 */
#include "workload/internal.h"

#define FEW 16

typedef struct {
    int32_t *at;
    const work *works;
} sorted;

/* 0 for a send, 1 for a receive, 2 for computing. */
static int rank_of(const sorted *all, int32_t operation)
{
    return (all->works[operation].kind + 2) % 3;
}

static bool before(const sorted *all, int32_t one, int32_t other)
{
    return rank_of(all, one) < rank_of(all, other);
}

static void exchange(sorted *all, int64_t one, int64_t other)
{
    int32_t kept = all->at[one];
    all->at[one] = all->at[other];
    all->at[other] = kept;
}

static int64_t median(const sorted *all, int64_t a, int64_t b, int64_t c)
{
    int32_t *at = all->at;
    if (before(all, at[a], at[b])) {
        return before(all, at[b], at[c]) ? b : before(all, at[a], at[c]) ? c : a;
    }
    return before(all, at[a], at[c]) ? a : before(all, at[b], at[c]) ? c : b;
}

/* Partition around the first; returns where the upper part begins. */
static int64_t partition(sorted *all, int64_t first, int64_t last)
{
    int64_t pivot = first;
    for (first++;; first++) {
        while (before(all, all->at[first], all->at[pivot])) {
            first++;
        }
        for (last--; before(all, all->at[pivot], all->at[last]); last--) {
        }
        if (first >= last) {
            return first;
        }
        exchange(all, first, last);
    }
}

static void insert(sorted *all, int64_t first, int64_t place)
{
    int32_t one = all->at[place];
    for (; place > first && before(all, one, all->at[place - 1]); place--) {
        all->at[place] = all->at[place - 1];
    }
    all->at[place] = one;
}

void fresh_sort(fresh *list, const work *works)
{
    sorted all = {list->at, works};
    int64_t parts[128][2]; /* that wait; of halves there are far fewer, and what has no place is inserted */
    int64_t open = 0, first = 0, last = list->count;
    for (;;) {
        while (last - first > FEW) {
            exchange(&all, first, median(&all, first + 1, first + (last - first) / 2, last - 1));
            int64_t cut = partition(&all, first, last);
            if (open < 128) {
                parts[open][0] = first;
                parts[open++][1] = cut;
            }
            first = cut;
        }
        if (!open) {
            break;
        }
        open--;
        first = parts[open][0];
        last = parts[open][1];
    }
    for (int64_t place = 1; place < list->count; place++) {
        insert(&all, 0, place);
    }
}
