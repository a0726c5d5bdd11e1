/* The meeting places of this process' cards. They stay until the cards are closed, as others may ask any time. */
#include "meeting.h"

#include <pthread.h>
#include <stdlib.h>

#include "team.h"

/* Nobody who has this calls what takes time on a card. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct meeting *meetings;

void meeting_lock(void)
{
    pthread_mutex_lock(&lock);
}

void meeting_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static bool is_closed(vic_t *card)
{
    struct vic_attr attr;
    return vic_query_attr(card, &attr) == VIC_ECLOSED;
}

/* What cards that were closed since had allocated is free. */
static void forget_closed(void)
{
    for (struct meeting **at = &meetings; *at != NULL;) {
        struct meeting *meeting = *at;
        if (meeting->users == 0 && is_closed(meeting->card)) {
            *at = meeting->next;
            if (meeting->pending != NULL) {
                meeting->pending->meeting = NULL;
                team_free(meeting->pending, false);
            }
            free(meeting->known);
            free(meeting);
        } else {
            at = &meeting->next;
        }
    }
}

static int take_ground(struct meeting *meeting)
{
    size_t words = 2 * RECORD * (size_t)meeting->attr.cards + ROWS * ROW;
    meeting->known = calloc(2 * (size_t)meeting->attr.cards, sizeof *meeting->known);
    if (meeting->known == NULL) {
        return VIC_ESYS;
    }
    int status = vic_alloc(meeting->card, words, &meeting->base);
    if (status != VIC_OK) {
        return status;
    }
    status = vic_counter_alloc(meeting->card, &meeting->counter);
    if (status != VIC_OK) {
        vic_free(meeting->card, meeting->base);
    }
    return status;
}

static int make(vic_t *card, const struct vic_attr *attr, struct meeting **result)
{
    struct meeting *meeting = calloc(1, sizeof *meeting);
    if (meeting == NULL) {
        return VIC_ESYS;
    }
    meeting->card = card;
    meeting->attr = *attr;
    int status = take_ground(meeting);
    if (status != VIC_OK) {
        free(meeting->known);
        free(meeting);
        return status;
    }
    meeting->next = meetings;
    meetings = meeting;
    *result = meeting;
    return VIC_OK;
}

int meeting_find(vic_t *card, const struct vic_attr *attr, struct meeting **result)
{
    int status = VIC_OK;
    pthread_mutex_lock(&lock);
    forget_closed();
    *result = meetings;
    while (*result != NULL && (*result)->card != card) {
        *result = (*result)->next;
    }
    if (*result == NULL) {
        status = make(card, attr, result);
    }
    if (status == VIC_OK) {
        (*result)->users++;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void meeting_enter(struct meeting *meeting)
{
    pthread_mutex_lock(&lock);
    meeting->users++;
    pthread_mutex_unlock(&lock);
}

void meeting_leave(struct meeting *meeting)
{
    pthread_mutex_lock(&lock);
    meeting->users--;
    pthread_mutex_unlock(&lock);
}

unsigned meeting_row(struct meeting *meeting)
{
    pthread_mutex_lock(&lock);
    unsigned row = ROWS;
    for (unsigned i = 0; i < ROWS && row == ROWS; i++) { /* in turn: what was said in the last one stays for long */
        unsigned next = (meeting->next_row + i) % ROWS;
        row = (meeting->rows >> next & 1) == 0 ? next : ROWS;
    }
    if (row != ROWS) {
        meeting->rows |= UINT64_C(1) << row;
        meeting->next_row = row + 1;
    }
    pthread_mutex_unlock(&lock);
    return row;
}

void meeting_free_row(struct meeting *meeting, unsigned row)
{
    pthread_mutex_lock(&lock);
    meeting->rows &= ~(UINT64_C(1) << row);
    pthread_mutex_unlock(&lock);
}
