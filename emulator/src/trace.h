/* trace.h: what a card did, kept in the job's memory so that the launcher can write it down afterwards,
 * whatever became of the card. Only the process of a card writes its trace, and in timed mode the coordinator
 * while that process has not the turn.
 *
 * The room is fixed. When it is full every second run of records is dropped and from then on only every second,
 * then every fourth run of events is kept: the whole time stays covered, `stride` says how densely, and what follows
 * each other closely, such as a call and the packets that it sent, is kept together.
 */
#ifndef VIC_TRACE_H
#define VIC_TRACE_H

#include <stdint.h>

enum trace_kind {
    TRACE_CALL,    /* number: enum call_kind; count: words; value: status */
    TRACE_PACKETS, /* `count` packets reached `card`, whose counter `number` then read `value`; they left their program
                    * for_ns before, UINT64_MAX: no program sent them; what an agent delivers: at for_ns, in the time of
                    * the job on the host of the sender, by `thread` there */
    TRACE_FIFO     /* the FIFO of `card` held `value` words */
};

struct trace_record {
    uint64_t at_ns, for_ns;
    uint32_t kind, thread;
    uint32_t card, number;
    int64_t value;
    uint64_t count;
};

/* By which thread of a program, 0: unknown, and when, UINT64_MAX: by none. */
struct trace_sent {
    uint64_t at_ns;
    uint32_t thread;
};

struct trace_head {
    uint32_t count, stride;
    uint64_t seen; /* events in all */
    struct trace_record record[];
};

/* How many events that follow each other are kept or left out together. */
static inline uint32_t trace_run(uint32_t capacity)
{
    uint32_t run = capacity / 64;
    return run < 1 ? 1 : run > 64 ? 64 : run;
}

/* Keep an event, if it is its turn; there is room for two or more. A full trace drops every second run, and is half as
 * dense from then on. Another process may overwrite the head: each field is read once and checked. */
static inline void trace_add(struct trace_head *trace, uint32_t capacity, const struct trace_record *what)
{
    uint32_t stride = __atomic_load_n(&trace->stride, __ATOMIC_RELAXED);
    uint32_t count = __atomic_load_n(&trace->count, __ATOMIC_RELAXED), run = trace_run(capacity);
    uint64_t turn = trace->seen++ / run;
    stride = stride != 0 ? stride : 1;
    count = count < capacity ? count : capacity;
    if (turn % stride == 0 && count == capacity) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (i / run % 2 == 0) {
                trace->record[kept++] = trace->record[i];
            }
        }
        count = kept;
        stride = stride <= UINT32_MAX / 2 ? 2 * stride : stride;
    }
    if (turn % stride == 0) {
        trace->record[count++] = *what;
    }
    trace->count = count;
    trace->stride = stride;
}

#endif
