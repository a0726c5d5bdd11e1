/* trace.h: what a card did, kept in the job's memory so that the launcher can write it down afterwards,
 * whatever became of the card. Only the process of a card writes its trace.
 *
 * The room is fixed. When it is full every second record is dropped and from then on only every second,
 * then every fourth event is kept: the whole run stays covered, and `stride` says how densely.
 */
#ifndef VIC_TRACE_H
#define VIC_TRACE_H

#include <stdint.h>

enum trace_kind {
    TRACE_CALL,    /* number: enum call_kind; count: words; value: status */
    TRACE_PACKETS, /* `count` packets reached `card`, whose counter `number` then read `value` */
    TRACE_FIFO     /* the FIFO of `card` held `value` words */
};

struct trace_record {
    uint64_t at_ns, for_ns;
    uint32_t kind, thread;
    uint32_t card, number;
    int64_t value;
    uint64_t count;
};

struct trace_head {
    uint32_t count, stride;
    uint64_t seen; /* events in all */
    struct trace_record record[];
};

#endif
