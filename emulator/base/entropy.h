/* entropy.h: random bits from the system that cannot be predicted. */
#ifndef BASE_ENTROPY_H
#define BASE_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/random.h>

/* Fills `bytes`, at most 256, which comes in one piece; false: the system gives none. */
static inline bool entropy_draw(void *to, size_t bytes)
{
    return getrandom(to, bytes, 0) == (ssize_t)bytes;
}

#endif
