/* --join: bring a program into a job that runs. The program is a child of this process, so its output, signals
 * and exit code are the business of who started it; what becomes of its card is the launcher's (join.h). */
#define _GNU_SOURCE
#include "join.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher.h"
#include "vic.h"

/* A job over hosts takes up to HOSTS_SLOW_MS until it runs, and has its sockets before. */
enum { ANSWER_MS = HOSTS_SLOW_MS + 1000 };

static const char silent[] = "has not answered in 19 s: is its launcher stopped?";
_Static_assert(ANSWER_MS == 19000, "the text says so");

static int refuse(const char *path, const char *why)
{
    fprintf(stderr, "vicrun: --join: '%s': %s\n", path, why);
    return -1;
}

static int call(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        return refuse(path, "is too long for the name of a socket");
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return refuse(path, strerror(errno));
    }
    const struct timeval most = {.tv_sec = ANSWER_MS / 1000}; /* for each call, connect() is one that sends */
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        close(fd);
        bool dead = error == ECONNREFUSED;
        return refuse(path, dead ? "no job serves there: its launcher was killed" : error == EAGAIN ? silent : strerror(error));
    }
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    if (!known || peer.uid != geteuid()) {
        const char *why = known ? "is served by another user" : strerror(errno);
        close(fd);
        return refuse(path, why);
    }
    return fd;
}

/* The descriptor that came with an answer, or -1; there is room for two. */
static int descriptor_of(struct msghdr *message)
{
    const struct cmsghdr *head = CMSG_FIRSTHDR(message);
    int memory[2];
    if (head == NULL) { /* a control message of another kind cannot come, as none was asked for */
        return -1;
    }
    size_t bytes = head->cmsg_len - CMSG_LEN(0);
    memcpy(memory, CMSG_DATA(head), bytes < sizeof memory ? bytes : sizeof memory);
    if (bytes >= sizeof memory) {
        close(memory[1]); /* the program would have it, too */
    }
    return memory[0];
}

/* The descriptor of the job's memory, or -1 after saying why not. */
static int ask(int launcher, const struct options *options, struct join *answer)
{
    struct join question = {.kind = JOIN_ASK, .layout = JOB_LAYOUT, .version = VIC_VERSION};
    question.card = options->card;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec text = {answer, sizeof *answer};
    struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    const char *why = NULL;
    ssize_t n = send(launcher, &question, sizeof question, MSG_NOSIGNAL);
    n = n < 0 ? n : recvmsg(launcher, &message, 0);
    int memory = n < 0 ? -1 : descriptor_of(&message);
    if (n < 0 && errno == EAGAIN) {
        why = silent;
    } else if (n != (ssize_t)sizeof *answer || answer->kind != JOIN_ANSWER) {
        why = "the job ends, or does not answer";
    } else if (answer->refused) {
        answer->text[sizeof answer->text - 1] = 0;
        why = answer->text;
    } else if (memory < 0) {
        why = "the job does not answer as it should";
    }
    if (why != NULL && memory >= 0) {
        close(memory);
    }
    return why != NULL ? refuse(options->join, why) : memory;
}

/* If the message cannot be sent, close the connection, which tells the job as well; otherwise both would wait for each
 * other. */
static bool say_ended(int launcher, int code, bool by_signal, bool last)
{
    struct join what = {.kind = JOIN_ENDED, .number = (uint32_t)code, .by_signal = by_signal, .last = last};
    bool told = send(launcher, &what, sizeof what, MSG_NOSIGNAL) == (ssize_t)sizeof what;
    if (!told) {
        fprintf(stderr, "vicrun: --join: cannot tell the job how the program ended: %s\n", strerror(errno));
        shutdown(launcher, SHUT_RDWR);
    }
    return told;
}

/* The program has ended, and so has what it left. */
static void report(struct launch *launch, struct child *child, int launcher)
{
    siginfo_t info = {0};
    while (waitid(P_PID, (id_t)child->pid, &info, WEXITED) != 0 && errno == EINTR) {
    }
    close(child->pidfd);
    child->pidfd = -1;
    children_end_orphans();
    bool by_signal = child_code(child, &info);
    launch->running = 0;
    if (!say_ended(launcher, child->code, by_signal, launch->signalled) && child->code == 0) {
        child->code = 1;
    }
}

static bool start_again(struct launch *launch, uint32_t card, int launcher)
{
    int error = child_start(launch, card, -1);
    if (error != 0) {
        fprintf(stderr, "vicrun: --join: the program cannot be started again: %s\n", strerror(error));
        launch->child[card].code = 1;
        say_ended(launcher, 1, false, true);
    }
    return error == 0;
}

