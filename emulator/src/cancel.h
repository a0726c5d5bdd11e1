/* cancel.h: pthread_cancel(3) of a thread that is in a call of this library.
 *
 * A thread that ended where it sleeps would leave locks, counts and its part in a barrier behind. So what may be a
 * cancellation point is not one in here; but a wait of functional mode acts where it can undo what it did (wait.c).
 */
#ifndef VIC_CANCEL_H
#define VIC_CANCEL_H

#include <pthread.h>
#include <stdint.h>

/* Calls of vic_message, vic_client and teams that this thread is in: these have locks, and a wait of the card below must not
 * end the thread. */
extern _Thread_local uint32_t cancel_layers;

/* Until cancel_back the thread is not cancelled. The result is what cancel_back restores. */
static inline int cancel_off(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void cancel_back(int before)
{
    pthread_setcancelstate(before, NULL);
}

#endif
