/* events.h: descriptors that poll readable when what a program waits for is there.
 *
 * Another process counts a counter down. It wakes the sleepers of this card's bell and knows nothing of descriptors. So
 * one thread, started with the first descriptor, sleeps at the bell and writes to the descriptors that are ready.
 */
#ifndef VIC_EVENTS_H
#define VIC_EVENTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "vic.h"

struct event;

struct events {
    pthread_mutex_t lock; /* of what follows */
    struct event *first;
    pthread_t thread;
    bool runs, stop;
};

void events_open(struct events *events);
void events_close(struct vic *card); /* every descriptor is readable once more, and closed */
void events_dispose(struct events *events);

int functional_event_fd(struct vic *card, uint64_t counters, size_t fifo_min, int *fd);

#endif
