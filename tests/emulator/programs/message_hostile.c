/* Can a card whose program writes whatever it likes, wherever it likes, do more than slow others down? The last card
 * writes over rings, records, counters and FIFO of the others: words of chance, edges, words that it saw there
 * before. They send to each other meanwhile; every message comes once, whole and in order. */
#include <pthread.h>
#include <stdatomic.h>

#include "message.h"

enum { WINDOW = 2048, MOST = 3000, MESSAGES = 120, BURSTS = 25, BURST = 24, COUNTERS = 9 };

struct seat {
    const struct self *self;
    vic_message_t *messages;
};

static void *send_all(void *what)
{
    const struct seat *seat = what;
    const struct self *self = seat->self;
    unsigned char data[MOST];
    for (uint32_t i = 0; i < MESSAGES; i++) {
        for (uint32_t to = 0; to + 1 < self->cards; to++) {
            uint64_t name = name_of(self->me, to, i);
            fill(data, name % MOST, name);
            OK(vic_message_send(seat->messages, to, data, name % MOST, LONG));
        }
    }
    OK(vic_message_flush(seat->messages, LONG));
    return NULL;
}

static void receive_all(const struct seat *seat)
{
    uint32_t others = seat->self->cards - 1, number[64] = {0};
    unsigned char data[MOST];
    for (uint32_t left = MESSAGES * others; left > 0; left--) {
        size_t bytes;
        uint32_t src;
        OK(vic_message_recv(seat->messages, &src, data, MOST, &bytes, LONG));
        uint64_t name = name_of(src, seat->self->me, number[src]++);
        CHECK(bytes == name % MOST && is_filled(data, bytes, name));
    }
}

static uint64_t any_word(uint64_t *random, const uint64_t *seen, size_t count)
{
    static const uint64_t edges[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, UINT32_MAX, UINT64_C(0xffffffff00000000)};
    uint64_t x = draw(random);
    switch (x % 4) {
    case 0: return edges[x / 4 % (sizeof edges / sizeof *edges)];
    case 1: return seen[x / 4 % count];
    case 2: return seen[x / 4 % count] ^ UINT64_C(1) << (x >> 58);
    default: return draw(random);
    }
}

/* What stands in a card's memory: it can be written again later. */
static void look(const struct self *self, uint32_t at, uint32_t region, uint64_t *random, uint64_t *seen)
{
    uint64_t header[BURST], wish[BURST];
    OK(vic_counter_set(self->card, 20, BURST));
    for (uint32_t i = 0; i < BURST; i++) {
        header[i] = vic_header(at, VIC_QUERY, (vic_addr_t)(draw(random) % region), VIC_NO_COUNTER);
        wish[i] = vic_header(self->me, VIC_WRITE, region + i, 20);
    }
    OK(vic_send(self->card, header, wish, BURST));
    OK(vic_counter_wait(self->card, 20, LONG));
    OK(vic_read(self->card, region, seen, BURST));
}

static void attack(const struct self *self)
{
    const uint32_t region = self->cards * (WINDOW / 8 + 16);
    uint64_t random = 1, seen[BURST], header[BURST], word[BURST];
    for (uint32_t burst = 0; burst < BURSTS; burst++) {
        uint32_t at = burst % (self->cards - 1);
        look(self, at, region, &random, seen);
        for (uint32_t i = 0; i < BURST; i++) {
            uint64_t x = draw(&random);
            unsigned counter = (unsigned)(x >> 8 & 63) % COUNTERS;
            enum vic_op op = x % 8 == 0 ? VIC_COUNTER_SET : x % 8 == 1 ? VIC_COUNTER_ADD : VIC_WRITE;
            op = x % 8 == 2 && burst == 0 ? VIC_FIFO : op;
            header[i] = vic_header(at, op, (vic_addr_t)(draw(&random) % region), counter);
            word[i] = any_word(&random, seen, BURST);
        }
        OK(vic_send(self->card, header, word, BURST));
        for (uint64_t start = vic_time_ns(self->card); vic_time_ns(self->card) - start < 500 * 1000;) {
            vic_relax(self->card);
        }
    }
}

void run(const struct self *self)
{
    if (self->cards == 1) {
        return;
    }
    if (self->me == self->cards - 1) {
        OK(vic_barrier(self->card, LONG));
        attack(self);
        OK(vic_barrier(self->card, LONG));
        return;
    }
    struct seat seat = {self, open_messages(self, WINDOW, MOST)};
    OK(vic_barrier(self->card, LONG));
    pthread_t sender;
    CHECK(pthread_create(&sender, NULL, send_all, &seat) == 0);
    receive_all(&seat);
    pthread_join(sender, NULL);
    OK(vic_barrier(self->card, LONG));
    OK(vic_message_close(seat.messages));
}
