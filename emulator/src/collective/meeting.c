/* The meeting places of this process' cards. They stay until the cards are closed, as others may ask any time. */
#include "meeting.h"

#include <stdlib.h>

#include "team.h"

static bool forget(struct kept *kept)
{
    struct meeting *meeting = (struct meeting *)kept;
    if (meeting->users != 0) {
        return false;
    }
    if (meeting->pending != NULL) {
        meeting->pending->meeting = NULL;
        team_free(meeting->pending, false);
    }
    free(meeting->seen);
    free(meeting);
    return true;
}

struct layer team_layer = LAYER_OF(struct vic_team, forget);

static int take_region(struct meeting *meeting)
{
    size_t words = 2 * RECORD * (size_t)meeting->attr.cards + ROWS * ROW;
    meeting->seen = calloc(meeting->attr.cards, sizeof *meeting->seen);
    if (meeting->seen == NULL) {
        return VIC_ESYS;
    }
    int status = vic_alloc(meeting->kept.card, words, &meeting->base);
    if (status != VIC_OK) {
        return status;
    }
    status = vic_counter_alloc(meeting->kept.card, &meeting->counter);
    if (status != VIC_OK) {
        vic_free(meeting->kept.card, meeting->base);
    }
    return status;
}

static int make(vic_t *card, const struct vic_attr *attr, struct meeting **result)
{
    struct meeting *meeting = calloc(1, sizeof *meeting);
    if (meeting == NULL) {
        return VIC_ESYS;
    }
    meeting->kept.card = card;
    meeting->attr = *attr;
    int status = take_region(meeting);
    if (status != VIC_OK) {
        free(meeting->seen);
        free(meeting);
        return status;
    }
    layer_keep(&team_layer, &meeting->kept, card);
    *result = meeting;
    return VIC_OK;
}

int meeting_find(vic_t *card, const struct vic_attr *attr, struct meeting **result)
{
    int status = VIC_OK;
    pthread_mutex_lock(&team_layer.lock);
    *result = (struct meeting *)layer_find(&team_layer, card);
    if (*result == NULL) {
        status = make(card, attr, result);
    }
    if (status == VIC_OK) {
        (*result)->users++;
    }
    pthread_mutex_unlock(&team_layer.lock);
    return status;
}

void meeting_enter(struct meeting *meeting)
{
    pthread_mutex_lock(&team_layer.lock);
    meeting->users++;
    pthread_mutex_unlock(&team_layer.lock);
}

void meeting_leave(struct meeting *meeting)
{
    pthread_mutex_lock(&team_layer.lock);
    meeting->users--;
    pthread_mutex_unlock(&team_layer.lock);
}

unsigned meeting_row(struct meeting *meeting)
{
    pthread_mutex_lock(&team_layer.lock);
    unsigned row = ROWS;
    for (unsigned i = 0; i < ROWS && row == ROWS; i++) { /* in turn: what was said in the last one stays for long */
        unsigned next = (meeting->next_row + i) % ROWS;
        row = (meeting->rows >> next & 1) == 0 ? next : ROWS;
    }
    if (row != ROWS) {
        meeting->rows |= UINT64_C(1) << row;
        meeting->next_row = row + 1;
    }
    pthread_mutex_unlock(&team_layer.lock);
    return row;
}

void meeting_free_row(struct meeting *meeting, unsigned row)
{
    pthread_mutex_lock(&team_layer.lock);
    meeting->rows &= ~(UINT64_C(1) << row);
    pthread_mutex_unlock(&team_layer.lock);
}
