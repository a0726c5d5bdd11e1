/* links.c: packets between switches: on the way, then in a queue, then offered. */
#include <stdlib.h>

#include "network/internal.h"

/* Unroll the ring into one of twice the size. */
int dvsim_network_widen(dvsim_part *p, dvsim_wire *wire)
{
    const int64_t room = wire->room > 0 ? 2 * wire->room : 64;
    dvsim_travel *ring = malloc((size_t)room * sizeof *ring);
    if (ring == NULL) {
        p->failed = 1;
        return 0;
    }
    for (int64_t k = wire->taken; k < wire->put; k++) {
        ring[k & (room - 1)] = wire->ring[k & (wire->room - 1)];
    }
    free(wire->ring);
    wire->ring = ring;
    wire->room = room;
    return 1;
}

/* A free cell, 0 without memory. */
static uint32_t new_cell(dvsim_part *p)
{
    uint32_t cell = p->free_cell;
    if (cell != 0) {
        p->free_cell = p->cells[cell].next;
        __builtin_prefetch(&p->cells[p->free_cell], 1);
        return cell;
    }
    if (p->cell_count == p->cell_room) {
        const uint32_t room = p->cell_room > 0 ? 2 * p->cell_room : 1024;
        dvsim_cell *longer =
            room < UINT32_MAX / 2 ? dvsim_network_longer(p->cells, p->cell_room, room, sizeof *longer) : NULL;
        if (longer == NULL) {
            return 0;
        }
        p->cells = longer;
        p->cell_room = room;
        p->cell_count += p->cell_count == 0; /* cell 0 is none */
    }
    return p->cell_count++;
}

static void push(dvsim_part *p, dvsim_stage *stage, uint64_t word, uint32_t at)
{
    dvsim_queue *queue = &stage->queues[at];
    const uint32_t cell = new_cell(p);
    if (cell == 0) {
        p->failed = 1;
        return;
    }
    p->cells[cell] = (dvsim_cell){word, 0};
    if (queue->length++ == 0) {
        queue->first = cell;
        stage->active[stage->active_count++] = at;
    } else {
        p->cells[queue->last].next = cell;
    }
    queue->last = cell;
}

static void offer(dvsim_part *p, dvsim_stage *stage, uint64_t word, uint32_t at)
{
    stage->offers[at] = word;
    if (stage->vortex == NULL) {
        p->fresh[p->fresh_count++] = at;
    }
}

/* What waited goes to the places that have become free. The loop starts from the end: the queue that takes the place
 * of an empty one has then been visited, and all others are fetched in time. */
static void refill(dvsim_part *p, dvsim_stage *stage)
{
    for (int64_t k = stage->active_count - 1; k >= 0; k--) {
        const uint32_t at = stage->active[k];
        dvsim_queue *queue = &stage->queues[at];
        if (k >= 2 * DVSIM_AHEAD) {
            __builtin_prefetch(&stage->offers[stage->active[k - 2 * DVSIM_AHEAD]], 1);
            __builtin_prefetch(&stage->queues[stage->active[k - 2 * DVSIM_AHEAD]], 1);
            __builtin_prefetch(&p->cells[stage->queues[stage->active[k - DVSIM_AHEAD]].first], 1);
        }
        if (stage->offers[at] == 0) {
            const uint32_t cell = queue->first;
            offer(p, stage, p->cells[cell].word, at);
            queue->first = p->cells[cell].next;
            p->cells[cell].next = p->free_cell;
            p->free_cell = cell;
            queue->length--;
        }
        if (queue->length == 0) {
            stage->active[k] = stage->active[--stage->active_count];
        }
    }
}

void dvsim_network_arrive(dvsim_part *p, dvsim_stage *stage)
{
    const uint64_t left = (uint64_t)p->now - (uint64_t)p->network->params.link_slots;
    const uint64_t *offers = stage->offers;
    const dvsim_queue *queues = stage->queues;
    refill(p, stage);
    for (int way = 0; way < 2; way++) {
        if (stage->wires[way] == NULL) {
            continue;
        }
        dvsim_wire *wire = &stage->wires[way][left & (uint64_t)(p->network->turns - 1)];
        const dvsim_travel *ring = wire->ring;
        const uint64_t mask = (uint64_t)wire->room - 1;
        const int64_t before = wire->taken, put = wire->put;
        int64_t taken = before, peak = stage->peak[way];
        for (; taken < put; taken++) {
            const dvsim_travel next = ring[(uint64_t)taken & mask];
            if (next.left != (uint32_t)left) {
                break;
            }
            if (taken + DVSIM_AHEAD < put) {
                const uint32_t later = ring[(uint64_t)(taken + DVSIM_AHEAD) & mask].at;
                __builtin_prefetch(&offers[later], 1);
                __builtin_prefetch(&queues[later], 1);
            }
            if (offers[next.at] == 0) {
                offer(p, stage, next.word, next.at);
            } else {
                push(p, stage, next.word, next.at);
                if (queues[next.at].length >= peak) {
                    peak = (int64_t)queues[next.at].length + 1;
                }
            }
        }
        wire->taken = taken;
        stage->held[way] += taken - before;
        stage->peak[way] = taken > before && peak == 0 ? 1 : peak;
        stage->held_sum[way] += stage->held[way];
    }
}
