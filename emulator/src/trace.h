/* trace.h: what a card did, kept in the job's memory so that the launcher can write it down afterwards,
 * whatever became of the card. Only the process of a card writes its trace, and in timed mode the coordinator
 * while that process has not the turn.
 *
 * The room is fixed. When it is full every second record is dropped and from then on only every second,
 * then every fourth event is kept: the whole run stays covered, and `stride` says how densely.
 */
#ifndef VIC_TRACE_H
#define VIC_TRACE_H

#include <stdint.h>

enum trace_kind {
    TRACE_CALL,    /* number: enum call_kind; count: words; value: status */
    TRACE_PACKETS, /* `count` packets reached `card`, whose counter `number` then read `value`; they left their program
                    * for_ns before, UINT64_MAX: no program sent them */
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

/* Keep an event, if it is its turn; there is room for two or more. A full trace drops every second record, and is half as dense from then
 * on. Whoever shares the memory may have written over the head: it is read once, and never believed. */
static inline void trace_add(struct trace_head *trace, uint32_t room, const struct trace_record *what)
{
    uint32_t stride = __atomic_load_n(&trace->stride, __ATOMIC_RELAXED);
    uint32_t count = __atomic_load_n(&trace->count, __ATOMIC_RELAXED);
    stride = stride != 0 ? stride : 1;
    count = count < room ? count : room;
    if (trace->seen++ % stride == 0) {
        if (count == room) {
            for (uint32_t i = 0; 2 * i < count; i++) {
                trace->record[i] = trace->record[2 * i];
            }
            count = (count + 1) / 2;
            stride *= 2;
        }
        trace->record[count++] = *what;
        trace->count = count;
    }
    trace->stride = stride;
}

#endif
