/* layer.h: what messages, clients and collectives, the layers on vic.h, keep in a process: handles, and for each card
 * what they have allocated on it. That stays when a handle is closed, as peers may still ask or write there, and is
 * forgotten when the card was closed.
 *
 * A child made by fork() finds the locks free, and all handles of its parent closed.
 */
#ifndef VIC_LAYER_H
#define VIC_LAYER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "cancel.h"
#include "debug.h"
#include "fail.h"
#include "slab.h"
#include "vic.h"

/* What calls on a handle pass: the first member of each. One that is closed, or was given back, reads as 0. */
struct gate {
    _Atomic uint32_t open, users; /* 1, as long as it is; calls that go on */
};

static inline bool gate_is_open(const struct gate *gate)
{
    return atomic_load(&gate->open) != 0;
}

/* VIC_OK: gate_leave when the call is done. */
static inline int gate_enter(struct gate *gate)
{
    atomic_fetch_add(&gate->users, 1);
    if (!gate_is_open(gate)) {
        atomic_fetch_sub(&gate->users, 1);
        return fail_closed();
    }
    cancel_layers++;
    return VIC_OK;
}

static inline int gate_leave(struct gate *gate, int status)
{
    cancel_layers--;
    atomic_fetch_sub(&gate->users, 1);
    return status;
}

/* False: another thread has closed it. The thread that gets true waits until all calls have ended. */
static inline bool gate_close(struct gate *gate)
{
    uint32_t open = 1;
    return atomic_compare_exchange_strong(&gate->open, &open, 0);
}

static inline bool gate_in_use(const struct gate *gate)
{
    return atomic_load(&gate->users) != 0;
}

/* Define the call `name` on a handle as LOGGED does (debug.h): name_call is called behind the gate of the handle, which is
 * `of`, unless that or something else that is `needed` is NULL. */
#define GATED(name, of, needed, parameters, arguments, names, values, results, got)                         \
    static int name##_gated parameters                                                                      \
    {                                                                                                       \
        if ((of) == NULL || !(needed)) {                                                                    \
            return fail_null((of) == NULL, #needed);                                                        \
        }                                                                                                   \
        int status_ = gate_enter(&(of)->gate);                                                              \
        return __builtin_expect(status_ != VIC_OK, 0) ? status_ : gate_leave(&(of)->gate, name##_call arguments); \
    }                                                                                                       \
    LOGGED_AS(name, #name, name##_gated, parameters, arguments, (of) == NULL ? NULL : (of)->card, names, values, results, got)

/* What is kept for a card: the first member of a layer's own struct. */
struct kept {
    struct kept *next;
    vic_t *card;
};

struct layer {
    struct slab handles;
    pthread_mutex_t lock; /* of what follows; held only for calls that take no time on a card */
    struct kept *kept;
    bool (*forget)(struct kept *kept); /* free it, as its card is closed; false: a thread still uses it */
    bool begun;
    struct layer *next; /* of those that have begun */
};

#define LAYER_OF(type, forget_kept)                                                                         \
    {.handles = SLAB_OF(type), .lock = PTHREAD_MUTEX_INITIALIZER, .forget = (forget_kept)}

/* Call it before anything else of a layer: from then on forks are handled. */
void layer_begin(struct layer *layer);

/* What is kept for a card, or NULL. What belonged to closed cards is forgotten first. Needs the lock. */
struct kept *layer_find(struct layer *layer, vic_t *card);

/* Both need the lock. */
void layer_keep(struct layer *layer, struct kept *kept, vic_t *card);
void layer_drop(struct layer *layer, struct kept *kept); /* the caller frees it */

/* How many words of its SRAM a card reads sooner singly than by a transfer. */
size_t layer_read_most(const vic_t *card);

#endif
