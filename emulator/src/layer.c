/* Layers: their handles and what they keep for cards, over forks as well. */
#include "layer.h"

#include "fork.h"
#include "handle.h"

static pthread_mutex_t layers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct layer *layers;

static void before_fork(void)
{
    pthread_mutex_lock(&layers_lock);
    for (struct layer *layer = layers; layer != NULL; layer = layer->next) {
        pthread_mutex_lock(&layer->lock); /* before the slab's, as where something kept has a handle */
        slab_hold(&layer->handles);
    }
}

static void after_fork(void)
{
    for (struct layer *layer = layers; layer != NULL; layer = layer->next) {
        slab_release(&layer->handles);
        pthread_mutex_unlock(&layer->lock);
    }
    pthread_mutex_unlock(&layers_lock);
}

/* A child has none of its parent's cards. */
static void in_child(void)
{
    for (struct layer *layer = layers; layer != NULL; layer = layer->next) {
        slab_forget(&layer->handles);
    }
    after_fork();
}

const struct fork_part fork_layers = {before_fork, after_fork, in_child};

void layer_begin(struct layer *layer)
{
    pthread_mutex_lock(&layers_lock);
    if (!layer->begun) {
        layer->begun = true;
        layer->next = layers;
        layers = layer;
    }
    pthread_mutex_unlock(&layers_lock);
}

static bool is_closed(vic_t *card)
{
    struct vic_attr attr;
    return vic_query_attr(card, &attr) == VIC_ECLOSED;
}

struct kept *layer_find(struct layer *layer, vic_t *card)
{
    struct kept *found = NULL;
    for (struct kept **at = &layer->kept; *at != NULL;) {
        struct kept *kept = *at, *next = kept->next;
        if (is_closed(kept->card) && layer->forget(kept)) {
            *at = next;
        } else {
            found = kept->card == card ? kept : found;
            at = &kept->next;
        }
    }
    return found;
}

void layer_keep(struct layer *layer, struct kept *kept, vic_t *card)
{
    kept->card = card;
    kept->next = layer->kept;
    layer->kept = kept;
}

void layer_drop(struct layer *layer, struct kept *kept)
{
    struct kept **at = &layer->kept;
    while (*at != kept) {
        at = &(*at)->next;
    }
    *at = kept->next;
}

size_t layer_read_most(const vic_t *card)
{
    return card->ops->read_most(card);
}
