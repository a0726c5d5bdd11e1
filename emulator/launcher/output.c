/* --prefix: output of many cards, line by line. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "launcher.h"

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
