/* May peers open and close at any time? First the sender does, and every message comes once; then the receiver does,
 * and what comes is never old or doubled, and flush says when something was lost. Cards in pairs; odd ones send. */
#include "message.h"

enum { MESSAGES = 300, MOST = 700, WINDOW = 512 };

static size_t size_of(uint64_t name)
{
    return 4 + name % (MOST - 4);
}

static int send_number(const struct self *self, vic_message_t *messages, uint32_t number, uint64_t timeout_ns)
{
    unsigned char data[MOST];
    uint64_t name = name_of(self->me, self->me - 1, number);
    fill(data, size_of(name), name);
    memcpy(data, &number, 4);
    return vic_message_send(messages, self->me - 1, data, size_of(name), timeout_ns);
}

/* Its number; MESSAGES: nothing came. */
static uint32_t receive_number(const struct self *self, vic_message_t *messages, uint64_t timeout_ns)
{
    unsigned char data[MOST], same[MOST];
    size_t bytes;
    uint32_t src, number;
    int status = vic_message_recv(messages, &src, data, MOST, &bytes, timeout_ns);
    if (status == VIC_ETIMEDOUT) {
        return MESSAGES;
    }
    OK(status);
    CHECK(src == self->me + 1);
    memcpy(&number, data, 4);
    uint64_t name = name_of(src, self->me, number);
    fill(same, size_of(name), name);
    memcpy(same, &number, 4);
    CHECK(bytes == size_of(name) && memcmp(data, same, bytes) == 0);
    return number;
}

static void sender_reopens(const struct self *self)
{
    vic_message_t *messages = open_messages(self, WINDOW, MOST);
    uint64_t random = self->me;
    if (self->me % 2 == 1) {
        for (uint32_t i = 0; i < MESSAGES; i++) {
            if (draw(&random) % 7 == 0) {
                OK(vic_message_close(messages)); /* what was sent stays */
                messages = open_messages(self, WINDOW, MOST);
            }
            OK(send_number(self, messages, i, LONG));
        }
        OK(vic_message_flush(messages, LONG));
    } else {
        for (uint32_t i = 0; i < MESSAGES; i++) {
            CHECK(receive_number(self, messages, LONG) == i);
        }
    }
    OK(vic_barrier(self->card, LONG));
    vic_message_close(messages);
    OK(vic_barrier(self->card, LONG));
}

static void keep_sending(const struct self *self)
{
    vic_message_t *messages = open_messages(self, WINDOW, MOST);
    int status;
    for (uint32_t i = 0; i < MESSAGES - 1; i++) {
        OK(send_number(self, messages, i, LONG));
        if (i % 5 == 4) {
            status = vic_message_flush(messages, LONG);
            CHECK(status == VIC_OK || status == VIC_EPEER);
        }
    }
    do {
        OK(send_number(self, messages, MESSAGES - 1, LONG));
        status = vic_message_flush(messages, LONG);
    } while (status == VIC_EPEER);
    OK(status);
    OK(vic_barrier(self->card, LONG));
    OK(vic_message_close(messages));
}

static void keep_reopening(const struct self *self)
{
    uint64_t random = self->me;
    uint32_t next = 0, number;
    for (;;) {
        vic_message_t *messages = open_messages(self, WINDOW, MOST);
        uint32_t most = (uint32_t)(draw(&random) % 12);
        for (uint32_t i = 0; i < most || next >= MESSAGES - 40; i++) {
            number = receive_number(self, messages, 1000 * 1000);
            if (number != MESSAGES) {
                CHECK(number >= next);
                next = number + 1;
            }
            if (next == MESSAGES) {
                OK(vic_barrier(self->card, LONG));
                OK(vic_message_close(messages));
                return;
            }
        }
        int status = vic_message_close(messages);
        CHECK(status == VIC_OK);
    }
}

void run(const struct self *self)
{
    uint32_t pairs = self->cards / 2;
    if (self->me >= 2 * pairs) { /* nobody to talk to */
        for (int i = 0; i < 3; i++) {
            OK(vic_barrier(self->card, LONG));
        }
        return;
    }
    sender_reopens(self);
    if (self->me % 2 == 1) {
        keep_sending(self);
    } else {
        keep_reopening(self);
    }
}
