/* Who waits for room in the inbox, and for whom? One card, whose client sends topics to itself. */
#include <pthread.h>
#include <stdatomic.h>

#include "client.h"

#define SHORT (2 * UINT64_C(1000000))
#define FULL "window_bytes of the client, 2000, are full of messages that were received and not taken, and "
#define CALL ": call vic_client_recv"

static vic_t *card;
static vic_client_t *client;
static _Atomic int goes_on;

static void open_it(void)
{
    const struct vic_message_config messages = {1000, 1024, 0};
    const struct vic_client_config config = {.window_bytes = 2000, .flags = VIC_CLIENT_BRIDGE};
    OK(vic_client_open(card, &messages, &config, &client));
    OK(vic_client_bind(client, "t"));
}

static void *receive_once(void *nothing)
{
    struct vic_delivery d;
    IS(vic_client_recv(client, &d, 0), VIC_ETIMEDOUT);
    return nothing;
}

static void *receive_and_stay(void *nothing)
{
    receive_once(NULL);
    goes_on = 1;
    while (goes_on) {
        vic_relax(card);
    }
    return nothing;
}

static int fill_up(uint64_t timeout_ns)
{
    static const char body[500];
    int status = VIC_OK;
    for (int times = 0; times < 1000 && status == VIC_OK; times++) {
        uint32_t cards;
        status = vic_client_topic(client, "t", body, sizeof body, &cards, timeout_ns);
    }
    return status;
}

static pthread_t start(void *(*what)(void *))
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, what, NULL) == 0);
    return thread;
}

static void a_receiver_that_has_ended(void)
{
    static const char body[500];
    open_it();
    CHECK(pthread_join(start(receive_once), NULL) == 0);
    IS(fill_up(LONG), VIC_ENOSPC);
    CHECK(strcmp(vic_error_detail(), FULL "no confirm is awaited that could get past them" CALL) == 0);
    IS(vic_client_publish(client, 0, "t", body, sizeof body, LONG), VIC_ENOSPC);
    CHECK(strcmp(vic_error_detail(), FULL "card 0, which has to confirm, has sent something else before" CALL) == 0);
    OK(vic_client_close(client));
}

static void one_that_lives(void)
{
    open_it();
    pthread_t one = start(receive_once), other = start(receive_and_stay);
    while (!goes_on) {
        vic_relax(card);
    }
    CHECK(pthread_join(one, NULL) == 0); /* the last to end, perhaps: that the other one lives counts */
    IS(fill_up(SHORT), VIC_ETIMEDOUT);
    goes_on = 0;
    CHECK(pthread_join(other, NULL) == 0);
    IS(fill_up(LONG), VIC_ENOSPC);
    OK(vic_client_close(client));
}

static void *receive_and_fill(void *nothing)
{
    receive_once(NULL);
    goes_on++;
    while (goes_on < 2) {
        vic_relax(card);
    }
    IS(fill_up(LONG), VIC_ENOSPC);
    return nothing;
}

/* Each might wait for the other one. When the first is told, and ends, nobody is left for the second. */
static void two_that_send(void)
{
    goes_on = 0;
    open_it();
    pthread_t one = start(receive_and_fill), other = start(receive_and_fill);
    CHECK(pthread_join(one, NULL) == 0 && pthread_join(other, NULL) == 0);
    OK(vic_client_close(client));
}

/* A thread that has received from many clients ends after them, and before the last. */
static void *receive_from_many(void *nothing)
{
    for (int times = 0; times < 200; times++) {
        vic_client_t *before = client;
        if (times > 0) {
            OK(vic_client_close(before));
        }
        open_it();
        receive_once(NULL);
    }
    return nothing;
}

static void many_clients(void)
{
    CHECK(pthread_join(start(receive_from_many), NULL) == 0);
    IS(fill_up(LONG), VIC_ENOSPC);
    OK(vic_client_close(client));
}

int main(void)
{
    OK(vic_open(&card));
    a_receiver_that_has_ended();
    one_that_lives();
    two_that_send();
    many_clients();
    OK(vic_close(card));
    return 0;
}
