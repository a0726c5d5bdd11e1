/* steps.c: what happens at one event: an operation starts, or a message comes to its receiver.
 *
 * The agenda gives an event when its processor and port are free.
 * What ends makes others free; those get the time at which their own processor, and for a send their port,
 * is free. With a fabric or an agent they also wait for the end of what they depend on, which may be on another
 * processor; LogGOPSim does not ask for that, and without the two neither does this.
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
    return &resources_of(replay, rank)[replay->works[operation].cpu];
}

static resource *sending_port(dvsim_replay *replay, int32_t rank, int32_t operation)
{
    return &resources_of(replay, rank)[replay->cpus + replay->works[operation].nic];
}

static resource *receiving_port(dvsim_replay *replay, int32_t rank, int32_t operation)
{
    return &resources_of(replay, rank)[replay->cpus + replay->nics + replay->works[operation].nic];
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
    replay->course[operation].state = DVSIM_FREE;
    return DVSIM_OK;
}

int steps_put(dvsim_replay *replay, fresh *freed)
{
    if (freed->count > 1) {
        fresh_sort(freed, replay->works);
    }
    for (int64_t at = 0; at < freed->count; at++) {
        int32_t one = freed->at[at], rank = freed->rank;
        int kind = SET_OF[replay->works[one].kind];
        int64_t time = cpu_of(replay, rank, one)->until;
        if (kind == SET_SEND) {
            time = later(time, sending_port(replay, rank, one)->until);
        }
        if (replay->joined) {
            time = later(time, replay->course[one].begin); /* when it became free, until it begins */
        }
        if (put(replay, rank, kind, time, one)) {
            return DVSIM_ENOMEM;
        }
    }
    freed->count = 0;
    return DVSIM_OK;
}

/* Whether a send waits for its receive. */
static bool is_rendezvous(const dvsim_replay *replay, int32_t send)
{
    const work *one = &replay->works[send];
    return one->size > replay->costs.eager_bytes && (one->cpu == 0 || one->cpu != replay->graph.agent);
}

/* What waits for an operation until it started, or ended, at a time: one thing less to wait for. */
static int release(dvsim_replay *replay, fresh *freed, int32_t operation, bool started, int64_t time)
{
    const int32_t *edge = &replay->edges[replay->works[operation].start];
    for (const int32_t *last = edge + replay->works[operation].edges; edge < last; edge++) {
        if ((*edge < 0) != started) {
            continue;
        }
        int32_t one = started ? ~*edge : *edge;
        if (time >= replay->course[one].begin) {
            replay->course[one].begin = time;
            replay->course[one].cause = operation;
        }
        if (--replay->works[one].left == 0 && steps_free(replay, freed, one)) {
            return DVSIM_ENOMEM;
        }
    }
    return DVSIM_OK;
}

static int start(dvsim_replay *replay, int32_t operation, int64_t time, const resource *waited)
{
    dvsim_course *course = replay->course;
    if (waited && waited->user != -1 && waited->until == time && course[operation].begin < time) {
        course[operation].cause = waited->user;
    }
    course[operation].begin = time;
    course[operation].state = DVSIM_OPEN;
    return release(replay, &replay->freed[0], operation, true, time);
}

static int end(dvsim_replay *replay, fresh *freed, int32_t operation, int64_t time)
{
    replay->course[operation].end = time;
    replay->course[operation].state = DVSIM_DONE;
    replay->done++;
    return release(replay, freed, operation, false, time);
}

static int compute(dvsim_replay *replay, event one, int32_t operation, int32_t rank)
{
    resource *cpu = cpu_of(replay, rank, operation);
    if (replay->works[operation].size > DVSIM_LATEST) {
        return DVSIM_ERANGE;
    }
    int failed = start(replay, operation, one.time, cpu);
    *cpu = (resource){one.time + replay->works[operation].size, operation};
    return failed ? failed : end(replay, &replay->freed[0], operation, cpu->until);
}

static int send(dvsim_replay *replay, event one, int32_t operation, int32_t rank)
{
    resource *cpu = cpu_of(replay, rank, operation), *port = sending_port(replay, rank, operation);
    const dvsim_loggops *costs = &replay->costs;
    int64_t bytes = replay->works[operation].size;
    int failed = start(replay, operation, one.time, cpu->until == one.time ? cpu : port);
    int64_t injected = one.time + costs->overhead_ps;
    *cpu = (resource){injected + beyond_first(bytes, costs->overhead_byte_fs), operation};
    if (failed) {
        return failed;
    }
    if (replay->carried) {
        int32_t to = replay->works[operation].peer;
        dvsim_message message = {operation, replay->place[rank], replay->place[to], bytes};
        failed = replay->fabric.send(replay->fabric.self, &message, injected);
    } else {
        *port = (resource){one.time + costs->gap_ps + beyond_first(bytes, costs->gap_byte_fs), operation};
        replay->course[operation].arrived = injected + costs->latency_ps;
        replay->course[operation].latency = costs->latency_ps;
        failed = put(replay, replay->works[operation].peer, SET_MESSAGE, injected + costs->latency_ps, operation);
    }
    replay->course[operation].end = cpu->until;
    if (!failed && !is_rendezvous(replay, operation)) {
        return end(replay, &replay->freed[0], operation, cpu->until);
    }
    return failed;
}

