/* fail.h: what the last failing call of a thread found wrong, which vic_error_detail tells. Every function returns
 * the status, so that a call fails by `return fail(...)`; one that succeeds has nothing to do with it.
 *
 * A call of a layer makes others, of which some fail, before it ends and after it has found what is wrong. So each status
 * has a text of its own, and fail_leave takes the one that goes with the status of the call. */
#ifndef VIC_FAIL_H
#define VIC_FAIL_H

#include <stddef.h>
#include <stdint.h>

#include "vic.h"

#if defined __GNUC__
#define FAIL_COLD __attribute__((cold, noinline))
#define FAIL_HOT __attribute__((always_inline)) /* though what happens when it fails makes it large */
#define FAIL_PRINTF(text, first) __attribute__((cold, noinline, format(printf, text, first)))
#else
#define FAIL_COLD
#define FAIL_HOT
#define FAIL_PRINTF(text, first)
#endif

/* What is kept for a thread: the status of its last failing call; and, while a call of a layer goes on, a bit for each
 * status that has failed in it and whose text has to stay. */
struct fail_state {
    int last;
    uint16_t given, held;
};

extern _Thread_local struct fail_state fail_state;

/* A text with numbers. */
int fail(int status, const char *format, ...) FAIL_PRINTF(2, 3);

/* The text of the status; nothing is formatted, as waits that time out are no rare thing. VIC_OK: nothing. */
int fail_as(int status);

/* A call of a layer begins: texts of earlier calls do not belong to it. */
static inline struct fail_state fail_enter(void)
{
    struct fail_state *now = &fail_state, outer = *now;
    now->given = 0;
    return outer;
}

int fail_leave_with(struct fail_state outer, int status) FAIL_COLD;

/* The call of a layer ends with this status, and with the last text that was written for that status during the call. */
static inline int fail_leave(struct fail_state outer, int status)
{
    if (__builtin_expect(status != VIC_OK, 0)) {
        return fail_leave_with(outer, status);
    }
    fail_state = outer;
    return VIC_OK;
}

/* VIC_ECLOSED: this handle was closed. */
int fail_closed(void) FAIL_COLD;

/* Keep the present text of this status until the call of the layer ends. */
void fail_hold(int status);

/* VIC_EPEER: this card died. */
int fail_dead(uint32_t card) FAIL_COLD;

/* VIC_EINVAL: something is NULL that was needed, in the words of the check. */
int fail_null(int card_is_null, const char *needed) FAIL_COLD;

#endif
