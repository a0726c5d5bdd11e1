/* Do messages of 0 B to 16 MiB come whole, to itself and from card to card, in a usual ring and in the smallest? */
#include <pthread.h>

#include "message.h"

static const size_t sizes[] = {0, 1, 7, 8, 9, 1023, 1024, 1025, 32767, 32768, 32769, 131072, 1 << 20, 5000001, 16 << 20};

enum { COUNT = sizeof sizes / sizeof *sizes };

struct flow {
    vic_message_t *messages;
    uint32_t to;
    size_t most;
};

static void *send_all(void *what)
{
    const struct flow *flow = what;
    unsigned char *data = malloc(flow->most + 1);
    for (uint32_t i = 0; i < COUNT && sizes[i] <= flow->most; i++) {
        fill(data + i % 2, sizes[i], i);
        OK(vic_message_send(flow->messages, flow->to, data + i % 2, sizes[i], LONG));
    }
    OK(vic_message_flush(flow->messages, LONG));
    free(data);
    return NULL;
}

/* To the next card, from the one before. */
static void round_trip(const struct self *self, size_t window, size_t most)
{
    struct flow flow = {open_messages(self, window, 0), (self->me + 1) % self->cards, most};
    pthread_t sender;
    CHECK(pthread_create(&sender, NULL, send_all, &flow) == 0);
    unsigned char *data = malloc(most + 1);
    for (uint32_t i = 0; i < COUNT && sizes[i] <= most; i++) {
        size_t bytes;
        uint32_t src;
        OK(vic_message_recv(flow.messages, &src, data + i / 2 % 2, sizes[i], &bytes, LONG));
        CHECK(src == (self->me + self->cards - 1) % self->cards);
        CHECK(bytes == sizes[i] && is_filled(data + i / 2 % 2, bytes, i));
    }
    pthread_join(sender, NULL);
    OK(vic_barrier(self->card, LONG));
    OK(vic_message_close(flow.messages));
    free(data);
    OK(vic_barrier(self->card, LONG));
}

void run(const struct self *self)
{
    bool quick = getenv("QUICK") != NULL;
    round_trip(self, 512, 131072);
    round_trip(self, 0, quick ? 1 << 20 : 16 << 20);
}
