/* SRAM and counters that a card keeps for messages, found again after a restart. */
#include "region.h"

#include <stdlib.h>

static bool forget(struct kept *kept)
{
    free(kept);
    return true;
}

struct layer message_layer = LAYER_OF(struct vic_message, forget);

static void region_release(struct region *region)
{
    for (uint32_t i = 0; i < region->counters; i++) {
        vic_counter_free(region->kept.card, region->counter[i]);
    }
    vic_free(region->kept.card, region->base);
    free(region);
}

static int region_take(vic_t *card, size_t words, uint32_t counters, struct region **result)
{
    struct region *region = calloc(1, sizeof *region);
    if (region == NULL) {
        return VIC_ESYS;
    }
    region->kept.card = card;
    region->words = words;
    region->used = true;
    int status = vic_alloc(card, words, &region->base);
    if (status != VIC_OK) {
        free(region);
        return status;
    }
    while (status == VIC_OK && region->counters < counters) {
        status = vic_counter_alloc(card, &region->counter[region->counters]);
        region->counters += status == VIC_OK;
    }
    if (status != VIC_OK) {
        region_release(region);
        return status;
    }
    layer_keep(&message_layer, &region->kept, card);
    *result = region;
    return VIC_OK;
}

/* The region of an earlier opening of messages on this card. */
static struct region *region_find_earlier(vic_t *card, size_t words, uint32_t counters, bool *busy)
{
    struct region *region = (struct region *)layer_find(&message_layer, card);
    if (region == NULL) {
        return NULL;
    }
    *busy = region->used;
    if (!*busy && (region->words != words || region->counters != counters)) {
        layer_drop(&message_layer, &region->kept);
        region_release(region);
        return NULL;
    }
    region->used = true;
    return *busy ? NULL : region;
}

int region_find(vic_t *card, size_t words, uint32_t counters, struct region **result)
{
    bool busy = false;
    pthread_mutex_lock(&message_layer.lock);
    *result = region_find_earlier(card, words, counters, &busy);
    int status = busy ? VIC_EBUSY : VIC_OK;
    if (status == VIC_OK && *result == NULL) {
        status = region_take(card, words, counters, result);
    }
    pthread_mutex_unlock(&message_layer.lock);
    return status;
}

void region_leave(vic_t *card)
{
    pthread_mutex_lock(&message_layer.lock);
    struct region *region = (struct region *)layer_find(&message_layer, card);
    if (region != NULL) { /* the card is still open */
        region->used = false;
    }
    pthread_mutex_unlock(&message_layer.lock);
}
