/* Card 1 closes a team, before or after it has made a call on it, and opens 64 others, which take the place of what it said
 * of this one: the others get its words, or are told that they will not. So do those who are still opening it. */
#include "collective.h"

enum { GO = 40, TEAMS = 64, MS = 1000 * 1000, LATE = 60 * MS, WORDS = 3 };

static void open_many(const struct self *self)
{
    struct list alone = {1, {self->me}};
    for (int i = 0; i < TEAMS; i++) {
        OK(vic_team_close(open_team(self, &alone)));
    }
}

static void gather(const struct self *self, vic_team_t *team, bool all)
{
    uint64_t in[WORDS] = {10 * self->me, 10 * self->me + 1, 10 * self->me + 2}, out[3 * WORDS] = {0};
    if (self->me == 2) {
        OK(vic_compute_ns(self->card, LATE));
        if (self->attr.mode == 0) {
            pause_ns(LATE);
        }
    }
    IS(vic_gather(team, 0, in, WORDS, out, LONG), all ? VIC_OK : VIC_EPEER);
    if (all && self->me == 0) {
        CHECK(out[3] == 10 && out[5] == 12 && out[6] == 20 && out[8] == 22);
    } else if (!all) {
        CHECK(strcmp(vic_error_detail(), "card 1 has closed the team, or its card, and not made this call") == 0);
    }
}

static void try(const struct self *self, bool all)
{
    vic_team_t *team;
    uint64_t one = 1;
    OK(vic_counter_set(self->card, GO, 1));
    OK(vic_team_open(self->card, NULL, 0, &team, LONG));
    if (self->me != 1 && !all) {
        OK(vic_counter_wait(self->card, GO, LONG));
    }
    if (self->me != 1 || all) {
        gather(self, team, all);
    }
    OK(vic_team_close(team));
    if (self->me == 1) {
        open_many(self);
        for (uint32_t to = 0; to < self->cards; to++) {
            OK(vic_put(self->card, to, self->attr.sram_words - 1, &one, 1, GO));
        }
    }
    OK(vic_barrier(self->card, LONG));
}

/* All others have said that they open the team, and see only that card 1 has something else by now. */
static void try_slow_opening(const struct self *self)
{
    vic_team_t *team;
    bool slow = self->me != 1;
    for (int times = 0; times < 3; times++) { /* card 1 says where its buffers are; the others do; they know of all */
        if (slow == (times > 0)) {
            IS(vic_team_open(self->card, NULL, 0, &team, 0), VIC_ETIMEDOUT);
        }
        OK(vic_barrier(self->card, LONG));
    }
    if (!slow) {
        OK(vic_team_open(self->card, NULL, 0, &team, LONG));
        OK(vic_team_close(team));
        open_many(self);
    }
    OK(vic_barrier(self->card, LONG));
    if (slow) {
        OK(vic_team_open(self->card, NULL, 0, &team, LONG));
        IS(vic_team_barrier(team, LONG), VIC_EPEER);
        OK(vic_team_close(team));
    }
    OK(vic_barrier(self->card, LONG));
}

void run(const struct self *self)
{
    try_slow_opening(self);
    try(self, true);
    try(self, false);
}
