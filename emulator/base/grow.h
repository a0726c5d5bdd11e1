/* grow.h: arrays that grow. */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Make room for `needed` elements of `each` bytes. `array` is the address of the pointer to them, *capacity how many there is
 * room for. False: no memory; then nothing has changed. */
static inline bool grow(void *array, size_t *capacity, size_t needed, size_t each)
{
    void *old, *longer;
    size_t more = 2 * *capacity > needed ? 2 * *capacity : needed;
    if (needed <= *capacity) {
        return true;
    }
    memcpy(&old, array, sizeof old);
    longer = realloc(old, more * each);
    if (longer != NULL) {
        memcpy(array, &longer, sizeof longer);
        *capacity = more;
    }
    return longer != NULL;
}

/* The same for one more element behind `count` of them that begin at *first; they are moved to the begin when these are
 * fewer than what is free before them. */
static inline bool grow_behind(void *array, size_t *first, size_t count, size_t *capacity, size_t each)
{
    if (*first + count == *capacity && *first > count) {
        unsigned char *begin;
        memcpy(&begin, array, sizeof begin);
        memmove(begin, begin + *first * each, count * each);
        *first = 0;
    }
    return grow(array, capacity, *first + count + 1, each);
}

#endif
