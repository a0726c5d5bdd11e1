/* Is a descriptor of vic_event_fd readable when a packet has come, and when there is nothing to wait for any more? With
 * DIES in the environment the last card does, and the others are told. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

enum { ROUNDS = 60, MINUTE_MS = 60000 };

static int descriptor(vic_t *card, uint64_t counters, size_t fifo_min)
{
    int fd = -1;
    OK(vic_event_fd(card, counters, fifo_min, &fd));
    CHECK(fd >= 0);
    return fd;
}

static bool is_readable(int fd, int ms)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    int count = poll(&look, 1, ms);
    CHECK(count >= 0 && (count == 0 || look.revents == POLLIN));
    return count == 1;
}

static void clear(int fd)
{
    uint64_t count;
    ssize_t got = read(fd, &count, sizeof count);
    CHECK(got == sizeof count || got == -1); /* empty already: it does not block */
}

/* As an event loop does; the wake-ups that find nothing are passed. */
static uint64_t come(vic_t *card, int fd, uint64_t counters, size_t fifo_min)
{
    for (;;) {
        uint64_t ready;
        CHECK(is_readable(fd, MINUTE_MS));
        clear(fd);
        int status = vic_wait(card, counters, fifo_min, &ready, 0);
        if (status == VIC_OK) {
            return ready;
        }
        IS(status, VIC_ETIMEDOUT);
    }
}

static void refuses(vic_t *card)
{
    int fd = 77;
    IS(vic_event_fd(card, 0, 0, &fd), VIC_EINVAL);
    IS(vic_event_fd(card, 1, 0, NULL), VIC_EINVAL);
    IS(vic_event_fd(card, UINT64_C(1) << 63, 0, &fd), VIC_EINVAL);
    IS(vic_event_fd(NULL, 1, 0, &fd), VIC_EINVAL);
    IS(vic_event_fd_close(NULL, 0), VIC_EINVAL);
    IS(vic_event_fd_close(card, 0), VIC_EINVAL);
    IS(vic_event_fd_close(card, -1), VIC_EINVAL);
    CHECK(fd == 77);
}

/* Descriptors are given back; a file that gets the number of one that was closed by mistake is left alone. */
static _Thread_local int stranger;
static void given_back(vic_t *card)
{
    enum { MANY = 3000 };
    OK(vic_counter_set(card, 4, 1));
    int first = descriptor(card, 1 << 4, 0), fd = first;
    for (int i = 0; i < MANY; i++) {
        OK(vic_event_fd_close(card, fd));
        IS(vic_event_fd_close(card, fd), VIC_EINVAL);
        fd = descriptor(card, 1 << 4, 0);
    }
    CHECK(fd < first + MANY / 2); /* other threads of this process may have opened something */
    int other = eventfd(0, EFD_NONBLOCK);
    CHECK(other >= 0 && dup2(other, fd) == fd); /* closed and taken at once: other threads open files, too */
    stranger = fd;
    IS(vic_event_fd_close(card, fd), VIC_EINVAL);
    OK(vic_counter_set(card, 4, 0));
    CHECK(come(card, descriptor(card, 1 << 4, 0), 1 << 4, 0) == 1 << 4); /* the thread has looked at all */
    CHECK(!is_readable(other, 0) && close(other) == 0);
}

