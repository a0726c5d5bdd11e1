/* The coordinator is made and freed. */
#include <stdlib.h>

#include "coordinator.h"

struct coordinator *coordinator_make(struct job *job, coordinator_kill *kill, void *context)
{
    struct coordinator *all = calloc(1, sizeof *all);
    if (all == NULL) {
        return NULL;
    }
    all->job = job;
    all->cards = job->config.cards;
    all->pcie = model_pcie(&job->config);
    all->ahead_ps = model_ahead_ps(&all->pcie);
    all->kill = kill;
    all->context = context;
    all->check = job->config.check || job_asked("VIC_CHECK");
    all->side = calloc(all->cards, sizeof *all->side);
    for (uint32_t i = 0; all->side != NULL && i < all->cards; i++) {
        struct side *side = &all->side[i];
        *side = (struct side){.all = all, .number = i, .shared = timed_card_of(job, i), .end_ps = NEVER};
        side->shared->stop_ps = NEVER;
    }
    if (all->side == NULL || !fabric_make(all)) {
        coordinator_free(all);
        return NULL;
    }
    atomic_store(&timed_shared_of(job)->coordinated, 1);
    return all;
}

void coordinator_free(struct coordinator *all)
{
    for (uint32_t i = 0; all->side != NULL && i < all->cards; i++) {
        dvsim_vic_free(all->side[i].vic);
        free(all->side[i].staged);
    }
    for (size_t i = 0; i < all->events; i++) {
        free(all->heap[i].event->staged);
        free(all->heap[i].event);
    }
    dvsim_network_free(all->network);
    free(all->flights);
    free(all->landed);
    free(all->landed_from);
    free(all->heap);
    free(all->side);
    free(all);
}
