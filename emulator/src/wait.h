/* wait.h: waiting, whatever for.
 *
 * A wait first looks again and again if the job has a core for every card (else the peer that is waited for
 * could not run), then lets others run for a while (sched_yield), then sleeps under a bell that whoever
 * changes something rings. Bare spinning with more cards than cores costs four orders of magnitude. Each look,
 * while it spins only each eighth one, also sees whether the card was closed, a card died, or the job ended.
 */
#ifndef VIC_WAIT_H
#define VIC_WAIT_H

#include "bell.h"
#include "handle.h"

enum { FILLING_NS = 50 * 1000 }; /* a sleep while `filling` is true */

struct wait {
    struct bell *bell;
    bool (*ready)(void *what); /* looks once; may do what was waited for */
    void *what;
    void (*progress)(struct vic *card); /* called at each look */
    bool (*hopeless)(void *what);       /* true: no card can make it ready any more, VIC_EPEER; or NULL */
    bool (*coming)(struct vic *card);   /* this card itself has sent what may make it ready */
    bool (*filling)(const struct vic *card); /* true: what it waits for may come without a bell; or NULL */
    void (*undo)(void *what);           /* the thread is cancelled in the wait; or NULL */
    uint64_t slice_ns;                  /* looks at least so often though no bell rings; 0: often enough */
    uint32_t kind, dest;                /* enum wait_kind, and what goes with it: a card, */
    uint64_t counters, words;           /* counters, words in the FIFO */
};

/* Write down what is waited for since then, in the time of the job; NULL: more threads wait than there are places. And that
 * it is waited for no longer. */
struct card_wait *wait_note(struct vic *card, const struct wait *wait, uint64_t start_ns);
void wait_forget(struct vic *card, struct card_wait *noted, int status);
void wait_forked(void); /* in the child, whose parent goes on with the wait of this thread */

/* VIC_OK, VIC_ETIMEDOUT, VIC_EPEER, VIC_ECLOSED as vic.h says. */
int wait_for(struct vic *card, const struct wait *wait, uint64_t timeout_ns);

/* VIC_OK as long as a wait that does not find what it wants would go on. */
int wait_ends(struct vic *card, const struct wait *wait);

/* All other cards have been left: a wait for them ends with VIC_ECLOSED. */
bool wait_is_alone(const struct vic *card);

/* Inside a spin loop: let the core do something else for a moment. */
static inline void spin_pause(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

#endif
