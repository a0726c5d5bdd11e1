/* SRAM and counters that a card keeps for messages, found again after a restart. */
#include "ground.h"

#include <stdlib.h>

static bool forget(struct kept *kept)
{
    free(kept);
    return true;
}

struct layer message_layer = LAYER_OF(struct vic_message, forget);

static void ground_release(struct ground *ground)
{
    for (uint32_t i = 0; i < ground->counters; i++) {
        vic_counter_free(ground->kept.card, ground->counter[i]);
    }
    vic_free(ground->kept.card, ground->base);
    free(ground);
}

static int ground_take(vic_t *card, size_t words, uint32_t counters, struct ground **result)
{
    struct ground *ground = calloc(1, sizeof *ground);
    if (ground == NULL) {
        return VIC_ESYS;
    }
    ground->kept.card = card;
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
    layer_keep(&message_layer, &ground->kept, card);
    *result = ground;
    return VIC_OK;
}

/* That of an earlier opening of messages on this card. */
static struct ground *ground_again(vic_t *card, size_t words, uint32_t counters, bool *busy)
{
    struct ground *ground = (struct ground *)layer_find(&message_layer, card);
    if (ground == NULL) {
        return NULL;
    }
    *busy = ground->used;
    if (!*busy && (ground->words != words || ground->counters != counters)) {
        layer_drop(&message_layer, &ground->kept);
        ground_release(ground);
        return NULL;
    }
    ground->used = true;
    return *busy ? NULL : ground;
}

int ground_find(vic_t *card, size_t words, uint32_t counters, struct ground **result)
{
    bool busy = false;
    pthread_mutex_lock(&message_layer.lock);
    *result = ground_again(card, words, counters, &busy);
    int status = busy ? VIC_EBUSY : VIC_OK;
    if (status == VIC_OK && *result == NULL) {
        status = ground_take(card, words, counters, result);
    }
    pthread_mutex_unlock(&message_layer.lock);
    return status;
}

void ground_leave(vic_t *card)
{
    pthread_mutex_lock(&message_layer.lock);
    struct ground *ground = (struct ground *)layer_find(&message_layer, card);
    if (ground != NULL) { /* the card is still open */
        ground->used = false;
    }
    pthread_mutex_unlock(&message_layer.lock);
}