/* False: that was all. */
static bool hear(struct launch *launch, uint32_t card, int launcher)
{
    struct join said;
    struct child *child = &launch->child[card];
    ssize_t n = recv(launcher, &said, sizeof said, 0);
    if (n != (ssize_t)sizeof said) {
        if (child->pidfd >= 0) { /* its own programs end with it in the same way */
            fputs("vicrun: --join: the launcher of the job was killed\n", stderr);
            syscall(SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
            report(launch, child, launcher);
        }
        return false;
    }
    if (said.kind == JOIN_SIGNAL && child->pidfd >= 0) {
        syscall(SYS_pidfd_send_signal, child->pidfd, (int)said.number, NULL, 0);
    }
    if (said.kind == JOIN_ENDED) {
        launch->code = (int)said.number;
    }
    return said.kind != JOIN_AGAIN || child->pidfd >= 0 || start_again(launch, card, launcher);
}

static void attend(struct launch *launch, uint32_t card, int launcher, int signals)
{
    struct child *child = &launch->child[card];
    uint32_t cards = launch->job->config.cards;
    for (bool more = true; more;) {
        const int from[] = {child->pidfd, launcher, signals, launch->writers,
                            writer_has_room(1) ? child->out.from : -1, writer_has_room(2) ? child->err.from : -1};
        struct pollfd watched[6];
        for (int i = 0; i < 6; i++) {
            watched[i] = (struct pollfd){.fd = from[i], .events = POLLIN};
        }
        int ready = poll(watched, 6, child->pidfd < 0 ? ANSWER_MS : -1);
        if (ready == 0) { /* it was told how the program ended */
            fprintf(stderr, "vicrun: --join: the job %s\n", silent);
            break;
        }
        if (ready < 0) {
            if (errno == EINTR) {
                continue;
            }
            fprintf(stderr, "vicrun: --join: cannot watch the program: %s\n", strerror(errno));
            children_end_orphans();
            child->code = 1;
            break;
        }
        if (watched[2].revents != 0) {
            pass_signal(launch, signals);
            more = child->pidfd >= 0 || !launch->signalled; /* it may be between two lives */
        }
        if (watched[0].revents != 0) {
            report(launch, child, launcher);
        } else if (more && watched[1].revents != 0) {
            more = hear(launch, card, launcher);
        }
        if (watched[3].revents != 0) {
            writers_heard();
        }
        if (watched[4].revents != 0) {
            stream_copy(&child->out, card, cards);
        }
        if (watched[5].revents != 0) {
            stream_copy(&child->err, card, cards);
        }
    }
    stream_finish(&child->out, card, cards);
    stream_finish(&child->err, card, cards);
    writers_finish(launch, signals);
    if (streams_lost(child, card) && child->code == 0) {
        child->code = 1;
    }
}

static int run(struct launch *launch, uint32_t card, int launcher)
{
    launch->child[card].out.from = launch->child[card].err.from = -1;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int signals = take_signals(), code = signals < 0 ? 1 : children_start(launch, card, 1);
    if (code != -1) {
        say_ended(launcher, code, false, true);
    } else {
        launch->writers = writers_open();
        attend(launch, card, launcher, signals);
        code = launch->child[card].code != 0 ? launch->child[card].code : launch->code;
    }
    return code;
}

int join_job(const struct options *options)
{
    struct join answer;
    const char *why;
    int launcher = call(options->join);
    int memory = launcher >= 0 ? ask(launcher, options, &answer) : -1;
    if (memory < 0) {
        return 1;
    }
    struct launch launch = {.options = options, .memory = memory, .joins = true, .place = answer.number, .core = -1, .writers = -1, .stats_fd = -1};
    launch.job = job_attach(memory, answer.nonce, &why);
    if (launch.job != NULL) {
        bool good = answer.card < launch.job->config.cards;
        launch.child = good ? calloc(launch.job->config.cards, sizeof *launch.child) : NULL;
        why = good ? "no memory" : "the job does not answer as it should";
    }
    if (launch.child == NULL) {
        refuse(options->join, why);
        return 1;
    }
    for (uint32_t i = 0; i < launch.job->config.cards; i++) {
        launch.child[i].pidfd = launch.child[i].joiner = launch.child[i].owner_fd = -1;
    }
    options->program->first = answer.card;
    int code = run(&launch, answer.card, launcher);
    free(launch.child);
    return code;
}
