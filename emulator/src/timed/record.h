/* record.h: a thread that was announced before it was made; outlives it until it is joined or detached. */
#ifndef VIC_TIMED_RECORD_H
#define VIC_TIMED_RECORD_H

#include "timed/timed.h"

struct record {
    struct member *member; /* until it runs */
    struct timed *own;
    uint32_t id;
    bool ended;    /* with the lock of own, too */
    bool detached; /* the second of the two frees it */
};

void record_end(struct record *record); /* its thread has ended; with the lock of own */

#endif
