/* AMQP frames that are put together and sent in few calls. */
#define _GNU_SOURCE
#include "publish.h"

#include <amqp_framing.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "bridge.h"

enum {
    FULL = 64 << 10,
    COPIED = 2 << 10, /* longer bodies go from where they are */
    HEADS = 2 << 10,  /* bytes of method, header and the frames round them and the body, at most */
    FRAME_HEAD = 7,
    FRAME_END = 0xce
};

bool outbox_open(struct outbox *outbox)
{
    outbox_forget(outbox);
    outbox->bytes = malloc(FULL + COPIED + HEADS);
    return outbox->bytes != NULL;
}

void outbox_close(struct outbox *outbox)
{
    free(outbox->bytes);
    outbox->bytes = NULL;
}

static void frame_head(unsigned char *at, unsigned char type, amqp_channel_t channel, size_t payload)
{
    uint16_t number = htobe16(channel);
    uint32_t length = htobe32((uint32_t)payload);
    at[0] = type;
    memcpy(at + 1, &number, sizeof number);
    memcpy(at + 3, &length, sizeof length);
}

/* The broker has taken nothing for so long that heartbeats would have found it dead. */
static int stall_ms(const struct link *link)
{
    return link->heartbeat_s == 0 ? -1 : (int)(2000 * link->heartbeat_s); /* AMQP has 16 bits for it */
}

static int send_all(struct link *link, struct iovec *partial, size_t parts)
{
    struct msghdr message = {.msg_iov = partial, .msg_iovlen = parts};
    while (message.msg_iovlen > 0) {
        ssize_t sent = sendmsg(link->fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            struct pollfd writable = {link->fd, POLLOUT, 0};
            if (poll(&writable, 1, stall_ms(link)) == 0) {
                return AMQP_STATUS_TIMEOUT;
            }
        } else if (sent < 0 && errno != EINTR) {
            return AMQP_STATUS_SOCKET_ERROR;
        }
        for (size_t left = sent > 0 ? (size_t)sent : 0; message.msg_iovlen > 0;) {
            struct iovec *first = message.msg_iov;
            if (left < first->iov_len) {
                first->iov_base = (char *)first->iov_base + left;
                first->iov_len -= left;
                break;
            }
            left -= first->iov_len;
            message.msg_iov++;
            message.msg_iovlen--;
        }
    }
    link->sent_ns = now_ns();
    return AMQP_STATUS_OK;
}

void outbox_forget(struct outbox *outbox)
{
    outbox->used = outbox->begun = outbox->parts = outbox->waiting = 0;
}

/* The last heads and short bodies are a part. */
static void end_part(struct outbox *outbox)
{
    if (outbox->used > outbox->begun) {
        outbox->part[outbox->parts++] = (struct iovec){outbox->bytes + outbox->begun, outbox->used - outbox->begun};
        outbox->begun = outbox->used;
    }
}

int outbox_flush(struct outbox *outbox, struct link *link)
{
    end_part(outbox);
    int status = outbox->parts > 0 ? send_all(link, outbox->part, outbox->parts) : AMQP_STATUS_OK;
    outbox_forget(outbox);
    return status;
}

_Static_assert(2 * (FULL / COPIED) + 3 <= OUTBOX_PARTS, "less than FULL, and one body more, with the heads round them");

/* Send what is there if it is much: room for the next frame stays. */
static int flush_much(struct outbox *outbox, struct link *link)
{
    return outbox->waiting + outbox->used >= FULL ? outbox_flush(outbox, link) : AMQP_STATUS_OK;
}

/* A frame whose payload begins with `fixed` bytes that are there already; `encoded` more follow, or an error. */
static int end_frame(struct outbox *outbox, unsigned char type, amqp_channel_t channel, size_t fixed, int encoded)
{
    if (encoded < 0) {
        return encoded;
    }
    unsigned char *at = outbox->bytes + outbox->used;
    size_t payload = fixed + (size_t)encoded;
    frame_head(at, type, channel, payload);
    at[FRAME_HEAD + payload] = FRAME_END;
    outbox->used += FRAME_HEAD + payload + 1;
    return AMQP_STATUS_OK;
}

static int add_method(struct outbox *outbox, amqp_channel_t channel, const amqp_basic_publish_t *method)
{
    unsigned char *payload = outbox->bytes + outbox->used + FRAME_HEAD;
    uint32_t id = htobe32(AMQP_BASIC_PUBLISH_METHOD);
    memcpy(payload, &id, sizeof id);
    amqp_basic_publish_t copy = *method; /* the library has no const here, and does not write to it */
    amqp_bytes_t rest = {HEADS / 2, payload + sizeof id};
    int encoded = amqp_encode_method(AMQP_BASIC_PUBLISH_METHOD, &copy, rest);
    return end_frame(outbox, AMQP_FRAME_METHOD, channel, sizeof id, encoded);
}

static int add_header(struct outbox *outbox, amqp_channel_t channel, const amqp_basic_properties_t *properties,
                      size_t body_bytes)
{
    unsigned char *payload = outbox->bytes + outbox->used + FRAME_HEAD;
    struct {
        uint16_t class_id, weight;
        uint32_t high, low;
    } head = {htobe16(AMQP_BASIC_CLASS), 0, htobe32((uint32_t)((uint64_t)body_bytes >> 32)),
              htobe32((uint32_t)body_bytes)};
    memcpy(payload, &head, sizeof head);
    amqp_basic_properties_t copy = *properties;
    amqp_bytes_t rest = {HEADS / 4, payload + sizeof head};
    int encoded = amqp_encode_properties(AMQP_BASIC_CLASS, &copy, rest);
    return end_frame(outbox, AMQP_FRAME_HEADER, channel, sizeof head, encoded);
}

int outbox_body(struct outbox *outbox, struct link *link, amqp_channel_t channel, amqp_bytes_t body)
{
    unsigned char *at = outbox->bytes + outbox->used;
    frame_head(at, AMQP_FRAME_BODY, channel, body.len);
    outbox->used += FRAME_HEAD;
    if (body.len <= COPIED) {
        memcpy(at + FRAME_HEAD, body.bytes, body.len);
        outbox->used += body.len;
    } else {
        end_part(outbox);
        outbox->part[outbox->parts++] = (struct iovec){body.bytes, body.len};
        outbox->waiting += body.len;
    }
    outbox->bytes[outbox->used++] = FRAME_END;
    return flush_much(outbox, link);
}

int outbox_publish(struct outbox *outbox, struct link *link, amqp_channel_t channel,
                   const amqp_basic_publish_t *method, const amqp_basic_properties_t *properties, size_t body_bytes)
{
    size_t before = outbox->used;
    int status = add_method(outbox, channel, method);
    if (status == AMQP_STATUS_OK) {
        status = add_header(outbox, channel, properties, body_bytes);
    }
    if (status != AMQP_STATUS_OK) {
        outbox->used = before; /* no frame without the others */
        return status;
    }
    return flush_much(outbox, link);
}
