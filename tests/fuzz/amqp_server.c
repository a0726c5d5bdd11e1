/* A broker that misbehaves, see amqp_server.h. */
#define _GNU_SOURCE
#include "amqp_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 8, ROOM = 1 << 18, FRAME = 1 << 14, IDLE_MS = 15, IDS = 64, ID = 33 };
enum { METHOD = 1, HEADER = 2, BODY = 3, END = 0xce };

struct connection {
    int fd;
    struct input script;
    bool odd; /* it was told something odd: it may wait for ever */
    size_t used;
    uint64_t tag, delivered, body_left;
    char id[ID + 1];
    unsigned channel;
    unsigned char room[ROOM];
};

static int listener = -1;
static pthread_t thread;
static atomic_bool stop;
static struct connection connection[MOST];
static int connections;
static const struct input *parts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char ids[IDS][ID + 1];
static int known;

static unsigned number(const unsigned char *at, int bytes)
{
    unsigned value = 0;
    for (int i = 0; i < bytes; i++) {
        value = value << 8 | at[i];
    }
    return value;
}

static size_t put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(value >> 8 * (bytes - 1 - i));
    }
    return (size_t)bytes;
}

static void hang_up(struct connection *c)
{
    close(c->fd);
    c->fd = -1;
}

static void say(struct connection *c, const void *data, size_t bytes)
{
    if (c->fd >= 0 && send(c->fd, data, bytes, MSG_NOSIGNAL) < 0) {
        hang_up(c);
    }
}

static size_t frame(unsigned char *to, unsigned type, unsigned channel, const void *payload, size_t bytes)
{
    size_t n = put(to, type, 1);
    n += put(to + n, channel, 2);
    n += put(to + n, bytes, 4);
    memcpy(to + n, payload, bytes);
    n += bytes;
    return n + put(to + n, END, 1);
}

/* Methods that a broker may send at any time, with what the input says in them. */
static void say_unasked(struct connection *c, unsigned channel)
{
    static const unsigned known_methods[] = {
        0x3c003c, 0x3c0050, 0x3c0078, 0x3c0032, 0x3c001e, 0x140028, 0x0a0032, 0x0a003c, 0x0a003d, 0x140014,
        0x3c0015, 0x3c000b, 0x32000b, 0x28000b, 0x14000b, 0x0a001e, 0x0a0029, 0x3c0047, 0x55000b, 0x0a0014,
    };
    unsigned char payload[512], out[600];
    struct input *in = &c->script;
    unsigned kind = take_byte(in), type = kind < 200 ? METHOD : kind < 220 ? HEADER : kind < 240 ? BODY : kind;
    size_t n = 0;
    if (type == METHOD) {
        n = put(payload, known_methods[kind % 20], 4);
    } else if (type == HEADER) {
        n = put(payload, 60, 2) + 2;
        memset(payload + 2, 0, 2);
        n += put(payload + n, take_word(in), 8);
    }
    unsigned more = take_byte(in);
    for (unsigned i = 0; i < more && n < sizeof payload; i++) {
        payload[n++] = take_byte(in);
    }
    say(c, out, frame(out, type, more < 240 ? channel : more, payload, n));
    c->odd = true;
}

/* A frame, or what the input makes of it. */
static void reply(struct connection *c, unsigned type, unsigned channel, const void *payload, size_t bytes)
{
    unsigned char out[FRAME];
    size_t n = frame(out, type, channel, payload, bytes);
    unsigned how = take_byte(&c->script);
    c->odd |= how >= 128;
    switch (how < 128 ? 0 : how % 12) {
    case 1: case 2: out[7 + take(&c->script, 1) % (n - 7)] = take_byte(&c->script); break;
    case 3: out[take(&c->script, 1) % 7] = take_byte(&c->script); break;
    case 4: put(out + 3, take_word(&c->script), 4); break;
    case 5: n = frame(out, type, channel, payload, take(&c->script, 1) % (bytes + 1)); break;
    case 6: say(c, out, n); break; /* twice */
    case 7: say_unasked(c, channel); break;
    case 8:
        say(c, out, take(&c->script, 1) % n);
        n = 0;
        break;
    case 9: n = 0; break;
    case 10:
        for (unsigned i = take_byte(&c->script); i > 0; i--) {
            size_t at = 7 + take(&c->script, 2) % (n - 7);
            out[at] ^= take_byte(&c->script);
        }
        break;
    case 11:
        hang_up(c);
        return;
    default: break;
    }
    if (n > 0) {
        say(c, out, n);
    }
}

