/* --serve: a socket at which programs of the same user can join the job, on cards that have no program. */
#define _GNU_SOURCE
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "join.h"
#include "launcher.h"
#include "seat.h"
#include "vic.h"

#if !defined SO_PEERPIDFD && (defined __x86_64__ || defined __aarch64__)
#define SO_PEERPIDFD 77
#endif

static int refuse(const struct launch *launch, const char *why)
{
    const char *where = launch->where != NULL ? launch->where : "";
    fprintf(stderr, "vicrun: %s--serve: '%s' %s\n", where, launch->options->serve, why);
    return 2;
}

/* True if no other user can put a file there, or replace the socket. */
static const char *folder_fault(const char *path)
{
    char copy[sizeof((struct sockaddr_un *)NULL)->sun_path];
    struct stat folder;
    strcpy(copy, path);
    if (stat(dirname(copy), &folder) != 0) {
        return errno == ENOENT || errno == ENOTDIR ? "is in a folder that does not exist" : strerror(errno);
    }
    bool own = folder.st_uid == geteuid() && (folder.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    return own ? NULL : "is in a folder that others can write to: use one of your own (mkdir -m 700)";
}

static const char *make_room(const struct sockaddr_un *address)
{
    struct stat there;
    if (lstat(address->sun_path, &there) != 0) {
        return NULL;
    }
    if (!S_ISSOCK(there.st_mode)) {
        return "exists, and is no socket";
    }
    int probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); /* it may be stopped, with a full queue */
    if (probe < 0) {
        return strerror(errno);
    }
    bool called = connect(probe, (const struct sockaddr *)address, sizeof *address) == 0;
    bool answers = called || errno != ECONNREFUSED;
    close(probe);
    if (answers) {
        return "is served by another job";
    }
    unlink(address->sun_path); /* of a launcher that was killed */
    return NULL;
}

int serve_open(struct launch *launch)
{
    const char *path = launch->options->serve;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    launch->socket = -1;
    memset(launch->pending, 0xff, sizeof launch->pending); /* -1 */
    if (path == NULL) {
        return -1;
    }
    if (strlen(path) >= sizeof address.sun_path) {
        return refuse(launch, "is too long for the name of a socket");
    }
    strcpy(address.sun_path, path);
    const char *fault = folder_fault(path);
    fault = fault == NULL ? make_room(&address) : fault;
    if (fault != NULL) {
        return refuse(launch, fault);
    }
    /* A process that sees the socket may join, so it gets its name only when it listens. */
    struct sockaddr_un hidden = {.sun_family = AF_UNIX};
    const char *name = strrchr(path, '/');
    int folder = name == NULL ? 0 : (int)(name + 1 - path);
    int length = snprintf(hidden.sun_path, sizeof hidden.sun_path, "%.*s.%d", folder, path, (int)getpid());
    if (length >= (int)sizeof hidden.sun_path) {
        return refuse(launch, "is too long for the name of a socket");
    }
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t before = umask(S_IXUSR | S_IRWXG | S_IRWXO);
    struct stat made;
    bool good = fd >= 0 && bind(fd, (struct sockaddr *)&hidden, sizeof hidden) == 0 && listen(fd, 16) == 0 &&
                lstat(hidden.sun_path, &made) == 0 && rename(hidden.sun_path, path) == 0;
    umask(before);
    if (!good) {
        int error = errno;
        unlink(hidden.sun_path);
        if (fd >= 0) {
            close(fd);
        }
        return refuse(launch, strerror(error));
    }
    launch->socket = fd;
    launch->socket_inode = made.st_ino;
    return -1;
}

void serve_close(struct launch *launch)
{
    struct stat there;
    if (launch->socket >= 0) {
        close(launch->socket);
        launch->socket = -1;
        for (int i = 0; i < PENDING_MOST; i++) {
            if (launch->pending[i] >= 0) {
                close(launch->pending[i]);
            }
        }
        if (lstat(launch->options->serve, &there) == 0 && there.st_ino == launch->socket_inode) {
            unlink(launch->options->serve);
        }
    }
}

/* With the memory of the job, unless it is refused. */
static bool answer(const struct launch *launch, int joiner, struct join *what)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec text = {what, sizeof *what};
    struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
    what->kind = JOIN_ANSWER;
    if (!what->refused) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &launch->memory, sizeof(int));
    }
    return sendmsg(joiner, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof *what;
}

