/* Everybody waits for something that does not come, each card for something else. */
#include <unistd.h>
#include <vic_message.h>

#include "harness.h"

enum { MINE = 5 };

static void receive(vic_t *card)
{
    vic_message_t *messages;
    uint64_t word;
    size_t bytes;
    OK(vic_message_open(card, NULL, &messages));
    IS(vic_message_recv(messages, NULL, &word, sizeof word, &bytes, VIC_FOREVER), VIC_EPEER);
    vic_message_close(messages);
}

static void fill(vic_t *card, uint32_t dest)
{
    uint64_t header = vic_header(dest, VIC_FIFO, 0, VIC_NO_COUNTER), word = 0;
    int status = VIC_OK;
    while (status == VIC_OK) {
        status = vic_send(card, &header, &word, 1);
    }
    IS(status, VIC_EPEER);
}

/* Card 6 was killed; without one the job was interrupted, and programs of another host may end before the signal comes here. */
static void check_detail(uint32_t cards)
{
    char detail[128];
    unsigned died = 6;
    snprintf(detail, sizeof detail, "%s", vic_error_detail());
    CHECK(cards > 6 || (sscanf(detail, "card %u ", &died) == 1 && died < cards));
    char expected[128];
    snprintf(expected, sizeof expected, "card %u died: its program was killed, or ended with an error", died);
    CHECK(strcmp(detail, expected) == 0);
}

void run(const struct self *self)
{
    uint64_t words[3], ready;
    size_t n;
    OK(vic_counter_set(self->card, MINE, 2));
    OK(vic_counter_set(self->card, MINE + 1, 7));
    OK(vic_barrier(self->card, LONG));
    switch (self->me) {
    case 0: IS(vic_counter_wait(self->card, MINE, VIC_FOREVER), VIC_EPEER); break;
    case 1: IS(vic_barrier(self->card, VIC_FOREVER), VIC_EPEER); break;
    case 2: IS(vic_fifo_wait(self->card, words, 3, 3, &n, VIC_FOREVER), VIC_EPEER); break;
    case 3: receive(self->card); break;
    case 4: fill(self->card, 3); break;
    case 6: /* is elsewhere, until it is killed */
        printf("%d\n", (int)getpid());
        fflush(stdout);
        pause();
        break;
    default: IS(vic_wait(self->card, UINT64_C(3) << MINE, 2, &ready, VIC_FOREVER), VIC_EPEER); break;
    }
    check_detail(self->cards);
}
