/* A bare rabbitmq-c loop, the rival of vicbridge: one thread, one connection, confirms with a window, memory
 * that is always the same. Prints messages per second, from the first publish to the last confirm.
 *
 *     bridge_bare PORT USER-AND-PASSWORD-FILE KEY BYTES MESSAGES WINDOW [assemble]
 *
 * assemble: the least that any bridge does with a large message, and so its limit. Another process copies the
 * message piece by piece into shared memory. This one puts the pieces together in memory of the window, where each
 * message stays until it is confirmed, and gives its frames to the system from there. Nothing is checked, repeated
 * or told to the sender.
 */
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static amqp_connection_state_t state;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void must(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "bridge_bare: %s\n", what);
        exit(1);
    }
}

static void log_in(int port, const char *file)
{
    char line[512] = "";
    FILE *in = fopen(file, "r");
    must(in != NULL && fgets(line, sizeof line, in) != NULL, "no credentials");
    fclose(in);
    line[strcspn(line, "\n")] = 0;
    char *word = strchr(line, ':');
    must(word != NULL, "no credentials");
    *word++ = 0;
    state = amqp_new_connection();
    amqp_socket_t *socket = amqp_tcp_socket_new(state);
    must(amqp_socket_open(socket, "127.0.0.1", port) == AMQP_STATUS_OK, "no broker");
    must(amqp_login(state, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, line, word).reply_type ==
             AMQP_RESPONSE_NORMAL,
         "login");
    amqp_channel_open(state, 1);
    amqp_confirm_select(state, 1);
    must(amqp_get_rpc_reply(state).reply_type == AMQP_RESPONSE_NORMAL, "channel");
}

/* How many messages the frames that are there confirm; waits for one if `wait`. */
static long confirmed(long so_far, int wait)
{
    static const struct timeval at_once = {0, 0};
    amqp_frame_t frame;
    for (;;) {
        amqp_maybe_release_buffers(state);
        int status = amqp_simple_wait_frame_noblock(state, &frame, wait ? NULL : &at_once);
        if (status == AMQP_STATUS_TIMEOUT) {
            return so_far;
        }
        must(status == AMQP_STATUS_OK && frame.frame_type == AMQP_FRAME_METHOD &&
                 frame.payload.method.id == AMQP_BASIC_ACK_METHOD,
             "no confirm");
        const amqp_basic_ack_t *ack = frame.payload.method.decoded;
        so_far = ack->multiple ? (long)ack->delivery_tag : so_far + 1; /* one queue: in order */
        wait = 0;
    }
}

enum { RING = 512 << 10, PIECE = 64 << 10, FRAMES = 64, HEAD = 7 };

static struct shared {
    sem_t full, room; /* pieces that have come; places for more */
    unsigned char ring[RING];
} *shared;

static size_t piece, places; /* of the ring */

/* The sender: it ends with this process, or when all is sent. */
static void send_pieces(const char *memory, size_t bytes, long messages)
{
    size_t at = 0;
    for (long i = 0; i < messages; i++) {
        for (size_t done = 0; done < bytes; done += piece, at = (at + 1) % places) {
            sem_wait(&shared->room);
            memcpy(shared->ring + at * piece, memory + done, bytes - done < piece ? bytes - done : piece);
            sem_post(&shared->full);
        }
    }
    _exit(0);
}

static void start_sender(const char *memory, size_t bytes, long messages)
{
    piece = bytes < PIECE ? (bytes + 63) / 64 * 64 : PIECE;
    places = RING / piece;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(shared != MAP_FAILED && sem_init(&shared->full, 1, 0) == 0 && sem_init(&shared->room, 1, (unsigned)places) == 0,
         "shared memory");
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        send_pieces(memory, bytes, messages);
    }
}

static void take_pieces(unsigned char *to, size_t bytes)
{
    static size_t at;
    for (size_t done = 0; done < bytes; done += piece, at = (at + 1) % places) {
        sem_wait(&shared->full);
        memcpy(to + done, shared->ring + at * piece, bytes - done < piece ? bytes - done : piece);
        sem_post(&shared->room);
    }
}

/* Writes the head of a frame; returns its bytes. */
static size_t frame_head(unsigned char *at, unsigned char type, size_t payload)
{
    uint32_t length = htobe32((uint32_t)payload);
    memcpy(at, (unsigned char[3]){type, 0, 1}, 3); /* channel 1 */
    memcpy(at + 3, &length, sizeof length);
    return HEAD;
}

