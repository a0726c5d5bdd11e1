/* With --reorder: card 1 waits while a long message of it is only half there. Card 0 polls, finds half of it again and
 * again, and looks away for longer and longer. When it polls next the rest has come and card 1 has ended: it gets the message. */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "message.h"

enum { SENT = 30, NEVER, BYTES = 3000, POLLS = 9 };

static void sends(const struct self *self, vic_message_t *messages)
{
    uint64_t me = (uint64_t)getpid();
    unsigned char data[BYTES] = {1};
    int number;
    sigset_t go_on;
    sigemptyset(&go_on);
    sigaddset(&go_on, SIGUSR1);
    sigprocmask(SIG_BLOCK, &go_on, NULL);
    OK(vic_put(self->card, 0, self->attr.sram_words - 1, &me, 1, SENT));
    OK(vic_message_send(messages, 0, data, BYTES, LONG));
    CHECK(sigwait(&go_on, &number) == 0);
}

static void receives(const struct self *self, vic_message_t *messages)
{
    unsigned char data[BYTES];
    size_t bytes;
    uint64_t sender;
    int status = VIC_ETIMEDOUT;
    OK(vic_counter_wait(self->card, SENT, LONG));
    OK(vic_read(self->card, self->attr.sram_words - 1, &sender, 1));
    pause_ns(30 * 1000 * 1000);
    for (int i = 0; i < POLLS && status == VIC_ETIMEDOUT; i++) {
        status = vic_message_recv(messages, NULL, data, BYTES, &bytes, 0);
    }
    CHECK(kill((pid_t)sender, SIGUSR1) == 0);
    if (status == VIC_ETIMEDOUT) {
        IS(vic_counter_wait(self->card, NEVER, LONG), VIC_ECLOSED);
        status = vic_message_recv(messages, NULL, data, BYTES, &bytes, 0);
    }
    OK(status);
}

void run(const struct self *self)
{
    OK(vic_counter_set(self->card, SENT, 1));
    OK(vic_counter_set(self->card, NEVER, 1));
    OK(vic_barrier(self->card, LONG));
    vic_message_t *messages = open_messages(self, 1 << 16, BYTES);
    (self->me == 0 ? receives : sends)(self, messages);
    OK(vic_message_close(messages));
}
