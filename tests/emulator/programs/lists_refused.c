/* A card refuses an opening, as lists differ, that another card has gone on with: that one goes back, and never takes the
 * team for open.
 *
 * Such a refusal comes between two looks of the others, by chance. Here card 1 makes it come: for one look of card 0 it
 * shows what it wrote for an opening before, by another list.
 */
#include "collective.h"

enum { RECORD_WORDS = 4, LOOKS = 5 };

static const struct list wanted = {2, {0, 1}}, other = {2, {1, 0}};

static void opens(const struct self *self, const struct list *list, int status)
{
    vic_team_t *team;
    IS(vic_team_open(self->card, list->card, list->n, &team, 0), status);
}

/* The address of what this card has written for card 0, as its first opening and refused. */
static vic_addr_t find_record(const struct self *self)
{
    uint64_t first = UINT64_C(1) << 32, opened, word;
    OK(vic_peer_opens(self->card, self->me, &opened));
    CHECK(opened % 2 == 1);
    for (vic_addr_t addr = 0; addr < self->attr.sram_words; addr++) {
        OK(vic_read(self->card, addr, &word, 1));
        if ((word | 1) == (first | opened)) {
            return addr;
        }
    }
    CHECK(!"there is no record");
    return 0;
}

static void show(const struct self *self, vic_addr_t addr, const uint64_t *words)
{
    OK(vic_write(self->card, addr, words, RECORD_WORDS));
}

void run(const struct self *self)
{
    uint64_t before[RECORD_WORDS], now[RECORD_WORDS];
    vic_addr_t addr = 0;
    vic_team_t *team;
    if (self->me == 0) {
        opens(self, &wanted, VIC_ETIMEDOUT);
    }
    OK(vic_barrier(self->card, LONG));
    if (self->me == 1) {
        opens(self, &other, VIC_EINVAL);
        addr = find_record(self);
        OK(vic_read(self->card, addr, before, RECORD_WORDS));
        opens(self, &wanted, VIC_ETIMEDOUT); /* it is in the second phase now */
        OK(vic_read(self->card, addr, now, RECORD_WORDS));
        show(self, addr, before);
    }
    OK(vic_barrier(self->card, LONG));
    if (self->me == 0) {
        opens(self, &wanted, VIC_EINVAL);
    }
    OK(vic_barrier(self->card, LONG));
    if (self->me == 1) {
        show(self, addr, now);
        for (int look = 0; look < LOOKS; look++) {
            opens(self, &wanted, VIC_ETIMEDOUT);
        }
    }
    OK(vic_barrier(self->card, LONG));
    OK(vic_team_open(self->card, wanted.card, wanted.n, &team, LONG));
    OK(vic_team_barrier(team, LONG));
    OK(vic_team_close(team));
}
