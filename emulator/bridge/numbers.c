/* Numbers, sizes and times of the command line, and names that were nearly right. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

bool read_count(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    *value = number;
    return *text >= '0' && *text <= '9' && errno == 0 && *end == 0 && number >= least && number <= most;
}

struct unit {
    const char *name;
    double factor;
};

static bool read_unit(const char *text, const struct unit *units, size_t count, uint64_t *value)
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

bool read_bytes(const char *text, uint64_t *bytes)
{
    static const struct unit units[] = {{"", 1},     {"B", 1},    {"KiB", 1024},       {"MiB", 1048576},
                                        {"kB", 1e3}, {"MB", 1e6}, {"GiB", 1073741824}, {"GB", 1e9}};
    return read_unit(text, units, sizeof units / sizeof *units, bytes);
}

bool read_time(const char *text, uint64_t *ns)
{
    static const struct unit units[] = {{"", 1e9}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    return read_unit(text, units, sizeof units / sizeof *units, ns);
}

enum { LONGEST = 40 };

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
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]),
                   least = row[j] < row[j - 1] ? row[j] : row[j - 1];
            diagonal = row[j];
            row[j] = least + 1 < change ? least + 1 : change;
        }
    }
    return row[n];
}

const char *nearest(const char *text, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t least = strlen(text) / 2 + 1;
    for (size_t i = 0; i < count; i++) {
        size_t far = distance(text, names[i]);
        if (far < least) {
            least = far;
            best = names[i];
        }
    }
    return best;
}
