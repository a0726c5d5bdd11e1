/* A bridge to another kind of broker: what cards publish goes to an MQTT broker with QoS 1, and is confirmed to
 * its sender when the broker has sent its PUBACK. Nothing is lost on the way:
 *   this bridge killed   its clients publish again what was not confirmed, with the same message id
 *   connection broken    libmosquitto keeps what has no PUBACK, and sends it again on the next one
 *   broker slow or away  from WINDOW messages on nothing is taken off the card, so that the senders wait
 * The key a.b becomes the topic a/b. The message id is a user property: who receives drops duplicates by it. */
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vic_client.h>

enum { WINDOW = 256, LOOK_NS = 5000000, PAUSE_MS = 200, REFUSED = 0x80 /* MQTT's reasons from here on */ };
static struct vic_delivery sent[1 << 16]; /* by packet id: without PUBACK. Brokers send them in order, */
static unsigned in_flight;                /* so an id of the last WINDOW is not given again */
static volatile sig_atomic_t stopped;

static void stop(int number)
{
    stopped = number;
    signal(number, SIG_DFL); /* a second one does not wait for what is in flight */
}

static int failed(const char *what, const char *why)
{
    fprintf(stderr, "mqtt_bridge: %s: %s\n", what, why);
    return 1;
}

/* PUBACK. Called from mosquitto_loop only: there is one thread, and no lock. */
static void on_publish(struct mosquitto *mqtt, void *client, int id, int reason, const mosquitto_property *with)
{
    (void)mqtt, (void)with;
    vic_client_ack(client, &sent[id], reason >= REFUSED);
    in_flight--;
}

static int hand_on(struct mosquitto *mqtt, vic_client_t *client, struct vic_delivery *d)
{
    char topic[VIC_KEY_MOST + 1], name[40];
    mosquitto_property *with = NULL;
    for (size_t i = 0; i <= d->key_bytes; i++) {
        topic[i] = d->key[i] == '.' ? '/' : d->key[i];
    }
    if (d->kind != VIC_PUBLISH || d->key_bytes == 0 || strlen(topic) != d->key_bytes ||
        mosquitto_pub_topic_check(topic) != 0 || mosquitto_validate_utf8(topic, (int)d->key_bytes) != 0) {
        return vic_client_ack(client, d, 1); /* no topic: the sender counts it as refused */
    }
    snprintf(name, sizeof name, VIC_MESSAGE_ID, (unsigned long long)d->session, (unsigned long long)d->id);
    mosquitto_property_add_string_pair(&with, MQTT_PROP_USER_PROPERTY, "message_id", name);
    int id, result = mosquitto_publish_v5(mqtt, &id, topic, (int)d->bytes, d->body, 1, false, with);
    mosquitto_property_free_all(&with);
    if (result == MOSQ_ERR_NOMEM || result == MOSQ_ERR_OVERSIZE_PACKET) {
        return vic_client_ack(client, d, 1);
    }
    sent[id] = *d; /* even if the connection has just broken: libmosquitto has a copy */
    in_flight++;
    return vic_client_release(client, &sent[id]);
}

int main(int argc, char **argv)
{
    vic_t *card;
    vic_client_t *client;
    struct vic_delivery d;
    struct vic_client_config config = {.flags = VIC_CLIENT_BRIDGE};
    if (argc != 3 || atoi(argv[2]) < 1 || atoi(argv[2]) > 65535) {
        return failed("usage", "mqtt_bridge HOST PORT") + 1;
    }
    signal(SIGTERM, stop);
    int status = vic_open(&card);
    status = status == VIC_OK ? vic_client_open(card, NULL, &config, &client) : status;
    int ready = status == VIC_OK && mosquitto_lib_init() == 0;
    struct mosquitto *mqtt = ready ? mosquitto_new(NULL, true, client) : NULL;
    if (mqtt == NULL) {
        return failed("cannot begin", vic_strerror(status));
    }
    mosquitto_int_option(mqtt, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
    mosquitto_publish_v5_callback_set(mqtt, on_publish);
    int link = mosquitto_connect(mqtt, argv[1], atoi(argv[2]), 10);
    for (int open = 1; (open && !stopped) || in_flight > 0;) {
        if (link != MOSQ_ERR_SUCCESS) {
            failed("not connected, trying again", mosquitto_strerror(link));
            poll(NULL, 0, PAUSE_MS);
            link = mosquitto_reconnect(mqtt);
        } else if (open && !stopped && in_flight < WINDOW) {
            status = vic_client_recv(client, &d, in_flight == 0 ? LOOK_NS : 0);
            status = status == VIC_OK ? hand_on(mqtt, client, &d) : status;
            open = status == VIC_OK || status == VIC_ETIMEDOUT; /* VIC_ECLOSED: all others have left */
        }
        link = link == MOSQ_ERR_SUCCESS ? mosquitto_loop(mqtt, status == VIC_OK ? 0 : 1, 1) : link;
    }
    mosquitto_destroy(mqtt);
    vic_client_close(client);
    return status == VIC_EPEER ? failed("the job", vic_strerror(status)) : 0;
}
