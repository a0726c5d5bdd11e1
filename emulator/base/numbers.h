/* What the command lines of vicrun, vicload and vicbridge have in common: numbers with units, and names that
 * were nearly right. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: not such a number, or outside least .. most. */
bool read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value);
bool read_real(const char *text, double least, double most, double *value);

struct unit {
    const char *name;
    double factor;
};

/* "1.5 of a unit" without a space, such as 5ms, rounded; a unit "" is for a number alone. False: no such
 * number, or more than 1e18. */
bool read_unit(const char *text, const struct unit *units, size_t count, uint64_t *value);
bool read_time_ns(const char *text, uint64_t *ns); /* ns, us, ms, s */

/* "; did you mean 'x'?", or "" if none is near. Static until the next call. */
const char *did_you_mean(const char *text, const char *const *names, size_t count);

#endif
