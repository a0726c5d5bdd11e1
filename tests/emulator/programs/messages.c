/* Does everybody get every message of everybody once, whole and in order? A thread of each card sends to all, itself
 * too, while the card receives; sizes from nothing to some times the ring. */
#include <pthread.h>

#include "message.h"

enum { WINDOW = 2048, MOST = 6000, ALL = 960 };

struct seat {
    const struct self *self;
    vic_message_t *messages;
};

/* Messages from each to each. */
static uint32_t each(const struct self *self)
{
    uint32_t pairs = self->cards * self->cards;
    return pairs > ALL / 4 ? 4 : ALL / pairs;
}

static size_t size_of(uint64_t name)
{
    static const size_t edges[] = {0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 479, 480, 481, 1000, 2048, MOST};
    return name % 3 == 0 ? name / 3 % MOST : edges[name / 3 % (sizeof edges / sizeof *edges)];
}

static void *send_all(void *what)
{
    const struct seat *seat = what;
    const struct self *self = seat->self;
    unsigned char *data = malloc(MOST);
    for (uint32_t i = 0; i < each(self); i++) {
        for (uint32_t k = 0; k < self->cards; k++) {
            uint32_t to = (self->me + k) % self->cards;
            uint64_t name = name_of(self->me, to, i);
            fill(data, size_of(name), name);
            OK(vic_message_send(seat->messages, to, data, size_of(name), LONG));
        }
    }
    OK(vic_message_flush(seat->messages, LONG));
    free(data);
    return NULL;
}

void run(const struct self *self)
{
    struct seat seat = {self, open_messages(self, WINDOW, MOST)};
    uint32_t *number = calloc(self->cards, sizeof *number);
    unsigned char *data = malloc(MOST + 1);
    pthread_t sender;
    CHECK(pthread_create(&sender, NULL, send_all, &seat) == 0);
    for (uint32_t left = each(self) * self->cards; left > 0; left--) {
        uint32_t src;
        size_t bytes;
        unsigned char *to = data + left % 2; /* not always where a word can be */
        OK(vic_message_recv(seat.messages, &src, to, MOST, &bytes, LONG));
        CHECK(src < self->cards);
        uint64_t name = name_of(src, self->me, number[src]++);
        CHECK(bytes == size_of(name) && is_filled(to, bytes, name));
    }
    for (uint32_t src = 0; src < self->cards; src++) {
        CHECK(number[src] == each(self));
    }
    pthread_join(sender, NULL);
    size_t bytes;
    IS(vic_message_recv(seat.messages, NULL, data, MOST, &bytes, 0), VIC_ETIMEDOUT);
    OK(vic_barrier(self->card, LONG));
    OK(vic_message_close(seat.messages));
    free(data);
    free(number);
}
