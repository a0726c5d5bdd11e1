/* lock.h: a lock of a layer on vic.h. A thread that waits for it calls the card meanwhile: in timed mode, where only
 * calls let time pass, the thread that has the lock could not go on otherwise.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "vic.h"

typedef _Atomic uint32_t lock_t; /* 0: free */

static inline bool lock_try(lock_t *lock)
{
    return atomic_load_explicit(lock, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(lock, 1, memory_order_acquire) == 0;
}

static inline void lock_take(vic_t *card, lock_t *lock)
{
    while (!lock_try(lock)) {
        vic_relax(card);
    }
}

static inline void lock_give(lock_t *lock)
{
    atomic_store_explicit(lock, 0, memory_order_release);
}

#endif
