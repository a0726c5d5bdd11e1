/* Each card waits for ever, in the way that its argument says; the last argument is for all further cards. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <unistd.h>

#include "client.h"
#include "vic_collective.h"

static vic_t *card;

static void *fifo(void *what)
{
    uint64_t word;
    size_t n;
    *(int *)what = vic_fifo_wait(card, &word, 1, 1, &n, VIC_FOREVER);
    return NULL;
}

static int wait_in(const struct self *self, const char *how)
{
    struct vic_message_config config = {4096, 4096, 0};
    vic_message_t *m;
    uint64_t words[8];
    uint32_t src;
    size_t bytes;
    int status;
    if (strcmp(how, "client") == 0) {
        struct vic_delivery delivery;
        vic_client_t *client = open_client(self, 0, 0);
        return vic_client_recv(client, &delivery, VIC_FOREVER);
    }
    if (strcmp(how, "team") == 0) {
        uint32_t cards[] = {0, 1};
        vic_team_t *team;
        return vic_team_open(card, cards, 2, &team, VIC_FOREVER);
    }
    if (strcmp(how, "fifo") == 0) {
        fifo(&status);
        return status;
    }
    if (strcmp(how, "threads") == 0) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, fifo, &status) == 0);
        IS(vic_counter_wait(card, 5, VIC_FOREVER), VIC_EPEER);
        CHECK(pthread_join(thread, NULL) == 0);
        return status;
    }
    if (strcmp(how, "elsewhere") == 0) {
        printf("elsewhere\n");
        fflush(stdout);
        for (;;) {
            pause();
        }
    }
    if (strcmp(how, "counter") == 0) {
        return vic_counter_wait(card, 5, VIC_FOREVER);
    }
    OK(vic_message_open(card, &config, &m));
    if (strcmp(how, "late") == 0) { /* another one may wait for it for long */
        OK(vic_compute_ns(card, 20 * (uint64_t)SECOND));
        return vic_message_send(m, 0, words, 8, VIC_FOREVER);
    }
    if (strcmp(how, "retries") == 0) {
        for (int i = 0; i < 5; i++) {
            IS(vic_message_recv(m, &src, words, sizeof words, &bytes, SECOND), VIC_ETIMEDOUT);
        }
        return vic_message_send(m, 0, words, 8, VIC_FOREVER);
    }
    return vic_message_recv(m, &src, words, sizeof words, &bytes, VIC_FOREVER);
}

int main(int argc, char **argv)
{
    struct self self = {0};
    OK(vic_open(&card));
    OK(vic_query_attr(card, &self.attr));
    self.card = card;
    uint32_t number = self.attr.card + 1;
    OK(vic_counter_set(card, 5, 1));
    int status = wait_in(&self, argv[number < (uint32_t)argc ? number : (uint32_t)argc - 1]);
    printf("%d\n", status);
    fflush(stdout);
    OK(vic_close(card));
    return 0;
}
