/* The functions that fail.h decides about, as they stand in for those of libc. */
#define _GNU_SOURCE
#include "fail.h"

#include <pthread.h>
#include <poll.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#define REAL(name)                                                                                                \
    static __typeof__(&name) real;                                                                                \
    if (real == NULL) {                                                                                           \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                                \
    }
#define FROM __builtin_return_address(0)
#define FAILS_AS(call, type, name, bad, path, fd, params, args)                                                   \
    type name params                                                                                              \
    {                                                                                                             \
        REAL(name)                                                                                                \
        return fails(CALL_##call, FROM, path, fd) ? bad : real args;                                              \
    }
#define FAILS(type, name, bad, path, fd, params, args) FAILS_AS(name, type, name, bad, path, fd, params, args)

FAILS(void *, malloc, NULL, NULL, -1, (size_t n), (n))
FAILS(void *, calloc, NULL, NULL, -1, (size_t k, size_t n), (k, n))
FAILS(void *, realloc, NULL, NULL, -1, (void *p, size_t n), (p, n))
FAILS(void *, aligned_alloc, NULL, NULL, -1, (size_t a, size_t n), (a, n))
FAILS(int, posix_memalign, error, NULL, -1, (void **p, size_t a, size_t n), (p, a, n))
FAILS(void *, mmap, MAP_FAILED, NULL, fd, (void *p, size_t n, int prot, int flags, int fd, off_t at),
      (p, n, prot, flags, fd, at))
FAILS(int, memfd_create, -1, NULL, -1, (const char *name, unsigned flags), (name, flags))
FAILS(int, ftruncate, -1, NULL, fd, (int fd, off_t n), (fd, n))
FAILS_AS(ftruncate, int, ftruncate64, -1, NULL, fd, (int fd, off64_t n), (fd, n))
FAILS(int, fsync, -1, NULL, fd, (int fd), (fd))
FAILS(int, syncfs, -1, NULL, fd, (int fd), (fd))
FAILS(int, rename, -1, to, AT_FDCWD, (const char *from, const char *to), (from, to))
FAILS(int, unlink, -1, path, AT_FDCWD, (const char *path), (path))
FAILS_AS(unlink, int, unlinkat, -1, path, fd, (int fd, const char *path, int flags), (fd, path, flags))
FAILS(int, rmdir, -1, path, AT_FDCWD, (const char *path), (path))
FAILS(int, mkdir, -1, path, AT_FDCWD, (const char *path, mode_t mode), (path, mode))
FAILS(int, link, -1, to, AT_FDCWD, (const char *from, const char *to), (from, to))
FAILS(int, stat, -1, path, AT_FDCWD, (const char *path, struct stat *s), (path, s))
FAILS_AS(stat, int, stat64, -1, path, AT_FDCWD, (const char *path, struct stat64 *s), (path, s))
FAILS(int, lstat, -1, path, AT_FDCWD, (const char *path, struct stat *s), (path, s))
FAILS_AS(lstat, int, lstat64, -1, path, AT_FDCWD, (const char *path, struct stat64 *s), (path, s))
FAILS(int, fstat, -1, NULL, fd, (int fd, struct stat *s), (fd, s))
FAILS_AS(fstat, int, fstat64, -1, NULL, fd, (int fd, struct stat64 *s), (fd, s))
FAILS(ssize_t, readlink, -1, path, AT_FDCWD, (const char *path, char *p, size_t n), (path, p, n))
FAILS(int, pipe2, -1, NULL, -1, (int fd[2], int flags), (fd, flags))
FAILS(int, dup2, -1, NULL, from, (int from, int to), (from, to))
FAILS(int, setenv, -1, NULL, -1, (const char *name, const char *value, int over), (name, value, over))
FAILS(pid_t, fork, -1, NULL, -1, (void), ())
FAILS(int, execvp, -1, path, AT_FDCWD, (const char *path, char *const *argument), (path, argument))
FAILS(int, waitid, -1, NULL, -1, (idtype_t type, id_t id, siginfo_t *info, int flags), (type, id, info, flags))
FAILS(int, pthread_create, error, NULL, -1,
      (pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *what), (thread, attr, run, what))
FAILS(int, signalfd, -1, NULL, -1, (int fd, const sigset_t *set, int flags), (fd, set, flags))
FAILS(ssize_t, getrandom, -1, NULL, -1, (void *p, size_t n, unsigned flags), (p, n, flags))
FAILS(int, nanosleep, -1, NULL, -1, (const struct timespec *time, struct timespec *left), (time, left))
FAILS(int, poll, -1, NULL, -1, (struct pollfd *fds, nfds_t n, int ms), (fds, n, ms))
FAILS(int, socket, -1, NULL, -1, (int domain, int type, int protocol), (domain, type, protocol))
FAILS(int, bind, -1, NULL, fd, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n))
FAILS(int, listen, -1, NULL, fd, (int fd, int n), (fd, n))
FAILS(int, connect, -1, NULL, fd, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n))
FAILS(int, accept4, -1, NULL, fd, (int fd, struct sockaddr *from, socklen_t *n, int flags), (fd, from, n, flags))
FAILS(int, setsockopt, -1, NULL, fd, (int fd, int level, int name, const void *p, socklen_t n),
      (fd, level, name, p, n))
