/* Reductions of words. */
#include "team.h"

#define EACH(expression)                                                                                    \
    for (size_t i = 0; i < n; i++) {                                                                        \
        uint64_t a = into[i], b = words[i];                                                                 \
        into[i] = (expression);                                                                             \
    }                                                                                                       \
    break

void combine(enum vic_reduction op, uint64_t *into, const uint64_t *words, size_t n)
{
    switch (op) {
    case VIC_SUM: EACH(a + b);
    case VIC_MIN: EACH(a < b ? a : b);
    case VIC_MAX: EACH(a > b ? a : b);
    case VIC_AND: EACH(a & b);
    case VIC_OR: EACH(a | b);
    case VIC_XOR: EACH(a ^ b);
    }
}