/* Method and header of every message: they are all alike. */
static size_t make_head(unsigned char *at, amqp_basic_publish_t *method, amqp_basic_properties_t *properties, size_t bytes)
{
    unsigned char *begin = at;
    uint32_t id = htobe32(AMQP_BASIC_PUBLISH_METHOD);
    int n = amqp_encode_method(AMQP_BASIC_PUBLISH_METHOD, method, (amqp_bytes_t){300, at + HEAD + 4});
    must(n >= 0, "method");
    frame_head(at, AMQP_FRAME_METHOD, 4 + (size_t)n);
    memcpy(at + HEAD, &id, sizeof id);
    at += HEAD + 4 + n;
    *at++ = AMQP_FRAME_END;
    uint64_t head[2] = {htobe64((uint64_t)AMQP_BASIC_CLASS << 48 | bytes >> 32), htobe64((uint64_t)bytes << 32)};
    n = amqp_encode_properties(AMQP_BASIC_CLASS, properties, (amqp_bytes_t){100, at + HEAD + 12});
    must(n >= 0, "properties");
    frame_head(at, AMQP_FRAME_HEADER, 12 + (size_t)n);
    memcpy(at + HEAD, head, 12);
    at += HEAD + 12 + n;
    *at++ = AMQP_FRAME_END;
    return (size_t)(at - begin);
}

static void send_all(struct iovec *part, size_t parts)
{
    int fd = amqp_get_sockfd(state);
    while (parts > 0) {
        struct msghdr message = {.msg_iov = part, .msg_iovlen = parts};
        ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL);
        must(sent >= 0 || errno == EAGAIN, "send");
        if (sent < 0) {
            poll(&(struct pollfd){fd, POLLOUT, 0}, 1, -1);
        }
        size_t left = sent > 0 ? (size_t)sent : 0;
        for (; parts > 0 && left >= part->iov_len; parts--) {
            left -= part++->iov_len;
        }
        if (left > 0) {
            *part = (struct iovec){(char *)part->iov_base + left, part->iov_len - left};
        }
    }
}

/* The frames of a message, from where it is, in one call. */
static void publish_frames(unsigned char *head, size_t head_bytes, unsigned char *body, size_t bytes)
{
    static unsigned char heads[FRAMES][HEAD], end = AMQP_FRAME_END;
    struct iovec part[1 + 3 * FRAMES] = {{head, head_bytes}};
    size_t most = (size_t)amqp_get_frame_max(state) - HEAD - 1, parts = 1;
    for (size_t at = 0, i = 0; at < bytes; at += most, i++) {
        size_t payload = bytes - at < most ? bytes - at : most;
        part[parts++] = (struct iovec){heads[i], frame_head(heads[i], AMQP_FRAME_BODY, payload)};
        part[parts++] = (struct iovec){body + at, payload};
        part[parts++] = (struct iovec){&end, 1};
    }
    send_all(part, parts);
}

int main(int argc, char **argv)
{
    must(argc == 7 || (argc == 8 && strcmp(argv[7], "assemble") == 0), "arguments");
    size_t bytes = (size_t)atol(argv[4]);
    long messages = atol(argv[5]), window = atol(argv[6]), sent = 0, done = 0;
    int assembles = argc == 8;
    must(bytes > 0 && bytes <= (size_t)FRAMES << 16 && window > 0, "arguments");
    char *memory = calloc(1, bytes + 1);
    unsigned char *kept = assembles ? malloc(bytes * (size_t)window) : NULL, head[512];
    amqp_bytes_t body = {bytes, memory}, key = amqp_cstring_bytes(argv[3]), exchange = amqp_cstring_bytes("dv");
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_DELIVERY_MODE_FLAG, .delivery_mode = 1};
    amqp_basic_publish_t method = {.exchange = exchange, .routing_key = key, .mandatory = 1};
    size_t head_bytes = make_head(head, &method, &properties, bytes);
    log_in(atoi(argv[1]), argv[2]);
    if (assembles) {
        start_sender(memory, bytes, messages);
    }
    double start = now_s();
    while (done < messages) {
        while (sent < messages && sent - done < window) {
            if (assembles) {
                unsigned char *message = kept + (size_t)(sent % window) * bytes;
                take_pieces(message, bytes);
                publish_frames(head, head_bytes, message, bytes);
            } else {
                must(amqp_basic_publish(state, 1, exchange, key, 1, 0, &properties, body) == AMQP_STATUS_OK, "publish");
            }
            sent++;
            if (sent % 64 == 0) {
                done = confirmed(done, 0);
            }
        }
        done = confirmed(done, 1);
    }
    printf("%.6g\n", (double)messages / (now_s() - start));
    amqp_connection_close(state, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(state);
    free(memory);
    free(kept);
    return 0;
}