/* A message and its receive have met, at the second of the two; which of its sender's processors and ports
 * that frees is said by the numbers of the second, too, as LogGOPSim has it. */
static int meet(dvsim_replay *replay, int32_t send, int32_t receive, int32_t second, int64_t time, int64_t received)
{
    int32_t sender = replay->works[send].rank, rank = replay->works[receive].rank;
    int32_t numbers = replay->joined ? send : second;
    replay->course[send].pair = receive;
    replay->course[receive].pair = send;
    if (is_rendezvous(replay, send)) { /* it waited for that */
        fresh *freed = &replay->freed[sender == rank ? 0 : 1];
        resource *cpu = cpu_of(replay, sender, numbers);
        resource *port = sending_port(replay, sender, numbers);
        freed->rank = sender;
        agenda_stale(&replay->agenda, sender);
        if (cpu->until < time) {
            *cpu = (resource){time, send};
        }
        if (port->until < time) {
            *port = (resource){time, send};
        }
        int failed = end(replay, freed, send, later(time, replay->course[send].end));
        if (failed) {
            return failed;
        }
    }
    return end(replay, &replay->freed[0], receive, received);
}

static int receive(dvsim_replay *replay, event one, int32_t operation, int32_t rank)
{
    int failed = start(replay, operation, one.time, cpu_of(replay, rank, operation));
    int32_t send = match_receive(replay, rank, operation);
    if (failed || send < 0) {
        return failed;
    }
    return meet(replay, send, operation, operation, one.time, one.time);
}

/* The message of a send is handled at its receiver: there the numbers of its processor and port count. */
static int handle(dvsim_replay *replay, event one, int32_t operation)
{
    int32_t rank = replay->works[operation].peer;
    resource *cpu = cpu_of(replay, rank, operation), *port = receiving_port(replay, rank, operation);
    if (one.time > replay->course[operation].arrived) {
        replay->course[operation].delayed = cpu->until == one.time ? cpu->user : port->user;
    }
    const dvsim_loggops *costs = &replay->costs;
    int64_t bytes = replay->works[operation].size, copied = beyond_first(bytes, costs->overhead_byte_fs);
    int64_t streamed = replay->carried ? copied : beyond_first(bytes, costs->gap_byte_fs);
    /* no bytes: as unsigned numbers, of which the smaller cost is the larger */
    int64_t busy = (uint64_t)copied > (uint64_t)streamed ? copied : streamed;
    int32_t user = -2 - operation;
    *cpu = (resource){one.time + costs->overhead_ps + busy, user};
    if (!replay->carried) {
        *port = (resource){one.time + costs->gap_ps + streamed, user};
        replay->course[operation].serial = busy;
    }
    replay->course[operation].handled = one.time;
    int32_t found = match_message(replay, rank, operation);
    return found < 0 ? DVSIM_OK : meet(replay, operation, found, operation, one.time, cpu->until);
}

int steps_arrive(dvsim_replay *replay, const dvsim_arrival *arrival)
{
    replay->course[arrival->id].arrived = arrival->time_ps;
    replay->course[arrival->id].latency = arrival->latency_ps;
    replay->course[arrival->id].serial = arrival->serial_ps;
    int32_t send = (int32_t)arrival->id;
    return put(replay, replay->works[send].peer, SET_MESSAGE, arrival->time_ps, send);
}

int steps_do(dvsim_replay *replay, event one)
{
    int32_t operation = (int32_t)(one.what / 2), rank = replay->works[operation].rank;
    bool message = one.what & 1;
    if (one.time > DVSIM_LATEST) {
        return DVSIM_ERANGE;
    }
    replay->freed[0].rank = message ? replay->works[operation].peer : rank;
    int failed;
    if (message) {
        failed = handle(replay, one, operation);
    } else if (replay->works[operation].kind == DVSIM_CALC) {
        failed = compute(replay, one, operation, rank);
    } else if (replay->works[operation].kind == DVSIM_SEND) {
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
