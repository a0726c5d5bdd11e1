/* path.c: what the time until an operation ended was spent on, walking back through what it waited for.
 *
 * At each place of the walk there is a time that is not explained yet. An operation explains it back to its
 * begin; a message back to its sender, or to what kept the receiver from handling it. The parts so add up to
 * the time at which the walk began.
 */
#include "workload/internal.h"

typedef struct {
    const dvsim_replay *replay;
    dvsim_path *path;
    int64_t time; /* what is later is explained */
    int64_t *way; /* [room] operations that were visited; NULL for none */
    int64_t room, visited;
} walk;

static void visit(walk *back, int64_t operation)
{
    if (back->visited == operation) {
        return;
    }
    if (back->way && back->path->steps < back->room) {
        back->way[back->path->steps] = operation;
    }
    back->path->steps++;
    back->visited = operation;
}

/* Explain the time back to `until` as one part. */
static void spend(walk *back, int64_t *part, int64_t until)
{
    if (until < back->time) {
        *part += back->time - until;
        back->time = until;
    }
}

/* The way of a message, from when it was handled; returns what to go on with, as a cause. A receiver that was at its
 * own work when the message came, and then handled others first, was kept by that work for as long. */
static int32_t along_message(walk *back, int32_t send)
{
    const dvsim_course *course = back->replay->course;
    const dvsim_graph *graph = &back->replay->graph;
    int32_t kept = course[send].delayed, first = send;
    while (kept < -1 && course[-2 - kept].handled > course[send].arrived) { /* others were before it */
        first = -2 - kept;
        kept = course[first].delayed;
    }
    if (course[first].handled > course[first].arrived && kept >= 0 && graph->kind[kept] != DVSIM_RECV) {
        spend(back, &back->path->contention_ps, course[first].handled);
        return kept; /* the receiver's own work */
    }
    visit(back, send);
    int64_t injected = course[send].begin + back->replay->costs.overhead_ps;
    spend(back, &back->path->contention_ps, course[send].arrived);
    int64_t serial = back->replay->carried ? course[send].serial : 0;
    int64_t empty = injected + course[send].latency;
    spend(back, &back->path->contention_ps, empty + serial);
    spend(back, &back->path->bandwidth_ps, empty);
    spend(back, &back->path->latency_ps, injected);
    spend(back, &back->path->overhead_ps, course[send].begin);
    return course[send].cause;
}

/* The handling of a message, up to the time of the walk, then its way. */
static int32_t handling(walk *back, int32_t send)
{
    const dvsim_replay *replay = back->replay;
    int64_t handled = replay->course[send].handled;
    if (!replay->carried) {
        spend(back, &back->path->bandwidth_ps, handled + replay->costs.overhead_ps);
    }
    spend(back, &back->path->overhead_ps, handled);
    return along_message(back, send);
}

static int32_t along_send(walk *back, int32_t send)
{
    const dvsim_replay *replay = back->replay;
    const dvsim_course *course = replay->course;
    int64_t begin = course[send].begin, bytes = replay->graph.size[send];
    int64_t own = begin + replay->costs.overhead_ps + beyond_first(bytes, replay->costs.overhead_byte_fs);
    if (back->time > own && back->time == course[send].end && course[send].pair >= 0) { /* it met its receive late */
        int32_t receive = course[send].pair;
        if (course[send].handled < back->time) {
            return receive;
        }
        return along_message(back, send);
    }
    spend(back, &back->path->bandwidth_ps, own); /* its port was in use for so long */
    spend(back, &back->path->overhead_ps, begin);
    return course[send].cause;
}

static int32_t along_receive(walk *back, int32_t receive)
{
    const dvsim_course *course = back->replay->course;
    int32_t send = course[receive].pair;
    if (send >= 0 && back->time > course[receive].begin && course[send].handled >= course[receive].begin) {
        return handling(back, send);
    }
    spend(back, &back->path->wait_ps, course[receive].begin);
    return course[receive].cause;
}

/* The time between the end of what was waited for, and what waited for it. */
static void between(walk *back, int32_t operation)
{
    const dvsim_replay *replay = back->replay;
    int64_t end = replay->course[operation].end;
    if (replay->graph.kind[operation] == DVSIM_SEND && !replay->carried) {
        int64_t gap = replay->costs.gap_ps + beyond_first(replay->graph.size[operation], replay->costs.gap_byte_fs);
        int64_t free = replay->course[operation].begin + gap;
        end = free > end && free <= back->time ? free : end;
    }
    spend(back, &back->path->wait_ps, end);
}

void dvsim_replay_path(const dvsim_replay *replay, int64_t last, dvsim_path *path, int64_t *way, int64_t room)
{
    *path = (dvsim_path){0};
    if (last < 0 || last >= replay->operations) {
        return;
    }
    walk back = {replay, path, replay->course[last].end, way, room, -1};
    int32_t cause = (int32_t)last;
    while (cause != -1 && path->steps <= 2 * replay->operations) {
        int32_t operation = cause;
        if (cause < 0) {
            cause = handling(&back, -2 - cause);
            continue;
        }
        visit(&back, operation);
        between(&back, operation);
        if (replay->graph.kind[operation] == DVSIM_CALC) {
            int idle = replay->graph.peer[operation] == DVSIM_IDLE;
            spend(&back, idle ? &path->wait_ps : &path->compute_ps, replay->course[operation].begin);
            cause = replay->course[operation].cause;
        } else if (replay->graph.kind[operation] == DVSIM_SEND) {
            cause = along_send(&back, operation);
        } else {
            cause = along_receive(&back, operation);
        }
    }
    spend(&back, &path->wait_ps, 0);
}
