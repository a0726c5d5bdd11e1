/* What vicrun writes while programs run: lines with a prefix, and its own messages. Threads do that, one for standard
 * output and one for standard error, so that a reader who stalls holds up nobody but the programs that write: deaths
 * are noticed and signals passed on meanwhile. Nothing is lost and the order stays; when too much waits, no more is
 * read from the programs. At the end vicrun waits for its readers, unless a signal tells it to end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "launcher.h"

enum {
    MOST = 64 << 10,    /* bytes that wait before programs have to */
    OWN_MOST = 4 << 20, /* before messages of vicrun itself are dropped */
    GIVE_UP_MS = 1000   /* after a signal that ends: without a byte taken */
};

struct chunk {
    struct chunk *next;
    struct stream *from; /* NULL: a message of vicrun */
    size_t bytes;
    char text[];
};

static struct writer {
    int fd;
    bool runs, stops, full, lost; /* full: a program waits for room; lost: given up */
    pthread_cond_t some;
    struct chunk *first, *last; /* the first is being written */
    size_t bytes;
    uint64_t written; /* chunks */
} writers[2] = {{.fd = 1, .some = PTHREAD_COND_INITIALIZER}, {.fd = 2, .some = PTHREAD_COND_INITIALIZER}};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that, and of stream.error */
static int event = -1; /* written to when there is room again, and at an end */

/* 0, or an errno. */
static int write_whole(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, text, n);
        if (done > 0) {
            text += done;
            n -= (size_t)done;
        } else if (done < 0 && errno == EAGAIN) { /* another process has made the output one that does not wait */
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        } else if (done < 0 && errno != EINTR) {
            return errno == EPIPE ? 0 : errno; /* that no process reads it any more is no error */
        }
    }
    return 0;
}

static void note_error(struct stream *from, int error)
{
    if (from != NULL && from->error == 0) {
        from->error = error;
    }
}

static void *run(void *self)
{
    struct writer *writer = self;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (writer->first == NULL && !writer->stops) {
            pthread_cond_wait(&writer->some, &lock);
        }
        struct chunk *chunk = writer->first;
        if (chunk == NULL) {
            break;
        }
        pthread_mutex_unlock(&lock);
        int error = write_whole(writer->fd, chunk->text, chunk->bytes);
        pthread_mutex_lock(&lock);
        note_error(chunk->from, error);
        writer->first = chunk->next;
        writer->bytes -= chunk->bytes;
        writer->written++;
        free(chunk);
        if ((writer->full && writer->bytes < MOST / 2) || writer->stops) {
            writer->full = false;
            eventfd_write(event, 1);
        }
    }
    writer->runs = false;
    eventfd_write(event, 1);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Under the lock. False: it has to be written here and now. */
static bool put(struct writer *writer, struct stream *from, const char *text, size_t n)
{
    if (!writer->runs) {
        pthread_t thread;
        writer->runs = pthread_create(&thread, NULL, run, writer) == 0 && pthread_detach(thread) == 0;
    }
    struct chunk *chunk = writer->runs && !writer->lost ? malloc(sizeof *chunk + n) : NULL;
    if (!writer->runs || (chunk == NULL && from == NULL && !writer->lost)) {
        return false;
    }
    if (chunk == NULL || (from == NULL && writer->bytes > OWN_MOST)) {
        note_error(from, writer->lost ? ETIMEDOUT : ENOMEM);
        free(chunk);
        return true;
    }
    *chunk = (struct chunk){.from = from, .bytes = n};
    memcpy(chunk->text, text, n);
    *(writer->first == NULL ? &writer->first : &writer->last->next) = chunk;
    writer->last = chunk;
    writer->bytes += n;
    pthread_cond_signal(&writer->some);
    return true;
}

static void put_or_write(struct stream *from, int fd, const char *text, size_t n)
{
    bool taken = false;
    if (event >= 0 && (fd == 1 || fd == 2)) {
        pthread_mutex_lock(&lock);
        taken = !writers[fd - 1].stops && put(&writers[fd - 1], from, text, n);
        pthread_mutex_unlock(&lock);
    }
    if (!taken) {
        note_error(from, write_whole(fd, text, n));
    }
}

void writer_put(struct stream *from, const char *text, size_t n)
{
    put_or_write(from, from->to, text, n);
}

static ssize_t write_message(void *nothing, const char *text, size_t n)
{
    (void)nothing;
    put_or_write(NULL, 2, text, n);
    return (ssize_t)n;
}

int writers_open(void)
{
    event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
#ifdef __GLIBC__ /* without this a message may have to wait for its reader */
    FILE *messages = event < 0 ? NULL : fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_message});
    if (messages != NULL) {
        setvbuf(messages, NULL, _IOLBF, BUFSIZ);
        stderr = messages;
    }
#endif
    return event;
}

bool writer_has_room(int fd)
{
    struct writer *writer = &writers[fd - 1];
    pthread_mutex_lock(&lock);
    writer->full = writer->bytes >= MOST && !writer->lost;
    bool has_room = !writer->full;
    pthread_mutex_unlock(&lock);
    return has_room;
}

void writers_heard(void)
{
    eventfd_t count;
    eventfd_read(event, &count);
}

