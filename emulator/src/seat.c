/* Whether the process lives that has a card: see seat.h. */
#define _GNU_SOURCE
#include "seat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cancel.h"

enum { BEGAN_BITS = 40 }; /* of card_shared.since; those above are of the opening that it belongs to */
#define BEGAN ((UINT64_C(1) << BEGAN_BITS) - 1)

bool process_stat(pid_t process, struct process_stat *stat)
{
    char path[40], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "re");
    text[file != NULL ? fread(text, 1, sizeof text - 1, file) : 0] = 0;
    if (file != NULL) {
        fclose(file);
    }
    const char *name_end = strrchr(text, ')'); /* the name, before that, may have others in it */
    return name_end != NULL &&
           sscanf(name_end, ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %" SCNu64, &stat->state,
                  &stat->parent, &stat->threads, &stat->began) == 4;
}

/* Is it there, and not only waited for? -1: the kernel has no answer, or no descriptor for it. */
static int pidfd_lives(pid_t process)
{
    int fd = (int)syscall(SYS_pidfd_open, process, 0);
    if (fd < 0) {
        return errno == ENOSYS || errno == EPERM || errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -1 : 0;
    }
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    int ready = poll(&ended, 1, 0);
    close(fd);
    return ready == 0;
}

/* `began` 0: it is not known. */
static bool process_lives(pid_t process, uint64_t began)
{
    struct process_stat stat;
    int lives = pidfd_lives(process);
    if (lives == 0 || (lives < 0 && kill(process, 0) != 0 && errno == ESRCH)) {
        return false;
    }
    if (!process_stat(process, &stat)) {
        return true;
    }
    bool zombie = lives < 0 && stat.state == 'Z' && stat.threads == 0; /* the first thread may end before the others */
    return !zombie && (began == 0 || began == (stat.began & BEGAN));
}

static struct flock lock_of(uint32_t card, short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)card + 1, .l_len = 1};
}

pid_t seat_holder(const struct job *job, uint32_t card)
{
    struct flock lock = lock_of(card, F_WRLCK);
    int fd = job_descriptor(job);
    bool held = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    return !held ? -1 : lock.l_pid > 0 ? lock.l_pid : 0;
}

void seat_lock(const struct job *job, uint32_t card, uint64_t seat)
{
    struct process_stat stat = {0};
    struct flock lock = lock_of(card, F_WRLCK);
    int before = cancel_off();
    process_stat(getpid(), &stat);
    fcntl(job_descriptor(job), F_SETLK, &lock); /* first: in a PID namespace of its own its number is of another process, too */
    atomic_store(&job->card[card].since, (uint64_t)seat_opens(seat) << BEGAN_BITS | (stat.began & BEGAN));
    cancel_back(before);
}

void seat_unlock(const struct job *job, uint32_t card)
{
    struct flock lock = lock_of(card, F_UNLCK);
    fcntl(job_descriptor(job), F_SETLK, &lock);
}

static bool is_since(uint64_t since, uint64_t seat)
{
    return (seat_opens(seat) & (UINT32_MAX >> (BEGAN_BITS - 32))) == since >> BEGAN_BITS;
}

bool seat_is_known(const struct job *job, uint32_t card, uint64_t seat)
{
    return is_since(atomic_load(&job->card[card].since), seat) || seat_holder(job, card) >= 0;
}

static bool owner_lives(const struct job *job, uint32_t card, uint64_t seat)
{
    uint64_t since = atomic_load(&job->card[card].since);
    pid_t owner = (pid_t)seat_owner(seat);
    return owner > 0 && owner != getpid() && process_lives(owner, is_since(since, seat) ? since & BEGAN : 0);
}

bool seat_is_held(const struct job *job, uint32_t card, uint64_t seat)
{
    int before = cancel_off();
    bool held = seat_owner(seat) != 0 && (seat_holder(job, card) >= 0 || owner_lives(job, card, seat));
    cancel_back(before);
    return held;
}

pid_t seat_process(const struct job *job, uint32_t card, uint64_t seat)
{
    pid_t holder = seat_owner(seat) != 0 ? seat_holder(job, card) : 0;
    return holder >= 0 ? holder : owner_lives(job, card, seat) ? (pid_t)seat_owner(seat) : 0;
}
