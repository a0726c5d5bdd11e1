/* replay.c: making a replay, and its loop: events in the order of time, each making others possible. */
#include <stdlib.h>
#include <string.h>

#include "workload/internal.h"
#include "workload/steps.h"

#define ARRIVALS 256

static int64_t most(const uint8_t *of, int64_t count)
{
    uint8_t found = 0;
    for (int64_t one = 0; one < count; one++) {
        found = of[one] > found ? of[one] : found;
    }
    return found;
}

static resource *resources(int64_t count)
{
    resource *made = malloc((size_t)(count + 1) * sizeof *made);
    for (int64_t one = 0; made && one < count; one++) {
        made[one] = (resource){0, -1};
    }
    return made;
}

/* Count what each operation waits for, and name the rank of each. */
static void count_edges(dvsim_replay *replay)
{
    const dvsim_graph *graph = &replay->graph;
    memset(replay->left, 0, (size_t)replay->operations * sizeof *replay->left);
    for (int64_t rank = 0; rank < graph->ranks; rank++) {
        for (int64_t one = graph->first[rank]; one < graph->first[rank + 1]; one++) {
            replay->rank[one] = (int32_t)rank;
            for (int64_t edge = graph->start[one]; edge < graph->start[one + 1]; edge++) {
                replay->left[graph->to[edge]]++;
            }
        }
    }
}

static void clear_course(const dvsim_course *course, size_t operations, int64_t ranks)
{
    memset(course->begin, 0, operations * sizeof *course->begin);
    memset(course->end, 0, operations * sizeof *course->end);
    memset(course->cause, 0xff, operations * sizeof *course->cause);
    memset(course->pair, 0xff, operations * sizeof *course->pair);
    memset(course->arrived, 0xff, operations * sizeof *course->arrived);
    memset(course->handled, 0xff, operations * sizeof *course->handled);
    memset(course->delayed, 0xff, operations * sizeof *course->delayed);
    memset(course->latency, 0, operations * sizeof *course->latency);
    memset(course->serial, 0, operations * sizeof *course->serial);
    memset(course->state, DVSIM_WAITING, operations);
    memset(course->finish, 0, (size_t)ranks * sizeof *course->finish);
}

/* Free what waits for nothing, rank by rank. */
static int begin(dvsim_replay *replay)
{
    const dvsim_graph *graph = &replay->graph;
    for (int64_t rank = 0; rank < graph->ranks; rank++) {
        replay->freed[0].rank = (int32_t)rank;
        for (int64_t one = graph->first[rank]; one < graph->first[rank + 1]; one++) {
            if (!replay->left[one] && steps_free(replay, &replay->freed[0], (int32_t)one)) {
                return DVSIM_ENOMEM;
            }
        }
        if (steps_put(replay, &replay->freed[0])) {
            return DVSIM_ENOMEM;
        }
    }
    return DVSIM_OK;
}

dvsim_replay *dvsim_replay_create(const dvsim_graph *graph, const dvsim_loggops *costs, const dvsim_fabric *fabric,
                                  const int32_t *place, const dvsim_course *course)
{
    dvsim_replay *replay = calloc(1, sizeof *replay);
    if (!replay) {
        return NULL;
    }
    replay->graph = *graph;
    replay->costs = *costs;
    replay->course = *course;
    replay->operations = graph->first[graph->ranks];
    replay->place = place;
    if (fabric) {
        replay->fabric = *fabric;
        replay->carried = true;
    }
    replay->cpus = most(graph->cpu, replay->operations) + 1;
    replay->nics = most(graph->nic, replay->operations) + 1;
    size_t operations = (size_t)replay->operations;
    replay->left = malloc((operations + 1) * sizeof *replay->left);
    replay->rank = malloc((operations + 1) * sizeof *replay->rank);
    replay->cpu = resources(graph->ranks * replay->cpus);
    replay->sending = resources(graph->ranks * replay->nics);
    replay->receiving = resources(graph->ranks * replay->nics);
    bool there = replay->left && replay->rank && replay->cpu && replay->sending && replay->receiving;
    int64_t sets = 1 + 3 * replay->cpus * replay->nics;
    if (!there || matching_create(&replay->matching, graph) || agenda_create(&replay->agenda, graph->ranks, sets)) {
        dvsim_replay_free(replay);
        return NULL;
    }
    count_edges(replay);
    clear_course(course, operations, graph->ranks);
    if (begin(replay)) {
        dvsim_replay_free(replay);
        return NULL;
    }
    return replay;
}

void dvsim_replay_free(dvsim_replay *replay)
{
    if (!replay) {
        return;
    }
    matching_free(&replay->matching);
    free(replay->left);
    free(replay->rank);
    free(replay->cpu);
    free(replay->sending);
    free(replay->receiving);
    agenda_free(&replay->agenda);
    free(replay->freed[0].at);
    free(replay->freed[1].at);
    free(replay);
}

/* Let the fabric go on until nothing of it is before the next event. */
static int carry(dvsim_replay *replay)
{
    dvsim_arrival arrivals[ARRIVALS];
    void *self = replay->fabric.self;
    for (;;) {
        int64_t next = replay->fabric.next(self), until;
        if (agenda_next(replay, &until)) {
            return DVSIM_ENOMEM;
        }
        if (next == DVSIM_NEVER || next > until) {
            return DVSIM_OK;
        }
        int64_t count = replay->fabric.advance(self, until, arrivals, ARRIVALS);
        if (count < 0) {
            return (int)count;
        }
        for (int64_t one = 0; one < count; one++) {
            if (steps_arrive(replay, &arrivals[one])) {
                return DVSIM_ENOMEM;
            }
        }
    }
}

static void finish(dvsim_replay *replay)
{
    for (int64_t rank = 0; rank < replay->graph.ranks; rank++) {
        int64_t last = 0;
        for (int64_t cpu = 0; cpu < replay->cpus; cpu++) {
            int64_t until = replay->cpu[rank * replay->cpus + cpu].until;
            last = until > last ? until : last;
        }
        replay->course.finish[rank] = last;
    }
}

int dvsim_replay_run(dvsim_replay *replay, int64_t events)
{
    event one;
    for (int64_t count = 0; count < events; count++) {
        if (replay->failed) {
            return replay->failed;
        }
        if (replay->carried && (replay->failed = carry(replay))) {
            return replay->failed;
        }
        int found = agenda_take(replay, &one);
        if (found <= 0) {
            replay->failed = found;
            finish(replay);
            return found;
        }
        replay->now = one.time;
        replay->failed = steps_do(replay, one);
    }
    return replay->failed ? replay->failed : 1;
}

int64_t dvsim_replay_now(const dvsim_replay *replay)
{
    return replay->now;
}

int64_t dvsim_replay_done(const dvsim_replay *replay)
{
    return replay->done;
}
