/* replay.c: making a replay, and its loop: events in the order of time, each making others possible. */
#include <stdlib.h>
#include <string.h>

#include "workload/internal.h"
#include "workload/steps.h"

#define ARRIVALS 256
#define LINE 64

static int64_t most(const uint8_t *of, int64_t count)
{
    uint8_t found = 0;
    for (int64_t one = 0; one < count; one++) {
        found = of[one] > found ? of[one] : found;
    }
    return found;
}

/* Memory for operations, each of which has a line of the cache. */
static work *works(int64_t count)
{
    _Static_assert(sizeof(work) <= LINE, "an event would look at two lines");
    return aligned_alloc(LINE, ((size_t)count + 1) * sizeof(work));
}

static resource *resources(int64_t count)
{
    resource *made = malloc((size_t)(count + 1) * sizeof *made);
    for (int64_t one = 0; made && one < count; one++) {
        made[one] = (resource){0, -1};
    }
    return made;
}

/* Set out the operations, and nothing that came of them. */
static void set_out(dvsim_replay *replay)
{
    const dvsim_graph *graph = &replay->graph;
    for (int64_t rank = 0; rank < graph->ranks; rank++) {
        for (int64_t one = graph->first[rank]; one < graph->first[rank + 1]; one++) {
            replay->works[one] = (work){
                .size = graph->size[one],
                .start = graph->start[one],
                .peer = graph->peer[one],
                .tag = graph->tag[one],
                .kind = graph->kind[one],
                .cpu = graph->cpu[one],
                .nic = graph->nic[one],
                .rank = (int32_t)rank,
                .edges = (int32_t)(graph->start[one + 1] - graph->start[one]),
            };
            replay->course[one] = (dvsim_course){.arrived = -1, .handled = -1, .cause = -1, .delayed = -1, .pair = -1};
        }
    }
    for (int64_t edge = 0; edge < graph->start[replay->operations]; edge++) {
        int32_t to = (int32_t)graph->to[edge];
        replay->works[to].left++;
        replay->edges[edge] = graph->after_start[edge] ? ~to : to;
    }
    memset(replay->finish, 0, (size_t)graph->ranks * sizeof *replay->finish);
}

/* Free what waits for nothing, rank by rank. */
static int begin(dvsim_replay *replay)
{
    const dvsim_graph *graph = &replay->graph;
    for (int64_t rank = 0; rank < graph->ranks; rank++) {
        replay->freed[0].rank = (int32_t)rank;
        for (int64_t one = graph->first[rank]; one < graph->first[rank + 1]; one++) {
            if (!replay->works[one].left && steps_free(replay, &replay->freed[0], (int32_t)one)) {
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
                                  const int32_t *place, dvsim_course *course, int64_t *finish)
{
    dvsim_replay *replay = calloc(1, sizeof *replay);
    if (!replay) {
        return NULL;
    }
    replay->graph = *graph;
    replay->costs = *costs;
    replay->course = course;
    replay->finish = finish;
    replay->operations = graph->first[graph->ranks];
    replay->place = place;
    if (fabric) {
        replay->fabric = *fabric;
        replay->carried = true;
    }
    replay->joined = replay->carried || graph->agent > 0;
    replay->cpus = most(graph->cpu, replay->operations) + 1;
    replay->nics = most(graph->nic, replay->operations) + 1;
    int64_t edges = graph->start[replay->operations], sets = 1 + 3 * replay->cpus * replay->nics;
    replay->works = works(replay->operations);
    replay->edges = malloc(((size_t)edges + 1) * sizeof *replay->edges);
    replay->resources = resources(graph->ranks * (replay->cpus + 2 * replay->nics));
    if (!replay->works || !replay->edges || !replay->resources) {
        dvsim_replay_free(replay);
        return NULL;
    }
    set_out(replay);
    if (matching_create(replay) || agenda_create(&replay->agenda, graph->ranks, sets) || begin(replay)) {
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
    free(replay->works);
    free(replay->edges);
    free(replay->resources);
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
            int64_t until = resources_of(replay, rank)[cpu].until;
            last = until > last ? until : last;
        }
        replay->finish[rank] = last;
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
