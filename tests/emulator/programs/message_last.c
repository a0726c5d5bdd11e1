/* Card 1 flushes what card 0 takes only after a while, while card 1 is stopped; and when it goes on card 0 has ended. What
 * it has asked before says nothing of that, but all was received. */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "message.h"

enum { SENT = 30, MS = 1000 * 1000 };

/* Another process stops this one, as a machine under load does. */
static void stop_soon(void)
{
    pid_t me = getpid();
    if (fork() == 0) {
        pause_ns(60 * MS);
        kill(me, SIGSTOP);
        pause_ns(500 * MS);
        kill(me, SIGCONT);
        _exit(0);
    }
}

void run(const struct self *self)
{
    uint64_t one = 1;
    OK(vic_counter_set(self->card, SENT, 1));
    vic_message_t *messages = open_messages(self, 4096, 100);
    if (self->me == 0) {
        size_t bytes;
        OK(vic_counter_wait(self->card, SENT, LONG));
        OK(vic_compute_ns(self->card, 150 * MS));
        if (self->attr.mode == 0) {
            pause_ns(150 * MS);
        }
        OK(vic_message_recv(messages, NULL, &one, sizeof one, &bytes, LONG));
    } else {
        OK(vic_message_send(messages, 0, &one, sizeof one, LONG));
        OK(vic_put(self->card, 0, self->attr.sram_words - 1, &one, 1, SENT));
        if (self->attr.mode == 0) {
            stop_soon();
        }
        OK(vic_message_flush(messages, LONG));
    }
    OK(vic_message_close(messages));
}
