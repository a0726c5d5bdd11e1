/* Messages that were published and are not answered yet, by delivery tag. */
#include "publish.h"

#include <stdlib.h>

bool flight_open(struct flight *flight, size_t window)
{
    *flight = (struct flight){calloc(window, sizeof(struct message *)), window, 1, 1};
    return flight->ring != NULL;
}

bool flight_is_empty(const struct flight *flight)
{
    return flight->next == flight->oldest;
}

bool flight_is_full(const struct flight *flight)
{
    return flight->next - flight->oldest >= flight->size;
}

void flight_add(struct flight *flight, struct message *message)
{
    flight->ring[flight->next++ % flight->size] = message;
}

static void take(struct flight *flight, uint64_t tag, struct queue *answered)
{
    struct message **at = &flight->ring[tag % flight->size];
    if (*at != NULL) {
        queue_put(answered, *at);
        *at = NULL;
    }
}

bool flight_answered(struct flight *flight, uint64_t tag, bool multiple, struct queue *answered)
{
    if (tag == 0 && multiple) {
        tag = flight->next - 1; /* all */
    }
    if (tag >= flight->next || tag == 0) {
        return false;
    }
    for (uint64_t each = multiple ? flight->oldest : tag; each >= flight->oldest && each <= tag; each++) {
        take(flight, each, answered);
    }
    while (flight->oldest < flight->next && flight->ring[flight->oldest % flight->size] == NULL) {
        flight->oldest++;
    }
    return true;
}

struct message *flight_find(struct flight *flight, uint64_t session, uint64_t id)
{
    for (uint64_t tag = flight->oldest; tag < flight->next; tag++) { /* returns come in order: soon found */
        struct message *message = flight->ring[tag % flight->size];
        if (message != NULL && message->id == id && message->session == session && !message->returned) {
            return message;
        }
    }
    return NULL;
}

void flight_empty(struct flight *flight, struct queue *left)
{
    for (; flight->oldest < flight->next; flight->oldest++) {
        take(flight, flight->oldest, left);
    }
    flight->oldest = flight->next = 1;
}

void flight_close(struct flight *flight)
{
    free(flight->ring);
    flight->ring = NULL;
}
