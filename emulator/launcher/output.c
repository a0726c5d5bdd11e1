/* --prefix: output of many cards, line by line. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

static void write_all(int to, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t done = write(to, text, n);
        if (done < 0 && errno != EINTR) {
            return; /* nobody reads it: the programs go on all the same */
        }
        if (done > 0) {
            text += done;
            n -= (size_t)done;
        }
    }
}

static void put_line(const struct stream *stream, const char *line, size_t n, uint32_t card, uint32_t cards)
{
    char text[sizeof stream->line + 32];
    int width = cards > 10000 ? 5 : cards > 1000 ? 4 : cards > 100 ? 3 : cards > 10 ? 2 : 1;
    int head = snprintf(text, 32, "[%*u] ", width, card);
    memcpy(text + head, line, n);
    size_t all = (size_t)head + n;
    if (n == 0 || line[n - 1] != '\n') {
        text[all++] = '\n';
    }
    write_all(stream->to, text, all);
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

void stream_copy(struct stream *stream, uint32_t card, uint32_t cards)
{
    while (stream->from >= 0) {
        ssize_t n = read(stream->from, stream->line + stream->used, sizeof stream->line - stream->used);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            return;
        }
        if (n <= 0) {
            close(stream->from);
            stream->from = -1;
            return;
        }
        stream->used += (size_t)n;
        put_lines(stream, card, cards);
    }
}

void stream_finish(struct stream *stream, uint32_t card, uint32_t cards)
{
    stream_copy(stream, card, cards);
    if (stream->used > 0) {
        put_line(stream, stream->line, stream->used, card, cards);
        stream->used = 0;
    }
    if (stream->from >= 0) {
        close(stream->from);
        stream->from = -1;
    }
}
