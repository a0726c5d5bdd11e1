/* steps.c: what happens at one event: an operation starts, or a message comes to its receiver.
 *
 * The agenda gives an event when its processor and port are free.
 * What ends makes others free; those get the time at which their own processor, and for a send their port,
 * is free. With a fabric they also wait for the end of what they depend on, which may be on another
 * processor; LogGOPSim does not ask for that, and without a fabric neither does this.
 */
#include <stdlib.h>

#include "workload/steps.h"

static const int SET_OF[] = {[DVSIM_CALC] = SET_COMPUTE, [DVSIM_SEND] = SET_SEND, [DVSIM_RECV] = SET_RECEIVE};

static int64_t later(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

static resource *cpu_of(dvsim_replay *replay, int32_t rank, int32_t operation)
{
    return &replay->cpu[rank * replay->cpus + replay->graph.cpu[operation]];
}

static int64_t port_of(const dvsim_replay *replay, int32_t rank, int32_t operation)
{
    return rank * replay->nics + replay->graph.nic[operation];
}

static int put(dvsim_replay *replay, int32_t rank, int kind, int64_t time, int32_t operation)
{
    int64_t what = 2 * (int64_t)operation + (kind == SET_MESSAGE);
    return agenda_put(replay, rank, set_of(replay, kind, operation), (event){time, replay->order++, what});
}

int steps_free(dvsim_replay *replay, fresh *freed, int32_t operation)
{
    if (freed->count == freed->room) {
        int64_t room = freed->room ? 2 * freed->room : 64;
        int32_t *at = realloc(freed->at, (size_t)room * sizeof *at);
        if (!at) {
            return DVSIM_ENOMEM;
        }
        freed->at = at;
        freed->room = room;
    }
    freed->at[freed->count++] = operation;
    replay->course.state[operation] = DVSIM_FREE;
    return DVSIM_OK;
}

int steps_put(dvsim_replay *replay, fresh *freed)
{
    if (freed->count > 1) {
        fresh_sort(freed, replay->graph.kind);
    }
    for (int64_t at = 0; at < freed->count; at++) {
        int32_t one = freed->at[at], rank = freed->rank;
        int kind = SET_OF[replay->graph.kind[one]];
        int64_t time = cpu_of(replay, rank, one)->until;
        if (kind == SET_SEND) {
            time = later(time, replay->sending[port_of(replay, rank, one)].until);
        }
        if (replay->carried) {
            time = later(time, replay->course.begin[one]); /* when it became free, until it begins */
        }
        if (put(replay, rank, kind, time, one)) {
            return DVSIM_ENOMEM;
        }
    }
    freed->count = 0;
    return DVSIM_OK;
}

/* What waits for an operation until it started, or ended, at a time: one thing less to wait for. */
static int release(dvsim_replay *replay, fresh *freed, int32_t operation, uint8_t started, int64_t time)
{
    const dvsim_graph *graph = &replay->graph;
    for (int64_t edge = graph->start[operation]; edge < graph->start[operation + 1]; edge++) {
        if (graph->after_start[edge] != started) {
            continue;
        }
        int64_t one = graph->to[edge];
        if (time >= replay->course.begin[one]) {
            replay->course.begin[one] = time;
            replay->course.cause[one] = operation;
        }
        if (--replay->left[one] == 0 && steps_free(replay, freed, (int32_t)one)) {
            return DVSIM_ENOMEM;
        }
    }
    return DVSIM_OK;
}

static int start(dvsim_replay *replay, int32_t operation, int64_t time, const resource *waited)
{
    dvsim_course *course = &replay->course;
    if (waited && waited->user != -1 && waited->until == time && course->begin[operation] < time) {
        course->cause[operation] = waited->user;
    }
    course->begin[operation] = time;
    course->state[operation] = DVSIM_OPEN;
    return release(replay, &replay->freed[0], operation, 1, time);
}

static int end(dvsim_replay *replay, fresh *freed, int32_t operation, int64_t time)
{
    replay->course.end[operation] = time;
    replay->course.state[operation] = DVSIM_DONE;
    replay->done++;
    return release(replay, freed, operation, 0, time);
}

static int compute(dvsim_replay *replay, event one, int32_t operation, int32_t rank)
{
    resource *cpu = cpu_of(replay, rank, operation);
    int failed = start(replay, operation, one.time, cpu);
    *cpu = (resource){one.time + replay->graph.size[operation], operation};
    return failed ? failed : end(replay, &replay->freed[0], operation, cpu->until);
}

static int send(dvsim_replay *replay, event one, int32_t operation, int32_t rank)
{
    resource *cpu = cpu_of(replay, rank, operation), *port = &replay->sending[port_of(replay, rank, operation)];
    const dvsim_loggops *costs = &replay->costs;
    int64_t bytes = replay->graph.size[operation];
    int failed = start(replay, operation, one.time, cpu->until == one.time ? cpu : port);
    int64_t injected = one.time + costs->overhead_ps;
    *cpu = (resource){injected + beyond_first(bytes, costs->overhead_byte_fs), operation};
    if (failed) {
        return failed;
    }
    if (replay->carried) {
        int32_t to = replay->graph.peer[operation];
        dvsim_message message = {operation, replay->place[rank], replay->place[to], bytes};
        failed = replay->fabric.send(replay->fabric.self, &message, injected);
    } else {
        *port = (resource){one.time + costs->gap_ps + beyond_first(bytes, costs->gap_byte_fs), operation};
        replay->course.arrived[operation] = injected + costs->latency_ps;
        replay->course.latency[operation] = costs->latency_ps;
        failed = put(replay, replay->graph.peer[operation], SET_MESSAGE, injected + costs->latency_ps, operation);
    }
    replay->course.end[operation] = cpu->until;
    if (!failed && bytes <= costs->eager_bytes) {
        return end(replay, &replay->freed[0], operation, cpu->until);
    }
    return failed;
}

/* A message and its receive have met, at the second of the two; which of its sender's processors and ports
 * that frees is said by the numbers of the second, too, as LogGOPSim has it. */
static int meet(dvsim_replay *replay, int32_t send, int32_t receive, int32_t second, int64_t time, int64_t received)
{
    int32_t sender = replay->rank[send], rank = replay->rank[receive];
    int32_t numbers = replay->carried ? send : second;
    replay->course.pair[send] = receive;
    replay->course.pair[receive] = send;
    if (replay->graph.size[send] > replay->costs.eager_bytes) { /* it waited for that */
        fresh *freed = &replay->freed[sender == rank ? 0 : 1];
        resource *cpu = cpu_of(replay, sender, numbers);
        resource *port = &replay->sending[port_of(replay, sender, numbers)];
        freed->rank = sender;
        if (cpu->until < time) {
            *cpu = (resource){time, send};
        }
        if (port->until < time) {
            *port = (resource){time, send};
        }
        int failed = end(replay, freed, send, later(time, replay->course.end[send]));
        if (failed) {
            return failed;
        }
    }
    return end(replay, &replay->freed[0], receive, received);
}

static int receive(dvsim_replay *replay, event one, int32_t operation, int32_t rank)
{
    int failed = start(replay, operation, one.time, cpu_of(replay, rank, operation));
    int32_t send = match_receive(&replay->matching, &replay->graph, rank, operation);
    if (failed || send < 0) {
        return failed;
    }
    return meet(replay, send, operation, operation, one.time, one.time);
}

/* The message of a send is handled at its receiver: there the numbers of its processor and port count. */
static int handle(dvsim_replay *replay, event one, int32_t operation)
{
    int32_t rank = replay->graph.peer[operation];
    resource *cpu = cpu_of(replay, rank, operation), *port = &replay->receiving[port_of(replay, rank, operation)];
    if (one.time > replay->course.arrived[operation]) {
        replay->course.delayed[operation] = cpu->until == one.time ? cpu->user : port->user;
    }
    const dvsim_loggops *costs = &replay->costs;
    int64_t bytes = replay->graph.size[operation], copied = beyond_first(bytes, costs->overhead_byte_fs);
    int64_t streamed = replay->carried ? copied : beyond_first(bytes, costs->gap_byte_fs);
    /* no bytes: as unsigned numbers, of which the smaller cost is the larger */
    int64_t busy = (uint64_t)copied > (uint64_t)streamed ? copied : streamed;
    int32_t user = -2 - operation;
    *cpu = (resource){one.time + costs->overhead_ps + busy, user};
    if (!replay->carried) {
        *port = (resource){one.time + costs->gap_ps + streamed, user};
        replay->course.serial[operation] = busy;
    }
    replay->course.handled[operation] = one.time;
    int32_t found = match_message(&replay->matching, &replay->graph, rank, replay->rank[operation], operation);
    return found < 0 ? DVSIM_OK : meet(replay, operation, found, operation, one.time, cpu->until);
}

int steps_arrive(dvsim_replay *replay, const dvsim_arrival *arrival)
{
    replay->course.arrived[arrival->id] = arrival->time_ps;
    replay->course.latency[arrival->id] = arrival->latency_ps;
    replay->course.serial[arrival->id] = arrival->serial_ps;
    int32_t send = (int32_t)arrival->id;
    return put(replay, replay->graph.peer[send], SET_MESSAGE, arrival->time_ps, send);
}

int steps_do(dvsim_replay *replay, event one)
{
    int32_t operation = (int32_t)(one.what / 2), rank = replay->rank[operation];
    bool message = one.what & 1;
    replay->freed[0].rank = message ? replay->graph.peer[operation] : rank;
    int failed;
    if (message) {
        failed = handle(replay, one, operation);
    } else if (replay->graph.kind[operation] == DVSIM_CALC) {
        failed = compute(replay, one, operation, rank);
    } else if (replay->graph.kind[operation] == DVSIM_SEND) {
        failed = send(replay, one, operation, rank);
    } else {
        failed = receive(replay, one, operation, rank);
    }
    if (failed) {
        return failed;
    }
    bool swapped = replay->freed[1].count && replay->freed[1].rank < replay->freed[0].rank;
    if (steps_put(replay, &replay->freed[swapped])) {
        return DVSIM_ENOMEM;
    }
    return steps_put(replay, &replay->freed[!swapped]);
}
