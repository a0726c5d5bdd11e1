/* A full inbox, which another thread could empty and does not: a flush that waits for that ends when a card dies. Card 1
 * does, and has sent something that stands before any confirm. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "client.h"

static _Atomic int goes_on = 1, has_received;
static const char body[500];

static void *receive_and_stay(void *client)
{
    struct vic_delivery d;
    IS(vic_client_recv(client, &d, 0), VIC_ETIMEDOUT);
    has_received = 1;
    while (goes_on) {
        pause_ns(1000 * 1000);
    }
    return NULL;
}

static void fill_up(vic_client_t *client)
{
    int status = VIC_OK;
    uint32_t cards;
    while (status == VIC_OK) {
        status = vic_client_topic(client, "t", body, sizeof body, &cards, 2 * 1000 * 1000);
    }
    IS(status, VIC_ETIMEDOUT);
}

static void die(const struct self *self, vic_client_t *client)
{
    uint32_t cards = 0;
    while (cards == 0) {
        OK(vic_client_topic(client, "t", body, sizeof body, &cards, LONG));
    }
    OK(vic_barrier(self->card, LONG));
    pause_ns(SECOND / 2);
    raise(SIGKILL);
}

void run(const struct self *self)
{
    const struct vic_message_config messages = {1000, 1024, 0};
    const struct vic_client_config config = {.window_bytes = 2000, .flags = VIC_CLIENT_BRIDGE};
    vic_client_t *client;
    pthread_t thread;
    OK(vic_client_open(self->card, &messages, &config, &client));
    OK(vic_barrier(self->card, LONG));
    if (self->me == 0) {
        OK(vic_client_bind(client, "t"));
        CHECK(pthread_create(&thread, NULL, receive_and_stay, client) == 0);
        while (!has_received) {
            pause_ns(1000 * 1000);
        }
        fill_up(client);
    }
    OK(vic_barrier(self->card, LONG));
    if (self->me == 1) {
        die(self, client);
    }
    int status;
    while ((status = vic_barrier(self->card, 10 * 1000 * 1000)) == VIC_ETIMEDOUT) {
        fill_up(client); /* which also tells card 1 what is bound here */
    }
    OK(status);
    OK(vic_client_publish(client, 1, "t", body, 1, LONG));
    status = vic_client_flush(client, LONG);
    goes_on = 0;
    CHECK(pthread_join(thread, NULL) == 0);
    IS(status, VIC_EPEER);
}
