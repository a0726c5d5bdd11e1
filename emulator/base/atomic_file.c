/* Files that no process sees half written, see atomic_file.h. The folder may be one in which others can put links: so
 * the other name must be new (O_EXCL), and is random. */
#define _GNU_SOURCE
#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "entropy.h"

enum { TRIES = 100 };

static int create(const char *path, char *made, size_t size)
{
    for (int i = 0; i < TRIES; i++) {
        uint32_t drawn = 0;
        if (!entropy_draw(&drawn, sizeof drawn)) {
            drawn = (uint32_t)getpid() + (uint32_t)i; /* new it is all the same */
        }
        snprintf(made, size, "%s.%08" PRIx32, path, drawn);
        int fd = open(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
    }
    return -1;
}

FILE *atomic_file_begin(const char *path, char **made)
{
    size_t size = strlen(path) + 16;
    *made = malloc(size);
    if (*made == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    int fd = create(path, *made, size);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL) {
        int error = errno;
        if (fd >= 0) {
            unlink(*made);
            close(fd);
        }
        free(*made);
        errno = error;
    }
    return file;
}

int atomic_file_end(FILE *file, char *made, const char *path)
{
    bool good = ferror(file) == 0;
    errno = EIO; /* if it was lost before this */
    good = fclose(file) == 0 && good && rename(made, path) == 0;
    int error = good ? 0 : errno;
    if (!good) {
        unlink(made);
    }
    free(made);
    return error;
}