static void reply_method(struct connection *c, unsigned channel, unsigned method, const void *arguments, size_t bytes)
{
    unsigned char payload[1024];
    put(payload, method, 4);
    memcpy(payload + 4, arguments, bytes);
    reply(c, METHOD, channel, payload, 4 + bytes);
}

static void start(struct connection *c)
{
    static const char properties[] = "\x07product" "S\0\0\0\x04" "fuzz"
                                     "\x0c" "capabilities" "F\0\0\0\x15" "\x12" "publisher_confirmst\x01";
    unsigned char all[256];
    size_t n = put(all, 0x0009, 2);
    n += put(all + n, sizeof properties - 1, 4);
    memcpy(all + n, properties, sizeof properties - 1);
    n += sizeof properties - 1;
    n += put(all + n, 5, 4);
    memcpy(all + n, "PLAIN", 5);
    n += 5;
    n += put(all + n, 5, 4);
    memcpy(all + n, "en_US", 5);
    reply_method(c, 0, 0x0a000a, all, n + 5);
}

/* A message of a queue, with a body in two frames. */
static void deliver(struct connection *c, unsigned channel)
{
    static const char method[] = "\0\x3c\0\x3c\x01q";
    unsigned char payload[64], body[40];
    size_t n = sizeof method - 1;
    memcpy(payload, method, n);
    n += put(payload + n, ++c->delivered, 8);
    memcpy(payload + n, "\0\x01x\x01k", 5);
    reply(c, METHOD, channel, payload, n + 5);
    n = put(payload, 60, 2) + put(payload + 2, 0, 2);
    n += put(payload + n, sizeof body, 8);
    n += put(payload + n, 0x80, 2); /* message-id */
    n += put(payload + n, ID, 1);
    snprintf((char *)payload + n, ID + 1, "%016x-%016x", 7u, (unsigned)c->delivered);
    reply(c, HEADER, channel, payload, n + ID);
    memset(body, 'b', sizeof body);
    reply(c, BODY, channel, body, 16);
    reply(c, BODY, channel, body, sizeof body - 16);
}

/* All of a message has come. */
static void confirm(struct connection *c)
{
    unsigned char arguments[9];
    put(arguments, ++c->tag, 8);
    arguments[8] = 0;
    pthread_mutex_lock(&lock);
    if (known < IDS) {
        memcpy(ids[known++], c->id, sizeof c->id);
    }
    pthread_mutex_unlock(&lock);
    bool taken = take_byte(&c->script) < 240;
    reply_method(c, c->channel, taken ? 0x3c0050 : 0x3c0078, arguments, sizeof arguments);
}

static void method(struct connection *c, unsigned channel, const unsigned char *payload, size_t bytes)
{
    static const unsigned char tune[] = {0, 0, 0, 2, 0, 0, 0, 0}, queue[] = {1, 'q', 0, 0, 0, 0, 0, 0, 0, 0};
    unsigned which = bytes >= 4 ? number(payload, 4) : 0;
    switch (which) {
    case 0x0a000b: reply_method(c, 0, 0x0a001e, tune, sizeof tune); break;
    case 0x0a0028: reply_method(c, 0, 0x0a0029, "", 1); break;
    case 0x14000a: reply_method(c, channel, 0x14000b, "\0\0\0", 4); break;
    case 0x28000a: reply_method(c, channel, 0x28000b, "", 0); break;
    case 0x32000a: reply_method(c, channel, 0x32000b, queue, sizeof queue); break;
    case 0x320014: reply_method(c, channel, 0x320015, "", 0); break;
    case 0x55000a: reply_method(c, channel, 0x55000b, "", 0); break;
    case 0x3c000a: reply_method(c, channel, 0x3c000b, "", 0); break;
    case 0x3c0014:
        reply_method(c, channel, 0x3c0015, "\x01q", 2);
        deliver(c, channel);
        deliver(c, channel);
        break;
    case 0x3c001e: reply_method(c, channel, 0x3c001f, "\x01q", 2); break;
    case 0x140028: reply_method(c, channel, 0x140029, "", 0); break;
    case 0x0a0032:
        reply_method(c, 0, 0x0a0033, "", 0);
        hang_up(c);
        break;
    default: break; /* publishes, acks and answers to what we said */
    }
}

