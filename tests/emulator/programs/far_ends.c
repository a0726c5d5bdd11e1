/* Card 0 waits for what comes from another host when the programs there have ended. By its argument:
 *     barrier    it was in the barrier and came back: nothing is on its way, so the wait ends
 *     queries    its own many questions are on their way: these are answered first */
#include "harness.h"

enum { ANSWERED = 1, NEVER = 2, TIMES = 20, PART = 512 };

static void asks(const struct self *self)
{
    uint32_t words = self->attr.sram_words / 2;
    for (uint32_t time = 0; time < TIMES; time++) {
        OK(vic_counter_set(self->card, ANSWERED, words));
        for (uint32_t i = 0; i < words; i += PART) {
            uint64_t header[PART], wish[PART];
            for (uint32_t k = 0; k < PART; k++) {
                header[k] = vic_header(1, VIC_QUERY, i + k, VIC_NO_COUNTER);
                wish[k] = vic_header(0, VIC_WRITE, words + i + k, ANSWERED);
            }
            OK(vic_send(self->card, header, wish, PART));
        }
        OK(vic_counter_wait(self->card, ANSWERED, VIC_FOREVER));
    }
}

int main(int argc, char **argv)
{
    vic_t *card;
    OK(vic_open(&card));
    struct self self = self_of(card);
    OK(vic_counter_set(card, NEVER, 1));
    if (self.me == 0) {
        IS(vic_barrier(card, VIC_FOREVER), VIC_EPEER);
        if (argc > 1 && strcmp(argv[1], "queries") == 0) {
            asks(&self);
        }
        IS(vic_counter_wait(card, NEVER, VIC_FOREVER), VIC_ECLOSED);
    }
    OK(vic_close(card));
    return 0;
}