/* A token goes round: by a counter, and by the FIFO. */
static void ring(const struct self *self)
{
    vic_t *card = self->card;
    uint32_t right = (self->me + 1) % self->cards;
    OK(vic_counter_set(card, 5, 1));
    OK(vic_counter_set(card, 6, 1));
    int counter = descriptor(card, UINT64_C(3) << 5, 0), fifo = descriptor(card, 0, 2);
    CHECK(!is_readable(counter, 0) && !is_readable(fifo, 0));
    OK(vic_barrier(card, LONG));
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t headers[2], words[2] = {round, round}, fifo_bit = UINT64_C(1) << VIC_READY_FIFO;
        size_t n;
        headers[0] = headers[1] = vic_header(right, VIC_FIFO, 0, VIC_NO_COUNTER);
        OK(vic_put(card, right, 0, &round, 1, 5 + round % 2));
        CHECK(come(card, counter, UINT64_C(3) << 5, 0) == UINT64_C(1) << (5 + round % 2));
        OK(vic_counter_set(card, 5 + round % 2, 1));
        OK(vic_send(card, headers, words, 2));
        CHECK(come(card, fifo, 0, 2) == fifo_bit);
        OK(vic_fifo_wait(card, words, 2, 2, &n, LONG));
        CHECK(words[0] == round && words[1] == round);
        OK(vic_barrier(card, LONG));
    }
}

#ifndef IN_PROCESS
/* A child has no card; what it does with its copy of the descriptor does not end its parent's. */
static void in_a_child(vic_t *card)
{
    OK(vic_counter_set(card, 8, 1));
    int fd = descriptor(card, UINT64_C(1) << 8, 0), status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        uint64_t ready;
        int none;
        IS(vic_event_fd(card, 1, 0, &none), VIC_ECLOSED);
        IS(vic_wait(card, 1, 0, &ready, 0), VIC_ECLOSED);
        close(fd);
        _Exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    OK(vic_counter_set(card, 8, 0));
    CHECK(come(card, fd, UINT64_C(1) << 8, 0) == UINT64_C(1) << 8);
}
#endif

static void *polls(void *what)
{
    struct pollfd look = {.fd = *(const int *)what, .events = POLLIN}; /* POLLNVAL: it was closed before the poll */
    return poll(&look, 1, MINUTE_MS) == 1 ? what : NULL;
}

static void close_under(vic_t *card)
{
    OK(vic_counter_set(card, 7, 1));
    int fd = descriptor(card, UINT64_C(1) << 7, 0), other;
    void *woke;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, polls, &fd) == 0);
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    OK(vic_close(card));
    pthread_join(thread, &woke);
    CHECK(woke == &fd);
    IS(vic_event_fd(card, 1, 0, &other), VIC_ECLOSED);
    IS(vic_event_fd_close(card, fd), VIC_ECLOSED);
    CHECK(stranger == 0 || fcntl(stranger, F_GETFD) != -1);
}

static void last_one_dies(const struct self *self)
{
    uint64_t ready;
    OK(vic_counter_set(self->card, 0, 1));
    int fd = descriptor(self->card, 1, 0);
    OK(vic_barrier(self->card, LONG));
    if (self->me == self->cards - 1) {
        _Exit(3);
    }
    CHECK(is_readable(fd, MINUTE_MS));
    clear(fd); /* a look at this moment may still find something on its way */
    CHECK(is_readable(fd, MINUTE_MS));
    IS(vic_wait(self->card, 1, 0, &ready, 0), VIC_EPEER);
    puts("told");
    exit(0);
}

void run(const struct self *self)
{
    if (getenv("DIES") != NULL) {
        last_one_dies(self);
    }
    if (self->attr.mode == 1) {
        int fd;
        IS(vic_event_fd(self->card, 1, 0, &fd), VIC_EINVAL);
        IS(vic_event_fd_close(self->card, 0), VIC_EINVAL);
        CHECK(strncmp(vic_error_detail(), "timed mode has no descriptors", 29) == 0);
        return;
    }
    refuses(self->card);
    given_back(self->card);
    OK(vic_counter_set(self->card, 9, 0));
    CHECK(come(self->card, descriptor(self->card, UINT64_C(1) << 9, 0), UINT64_C(1) << 9, 0) == UINT64_C(1) << 9);
    ring(self);
#ifdef IN_PROCESS
    OK(vic_barrier(self->card, LONG));
    close_under(self->card);
    pthread_exit(NULL);
#else
    in_a_child(self->card);
    OK(vic_barrier(self->card, LONG));
    close_under(self->card);
    exit(0);
#endif
}
