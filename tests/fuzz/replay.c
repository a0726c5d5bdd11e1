/* Gives the files that are its arguments to a target, each in memory of exactly its size, and says which one it is at
 * when the target aborts. */
#include "fuzz.h"

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
        size_t bytes = (size_t)ftell(file);
        uint8_t *data = malloc(bytes > 0 ? bytes : 1);
        rewind(file);
        CHECK(data != NULL && fread(data, 1, bytes, file) == bytes);
        fclose(file);
        fprintf(stderr, "%s\n", argv[i]); /* the last line before a report */
        LLVMFuzzerTestOneInput(data, bytes);
        free(data);
    }
    return 0;
}