static bool is_taken(const struct launch *launch, uint32_t card)
{
    const struct child *child = &launch->child[card];
    return child->pidfd >= 0 || child->joiner >= 0 || child->restart_ns != 0 ||
           seat_is_held(launch->job, card, atomic_load(&launch->job->card[card].seat)); /* by what its program has left */
}

/* The card that a joiner gets; if none, `text` gets the reason. */
static uint32_t find_card(const struct launch *launch, const struct join *ask, char text[200])
{
    const struct job *job = launch->job;
    uint32_t cards = job->config.cards, end = job->first + job->here, card = ask->card != JOIN_ANY ? ask->card : job->first;
    while (ask->card == JOIN_ANY && card < end && is_taken(launch, card)) {
        card++;
    }
    if (ask->layout != JOB_LAYOUT || !job_version_fits(ask->version)) {
        snprintf(text, 200, "the job is of vicrun %s, this is vicrun %.15s", VIC_VERSION, ask->version);
    } else if (launch->signalled || atomic_load(&job->shared->poison) != 0) {
        snprintf(text, 200, "the job is about to end");
    } else if (card >= end && ask->card == JOIN_ANY) {
        snprintf(text, 200, "all %u cards%s have a program", job->here, job->here < cards ? " of this host" : "");
    } else if (card >= cards) {
        snprintf(text, 200, "the job has no card %u, but 0 .. %u", card, cards - 1);
    } else if (!job_is_here(job, card)) {
        snprintf(text, 200, "card %u is on another host, %s: join it there", card, hosts_name(&launch->options->hosts, card));
    } else if (is_taken(launch, card)) {
        snprintf(text, 200, "card %u has a program", card);
    } else {
        return card;
    }
    return JOIN_ANY;
}

/* What came first from a new connection. False: nothing came of it. */
static bool admit(struct launch *launch, int joiner, const struct join *ask)
{
    struct join reply = {.nonce = launch->job->nonce};
    reply.card = find_card(launch, ask, reply.text);
    reply.refused = reply.card == JOIN_ANY;
    if (reply.refused) {
        answer(launch, joiner, &reply);
        return false;
    }
    /* before the answer, after which the card may be opened at once */
    bool ended = card_runs_again(launch, reply.card);
    reply.number = atomic_fetch_add(&launch->job->card[reply.card].place, 1) + 1;
    if (!answer(launch, joiner, &reply)) {
        atomic_fetch_sub(&launch->job->card[reply.card].place, 1);
        if (ended) {
            card_has_ended(launch, reply.card);
        }
        return false;
    }
    struct child *child = &launch->child[reply.card];
    child->joiner = joiner;
    child->started_ns = job_clock_ns();
    child->short_lives = 0;
    child->last = false;
    launch->joiners++;
    return true;
}

void joiner_hang_up(struct launch *launch, uint32_t card)
{
    close(launch->child[card].joiner);
    launch->child[card].joiner = -1;
    launch->joiners--;
}

void joiners_hang_up(struct launch *launch)
{
    for (uint32_t i = 0; i < launch->job->config.cards; i++) {
        struct child *child = &launch->child[i];
        if (child->joiner < 0) {
            continue;
        }
        if (child->pidfd >= 0) {
            close(child->pidfd);
        }
        launch->waiting -= child->restart_ns != 0;
        child->pidfd = -1;
        child->restart_ns = 0;
        child->lost = NOT_LOST;
        joiner_hang_up(launch, i);
    }
}

/* The program of a joiner has ended, with all that it left. */
static void joiner_ended(struct launch *launch, uint32_t card, int code, bool by_signal)
{
    struct child *child = &launch->child[card];
    child->code = code;
    program_ended(launch, card, by_signal);
    if (child->restart_ns == 0) {
        if (child->code != code) {
            joiner_send(launch, card, JOIN_ENDED, child->code);
        }
        joiner_hang_up(launch, card);
    }
}

/* The process that brought a program. */
static pid_t joiner_pid(const struct launch *launch, uint32_t card)
{
    struct ucred peer = {0};
    getsockopt(launch->child[card].joiner, SOL_SOCKET, SO_PEERCRED, &peer, &(socklen_t){sizeof peer});
    return peer.pid;
}

