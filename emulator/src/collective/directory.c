/* The directories of this process' cards. They stay until the cards are closed, as others may read them at any time. */
#include "directory.h"

#include <stdlib.h>

#include "team.h"

static bool forget(struct kept *kept)
{
    struct directory *directory = (struct directory *)kept;
    if (directory->users != 0) {
        return false;
    }
    if (directory->pending != NULL) {
        directory->pending->directory = NULL;
        team_free(directory->pending, false);
    }
    free(directory->seen);
    free(directory);
    return true;
}

struct layer team_layer = LAYER_OF(struct vic_team, forget);

static int take_region(struct directory *directory)
{
    size_t words = 2 * RECORD * (size_t)directory->attr.cards + ROWS * ROW;
    directory->seen = calloc(directory->attr.cards, sizeof *directory->seen);
    if (directory->seen == NULL) {
        return VIC_ESYS;
    }
    int status = vic_alloc(directory->kept.card, words, &directory->base);
    if (status != VIC_OK) {
        return status;
    }
    status = vic_counter_alloc(directory->kept.card, &directory->counter);
    if (status != VIC_OK) {
        vic_free(directory->kept.card, directory->base);
    }
    return status;
}

static int make(vic_t *card, const struct vic_attr *attr, struct directory **result)
{
    struct directory *directory = calloc(1, sizeof *directory);
    if (directory == NULL) {
        return VIC_ESYS;
    }
    directory->kept.card = card;
    directory->attr = *attr;
    int status = take_region(directory);
    if (status != VIC_OK) {
        free(directory->seen);
        free(directory);
        return status;
    }
    layer_keep(&team_layer, &directory->kept, card);
    *result = directory;
    return VIC_OK;
}

int directory_find(vic_t *card, const struct vic_attr *attr, struct directory **result)
{
    int status = VIC_OK;
    pthread_mutex_lock(&team_layer.lock);
    *result = (struct directory *)layer_find(&team_layer, card);
    if (*result == NULL) {
        status = make(card, attr, result);
    }
    if (status == VIC_OK) {
        (*result)->users++;
    }
    pthread_mutex_unlock(&team_layer.lock);
    return status;
}

void directory_enter(struct directory *directory)
{
    pthread_mutex_lock(&team_layer.lock);
    directory->users++;
    pthread_mutex_unlock(&team_layer.lock);
}

void directory_leave(struct directory *directory)
{
    pthread_mutex_lock(&team_layer.lock);
    directory->users--;
    pthread_mutex_unlock(&team_layer.lock);
}

unsigned directory_take_row(struct directory *directory)
{
    pthread_mutex_lock(&team_layer.lock);
    unsigned row = ROWS;
    for (unsigned i = 0; i < ROWS && row == ROWS; i++) { /* round robin: what was written last in a row stays for long */
        unsigned next = (directory->next_row + i) % ROWS;
        row = (directory->rows >> next & 1) == 0 ? next : ROWS;
    }
    if (row != ROWS) {
        directory->rows |= UINT64_C(1) << row;
        directory->next_row = row + 1;
    }
    pthread_mutex_unlock(&team_layer.lock);
    return row;
}

void directory_free_row(struct directory *directory, unsigned row)
{
    pthread_mutex_lock(&team_layer.lock);
    directory->rows &= ~(UINT64_C(1) << row);
    pthread_mutex_unlock(&team_layer.lock);
}
