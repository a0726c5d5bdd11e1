/* Card 0 waits for what comes from another host when the programs there have ended. By its argument:
 *     barrier    it was in the barrier and came back: nothing is on its way, so the wait ends
 *     queries    its own many questions are on their way: these are answered first
 * Or card 0 asks many questions and ends; the answers go to the last card, which waits for them all, then for one more:
 *     words, fifo            it asks the middle card, which has ended
 *     words-here, fifo-here  the other way round: the last card answers, the middle one waits */
#include "harness.h"

enum { ANSWERED = 1, NEVER = 2, TIMES = 20, PART = 512 };

/* So many questions. */
static void ask(const struct self *self, uint32_t whom, uint32_t words, uint64_t wish, uint32_t step)
{
    for (uint32_t i = 0; i < words; i += PART) {
        uint64_t header[PART], wishes[PART];
        for (uint32_t k = 0; k < PART; k++) {
            header[k] = vic_header(whom, VIC_QUERY, i + k, VIC_NO_COUNTER);
            wishes[k] = wish + step * (uint64_t)(i + k);
        }
        OK(vic_send(self->card, header, wishes, PART));
    }
}

static void asks(const struct self *self)
{
    uint32_t words = self->attr.sram_words / 2;
    for (uint32_t time = 0; time < TIMES; time++) {
        OK(vic_counter_set(self->card, ANSWERED, words));
        ask(self, 1, words, vic_header(0, VIC_WRITE, words, ANSWERED), 1); /* the address stands in the lowest bits */
        OK(vic_counter_wait(self->card, ANSWERED, VIC_FOREVER));
    }
}

static void take(const struct self *self, bool fifo, uint32_t words)
{
    uint64_t word[PART];
    size_t n;
    for (uint32_t i = 0; i < words && fifo; i += (uint32_t)n) {
        OK(vic_fifo_wait(self->card, word, 1, PART, &n, VIC_FOREVER));
    }
    if (fifo) {
        IS(vic_fifo_wait(self->card, word, 1, 1, &n, VIC_FOREVER), VIC_ECLOSED);
    } else {
        OK(vic_counter_wait(self->card, ANSWERED, VIC_FOREVER));
        IS(vic_counter_wait(self->card, NEVER, VIC_FOREVER), VIC_ECLOSED);
    }
}

static void by_way_of_another(const struct self *self, const char *how)
{
    bool fifo = strncmp(how, "fifo", 4) == 0, here = strstr(how, "-here") != NULL;
    uint32_t taker = here ? 1 : 2, words = self->attr.sram_words;
    OK(vic_counter_set(self->card, ANSWERED, words));
    OK(vic_barrier(self->card, LONG));
    if (self->me == 0) {
        uint64_t wish = fifo ? vic_header(taker, VIC_FIFO, 0, VIC_NO_COUNTER) : vic_header(taker, VIC_WRITE, 0, ANSWERED);
        ask(self, 3 - taker, words, wish, 0);
    } else if (self->me == taker) {
        take(self, fifo, words);
    }
}

int main(int argc, char **argv)
{
    vic_t *card;
    OK(vic_open(&card));
    struct self self = self_of(card);
    OK(vic_counter_set(card, NEVER, 1));
    if (self.cards > 2) {
        by_way_of_another(&self, argv[1]);
    } else if (self.me == 0) {
        IS(vic_barrier(card, VIC_FOREVER), VIC_EPEER);
        if (argc > 1 && strcmp(argv[1], "queries") == 0) {
            asks(&self);
        }
        IS(vic_counter_wait(card, NEVER, VIC_FOREVER), VIC_ECLOSED);
    }
    OK(vic_close(card));
    return 0;
}