static void handle(struct connection *c, const unsigned char *at, size_t bytes)
{
    unsigned channel = number(at + 1, 2);
    const unsigned char *payload = at + 7;
    if (at[0] == METHOD) {
        method(c, channel, payload, bytes);
    } else if (at[0] == HEADER && bytes >= 14 + 2 + ID) { /* delivery mode, then message id */
        c->body_left = (uint64_t)number(payload + 4, 4) << 32 | number(payload + 8, 4);
        c->channel = channel;
        memcpy(c->id, payload + bytes - ID, ID);
        if (c->body_left == 0) {
            confirm(c);
        }
    } else if (at[0] == BODY && c->body_left > 0) {
        c->body_left -= bytes < c->body_left ? bytes : c->body_left;
        if (c->body_left == 0) {
            confirm(c);
        }
    }
}

static void hear(struct connection *c)
{
    ssize_t got = recv(c->fd, c->room + c->used, ROOM - c->used, MSG_DONTWAIT);
    size_t at = 0;
    if (got <= 0) {
        hang_up(c);
        return;
    }
    c->used += (size_t)got;
    while (c->fd >= 0 && c->used - at >= 8) {
        if (memcmp(c->room + at, "AMQP", 4) == 0) {
            start(c);
            at += 8;
            continue;
        }
        size_t bytes = number(c->room + at + 3, 4);
        if (bytes > ROOM / 2) {
            hang_up(c);
        } else if (c->used - at < bytes + 8) {
            break;
        } else {
            handle(c, c->room + at, bytes);
            at += bytes + 8;
        }
    }
    memmove(c->room, c->room + at, c->used - at);
    c->used -= at;
}

static void welcome(void)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), yes = 1;
    if (fd < 0 || connections == MOST) { /* that is enough */
        close(fd);
        return;
    }
    struct connection *c = &connection[connections];
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    c->fd = fd;
    c->script = connections < PARTS ? parts[connections] : (struct input){NULL, NULL};
    c->odd = false;
    c->used = c->tag = c->delivered = c->body_left = 0;
    connections++;
}

static void *serve(void *nothing)
{
    (void)nothing;
    while (!atomic_load(&stop)) {
        struct pollfd look[MOST + 1];
        for (int i = 0; i < connections; i++) {
            look[i] = (struct pollfd){connection[i].fd, POLLIN, 0};
        }
        int before = connections;
        look[before] = (struct pollfd){listener, POLLIN, 0};
        int ready = poll(look, (nfds_t)before + 1, IDLE_MS);
        for (int i = 0; i < before; i++) {
            if (connection[i].fd >= 0 && look[i].revents != 0) {
                hear(&connection[i]);
            } else if (connection[i].fd >= 0 && ready == 0 && connection[i].odd) {
                hang_up(&connection[i]); /* who waits for an answer shall not wait for long */
            }
        }
        if (look[before].revents != 0) {
            welcome();
        }
    }
    for (int i = 0; i < connections; i++) {
        if (connection[i].fd >= 0) {
            hang_up(&connection[i]);
        }
    }
    return NULL;
}

int server_listen(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 64) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &bytes) == 0);
    return ntohs(address.sin_port);
}

void server_start(const struct input part[PARTS])
{
    for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        close(fd); /* left over */
    }
    parts = part;
    connections = known = 0;
    atomic_store(&stop, false);
    CHECK(pthread_create(&thread, NULL, serve, NULL) == 0);
}

void server_stop(void)
{
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
}

bool server_has(const char *id)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < known && !found; i++) {
        found = memcmp(ids[i], id, ID) == 0;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

const char *server_id(int which)
{
    pthread_mutex_lock(&lock);
    const char *id = which < known ? ids[which] : NULL;
    pthread_mutex_unlock(&lock);
    return id;
}
