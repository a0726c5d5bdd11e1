/* SRAM and counters that a card keeps for messages, found again after a restart. */
#include "ground.h"

#include <pthread.h>
#include <stdlib.h>

/* Nobody who has this calls what takes time on a card. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ground *grounds;

void ground_lock(void)
{
    pthread_mutex_lock(&lock);
}

void ground_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

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

static bool is_closed(vic_t *card)
{
    struct vic_attr attr;
    return vic_query_attr(card, &attr) == VIC_ECLOSED;
}

/* What cards that were closed since had allocated is free. */
static void forget_closed(void)
{
    for (struct ground **at = &grounds; *at != NULL;) {
        struct ground *ground = *at;
        if (is_closed(ground->card)) {
            *at = ground->next;
            free(ground);
        } else {
            at = &ground->next;
        }
    }
}

/* That of an earlier opening of messages on this card. */
static struct ground *ground_again(vic_t *card, size_t words, uint32_t counters, bool *busy)
{
    struct ground **at = &grounds;
    while (*at != NULL && (*at)->card != card) {
        at = &(*at)->next;
    }
    struct ground *ground = *at;
    if (ground == NULL) {
        return NULL;
    }
    *busy = ground->used;
    if (!*busy && (ground->words != words || ground->counters != counters)) {
        *at = ground->next;
        ground_release(ground);
        return NULL;
    }
    ground->used = true;
    return *busy ? NULL : ground;
}

int ground_find(vic_t *card, size_t words, uint32_t counters, struct ground **result)
{
    bool busy = false;
    pthread_mutex_lock(&lock);
    forget_closed();
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
