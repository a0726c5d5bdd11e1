/* See launcher_parts.h. */
#define _GNU_SOURCE
#include "launcher_parts.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const struct file *files;
int write_errors[8];
int memory_left = -1;
int unkillable = -1;
static FILE *true_stderr, *listening;
static char *text;
static size_t text_bytes;

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    const struct file *file = files;
    while (file != NULL && file->path != NULL && strcmp(file->path, path) != 0) {
        file++;
    }
    if (file == NULL || file->path == NULL) {
        return __real_fopen(path, mode);
    }
    if (file->text == NULL) {
        errno = ENOENT;
        return NULL;
    }
    bool full = strcmp(file->text, "full") == 0;
    return full ? __real_fopen("/dev/full", mode) : fmemopen((void *)(uintptr_t)file->text, strlen(file->text), mode);
}

ssize_t __real_write(int fd, const void *data, size_t bytes);
ssize_t __wrap_write(int fd, const void *data, size_t bytes);
ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
    int error = write_errors[0];
    memmove(write_errors, write_errors + 1, sizeof write_errors - sizeof *write_errors);
    if (error == 0) {
        return __real_write(fd, data, bytes);
    }
    errno = error;
    return -1;
}

static bool is_memory_left(void)
{
    bool left = memory_left != 0;
    memory_left -= memory_left > 0;
    return left;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return is_memory_left() ? __real_malloc(bytes) : NULL;
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_memory_left() ? __real_calloc(count, bytes) : NULL;
}

void *__real_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes)
{
    return is_memory_left() ? __real_realloc(memory, bytes) : NULL;
}

pid_t __real_waitpid(pid_t pid, int *status, int flags);
pid_t __wrap_waitpid(pid_t pid, int *status, int flags);
pid_t __wrap_waitpid(pid_t pid, int *status, int flags)
{
    return unkillable < 0 ? __real_waitpid(pid, status, flags) : 0;
}

int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    unkillable += unkillable >= 0;
    return unkillable < 0 ? __real_nanosleep(time, left) : 0;
}

void listen_to_stderr(void)
{
    true_stderr = true_stderr == NULL ? stderr : true_stderr;
    if (listening != NULL) {
        fclose(listening);
        free(text);
    }
    listening = open_memstream(&text, &text_bytes);
    CHECK(listening != NULL);
    stderr = listening;
}

const char *heard(void)
{
    fflush(listening);
    stderr = true_stderr;
    return text;
}

bool was_heard(const char *what)
{
    bool found = strstr(heard(), what) != NULL;
    if (!found) {
        printf("'%s' is not in: %s\n", what, heard());
    }
    return found;
}

struct launch *a_launch(const struct job_config *config, struct options *options)
{
    static uint64_t nonce;
    static char *place[] = {"-", NULL};
    static struct program program = {.argument = place};
    struct launch *launch = calloc(1, sizeof *launch);
    const char *why;
    CHECK(launch != NULL && job_config_fault(config) == NULL);
    program.cards = config->cards;
    options->job = *config;
    if (options->program == NULL) {
        options->program = &program;
        options->programs = 1;
    }
    *launch = (struct launch){.options = options, .socket = -1, .stats_fd = -1, .core = -1};
    memset(launch->pending, 0xff, sizeof launch->pending);
    launch->memory = job_create(config, ++nonce);
    launch->job = job_attach(launch->memory, nonce, &why);
    launch->child = calloc(config->cards, sizeof *launch->child);
    CHECK(launch->memory >= 0 && launch->job != NULL && launch->child != NULL);
    for (uint32_t i = 0; i < config->cards; i++) {
        struct child *child = &launch->child[i];
        child->pidfd = child->owner_fd = child->joiner = child->out.from = child->err.from = -1;
    }
    return launch;
}

void end_launch(struct launch *launch)
{
    close(launch->memory);
    free(launch->child);
    free(launch);
}

void a_line(int ends[2])
{
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
}
