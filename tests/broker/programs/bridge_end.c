/* The end of vicbridge, without a broker: it waits for no interval of its figures, and what it cuts is a connection of
 * its own. */
#define _GNU_SOURCE
#define main bridge_main
#include "main.c"
#undef main

#include <amqp_tcp_socket.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define CHECK(condition)                                                                                    \
    do {                                                                                                    \
        if (!(condition)) {                                                                                 \
            fprintf(stderr, "FAILED %s:%d: %s\n", __FILE__, __LINE__, #condition);                          \
            _Exit(1);                                                                                       \
        }                                                                                                   \
    } while (0)

/* Figures are due in an hour: the end comes all the same, and has its last row. */
static void figures(const char *folder)
{
    static char rows[300], file[300]; /* options point there */
    char text[600];
    bool failed;
    snprintf(rows, sizeof rows, "%s/rows", folder);
    snprintf(file, sizeof file, "%s/figures", folder);
    bridge.options.stats = rows;
    bridge.options.prometheus = file;
    bridge.options.stats_interval_ns = UINT64_C(3600000000000);
    struct stats *stats = stats_start(&bridge, &failed);
    CHECK(stats != NULL && !failed);
    count(&bridge.counters.messages, 7);
    nanosleep(&(struct timespec){0, 100000000}, NULL); /* let it sleep */
    stats_stop(stats);
    FILE *written = fopen(rows, "r");
    CHECK(written != NULL);
    text[fread(text, 1, sizeof text - 1, written)] = 0;
    fclose(written);
    CHECK(strstr(text, ",0,7,0,0,") != NULL);
}

/* A file every second, though the rows are rarer. */
static void file_every_second(const char *folder)
{
    char file[300];
    bool failed;
    struct stat there = {0};
    snprintf(file, sizeof file, "%s/figures", folder);
    struct stats *stats = stats_start(&bridge, &failed);
    CHECK(stats != NULL && unlink(file) == 0);
    while (stat(file, &there) != 0) { /* or the alarm */
        nap();
    }
    stats_stop(stats);
}

/* Others have put a link where a file could be made: what it points to stays as it is. */
static void links(const char *folder)
{
    char file[300], link[400], victim[300];
    struct stat there = {0};
    snprintf(file, sizeof file, "%s/linked", folder);
    snprintf(link, sizeof link, "%s.%ld", file, (long)getpid());
    snprintf(victim, sizeof victim, "%s/victim", folder);
    FILE *made = fopen(victim, "w");
    CHECK(made != NULL && fputs("mine\n", made) >= 0 && fclose(made) == 0);
    CHECK(symlink(victim, link) == 0);
    CHECK(prometheus_write(&bridge, file));
    CHECK(stat(victim, &there) == 0 && there.st_size == 5);
    CHECK(lstat(file, &there) == 0 && S_ISREG(there.st_mode) && there.st_size > 1000);
}

static struct publisher one;
static int next[2];
static _Atomic bool closed;

/* The thread of the publisher: just now it leaves its connection, and has another with the same number. */
static void *comes_and_goes(void *nothing)
{
    (void)nothing;
    int old = one.link.fd;
    link_close(&one.link, false);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, next) == 0 && (next[0] == old || next[1] == old));
    atomic_store(&closed, true);
    return NULL;
}

static pthread_t other;
static bool tried;

int __real_shutdown(int fd, int how);
int __wrap_shutdown(int fd, int how);
int __wrap_shutdown(int fd, int how)
{
    if (!tried) {
        tried = true;
        CHECK(pthread_create(&other, NULL, comes_and_goes, NULL) == 0);
        for (int ms = 0; ms < 300 && !atomic_load(&closed); ms++) { /* it has to wait, if all is well */
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        }
    }
    return __real_shutdown(fd, how);
}

static void connections(void)
{
    int ends[2];
    char byte;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    one.bridge = &bridge;
    one.link.state = amqp_new_connection();
    amqp_tcp_socket_set_sockfd(amqp_tcp_socket_new(one.link.state), ends[0]);
    one.link.fd = ends[0];
    one.state = PUBLISHER_WORKS;
    one.wake = -1;
    pthread_mutex_init(&one.lock, NULL);
    pthread_cond_init(&one.free_slot, NULL);
    bridge.publisher = &one;
    publishers = 1;
    bridge.options.drain_timeout_ns = 0;
    drain();
    CHECK(tried && pthread_join(other, NULL) == 0);
    CHECK(write(next[0], "x", 1) == 1 && read(next[1], &byte, 1) == 1 && byte == 'x');
    CHECK(read(ends[1], &byte, 1) == 0); /* the old one is closed */
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    alarm(60);
    signal(SIGPIPE, SIG_IGN);
    figures(argv[1]);
    file_every_second(argv[1]);
    links(argv[1]);
    connections();
    puts("checks passed");
    return 0;
}
