/* hooks.h: how timed mode learns of what threads do outside of the library.
 *
 * libvic-threads.so is loaded before everything else into the programs of a timed job (LD_PRELOAD, set by the
 * launcher). It stands in for the calls of POSIX that make threads, join them, and by which they wait for
 * each other or sleep; and it has this variable, which libvic sets when a card is opened. Without it timed
 * mode works, but threads come in the order in which the machine lets them.
 *
 * A thread is in model time if it has the turn: it has called the library, or was made by one that had.
 * Threads wait for each other at slots: a lock, a semaphore or a condition has the slot of its address. Two of them may
 * share one.
 */
#ifndef VIC_THREADS_HOOKS_H
#define VIC_THREADS_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#define VIC_THREAD_HOOKS "vic_thread_hooks"

enum { THREAD_SLOTS = 256 };

enum thread_wait {
    THREAD_OUTSIDE, /* not in model time, or nobody is who could end the wait: to be waited for as usual */
    THREAD_DONE,
    THREAD_TIMED_OUT
};

typedef bool thread_try(void *what); /* once; true: that was what the thread waited for */

struct thread_hooks {
    bool (*begins)(void **record); /* before a thread is made, by its maker; NULL: outside of model time. False:
                                    * no memory */
    void (*runs)(void *record);    /* in it, before its program: returns when it is its turn */
    void (*failed)(void *record);  /* it could not be made */
    void (*joins)(void *record);   /* another thread is going to join it: returns when it has ended */
    void (*detaches)(void *record); /* nobody will */

    bool (*is_own)(void); /* is this thread in the library, whose conditions are nobody else's? */

    /* Will `waits` take the turn from this thread? */
    bool (*may_wait)(void);
    /* Others have the turn until `attempt` succeeds. ns: UINT64_MAX waits for ever. */
    enum thread_wait (*waits)(uint32_t slot, thread_try *attempt, void *what, uint64_t ns);
    void (*changed)(uint32_t slot); /* an attempt there may succeed now; from any thread, and from a signal
                                      * handler that interrupts one in the library */
    void (*leaves)(void);            /* this thread is going to wait for another process: others have the turn, and model
                                      * time goes on without it, until its next call */
    bool (*sleeps)(uint64_t ns);     /* false: not in model time */
    bool (*yields)(void);
};

/* NULL until a card is opened, perhaps while other threads look. */
typedef const struct thread_hooks *_Atomic thread_hooks_ptr;
extern thread_hooks_ptr vic_thread_hooks; /* in libvic-threads.so */

#endif
