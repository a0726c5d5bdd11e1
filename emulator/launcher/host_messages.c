/* Messages between vicrun and the vichost of each host, over pipes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hosts.h"

bool message_send(int fd, uint32_t kind, const void *what, size_t bytes)
{
    struct host_head head = {kind, (uint32_t)bytes};
    struct iovec part[] = {{&head, sizeof head}, {(void *)(uintptr_t)what, bytes}};
    int at = 0;
    while (at < 2) {
        ssize_t done = writev(fd, part + at, 2 - at);
        if (done < 0 && errno != EINTR) {
            return false;
        }
        for (; at < 2 && done >= (ssize_t)part[at].iov_len; at++) {
            done -= (ssize_t)part[at].iov_len;
        }
        if (at < 2 && done > 0) {
            part[at].iov_base = (char *)part[at].iov_base + done;
            part[at].iov_len -= (size_t)done;
        }
    }
    return true;
}

int message_read(int fd, struct message_in *in)
{
    enum { STEP = 64 << 10 };
    if (in->room - in->used < STEP) {
        char *text = realloc(in->text, in->room + 2 * STEP);
        if (text == NULL) {
            return 0;
        }
        in->text = text;
        in->room += 2 * STEP;
    }
    ssize_t n = read(fd, in->text + in->used, STEP);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return 1;
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
