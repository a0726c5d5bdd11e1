/* A bridge of your own to RabbitMQ, on one thread: what cards publish goes to an exchange, and is confirmed to its
 * sender when the broker has confirmed it. In the published harness it takes vicbridge's place, see
 * docs/emulated-runs.md:
 *
 *     cc rabbit_bridge.c -o rabbit_bridge $(dvsim emulate --cflags --libs) -lrabbitmq
 *     dvsim run h3/dv-256 --backend emu --bridge ./rabbit_bridge
 */
#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <vic_client.h>

enum { WINDOW = 1024, BATCH = 64, IDLE_NS = 1000000 };
static struct vic_delivery sent[WINDOW]; /* what the broker has not confirmed, by delivery tag; a kind of 0: it has */
static uint64_t published, confirmed;    /* tags; all up to `confirmed` are */

static int failed(const char *what)
{
    fprintf(stderr, "rabbit_bridge: %s\n", what);
    exit(1);
}

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? value : (failed(name), "");
}

static amqp_connection_state_t connect_to(const char *where, const char *credentials, int confirms)
{
    char url[512], line[256] = "", *user = line;
    struct amqp_connection_info to;
    FILE *file = fopen(credentials, "r");
    snprintf(url, sizeof url, "%s", where);
    if (file == NULL || fgets(line, sizeof line, file) == NULL || amqp_parse_url(url, &to) != AMQP_STATUS_OK) {
        failed("no URL or no credentials");
    }
    fclose(file);
    line[strcspn(line, "\n")] = 0;
    char *password = strchr(line, ':');
    amqp_connection_state_t broker = amqp_new_connection();
    if (password == NULL || amqp_socket_open(amqp_tcp_socket_new(broker), to.host, to.port) != AMQP_STATUS_OK) {
        failed("no broker");
    }
    *password++ = 0;
    if (amqp_login(broker, to.vhost, 1, AMQP_DEFAULT_FRAME_SIZE, 0, AMQP_SASL_METHOD_PLAIN, user, password)
            .reply_type != AMQP_RESPONSE_NORMAL ||
        amqp_channel_open(broker, 1) == NULL || (confirms && amqp_confirm_select(broker, 1) == NULL)) {
        failed("the broker refuses");
    }
    return broker;
}

static void publish(amqp_connection_state_t broker, amqp_bytes_t exchange, const struct vic_delivery *d)
{
    char name[40];
    snprintf(name, sizeof name, VIC_MESSAGE_ID, (unsigned long long)d->session, (unsigned long long)d->id);
    amqp_basic_properties_t with = {._flags = AMQP_BASIC_MESSAGE_ID_FLAG, .message_id = amqp_cstring_bytes(name)};
    amqp_bytes_t key = {d->key_bytes, (void *)(intptr_t)d->key}, body = {d->bytes, (void *)(intptr_t)d->body};
    if (amqp_basic_publish(broker, 1, exchange, key, 0, 0, &with, body) != AMQP_STATUS_OK) {
        failed("the connection is lost");
    }
    published++;
}

/* Confirm to the senders what the broker confirms; waits for so many milliseconds for the first of it. */
static void take_confirms(amqp_connection_state_t broker, vic_client_t *client, int wait_ms)
{
    struct timeval timeout = {0, wait_ms * 1000};
    amqp_frame_t frame;
    int status;
    while ((status = amqp_simple_wait_frame_noblock(broker, &frame, &timeout)) == AMQP_STATUS_OK) {
        amqp_basic_ack_t *ack = frame.payload.method.decoded;
        if (frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD) {
            failed("the broker answers something else than a confirm");
        }
        for (uint64_t tag = ack->multiple ? confirmed + 1 : ack->delivery_tag; tag <= ack->delivery_tag; tag++) {
            if (sent[tag % WINDOW].kind != 0) {
                vic_client_ack(client, &sent[tag % WINDOW], 0);
                sent[tag % WINDOW].kind = 0;
            }
        }
        while (confirmed < published && sent[(confirmed + 1) % WINDOW].kind == 0) {
            confirmed++;
        }
        amqp_maybe_release_buffers(broker);
        timeout.tv_usec = 0;
    }
    if (status != AMQP_STATUS_TIMEOUT) {
        failed("the connection is lost");
    }
}

static int all_left(const vic_t *card, uint32_t clients)
{
    uint64_t opens = 2;
    for (uint32_t c = 0; c < clients && opens > 0 && opens % 2 == 0; c++) {
        vic_peer_opens(card, c, &opens);
    }
    return opens > 0 && opens % 2 == 0;
}

int main(void)
{
    vic_t *card;
    vic_client_t *client;
    struct vic_client_config config = {.flags = VIC_CLIENT_BRIDGE};
    int confirms = atoi(setting("BRIDGE_AT_LEAST_ONCE")), clients = atoi(setting("BRIDGE_CLIENTS"));
    amqp_bytes_t exchange = amqp_cstring_bytes(setting("BRIDGE_EXCHANGE"));
    amqp_connection_state_t broker = connect_to(setting("BRIDGE_URL"), setting("BRIDGE_CREDENTIALS"), confirms);
    if (vic_open(&card) != VIC_OK || vic_client_open(card, NULL, &config, &client) != VIC_OK) {
        failed("no card");
    }
    int status = VIC_OK, left = 0;
    while (status == VIC_OK || (status == VIC_ETIMEDOUT && !(left && published == confirmed))) {
        struct vic_delivery d;
        left = all_left(card, (uint32_t)clients); /* before the look: what they have sent is there */
        uint64_t wait_ns = published == confirmed && !left ? IDLE_NS : 0;
        status = VIC_OK;
        for (int i = 0; i < BATCH && status == VIC_OK && published - confirmed < WINDOW; i++, wait_ns = 0) {
            if ((status = vic_client_recv(client, &d, wait_ns)) == VIC_OK) {
                publish(broker, exchange, &d);
                confirms ? vic_client_release(client, &d) : vic_client_ack(client, &d, 0);
                sent[published % WINDOW] = d;
                confirmed += confirms ? 0 : 1;
            }
        }
        take_confirms(broker, client, status != VIC_OK && published > confirmed);
    }
    amqp_connection_close(broker, AMQP_REPLY_SUCCESS); /* in order: then the broker has everything */
    amqp_destroy_connection(broker);
    vic_client_close(client);
    vic_close(card);
    FILE *costs = fopen(setting("BRIDGE_PROMETHEUS"), "w"); /* this, too, may be left out */
    if (costs == NULL || fprintf(costs, "process_cpu_seconds_total %f\n", (double)clock() / CLOCKS_PER_SEC) < 0 ||
        fclose(costs) != 0) {
        failed("no file for the CPU time");
    }
    return status != VIC_ETIMEDOUT && status != VIC_ECLOSED ? failed(vic_strerror(status)) : 0;
}
