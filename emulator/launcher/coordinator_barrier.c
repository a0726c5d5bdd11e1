/* The barrier. It is over when all cards have entered. A card then goes on at the time that a dissemination barrier
 * gives: in each of ceil(log2 n) rounds it stores one packet for the card 2^round further on, and waits for the packet
 * of the card 2^round before. These packets do not go through the network, so that a card that gives up can still leave
 * the barrier. Each takes as long as a word through an empty network. */
#include <stdlib.h>

#include "coordinator.h"
#include "vic.h"

static void release(struct side *side, int64_t at_ps, int status)
{
    side->in_barrier = false;
    news_add(side, at_ps, NEWS_RELEASED, side->barrier_tag, (uint64_t)(int64_t)status);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void release_all(struct coordinator *coord)
{
    uint32_t n = coord->cards;
    int64_t store = dvsim_pcie_store_ps(&coord->pcie, 2);
    int64_t *at = malloc(2 * (size_t)n * sizeof *at);
    if (at == NULL) {
        coord->failed = true;
        return;
    }
    int64_t *next = at + n;
    for (uint32_t i = 0; i < n; i++) {
        at[i] = coord->side[i].barrier_ps;
    }
    for (uint32_t far = 1; far < n; far *= 2) {
        for (uint32_t i = 0; i < n; i++) {
            next[i] = later(at[i], at[(i + n - far) % n] + coord->hop_ps) + store;
        }
        for (uint32_t i = 0; i < n; i++) {
            at[i] = next[i];
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        release(&coord->side[i], at[i], VIC_OK);
    }
    free(at);
}

static int64_t first_end(const struct coordinator *coord)
{
    int64_t end = NEVER;
    for (uint32_t i = 0; i < coord->cards; i++) {
        end = coord->side[i].end_ps < end ? coord->side[i].end_ps : end;
    }
    return end;
}

/* End the waits in the barrier if a program has ended. */
void barrier_ended(struct coordinator *coord)
{
    int64_t end = first_end(coord);
    for (uint32_t i = 0; i < coord->cards && end != NEVER; i++) {
        if (coord->side[i].in_barrier) {
            release(&coord->side[i], later(coord->side[i].barrier_ps, end), VIC_EPEER);
        }
    }
}

void barrier_enter(struct side *side, int64_t at_ps, uint32_t tag)
{
    struct coordinator *coord = side->coord;
    side->in_barrier = true;
    side->barrier_tag = tag;
    side->barrier_ps = at_ps;
    uint32_t in = 0;
    for (uint32_t i = 0; i < coord->cards; i++) {
        in += coord->side[i].in_barrier;
    }
    if (in == coord->cards) {
        release_all(coord);
    } else {
        barrier_ended(coord);
    }
}

bool barrier_leave(struct side *side)
{
    bool was_in = side->in_barrier;
    side->in_barrier = false;
    return was_in;
}
