/* fail.h: what the last failing call of a thread found wrong, which vic_error_detail tells. Every function returns
 * the status, so that a call fails by `return fail(...)`; one that succeeds has nothing to do with it. */
#ifndef VIC_FAIL_H
#define VIC_FAIL_H

#include <stddef.h>
#include <stdint.h>

#if defined __GNUC__
#define FAIL_COLD __attribute__((cold, noinline))
#define FAIL_HOT __attribute__((always_inline)) /* though what happens when it fails makes it large */
#define FAIL_PRINTF(text, first) __attribute__((cold, noinline, format(printf, text, first)))
#else
#define FAIL_COLD
#define FAIL_HOT
#define FAIL_PRINTF(text, first)
#endif

/* Whether something has been found wrong since fail_begin. */
extern _Thread_local int fail_given;

/* A text with numbers. */
int fail(int status, const char *format, ...) FAIL_PRINTF(2, 3);

/* The text of the status; nothing is formatted, as waits that time out are no rare thing. VIC_OK: nothing. */
int fail_as(int status);

/* The same, unless a text of this status has been given since fail_begin. */
int fail_keep(int status);

/* A call of a layer begins: what an earlier call found wrong says nothing of this one. */
static inline void fail_begin(void)
{
    fail_given = 0;
}

/* VIC_EPEER: this card died. */
int fail_dead(uint32_t card) FAIL_COLD;

/* VIC_EINVAL: something is NULL that was needed, in the words of the check. */
int fail_null(int card_is_null, const char *needed) FAIL_COLD;

#endif
