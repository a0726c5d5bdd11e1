/* SRAM and counters that a card keeps for messages, found again after a restart. */
#include "ground.h"

#include <pthread.h>
#include <stdlib.h>

/* Nobody who has this calls what takes time on a card. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ground *grounds;

static void ground_release(struct ground *ground)
{
    for (uint32_t i = 0; i < ground->counters; i++) {
        vic_counter_free(ground->card, ground->counter[i]);
    }
    vic_free(ground->card, ground->base);
    free(ground);
}

static int ground_take(vic_t *card, size_t words, uint32_t counters, struct ground **result)
{
    struct ground *ground = calloc(1, sizeof *ground);
    if (ground == NULL) {
        return VIC_ESYS;
    }
    ground->card = card;
    ground->words = words;
    ground->used = true;
    int status = vic_alloc(card, words, &ground->base);
    if (status != VIC_OK) {
        free(ground);
        return status;
    }
    while (status == VIC_OK && ground->counters < counters) {
        status = vic_counter_alloc(card, &ground->counter[ground->counters]);
        ground->counters += status == VIC_OK;
    }
    if (status != VIC_OK) {
        ground_release(ground);
        return status;
    }
    ground->next = grounds;
    grounds = ground;
    *result = ground;
    return VIC_OK;
}

/* The ground of an earlier opening, if it still is allocated: the card may have been closed since. */
static struct ground *ground_again(vic_t *card, size_t words, uint32_t counters, bool *busy)
{
    for (struct ground **at = &grounds; *at != NULL; at = &(*at)->next) {
        struct ground *ground = *at;
        if (ground->card != card) {
            continue;
        }
        if (ground->used) {
            *busy = true;
            return NULL;
        }
        vic_addr_t again = ground->base;
        bool same = ground->words == words && ground->counters == counters;
        bool there = vic_free(card, ground->base) == VIC_OK;
        if (there && same && vic_alloc(card, words, &again) == VIC_OK && again == ground->base) {
            ground->used = true;
            return ground;
        }
        if (there && again != ground->base) {
            vic_free(card, again);
        }
        for (uint32_t i = 0; there && i < ground->counters; i++) {
            vic_counter_free(card, ground->counter[i]);
        }
        *at = ground->next;
        free(ground);
        return NULL;
    }
    return NULL;
}

int ground_find(vic_t *card, size_t words, uint32_t counters, struct ground **result)
{
    bool busy = false;
    pthread_mutex_lock(&lock);
    *result = ground_again(card, words, counters, &busy);
    int status = busy ? VIC_EBUSY : VIC_OK;
    if (status == VIC_OK && *result == NULL) {
        status = ground_take(card, words, counters, result);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void ground_leave(vic_t *card)
{
    pthread_mutex_lock(&lock);
    for (struct ground *ground = grounds; ground != NULL; ground = ground->next) {
        ground->used = ground->used && ground->card != card;
    }
    pthread_mutex_unlock(&lock);
}
