/* Times that are a fixed part and so much a byte, to the picosecond. */
#include "engine/law.h"

/* 128-bit products: 300,000 messages of 128 KiB at 3 ns/B are 1.2e20 fs, above the range of int64_t. */
__extension__ typedef __int128 wide;

int64_t dvsim_law_total_ps(dvsim_law law, int64_t bytes, int64_t count)
{
    int64_t fixed, slope, one, all;
    if (!__builtin_mul_overflow(law.fixed_ps, 1000, &fixed) && !__builtin_mul_overflow(law.per_byte_fs, bytes, &slope) &&
        !__builtin_add_overflow(fixed, slope, &one) && !__builtin_mul_overflow(one, count, &all) &&
        !__builtin_add_overflow(all, 500, &all)) {
        return all / 1000; /* the usual case, several times faster */
    }
    wide fs = ((wide)law.fixed_ps * 1000 + (wide)law.per_byte_fs * bytes) * count;
    wide ps = (fs + 500) / 1000;
    return ps < INT64_MAX ? (int64_t)ps : INT64_MAX;
}

int64_t dvsim_law_ps(dvsim_law law, int64_t bytes)
{
    return dvsim_law_total_ps(law, bytes, 1);
}
