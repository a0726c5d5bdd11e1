/* The MD5 of each argument, as md5sum writes it; the sum of all last. */
#include <stdio.h>
#include <string.h>

#include "../../../emulator/load/md5.c"

int main(int argc, char **argv)
{
    struct md5_sum sum = {0, 0};
    for (int i = 1; i < argc; i++) {
        unsigned char digest[16];
        md5(argv[i], strlen(argv[i]), digest);
        md5_add(&sum, argv[i], strlen(argv[i]));
        for (int k = 0; k < 16; k++) {
            printf("%02x", digest[k]);
        }
        puts("");
    }
    printf("%016llx%016llx\n", (unsigned long long)sum.high, (unsigned long long)sum.low);
    return 0;
}
