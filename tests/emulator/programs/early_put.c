/* Card 0 puts a word into card 1 as soon as it runs, and ends. Card 1 reads its memory until the word is there. */
#include "harness.h"

enum { COUNTER = 1, WORD = 7 };

static void takes(vic_t *card)
{
    uint64_t word = 0;
    while (word != WORD) {
        OK(vic_read(card, 0, &word, 1));
        vic_relax(card);
    }
}

int main(void)
{
    vic_t *card;
    uint64_t word = WORD;
    OK(vic_open(&card));
    if (self_of(card).me == 0) {
        OK(vic_put(card, 1, 0, &word, 1, COUNTER));
    } else {
        takes(card);
    }
    return 0;
}