/* -1: has ended, and was waited for. */
static int joiner_pidfd(const struct launch *launch, uint32_t card)
{
#ifdef SO_PEERPIDFD /* since Linux 6.5; without it the number may be that of another process by now */
    int pidfd, joiner = launch->child[card].joiner;
    if (getsockopt(joiner, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &(socklen_t){sizeof pidfd}) == 0) {
        return pidfd;
    }
    if (errno == ESRCH) {
        return -1;
    }
#endif
    pid_t pid = joiner_pid(launch, card);
    return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

/* Who had joined was killed, and its program is about to be: the place is free when both have gone. Who is killed hangs up
 * a moment before its program is. Behind a shell that may live on: it cannot open the card any more. */
static void joiner_lost(struct launch *launch, uint32_t card)
{
    struct child *child = &launch->child[card];
    atomic_fetch_add(&launch->job->card[card].place, 1);
    if (child->restart_ns != 0) { /* it has no program just now */
        child->restart_ns = 0;
        launch->waiting--;
        joiner_hang_up(launch, card);
        return;
    }
    child->lost = JOINER_DIES;
    child->pidfd = joiner_pidfd(launch, card);
    if (child->pidfd < 0) {
        joiner_gone(launch, card);
    }
}

void joiner_gone(struct launch *launch, uint32_t card)
{
    struct child *child = &launch->child[card];
    uint64_t seat = atomic_load(&launch->job->card[card].seat);
    pid_t owner = seat_process(launch->job, card, seat);
    bool held = owner > 0 || (!launch->signalled && seat_is_held(launch->job, card, seat)); /* by one that is not seen here */
    if (child->pidfd >= 0) {
        close(child->pidfd);
    }
    child->lost = PROGRAM_DIES;
    child->pidfd = owner > 0 ? (int)syscall(SYS_pidfd_open, owner, 0) : -1;
    if (child->pidfd >= 0 && seat_holder(launch->job, card) == owner) { /* behind a shell nobody else kills it */
        syscall(SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
    }
    if (!held) {
        joiner_ended(launch, card, 128 + 9, true);
        child->lost = NOT_LOST;
    }
}

void joiner_hear(struct launch *launch, uint32_t card)
{
    struct join said;
    ssize_t n = recv(launch->child[card].joiner, &said, sizeof said, MSG_DONTWAIT);
    if (n == (ssize_t)sizeof said && said.kind == JOIN_ENDED && launch->child[card].restart_ns == 0) {
        launch->child[card].last = said.last != 0;
        joiner_ended(launch, card, (int)(said.number & 0xff), said.by_signal != 0);
    } else if (n >= 0 || (errno != EAGAIN && errno != EINTR)) {
        shutdown(launch->child[card].joiner, SHUT_RDWR); /* if it lives it ends its program */
        joiner_lost(launch, card);
    }
}

/* If the message cannot be sent, close the connection, which ends its program; otherwise both would wait for each
 * other. */
void joiner_send(const struct launch *launch, uint32_t card, uint32_t kind, int number)
{
    struct join what = {.kind = kind, .number = (uint32_t)number};
    if (send(launch->child[card].joiner, &what, sizeof what, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        shutdown(launch->child[card].joiner, SHUT_RDWR);
    }
}

void joiners_signal(const struct launch *launch, int number)
{
    for (uint32_t i = 0; i < launch->job->config.cards; i++) {
        const struct child *child = &launch->child[i];
        if (child->joiner >= 0 && !child->lost && getpgid(joiner_pid(launch, i)) != getpgrp()) {
            joiner_send(launch, i, JOIN_SIGNAL, number);
        }
    }
}

void joiner_come(struct launch *launch)
{
    int joiner = accept4(launch->socket, NULL, NULL, SOCK_CLOEXEC);
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    if (joiner < 0) {
        return;
    }
    if (getsockopt(joiner, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid()) {
        close(joiner);
        return;
    }
    int *slot = &launch->pending[launch->connections++ % PENDING_MOST]; /* the oldest silent one makes room */
    if (*slot >= 0) {
        close(*slot);
    }
    *slot = joiner;
}

void pending_hear(struct launch *launch, int *pending)
{
    struct join ask;
    int joiner = *pending;
    *pending = -1;
    bool asks = recv(joiner, &ask, sizeof ask, MSG_DONTWAIT) == (ssize_t)sizeof ask && ask.kind == JOIN_ASK;
    if (!asks || !admit(launch, joiner, &ask)) {
        close(joiner);
    }
}
