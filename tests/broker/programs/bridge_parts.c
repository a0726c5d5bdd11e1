/* See bridge_parts.h. The functions of libvic that are here are taken before those of the library. */
#define _GNU_SOURCE
#include "bridge_parts.h"

#include <amqp_tcp_socket.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

_Atomic int card_status;
_Atomic uint64_t card_opens = 1, card_envelopes, card_tries;
struct vic_envelope card_last;
uint32_t card_to;
static unsigned char last_bytes[1 << 16];

_Atomic int memory_fails_in, threads_fail_in;

static bool fails(_Atomic int *in)
{
    return *in > 0 && --*in == 0;
}

/* The linker gives us these calls of the bridge. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *self);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *self);

void *__wrap_malloc(size_t bytes)
{
    return fails(&memory_fails_in) ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails(&memory_fails_in) ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return fails(&memory_fails_in) ? NULL : __real_realloc(memory, bytes);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *self)
{
    return fails(&threads_fail_in) ? EAGAIN : __real_pthread_create(thread, how, run, self);
}

int vic_message_send(vic_message_t *messages, uint32_t dest, const void *data, size_t bytes, uint64_t timeout_ns)
{
    (void)messages, (void)timeout_ns;
    card_tries++;
    if (card_status == VIC_OK) {
        CHECK(bytes <= sizeof last_bytes);
        memcpy(last_bytes, data, bytes);
        CHECK(vic_envelope_unpack(last_bytes, bytes, &card_last) == VIC_OK);
        card_to = dest;
        card_envelopes++;
    }
    return card_status;
}

int vic_message_flush(vic_message_t *messages, uint64_t timeout_ns)
{
    (void)messages, (void)timeout_ns;
    return VIC_OK;
}

int vic_peer_opens(const vic_t *card, uint32_t peer, uint64_t *opens)
{
    (void)card, (void)peer;
    *opens = card_opens;
    return VIC_OK;
}

struct wire wire_open(struct link *link, struct bridge *bridge)
{
    static const struct url url = {.shown = "amqp://nobody"};
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    *link = (struct link){.options = &bridge->options, .name = "a link", .url = &url, .state = amqp_new_connection()};
    amqp_tcp_socket_set_sockfd(amqp_tcp_socket_new(link->state), ends[0]);
    amqp_frame_t hello; /* what a broker says that speaks another version; then frames are read */
    CHECK(write(ends[1], "AMQP\0\0\11\1", 8) == 8);
    CHECK(amqp_simple_wait_frame_noblock(link->state, &hello, &(struct timeval){0, 0}) == AMQP_STATUS_OK);
    amqp_tune_connection(link->state, 2047, 131072, 0);
    link->fd = ends[0];
    link->heard_ns = link->sent_ns = now_ns();
    return (struct wire){link, ends[1]};
}

void wire_close(struct wire *wire)
{
    if (wire->link->state != NULL) {
        amqp_destroy_connection(wire->link->state); /* closes its end */
        wire->link->state = NULL;
    }
    close(wire->broker);
}

void wire_frame(struct wire *wire, unsigned type, unsigned channel, const void *payload, size_t bytes)
{
    unsigned char frame[4096] = {(unsigned char)type, (unsigned char)(channel >> 8), (unsigned char)channel};
    uint32_t length = htobe32((uint32_t)bytes);
    CHECK(bytes + 8 <= sizeof frame);
    memcpy(frame + 3, &length, sizeof length);
    memcpy(frame + 7, payload, bytes);
    frame[7 + bytes] = 0xce;
    CHECK(write(wire->broker, frame, bytes + 8) == (ssize_t)bytes + 8);
}

void wire_method(struct wire *wire, unsigned channel, unsigned class_id, unsigned method, const char *arguments,
                 size_t bytes)
{
    unsigned char payload[2048] = {0, (unsigned char)class_id, 0, (unsigned char)method};
    memcpy(payload + 4, arguments, bytes);
    wire_frame(wire, AMQP_FRAME_METHOD, channel, payload, bytes + 4);
}

void wire_header(struct wire *wire, unsigned channel, uint64_t body_bytes, const char *message_id)
{
    unsigned char payload[512] = {0, 60};
    uint64_t bytes = htobe64(body_bytes);
    size_t used = 14;
    memcpy(payload + 4, &bytes, sizeof bytes);
    if (message_id != NULL) {
        payload[13] = AMQP_BASIC_MESSAGE_ID_FLAG & 0xff;
        payload[used++] = (unsigned char)strlen(message_id);
        memcpy(payload + used, message_id, strlen(message_id));
        used += strlen(message_id);
    }
    wire_frame(wire, AMQP_FRAME_HEADER, channel, payload, used);
}

void wire_body(struct wire *wire, unsigned channel, const char *text)
{
    wire_frame(wire, AMQP_FRAME_BODY, channel, text, strlen(text));
}

size_t wire_read(struct wire *wire, unsigned char *room, size_t most)
{
    ssize_t bytes = read(wire->broker, room, most);
    return bytes > 0 ? (size_t)bytes : 0;
}

struct message *a_message(uint64_t id, const char *body)
{
    struct message *message = message_new(strlen(body) + 1);
    CHECK(message != NULL);
    memcpy(message->data, body, strlen(body) + 1);
    message->session = 7;
    message->id = id;
    message->key = "k";
    message->key_bytes = 1;
    message->body = message->data;
    message->bytes = message->body_bytes = strlen(body);
    message->confirm_wanted = true;
    return message;
}

struct message *an_envelope(const struct vic_envelope *envelope)
{
    struct message *message = message_new(VIC_ENVELOPE_MOST + VIC_KEY_MOST + envelope->bytes);
    CHECK(vic_envelope_pack(message->data, message->capacity, envelope, &message->bytes) == VIC_OK);
    message->src = 1;
    return message;
}
