/* The command line of vicrun and the card files that it reads: is every one taken with a job that can be made, or
 * refused with a reason? The input: a card file up to a 0, then arguments, one a line; "@" is that file. */
#define _GNU_SOURCE
#include "../fuzz.h"
#include "options.h"

#include <getopt.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARGUMENTS = 40 };

static int own = -1; /* the only descriptor that may be closed */

/* --stats-fd closes what it is given. The linker gives us that call. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    return own < 0 || fd == own ? __real_close(fd) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char name[40], *text = malloc(bytes + 1), *argument[ARGUMENTS + 1];
    struct options options;
    int count = 0;
    CHECK(text != NULL);
    memcpy(text, data, bytes);
    text[bytes] = 0;
    size_t before = strlen(text);
    int file = memfd_create("card", 0);
    CHECK(file >= 0 && write(file, text, before) == (ssize_t)before);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    argument[count++] = "vicrun";
    char *line = text + (before < bytes ? before + 1 : before);
    while (count < ARGUMENTS && *line != 0) {
        char *end = line + strcspn(line, "\n");
        char *next = end + (*end != 0);
        *end = 0;
        argument[count++] = strcmp(line, "@") == 0 ? name : line;
        line = next;
    }
    argument[count] = NULL;
    own = 0;
    optind = 0; /* getopt begins anew */
    quiet(true);
    int code = options_read(count, argument, &options);
    quiet(false);
    own = -1;
    CHECK(code == -1 || code == 0 || code == 2);
    if (code == -1 && options.join == NULL) {
        CHECK(job_config_fault(&options.job) == NULL && options.job.cards >= 1 && options.programs >= 1);
        const struct program *last = program_of(&options, options.job.cards - 1);
        CHECK(last == &options.program[options.programs - 1] && last->first + last->cards == options.job.cards);
        CHECK(job_bytes(&options.job) > 0);
    }
    free(options.program);
    close(file);
    free(text);
    return 0;
}
