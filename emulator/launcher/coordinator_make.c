/* The coordinator is made and freed. */
#include <stdlib.h>

#include "coordinator.h"

struct coordinator *coordinator_make(struct job *job, coordinator_kill *kill, void *context)
{
    struct coordinator *coord = calloc(1, sizeof *coord);
    if (coord == NULL) {
        return NULL;
    }
    coord->job = job;
    coord->cards = job->config.cards;
    coord->pcie = model_pcie(&job->config);
    coord->ahead_ps = model_ahead_ps(&coord->pcie);
    coord->kill = kill;
    coord->context = context;
    coord->check = job->config.check || job_asked("VIC_CHECK");
    coord->side = calloc(coord->cards, sizeof *coord->side);
    for (uint32_t i = 0; coord->side != NULL && i < coord->cards; i++) {
        struct side *side = &coord->side[i];
        *side = (struct side){.coord = coord, .number = i, .shared = timed_card_of(job, i), .end_ps = NEVER};
        side->shared->stop_ps = NEVER;
    }
    if (coord->side == NULL || !fabric_make(coord)) {
        coordinator_free(coord);
        return NULL;
    }
    atomic_store(&timed_shared_of(job)->coordinated, 1);
    return coord;
}

void coordinator_free(struct coordinator *coord)
{
    for (uint32_t i = 0; coord->side != NULL && i < coord->cards; i++) {
        dvsim_vic_free(coord->side[i].vic);
        free(coord->side[i].staged);
    }
    for (size_t i = 0; i < coord->events; i++) {
        free(coord->heap[i].event->staged);
        free(coord->heap[i].event);
    }
    dvsim_network_free(coord->network);
    free(coord->flights);
    free(coord->landed);
    free(coord->landed_from);
    free(coord->heap);
    free(coord->side);
    free(coord);
}
