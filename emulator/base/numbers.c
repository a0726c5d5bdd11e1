/* Numbers with units, and names that were nearly right. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"

bool read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    if (*text < '0' || *text > '9') {
        return false;
    }
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    *value = number;
    return errno == 0 && *end == 0 && number >= least && number <= most;
}

bool read_real(const char *text, double least, double most, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == 0 && *value >= least && *value <= most; /* not for NaN */
}

bool read_unit(const char *text, const struct unit *units, size_t count, uint64_t *value)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || !(number >= 0)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(end, units[i].name) == 0 && number * units[i].factor <= 1e18) {
            *value = (uint64_t)(number * units[i].factor + 0.5);
            return true;
        }
    }
    return false;
}

bool read_time_ns(const char *text, uint64_t *ns)
{
    static const struct unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    return read_unit(text, units, sizeof units / sizeof *units, ns);
}

enum { LONGEST = 40 };

/* Insertions, deletions and changes that turn one text into the other. */
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1], m = strlen(a), n = strlen(b);
    if (m > LONGEST || n > LONGEST) {
        return LONGEST;
    }
    for (size_t j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= m; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            size_t least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = change < least ? change : least;
        }
    }
    return row[n];
}

static const char *nearest(const char *text, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t least = 1 + strlen(text) / 2;
    for (size_t i = 0; i < count; i++) {
        size_t far = distance(text, names[i]);
        if (far < least) {
            least = far;
            best = names[i];
        }
    }
    return best;
}

const char *did_you_mean(const char *text, const char *const *names, size_t count)
{
    static char hint[100];
    const char *name = nearest(text, names, count);
    hint[0] = 0;
    if (name != NULL) {
        snprintf(hint, sizeof hint, "; did you mean '%s'?", name);
    }
    return hint;
}
