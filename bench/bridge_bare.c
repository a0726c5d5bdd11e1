/* A bare rabbitmq-c loop, the rival of vicbridge: one thread, one connection, confirms with a window, memory
 * that is always the same. Prints messages per second, from the first publish to the last confirm.
 *
 *     bridge_bare PORT USER-AND-PASSWORD-FILE KEY BYTES MESSAGES WINDOW
 */
#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

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

int main(int argc, char **argv)
{
    must(argc == 7, "arguments");
    size_t bytes = (size_t)atol(argv[4]);
    long messages = atol(argv[5]), window = atol(argv[6]), sent = 0, done = 0;
    char *memory = calloc(1, bytes + 1);
    amqp_bytes_t body = {bytes, memory}, key = amqp_cstring_bytes(argv[3]), exchange = amqp_cstring_bytes("dv");
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_DELIVERY_MODE_FLAG, .delivery_mode = 1};
    log_in(atoi(argv[1]), argv[2]);
    double start = now_s();
    while (done < messages) {
        while (sent < messages && sent - done < window) {
            must(amqp_basic_publish(state, 1, exchange, key, 1, 0, &properties, body) == AMQP_STATUS_OK,
                 "publish");
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
    return 0;
}
