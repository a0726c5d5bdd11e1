/* Takes messages from an MQTT broker, in a session that outlives connections, and writes a line for each:
 *
 *     mqtt_taker PORT TOPIC    message id, topic, body in hexadecimal; a first line "ready" */
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

static const char *wanted;

static void on_connect(struct mosquitto *mqtt, void *data, int code, int flags, const mosquitto_property *with)
{
    (void)data, (void)flags, (void)with;
    if (code == 0) {
        mosquitto_subscribe(mqtt, NULL, wanted, 1);
    }
}

static void on_subscribe(struct mosquitto *mqtt, void *data, int id, int count, const int *qos,
                         const mosquitto_property *with)
{
    (void)mqtt, (void)data, (void)id, (void)count, (void)with;
    puts(qos[0] == 1 ? "ready" : "refused");
}

static void on_message(struct mosquitto *mqtt, void *data, const struct mosquitto_message *message,
                       const mosquitto_property *with)
{
    (void)mqtt, (void)data;
    char *name = NULL, *value = NULL;
    mosquitto_property_read_string_pair(with, MQTT_PROP_USER_PROPERTY, &name, &value, false);
    printf("%s %s ", value != NULL ? value : "-", message->topic);
    for (int i = 0; i < message->payloadlen; i++) {
        printf("%02x", ((const unsigned char *)message->payload)[i]);
    }
    putchar('\n');
    free(name);
    free(value);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 2;
    }
    wanted = argv[2];
    setvbuf(stdout, NULL, _IOLBF, 0);
    mosquitto_lib_init();
    struct mosquitto *mqtt = mosquitto_new("taker", false, NULL);
    mosquitto_property *keep = NULL;
    mosquitto_property_add_int32(&keep, MQTT_PROP_SESSION_EXPIRY_INTERVAL, 3600);
    mosquitto_int_option(mqtt, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
    mosquitto_connect_v5_callback_set(mqtt, on_connect);
    mosquitto_subscribe_v5_callback_set(mqtt, on_subscribe);
    mosquitto_message_v5_callback_set(mqtt, on_message);
    int link = mosquitto_connect_bind_v5(mqtt, "127.0.0.1", atoi(argv[1]), 10, NULL, keep);
    for (;;) {
        if (link != MOSQ_ERR_SUCCESS) {
            poll(NULL, 0, 50);
            link = mosquitto_reconnect(mqtt);
        }
        link = link == MOSQ_ERR_SUCCESS ? mosquitto_loop(mqtt, 50, 1) : link;
    }
}
