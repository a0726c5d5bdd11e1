/* Do all versions of the checksum that this machine can run agree, and does each change of a word change it? */
#include "../../../emulator/src/message/hash.c"
#include "../../../emulator/src/message/wire.c"
#include "harness.h"

static unsigned char data[8 * BLOCK_BYTES + 8], copy[sizeof data];

static void agrees(sum_function *version)
{
    uint64_t sum[2][LANES] = {{1, 2, 3}, {1, 2, 3}};
    memset(copy, 0, sizeof copy);
    sum_plain(sum[0], data + 3, 8, NULL);
    version(sum[1], data + 3, 8, copy + 1);
    CHECK(memcmp(sum[0], sum[1], sizeof sum[0]) == 0);
    CHECK(copy[0] == 0 && memcmp(data + 3, copy + 1, 8 * BLOCK_BYTES) == 0);
    version(sum[1], data, 1, NULL);
    CHECK(memcmp(sum[0], sum[1], sizeof sum[0]) != 0);
}

static void notices(size_t bytes)
{
    uint64_t hash = wire_hash(7, data, bytes, NULL);
    CHECK(hash != wire_hash(8, data, bytes, NULL));
    for (size_t i = 0; i < bytes; i++) {
        data[i] ^= (unsigned char)(1u << i % 8);
        CHECK(hash != wire_hash(7, data, bytes, copy));
        CHECK(memcmp(data, copy, bytes) == 0);
        data[i] ^= (unsigned char)(1u << i % 8);
        if (i >= 16 && memcmp(data + i, data + i - 16, 8) != 0 && i + 8 <= bytes) { /* words that change places */
            memcpy(copy, data, bytes);
            memcpy(copy + i, data + i - 16, 8);
            memcpy(copy + i - 16, data + i, 8);
            CHECK(hash != wire_hash(7, copy, bytes, NULL));
        }
    }
}

int main(void)
{
    hash_prepare();
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (unsigned char)dvsim_mix(i);
    }
    agrees(sum_plain);
#if defined __x86_64__ && defined __GNUC__
    if (__builtin_cpu_supports("avx2")) {
        agrees(sum_256);
    }
#endif
    const size_t sizes[] = {0, 1, 7, 8, 9, 31, 32, 33, 1023, 1024, 1025, 3000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        notices(sizes[i]);
    }
    return 0;
}
