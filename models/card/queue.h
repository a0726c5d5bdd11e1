/* queue.h: a ring of packets, for the files of this folder. */
#ifndef DVSIM_CARD_QUEUE_H
#define DVSIM_CARD_QUEUE_H

#include <stdlib.h>

#include "card/vic.h"

typedef struct {
    dvsim_vic_packet *packet;
    uint32_t room, first, used;
} dvsim_packets;

static inline int dvsim_packets_make(dvsim_packets *queue, uint32_t room)
{
    *queue = (dvsim_packets){calloc(room, sizeof *queue->packet), room, 0, 0};
    return queue->packet != NULL;
}

static inline const dvsim_vic_packet *dvsim_packets_first(const dvsim_packets *queue)
{
    return queue->used > 0 ? &queue->packet[queue->first] : NULL;
}

/* Not if it is full. */
static inline int dvsim_packets_put(dvsim_packets *queue, dvsim_vic_packet packet)
{
    if (queue->used == queue->room) {
        return 0;
    }
    const uint32_t at = queue->first + queue->used++;
    queue->packet[at < queue->room ? at : at - queue->room] = packet;
    return 1;
}

static inline void dvsim_packets_drop(dvsim_packets *queue)
{
    queue->first = queue->first + 1 < queue->room ? queue->first + 1 : 0;
    queue->used--;
}

/* Twice the room. */
static inline int dvsim_packets_grow(dvsim_packets *queue)
{
    dvsim_packets longer;
    if (queue->room > UINT32_MAX / 2 || !dvsim_packets_make(&longer, queue->room * 2)) {
        return 0;
    }
    for (const dvsim_vic_packet *p; (p = dvsim_packets_first(queue)) != NULL; dvsim_packets_drop(queue)) {
        dvsim_packets_put(&longer, *p);
    }
    free(queue->packet);
    *queue = longer;
    return 1;
}

#endif
