/* An open connection: frames, waiting, heartbeats. */
#define _GNU_SOURCE
#include "link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "bridge.h"
#include "clock.h"

enum { ALLOWANCE = 64 << 10, CONNECTION = 0 }; /* the channel of the connection itself */
#define SECOND_NS UINT64_C(1000000000)
#define ANSWER_NS (10 * SECOND_NS) /* as in login.c: so long may the broker think */

/* Held by another thread while it reads the descriptor of a link and shuts it, so that the descriptor is not closed in
 * between: its number could be that of another connection then. */
static pthread_mutex_t descriptors = PTHREAD_MUTEX_INITIALIZER;

void link_shut(struct link *link)
{
    pthread_mutex_lock(&descriptors);
    int fd = atomic_load(&link->fd);
    if (fd >= 0) {
        shutdown(fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&descriptors);
}

void link_guard(struct link *link)
{
    uint64_t overdue_ns = atomic_load(&link->overdue_ns);
    if (overdue_ns != 0 && now_ns() > overdue_ns && atomic_compare_exchange_strong(&link->overdue_ns, &overdue_ns, 0)) {
        log_warning("%s: the broker took nothing for two heartbeats, in the middle of a frame", link->name);
        link_shut(link);
    }
}

/* The thread of the link is about to call rabbitmq-c: set the time at which it should be back. */
static void expect_back(struct link *link, uint64_t more_ns)
{
    uint64_t silence_ns = 2 * link->heartbeat_s * SECOND_NS;
    atomic_store(&link->overdue_ns, silence_ns != 0 ? now_ns() + silence_ns + more_ns : 0);
}

void link_forget(struct link *link)
{
    atomic_store(&link->overdue_ns, 0);
    pthread_mutex_lock(&descriptors);
    atomic_store(&link->fd, -1);
    pthread_mutex_unlock(&descriptors);
}

static void forget_memory(struct link *link)
{
    amqp_maybe_release_buffers(link->state);
}

/* A method of the connection: blocked, unblocked, close. */
static enum fault connection_method(struct link *link, const amqp_method_t *method)
{
    if (method->id == AMQP_CONNECTION_BLOCKED_METHOD) {
        const amqp_connection_blocked_t *blocked = method->decoded;
        log_warning("%s: the broker blocks publishing: %.*s", link->name, (int)blocked->reason.len,
                    (const char *)blocked->reason.bytes);
        link->blocked = true;
    } else if (method->id == AMQP_CONNECTION_UNBLOCKED_METHOD) {
        log_info("%s: the broker takes messages again", link->name);
        link->blocked = false;
    } else if (method->id == AMQP_CONNECTION_CLOSE_METHOD) {
        amqp_rpc_reply_t reply = {AMQP_RESPONSE_SERVER_EXCEPTION, *method, 0};
        enum fault fault = link_fault(link, &reply, CONNECTION, "connection");
        amqp_connection_close_ok_t ok = {0};
        if (link_has_room(link, 64)) {
            amqp_send_method(link->state, CONNECTION, AMQP_CONNECTION_CLOSE_OK_METHOD, &ok);
        }
        return fault;
    }
    return FAULT_NONE;
}

enum fault link_frame(struct link *link, amqp_frame_t *frame, bool *found)
{
    static const struct timeval at_once = {0, 0};
    for (*found = false;;) {
        forget_memory(link);
        int status = amqp_simple_wait_frame_noblock(link->state, frame, &at_once);
        if (status == AMQP_STATUS_TIMEOUT) {
            link->readable = false;
            return FAULT_NONE;
        }
        if (status != AMQP_STATUS_OK) {
            return link_status(link, status, "connection");
        }
        if (frame->channel != CONNECTION) {
            *found = true;
            return FAULT_NONE;
        }
        enum fault fault = FAULT_NONE;
        if (frame->frame_type == AMQP_FRAME_METHOD) {
            fault = connection_method(link, &frame->payload.method);
        }
        if (fault != FAULT_NONE) {
            return fault;
        }
    }
}

bool link_has_room(struct link *link, size_t bytes)
{
    if (link->allowance >= bytes) {
        link->allowance -= bytes;
        return true;
    }
    struct pollfd look = {link->fd, POLLIN | POLLOUT, 0};
    poll(&look, 1, 0);
    link->readable |= (look.revents & (POLLIN | POLLERR | POLLHUP)) != 0;
    if ((look.revents & POLLOUT) == 0) {
        return false;
    }
    /* a third of the send buffer is free; a frame that is longer than that waits for a moment in the library */
    int buffer = 0;
    socklen_t length = sizeof buffer;
    getsockopt(link->fd, SOL_SOCKET, SO_SNDBUF, &buffer, &length);
    size_t most = buffer / 4 > ALLOWANCE ? (size_t)buffer / 4 : ALLOWANCE;
    link->allowance = bytes < most ? most - bytes : 0;
    expect_back(link, 0);
    return true;
}

void link_cork(struct link *link, bool on)
{
    int value = on;
    if (on != link->corked && setsockopt(link->fd, IPPROTO_TCP, TCP_CORK, &value, sizeof value) == 0) {
        link->corked = on;
    }
}

/* True if something has come that was not read, as this thread itself was late. */
static bool is_heard(struct link *link)
{
    struct pollfd look = {link->fd, POLLIN, 0};
    poll(&look, 1, 0);
    if ((look.revents & POLLIN) != 0) {
        link->readable = true;
        link->heard_ns = now_ns();
    }
    return (look.revents & POLLIN) != 0;
}

/* Send a heartbeat if it is due; *next_ns: when the next one is. FAULT_DOWN if nothing was heard for too long. */
static enum fault heartbeats(struct link *link, uint64_t *next_ns)
{
    uint64_t every = link->heartbeat_s * UINT64_C(1000000000), now = now_ns();
    *next_ns = UINT64_MAX;
    if (every == 0) {
        return FAULT_NONE;
    }
    if (now - link->heard_ns > 2 * every && !is_heard(link)) {
        snprintf(link->why, sizeof link->why, "nothing was heard from %s for %llu s", link->url->shown,
                 (unsigned long long)(2 * link->heartbeat_s));
        return FAULT_DOWN;
    }
    if (now - link->sent_ns >= every / 2) {
        amqp_frame_t beat = {.frame_type = AMQP_FRAME_HEARTBEAT, .channel = CONNECTION};
        if (link_has_room(link, 8)) {
            enum fault fault = link_status(link, amqp_send_frame(link->state, &beat), "heartbeat");
            if (fault != FAULT_NONE) {
                return fault;
            }
        }
        link->sent_ns = now; /* without room the bytes on their way do as a heartbeat */
    }
    *next_ns = link->sent_ns + every / 2;
    return FAULT_NONE;
}

enum fault link_wait(struct link *link, int wake, bool send, uint64_t timeout_ns)
{
    uint64_t beat_ns, now = now_ns(), count = 0;
    enum fault fault = heartbeats(link, &beat_ns);
    if (fault != FAULT_NONE) {
        return fault;
    }
    uint64_t wait_ns = beat_ns - now < timeout_ns ? beat_ns - now : timeout_ns;
    struct timespec wait = timespec_of(wait_ns);
    struct pollfd look[2] = {{link->fd, (short)(POLLIN | (send ? POLLOUT : 0)), 0}, {wake, POLLIN, 0}};
    ppoll(look, 2, &wait, NULL); /* if a signal ends it: look round */
    expect_back(link, ANSWER_NS);
    if ((look[1].revents & POLLIN) != 0) {
        eventfd_read(wake, &count);
    }
    if ((look[0].revents & (POLLIN | POLLERR | POLLHUP)) != 0) {
        link->readable = true;
        link->heard_ns = now_ns();
    }
    return FAULT_NONE;
}
