/* fail.h: which call fails. fail.c is a library for LD_PRELOAD that makes the n-th call of a function fail.
 *
 *     FAULT=write:3:28      the third write() fails with errno 28; 28+: and all that follow; 0: none, only count
 *                           errno 0: it does half of what it was asked for, or a stream leads to a full disk
 *     FAULT_STATE=FILE      calls are counted there, for all processes together, and what has failed is noted
 *     FAULT_OBJECTS=a:b     only calls that come from these files (names without folders) count
 *     FAULT_PROGRAM=NAME    only in processes of this program; FAULT_CARD=N: that have this VIC_CARD
 *     FAULT_UNDER=FOLDER    only calls about paths below it, and descriptors of such
 *
 * A process that runs already is armed by fail_arm(), when this is in its environment. What a sanitizer takes
 * for itself, and what libc calls inside of itself, does not pass through here. */
#ifndef TEST_FAIL_H
#define TEST_FAIL_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS(X)                                                                                                  \
    X(malloc) X(calloc) X(realloc) X(aligned_alloc) X(posix_memalign) X(mmap) X(memfd_create) X(ftruncate)        \
    X(open) X(fopen) X(fclose) X(read) X(pread) X(write) X(writev) X(pwrite) X(fsync) X(syncfs) X(close)          \
    X(rename) X(unlink) X(rmdir) X(mkdir) X(link) X(stat) X(lstat) X(fstat) X(fcntl) X(readlink) X(pipe2)         \
    X(dup2) X(setenv) X(fork) X(execvp) X(waitid) X(pthread_create) X(signalfd) X(getrandom) X(nanosleep) X(poll) \
    X(socket) X(bind) X(listen) X(connect) X(accept4) X(setsockopt) X(getsockopt) X(send) X(sendmsg) X(recv)      \
    X(recvmsg) X(futex_wait) X(futex_wake) X(pidfd_open) X(pidfd_send_signal)

#define NUMBER(name) CALL_##name,
enum call { CALLS(NUMBER) KINDS };
#define NAME(name) #name,
static const char *const names[] = {CALLS(NAME)};

struct state { /* fault.py reads it */
    struct {
        char name[24];
        _Atomic uint64_t count;
    } call[KINDS];
    _Atomic uint64_t failed;
    char where[232];
};

static struct state *state;
static int which, error;
static uint64_t first;
static bool onward;
static const char *objects, *under;

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static void link_target(const char *path, char target[PATH_MAX])
{
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, path, target, PATH_MAX - 1);
    target[length < 0 ? 0 : length] = 0;
}

static bool is_of_program(void)
{
    const char *program = getenv("FAULT_PROGRAM"), *card = getenv("FAULT_CARD"), *mine = getenv("VIC_CARD");
    char path[PATH_MAX];
    link_target("/proc/self/exe", path);
    return (program == NULL || strcmp(last_part(path), program) == 0) &&
           (card == NULL || (mine != NULL && strcmp(card, mine) == 0));
}

__attribute__((constructor)) void fail_arm(void)
{
    const char *text = getenv("FAULT"), *path = getenv("FAULT_STATE");
    char call[24], plus = 0;
    if (text == NULL || path == NULL || state != NULL || !is_of_program()) {
        return;
    }
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct state *made = MAP_FAILED;
    if (sscanf(text, "%23[^:]:%lu:%d%c", call, &first, &error, &plus) >= 3 && fd >= 0 &&
        syscall(SYS_ftruncate, fd, sizeof *state) == 0) {
        made = (void *)syscall(SYS_mmap, NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    which = KINDS;
    for (int i = 0; made != MAP_FAILED && i < KINDS; i++) {
        strcpy(made->call[i].name, names[i]);
        which = strcmp(call, names[i]) == 0 ? i : which;
    }
    if (which == KINDS) {
        fprintf(stderr, "fail.c: FAULT=%s: unknown, or %s cannot be mapped\n", text, path);
        _exit(99);
    }
    syscall(SYS_close, fd);
    onward = plus == '+';
    objects = getenv("FAULT_OBJECTS");
    under = getenv("FAULT_UNDER");
    state = made;
}

/* Is the name of the file that this code is from in the list? */
static bool is_ours(const void *caller, char where[232])
{
    Dl_info from;
    if (dladdr(caller, &from) == 0 || from.dli_fname == NULL) {
        return false;
    }
    const char *name = last_part(from.dli_fname);
    size_t length = strlen(name);
    snprintf(where, 232, "%.100s+0x%lx", name, (unsigned long)((const char *)caller - (const char *)from.dli_fbase));
    for (const char *at = objects; at != NULL; at = strchr(at, ':')) {
        at += *at == ':';
        if (strncmp(at, name, length) == 0 && (at[length] == ':' || at[length] == 0)) {
            return true;
        }
    }
    return objects == NULL;
}

static bool is_under(const char *path, int fd)
{
    char link[40], whole[2 * PATH_MAX], folder[PATH_MAX] = "";
    if (path == NULL || path[0] != '/') {
        snprintf(link, sizeof link, fd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", fd);
        link_target(link, folder);
    }
    snprintf(whole, sizeof whole, "%s%s%s", folder, path != NULL && folder[0] != 0 ? "/" : "", path ? path : "");
    return strncmp(whole, under, strlen(under)) == 0;
}

/* Count a call, and say whether it is the one. */
static bool fails(enum call call, const void *caller, const char *path, int fd)
{
    char where[232];
    int before = errno;
    bool about_nothing = path == NULL && fd == -1; /* most: so memory costs no time where paths matter */
    if (state == NULL || (under != NULL && (about_nothing || !is_under(path, fd))) || !is_ours(caller, where)) {
        errno = before;
        return false;
    }
    uint64_t n = atomic_fetch_add(&state->call[call].count, 1) + 1;
    bool now = (int)call == which && first != 0 && (n == first || (onward && n > first));
    if (now && atomic_fetch_add(&state->failed, 1) == 0) {
        memcpy(state->where, where, sizeof where);
    }
    errno = now ? error : before;
    return now;
}

#endif
