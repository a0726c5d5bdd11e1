/* The CRC-32 of each argument in hex, the sum of all last. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../../emulator/load/digest.c"

int main(int argc, char **argv)
{
    uint64_t sum = 0;
    for (int i = 1; i < argc; i++) {
        printf("%08" PRIx32 "\n", crc32(argv[i], strlen(argv[i])));
        digest_add(&sum, argv[i], strlen(argv[i]));
    }
    printf("%016" PRIx64 "\n", sum);
    return 0;
}
