/* Messages between vicrun and the vichost of each host, over pipes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "grow.h"
#include "hosts.h"

/* Writes both parts, or as much of them as there is room for, and makes the parts what is left. False: nobody is there. */
static bool write_parts(int fd, struct iovec part[2])
{
    while (part[0].iov_len + part[1].iov_len > 0) {
        ssize_t done = writev(fd, part, 2);
        if (done < 0 && errno == EAGAIN) {
            return true;
        }
        if (done < 0 && errno != EINTR) {
            return false;
        }
        for (int i = 0; i < 2 && done > 0; i++) {
            size_t n = (size_t)done < part[i].iov_len ? (size_t)done : part[i].iov_len;
            part[i].iov_base = (char *)part[i].iov_base + n;
            part[i].iov_len -= n;
            done -= (ssize_t)n;
        }
    }
    return true;
}

bool message_send(int fd, uint32_t kind, const void *what, size_t bytes)
{
    struct host_head head = {kind, (uint32_t)bytes};
    return write_parts(fd, (struct iovec[]){{&head, sizeof head}, {(void *)(uintptr_t)what, bytes}});
}

void line_open(struct line_to_host *line, int fd)
{
    *line = (struct line_to_host){.fd = fd};
    if (fd >= 0) {
        fcntl(fd, F_SETFL, O_NONBLOCK);
    }
}

/* Keeps what is left of two parts behind what waits. False: no memory. */
static bool keep(struct line_to_host *line, const struct iovec part[2])
{
    size_t bytes = line->end + part[0].iov_len + part[1].iov_len;
    if (!grow(&line->text, &line->room, bytes, 1)) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        memcpy(line->text + line->end, part[i].iov_base, part[i].iov_len);
        line->end += part[i].iov_len;
    }
    return true;
}

bool line_say(struct line_to_host *line, uint32_t kind, const void *what, size_t bytes)
{
    struct host_head head = {kind, (uint32_t)bytes};
    struct iovec part[] = {{&head, sizeof head}, {(void *)(uintptr_t)what, bytes}};
    bool there = line->fd >= 0 && !line->broken && (line->end > 0 || write_parts(line->fd, part));
    if (there && part[0].iov_len + part[1].iov_len > 0) {
        line->broken = !keep(line, part);
    }
    return there;
}

bool line_waits(struct line_to_host *line)
{
    return line->fd >= 0 && (line->end > 0 || line->broken);
}

bool line_go_on(struct line_to_host *line)
{
    struct iovec part[] = {{line->text + line->at, line->end - line->at}, {NULL, 0}};
    bool there = line->fd >= 0 && !line->broken && write_parts(line->fd, part);
    line->at = line->end - part[0].iov_len;
    if (line->at == line->end) {
        line->at = line->end = 0;
    }
    return there;
}

void line_close(struct line_to_host *line)
{
    if (line->fd >= 0) {
        close(line->fd);
    }
    free(line->text);
    line->text = NULL;
    line->at = line->end = line->room = 0;
    line->fd = -1;
}

int message_read(int fd, struct message_in *in)
{
    enum { STEP = 64 << 10 };
    errno = ENOMEM;
    ssize_t n = grow(&in->text, &in->room, in->used + STEP, 1) ? read(fd, in->text + in->used, STEP) : -1;
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return 1;
    }
    if (n < 0) {
        fprintf(stderr, "vicrun: --hosts: cannot read a message: %s\n", strerror(errno));
    }
    in->used += n > 0 ? (size_t)n : 0;
    return n > 0;
}

const struct host_head *message_there(const struct message_in *in)
{
    const struct host_head *head = (const void *)in->text;
    bool whole = in->used >= sizeof *head && in->used - sizeof *head >= head->bytes;
    return whole ? head : NULL;
}

void message_next(struct message_in *in)
{
    const struct host_head *head = (const void *)in->text;
    size_t bytes = sizeof *head + head->bytes;
    in->used -= bytes;
    memmove(in->text, in->text + bytes, in->used);
}
