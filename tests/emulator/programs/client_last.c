/* Card 1 confirms what card 0 has published, and ends. The thread of card 0 that receives is busy elsewhere just then: a
 * flush in another thread takes what has come before it says that the job has ended. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

#include "client.h"

enum { MS = 1000 * 1000 };

static void is_busy(int number)
{
    (void)number;
    pause_ns(400 * MS);
}

static void *receives(void *client)
{
    struct vic_delivery delivery;
    IS(vic_client_recv(client, &delivery, LONG), VIC_ECLOSED);
    return NULL;
}

static void publishes(vic_client_t *client)
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = is_busy};
    sigaction(SIGUSR1, &action, NULL);
    CHECK(pthread_create(&thread, NULL, receives, client) == 0);
    pause_ns(50 * MS);
    OK(vic_client_publish(client, 1, "key", "body", 4, LONG));
    pause_ns(20 * MS);
    pthread_kill(thread, SIGUSR1);
    OK(vic_client_flush(client, LONG));
    pthread_join(thread, NULL);
}

static void confirms(vic_client_t *client)
{
    struct vic_delivery delivery;
    OK(vic_client_recv(client, &delivery, LONG));
    pause_ns(100 * MS);
    OK(vic_client_ack(client, &delivery, 0));
}

void run(const struct self *self)
{
    vic_client_t *client = open_client(self, 16, self->me == 1 ? VIC_CLIENT_BRIDGE : 0);
    (self->me == 0 ? publishes : confirms)(client);
    OK(vic_client_close(client));
}
