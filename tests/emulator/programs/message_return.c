/* Card 1 is killed with messages in the ring of card 0, which does not look, and comes back and sends others.
 * Those of before may come or not, but never behind one of the new ones; the new ones all come. */
#include <signal.h>

#include "message.h"

enum { FIRST = 3, LEFT = 20, NEW = 300, WAITS = 30, LIFE = 1000, A_WHILE_NS = 20 * 1000 * 1000 };

static void send_numbers(vic_message_t *messages, uint64_t from, uint64_t to)
{
    for (uint64_t number = from; number < to; number++) {
        OK(vic_message_send(messages, 0, &number, sizeof number, LONG));
    }
}

static void sends(const struct self *self, vic_message_t *messages, uint64_t life)
{
    uint64_t one = 1;
    if (life == 0) {
        send_numbers(messages, 0, FIRST);
        OK(vic_message_flush(messages, LONG));
        send_numbers(messages, FIRST, FIRST + LEFT);
        raise(SIGKILL);
    }
    send_numbers(messages, LIFE, LIFE + 1);
    OK(vic_put(self->card, 0, self->attr.sram_words - 1, &one, 1, WAITS)); /* now card 0 looks, */
    OK(vic_counter_wait(self->card, WAITS, LONG)); /* and finds no other behind it */
    send_numbers(messages, LIFE + 1, LIFE + NEW);
    OK(vic_message_flush(messages, LONG));
}

static void receives(const struct self *self, vic_message_t *messages)
{
    uint64_t number, next = 0;
    size_t bytes;
    while (next != LIFE + NEW) {
        if (next == FIRST) {
            OK(vic_counter_wait(self->card, WAITS, LONG));
        }
        OK(vic_message_recv(messages, NULL, &number, sizeof number, &bytes, LONG));
        CHECK(bytes == sizeof number && (number == next || (number == LIFE && next >= FIRST)));
        next = number + 1;
        if (number == LIFE) {
            IS(vic_message_recv(messages, NULL, &number, sizeof number, &bytes, A_WHILE_NS), VIC_ETIMEDOUT);
            OK(vic_put(self->card, 1, self->attr.sram_words - 1, &next, 1, WAITS));
        }
    }
}

void run(const struct self *self)
{
    uint64_t opens;
    OK(vic_peer_opens(self->card, self->me, &opens));
    OK(vic_counter_set(self->card, WAITS, 1));
    vic_message_t *messages = open_messages(self, 4096, 100);
    if (self->me == 0) {
        receives(self, messages);
    } else {
        sends(self, messages, opens / 2);
    }
    OK(vic_message_close(messages));
}