FAILS(int, getsockopt, -1, NULL, fd, (int fd, int level, int name, void *p, socklen_t *n), (fd, level, name, p, n))
FAILS(ssize_t, sendmsg, -1, NULL, fd, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
FAILS(ssize_t, recvmsg, -1, NULL, fd, (int fd, struct msghdr *message, int flags), (fd, message, flags))
FAILS(ssize_t, writev, -1, NULL, fd, (int fd, const struct iovec *part, int parts), (fd, part, parts))

/* These can also do less than they were asked for. */
#define FALLS_SHORT(name, first_param, params, args, fewer)                                                       \
    ssize_t name params                                                                                           \
    {                                                                                                             \
        REAL(name)                                                                                                \
        if (!fails(CALL_##name, FROM, NULL, first_param)) {                                                       \
            return real args;                                                                                     \
        }                                                                                                         \
        return error != 0 ? -1 : real fewer;                                                                      \
    }
FALLS_SHORT(read, fd, (int fd, void *p, size_t n), (fd, p, n), (fd, p, (n + 1) / 2))
FALLS_SHORT(write, fd, (int fd, const void *p, size_t n), (fd, p, n), (fd, p, (n + 1) / 2))
FALLS_SHORT(pread, fd, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), (fd, p, (n + 1) / 2, at))
FALLS_SHORT(pwrite, fd, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), (fd, p, (n + 1) / 2, at))
FALLS_SHORT(send, fd, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags), (fd, p, (n + 1) / 2, flags))
FALLS_SHORT(recv, fd, (int fd, void *p, size_t n, int flags), (fd, p, n, flags), (fd, p, (n + 1) / 2, flags))

#define OPENS(name)                                                                                               \
    int name(const char *path, int flags, ...)                                                                    \
    {                                                                                                             \
        REAL(name)                                                                                                \
        va_list more;                                                                                             \
        va_start(more, flags);                                                                                    \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                                   \
        va_end(more);                                                                                             \
        return fails(CALL_open, FROM, path, AT_FDCWD) ? -1 : real(path, flags, mode);                             \
    }
OPENS(open)
OPENS(open64)

#define OPENS_A_STREAM(name)                                                                                      \
    FILE *name(const char *path, const char *mode)                                                                \
    {                                                                                                             \
        REAL(name)                                                                                                \
        bool now = fails(CALL_fopen, FROM, path, AT_FDCWD);                                                       \
        FILE *file = now && error != 0 ? NULL : real(path, mode);                                                 \
        if (now && file != NULL && mode[0] != 'r') {                                                              \
            long full = syscall(SYS_openat, AT_FDCWD, "/dev/full", O_WRONLY | O_CLOEXEC, 0);                      \
            syscall(SYS_dup3, full, fileno(file), O_CLOEXEC);                                                     \
            syscall(SYS_close, full);                                                                             \
        }                                                                                                         \
        return file;                                                                                              \
    }
OPENS_A_STREAM(fopen)
OPENS_A_STREAM(fopen64)

int close(int fd) /* closes all the same, as Linux does */
{
    REAL(close)
    bool now = fails(CALL_close, FROM, NULL, fd);
    int status = real(fd);
    errno = now ? error : errno;
    return now ? -1 : status;
}

int fclose(FILE *file)
{
    REAL(fclose)
    bool now = fails(CALL_fclose, FROM, NULL, fileno(file));
    int status = real(file);
    errno = now ? error : errno;
    return now ? EOF : status;
}

#define CONTROLS(name)                                                                                            \
    int name(int fd, int what, ...)                                                                               \
    {                                                                                                             \
        REAL(name)                                                                                                \
        va_list more;                                                                                             \
        va_start(more, what);                                                                                     \
        void *with = va_arg(more, void *);                                                                        \
        va_end(more);                                                                                             \
        return fails(CALL_fcntl, FROM, NULL, fd) ? -1 : real(fd, what, with);                                     \
    }
CONTROLS(fcntl)
CONTROLS(fcntl64)

long syscall(long number, ...)
{
    REAL(syscall)
    va_list more;
    long a[6];
    va_start(more, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(more, long);
    }
    va_end(more);
    bool wakes = (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE;
    enum call call = number == SYS_futex               ? (wakes ? CALL_futex_wake : CALL_futex_wait)
                     : number == SYS_pidfd_open        ? CALL_pidfd_open
                     : number == SYS_pidfd_send_signal ? CALL_pidfd_send_signal
                                                       : KINDS;
    return call != KINDS && fails(call, FROM, NULL, -1) ? -1 : real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