static uint64_t written(void)
{
    pthread_mutex_lock(&lock);
    uint64_t chunks = writers[0].written + writers[1].written;
    pthread_mutex_unlock(&lock);
    return chunks;
}

/* What waits is lost; its writer hangs in a call, and nothing may be written there any more. */
static void give_up(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2; i++) {
        struct writer *writer = &writers[i];
        writer->lost = writer->runs && writer->first != NULL;
        for (struct chunk *chunk = writer->first; writer->lost && chunk != NULL; chunk = chunk->next) {
            note_error(chunk->from, ETIMEDOUT);
        }
        int nothing = writer->lost ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
        if (nothing >= 0) {
            dup2(nothing, writer->fd);
            close(nothing);
        }
    }
    pthread_mutex_unlock(&lock);
}

bool writers_step(int signals, bool gives_up)
{
    struct pollfd look[2] = {{.fd = event, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
    uint64_t before = written();
    int ready = poll(look, 2, gives_up ? GIVE_UP_MS : -1);
    writers_heard();
    if (ready == 0 && written() == before) {
        give_up();
    }
    return ready > 0 && look[1].revents != 0;
}

static void wait_once(struct launch *launch, int signals)
{
    if (writers_step(signals, launch->signalled)) {
        pass_signal(launch, signals);
    }
}

void writers_wait(struct launch *launch, int signals)
{
    while (event >= 0 && (!writer_has_room(1) || !writer_has_room(2))) {
        wait_once(launch, signals);
    }
}

bool writers_done(void)
{
    bool all = true;
    if (event < 0) {
        return true;
    }
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2; i++) {
        writers[i].stops = true;
        pthread_cond_signal(&writers[i].some);
        all = all && (!writers[i].runs || writers[i].lost);
    }
    pthread_mutex_unlock(&lock);
    return all;
}

void writers_finish(struct launch *launch, int signals)
{
    while (!writers_done()) {
        wait_once(launch, signals);
    }
}

/* ---- --prefix: output of many cards, line by line */

static void put_line(struct stream *stream, const char *line, size_t n, uint32_t card, uint32_t cards)
{
    char text[sizeof stream->line + 32];
    int width = cards > 10000 ? 5 : cards > 1000 ? 4 : cards > 100 ? 3 : cards > 10 ? 2 : 1;
    int head = snprintf(text, 32, "[%*u] ", width, card);
    memcpy(text + head, line, n);
    size_t all = (size_t)head + n;
    if (line[n - 1] != '\n') {
        text[all++] = '\n';
    }
    writer_put(stream, text, all); /* what cannot be written is lost: the programs go on all the same */
}

/* Write the whole lines; a line that fills the room counts as one. */
static void put_lines(struct stream *stream, uint32_t card, uint32_t cards)
{
    size_t at = 0;
    char *end;
    while ((end = memchr(stream->line + at, '\n', stream->used - at)) != NULL) {
        size_t n = (size_t)(end - (stream->line + at)) + 1;
        put_line(stream, stream->line + at, n, card, cards);
        at += n;
    }
    if (at == 0 && stream->used == sizeof stream->line) {
        put_line(stream, stream->line, stream->used, card, cards);
        at = stream->used;
    }
    stream->used -= at;
    memmove(stream->line, stream->line + at, stream->used);
}

/* Copy once, as a program that writes faster would keep the launcher from all other work. Returns how many bytes. */
static int copy_some(struct stream *stream, uint32_t card, uint32_t cards)
{
    ssize_t n;
    do {
        n = read(stream->from, stream->line + stream->used, sizeof stream->line - stream->used);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN) {
        return 0;
    }
    if (n <= 0) {
        stream->error = n < 0 && stream->error == 0 ? errno : stream->error;
        close(stream->from);
        stream->from = -1;
        return 0;
    }
    stream->used += (size_t)n;
    put_lines(stream, card, cards);
    return (int)n;
}

void stream_copy(struct stream *stream, uint32_t card, uint32_t cards)
{
    if (stream->from >= 0) {
        copy_some(stream, card, cards);
    }
}

bool output_lost(int error, const char *whose)
{
    if (error != 0) {
        fprintf(stderr, "vicrun: %s was lost: %s\n", whose, error == ETIMEDOUT ? "nobody reads it" : strerror(error));
    }
    return error != 0;
}

bool streams_lost(const struct child *child, uint32_t card)
{
    char whose[48];
    snprintf(whose, sizeof whose, "--prefix: output of card %u", card);
    return output_lost(child->out.error != 0 ? child->out.error : child->err.error, whose);
}

void stream_finish(struct stream *stream, uint32_t card, uint32_t cards)
{
    int there = 0; /* now: what was left behind may go on writing */
    if (stream->from >= 0 && ioctl(stream->from, FIONREAD, &there) == 0) {
        for (int n = 1; there > 0 && n > 0; there -= n) {
            n = copy_some(stream, card, cards);
        }
    }
    if (stream->used > 0) {
        put_line(stream, stream->line, stream->used, card, cards);
        stream->used = 0;
    }
    if (stream->from >= 0) {
        close(stream->from);
        stream->from = -1;
    }
}
