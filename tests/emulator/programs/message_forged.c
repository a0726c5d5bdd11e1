/* What if somebody writes pieces with a right checksum and senseless numbers? The last card knows the layout and does
 * that, in its own ring at each of the others, which only have to survive, and to get the messages of each other. It goes
 * on until each of them has had a message of it: some made sense, and it did reach the code behind the checksum. */
#include "../../../emulator/src/message/hash.c"
#include "../../../emulator/src/message/wire.c"
#include "message.h"

enum { WINDOW = 4096, MOST = 100000, FORGED = 1500, MESSAGES = 50, WAIT_NS = 30 * 1000, NAME = 77, REACHED = 31 };

static uint32_t edge(uint64_t *random, uint32_t total)
{
    const uint32_t edges[] = {0, 1, 7, 8, 9, 16, 1023, 1024, 1032, 4000, total, total - 1, total - 8, 0xffffff, UINT32_MAX};
    uint64_t x = draw(random);
    return x % 3 == 0 ? (uint32_t)(x >> 20) % 5000 : edges[x / 3 % (sizeof edges / sizeof *edges)];
}

static bool ask(const struct self *self, const struct layout *layout, uint32_t to, struct state *state)
{
    uint64_t header[2], reply_header[2], word[2];
    uint32_t here = ring_at(layout, self->cards, 0); /* behind all rings */
    OK(vic_counter_set(self->card, 30, 2));
    for (uint32_t i = 0; i < 2; i++) {
        header[i] = vic_header(to, VIC_QUERY, record_at(layout, self->me) + RECORD_TAKEN + i, VIC_NO_COUNTER);
        reply_header[i] = vic_header(self->me, VIC_WRITE, here + i, 30);
    }
    OK(vic_send(self->card, header, reply_header, 2));
    OK(vic_counter_wait(self->card, 30, LONG));
    OK(vic_read(self->card, here, word, 2));
    return state_read(layout, RECORD_TAKEN, self->me, to, word, state);
}

/* As a sender does before its first frame. */
static void greet(const struct self *self, const struct layout *layout, uint32_t to, const struct state *state,
                  uint32_t activities)
{
    uint64_t word[2], add = vic_header(to, VIC_COUNTER_ADD, 0, activities + 1), one = 1;
    struct state hello = {state->position + 4 * layout->units, NAME, state->epoch};
    state_make(layout, RECORD_HELLO, self->me, to, &hello, word);
    OK(vic_put(self->card, to, record_at(layout, self->me) + RECORD_HELLO, word, 2, self->me % activities));
    OK(vic_send(self->card, &add, &one, 1));
}

static void forge(const struct self *self)
{
    uint32_t activities = self->cards < 7 ? self->cards : 7, understood = 0, i = 0;
    int64_t left = 1;
    struct layout layout = {0, self->cards, WINDOW / 8 / UNIT, 0};
    uint64_t random = 5, words[4096] = {0};
    uint32_t greeted[32] = {0};
    layout_set_key(&layout, MOST, VIC_MESSAGE_ORDERED, activities + 2, 0);
    for (; i < FORGED || left > 0; i++) {
        OK(vic_counter_get(self->card, REACHED, &left));
        uint32_t to = i % (self->cards - 1), total = (uint32_t)(draw(&random) % 3000), most = 1024;
        struct state state;
        if (!ask(self, &layout, to, &state)) {
            continue;
        }
        understood++;
        if (greeted[to]++ < 3) { /* it knows the name then */
            greet(self, &layout, to, &state, activities);
            continue;
        }
        struct frame frame = {(enum frame_kind)(draw(&random) % 8 == 0 ? draw(&random) % 3 : 0),
                              edge(&random, total) & 0xffffff, edge(&random, total), edge(&random, total), 0, 0};
        frame.bytes = frame.bytes < 8 * most ? frame.bytes : 8 * most;
        if (draw(&random) % 2 == 0) { /* well-formed but for its place in a message */
            frame = (struct frame){FRAME_PIECE, total < 900 ? total : 900, total, i % 3 == 0 ? 0 : 896, 0, 0};
        }
        frame_make(stream_key(&layout, self->me, to, state.epoch, NAME), state.position, &frame, words + 2048, words);
        uint32_t n = frame_words(frame.bytes), rest = rest_of(&layout, state.position) * UNIT;
        OK(vic_put(self->card, to, ring_at(&layout, self->me, state.position), words, n < rest ? n : rest,
                   self->me % activities));
        for (uint64_t start = vic_time_ns(self->card); vic_time_ns(self->card) - start < WAIT_NS;) {
            vic_relax(self->card);
        }
    }
    CHECK(understood > i / 2);
}

static void say_reached(const struct self *self)
{
    uint64_t header = vic_header(self->cards - 1, VIC_COUNTER_ADD, 0, REACHED), one_less = UINT64_MAX;
    OK(vic_send(self->card, &header, &one_less, 1));
}

void run(const struct self *self)
{
    if (self->me == self->cards - 1) {
        OK(vic_counter_set(self->card, REACHED, self->cards - 1));
        OK(vic_barrier(self->card, LONG));
        forge(self);
        OK(vic_barrier(self->card, LONG));
        return;
    }
    vic_message_t *messages = open_messages(self, WINDOW, MOST);
    unsigned char *data = malloc(MOST);
    uint32_t to = (self->me + 1) % (self->cards - 1), from = (self->me + self->cards - 2) % (self->cards - 1);
    uint32_t forged = 0, sent = 0, received = 0;
    OK(vic_barrier(self->card, LONG));
    while (sent < MESSAGES || received < MESSAGES || forged == 0) {
        if (sent < MESSAGES) {
            fill(data, 500, sent++);
            OK(vic_message_send(messages, to, data, 500, LONG));
        }
        int status;
        do { /* until nothing comes: the forger has time */
            size_t bytes;
            uint32_t src;
            status = vic_message_recv(messages, &src, data, MOST, &bytes, 1000 * 1000);
            CHECK(status == VIC_OK || status == VIC_ETIMEDOUT);
            if (status == VIC_OK && src == from) {
                CHECK(bytes == 500 && is_filled(data, bytes, received));
                received++;
            } else if (status == VIC_OK) {
                CHECK(src == self->cards - 1);
                if (forged++ == 0) {
                    say_reached(self);
                }
            }
        } while (status == VIC_OK);
    }
    OK(vic_barrier(self->card, LONG));
    OK(vic_message_close(messages));
    free(data);
}
