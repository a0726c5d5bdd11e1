/* With --reorder: card 1 stops while a long message of it is only half there. Card 0 polls, finds half of it again and
 * again, and looks away for longer and longer. When it polls next the rest has come and card 1 has ended: it gets the message. */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "message.h"

enum { SENT = 30, MS = 1000 * 1000, BYTES = 3000, POLLS = 9 };

static void sends(const struct self *self, vic_message_t *messages)
{
    uint64_t one = 1;
    unsigned char data[BYTES] = {1};
    pid_t me = getpid(), child = fork();
    if (child == 0) {
        pause_ns(150 * MS);
        kill(me, SIGCONT);
        _exit(0);
    }
    OK(vic_put(self->card, 0, self->attr.sram_words - 1, &one, 1, SENT));
    OK(vic_message_send(messages, 0, data, BYTES, LONG));
    raise(SIGSTOP);
}

static void receives(const struct self *self, vic_message_t *messages)
{
    unsigned char data[BYTES];
    size_t bytes;
    int status = VIC_ETIMEDOUT;
    OK(vic_counter_wait(self->card, SENT, LONG));
    pause_ns(30 * MS);
    for (int i = 0; i < POLLS && status == VIC_ETIMEDOUT; i++) {
        status = vic_message_recv(messages, NULL, data, BYTES, &bytes, 0);
    }
    if (status == VIC_ETIMEDOUT) {
        pause_ns(400 * MS);
        status = vic_message_recv(messages, NULL, data, BYTES, &bytes, 0);
    }
    OK(status);
}

void run(const struct self *self)
{
    OK(vic_counter_set(self->card, SENT, 1));
    OK(vic_barrier(self->card, LONG));
    vic_message_t *messages = open_messages(self, 1 << 16, BYTES);
    (self->me == 0 ? receives : sends)(self, messages);
    OK(vic_message_close(messages));
}
