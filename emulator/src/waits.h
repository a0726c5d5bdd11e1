/* waits.h: what the threads of a card wait for, in the memory of the job, so that the launcher can say who waits for what.
 *
 * A wait is written down when it first sleeps, so those that end soon cost nothing. A call of vic_message, vic_client or a
 * team waits in many short waits of the card: it says by wait_whole what the thread is in as a whole. A program that waits
 * in slices, to look at something else in between, as all in Python do, goes on with the same wait: if it says so
 * (vic_wait_slices) that stays written down between two of them, however long that takes on a busy machine.
 */
#ifndef VIC_WAITS_H
#define VIC_WAITS_H

#include <stdatomic.h>
#include <stdint.h>

/* The call, and what it waits for. Texts of the launcher: standstill.c. */
enum wait_kind {
    WAIT_NOTHING,
    WAIT_COUNTERS, /* one of `counters` to read 0, or `words` in the FIFO */
    WAIT_ROOM,     /* the FIFO of card `dest` to have room */
    WAIT_HELD,     /* packets that --reorder holds back */
    WAIT_TRANSFER,
    WAIT_BARRIER,
    WAIT_LEAVE,   /* packets to leave the card, timed mode */
    WAIT_READ,    /* words of SRAM, likewise */
    WAIT_THREAD,  /* another thread of the program, likewise */
    WAIT_MESSAGE, /* vic_message_recv */
    WAIT_OPEN,    /* vic_message_send: `dest` to open its messages */
    WAIT_RING,    /* vic_message_send: `dest` to take messages */
    WAIT_FLUSH,   /* vic_message_flush: likewise */
    WAIT_RECV,    /* vic_client_recv */
    WAIT_PUBLISH, /* vic_client_publish: `dest` to confirm or take messages */
    WAIT_CONFIRM, /* vic_client_flush */
    WAIT_ACK,     /* vic_client_ack: `dest` to take it */
    WAIT_TEAM,    /* a collective: the other members */
    WAIT_KINDS
};

enum { WAITS = 4 }; /* threads of a card that are written down */

/* True if it is a wait for whatever comes, as that of a server without requests. */
static inline int wait_receives(uint32_t kind, uint64_t counters)
{
    return kind == WAIT_MESSAGE || kind == WAIT_RECV || (kind == WAIT_COUNTERS && counters == 0);
}

/* True for a wait for space in a ring or a window. It gives up the core at once: the peer that makes space needs it for long. */
static inline int wait_is_long(uint32_t kind)
{
    return kind == WAIT_RING || kind == WAIT_PUBLISH;
}

struct card_wait {
    _Atomic uint32_t kind; /* WAIT_NOTHING: free */
    _Atomic uint32_t dest;
    _Atomic uint64_t counters, words, since_ns; /* the time of the job */
};

/* The wait that this thread is in as a whole, WAIT_NOTHING: none but that of the card. */
struct wait_whole {
    uint32_t kind, dest;
    uint64_t since_ns;
    int endless; /* flag: it has no timeout */
};

extern _Thread_local struct wait_whole wait_whole;

/* vic_wait_slices: waits of this thread are parts of one without end since then, job_clock_ns; 0: they are not. */
extern _Thread_local uint64_t wait_slices_ns;

/* Begin a wait of a call, or continue it, unless the thread is in another one already. True if this is the outermost,
 * whose wait_whole_end ends it. whole->since_ns is 0 at the first begin. */
static inline int wait_whole_begin(struct wait_whole *whole, uint64_t now_ns)
{
    if (wait_whole.kind != WAIT_NOTHING) {
        return 0;
    }
    whole->since_ns = whole->since_ns != 0 ? whole->since_ns : now_ns;
    wait_whole = *whole;
    return 1;
}

static inline void wait_whole_end(int outermost)
{
    if (outermost) {
        wait_whole.kind = WAIT_NOTHING;
    }
}

#endif
