/* Three cards open teams one after the other. A list that differs makes that opening fail, and no later one. */
#include "collective.h"

enum { SHORT = 5 * 1000 * 1000 };

static const struct list first = {3, {0, 1, 2}}, other = {3, {2, 1, 0}}, next = {3, {1, 2, 0}};

static void opens(const struct self *self, const struct list *list, uint64_t timeout_ns, int status)
{
    vic_team_t *team;
    int got = vic_team_open(self->card, list->card, list->n, &team, timeout_ns);
    if (got != status) {
        fprintf(stderr, "FAILED on card %u: %s, expected %s; %s\n", self->me, vic_strerror(got), vic_strerror(status),
                vic_error_detail());
        _Exit(1);
    }
}

/* Cards 0 and 2 open the team with lists that differ from each other. */
static void others_differ(const struct self *self)
{
    if (self->me != 1) {
        opens(self, self->me == 2 ? &other : &first, LONG, VIC_EINVAL);
    }
}

/* Some cards open the next team, in vain as long as the others do not. */
static void open_next(const struct self *self, bool one_of_them)
{
    if (one_of_them) {
        opens(self, &next, SHORT, VIC_ETIMEDOUT);
    }
}

static void late_opening_fails(const struct self *self)
{
    if (self->me == 1) {
        opens(self, &first, LONG, VIC_EINVAL);
    }
}

static void wait_for_all(const struct self *self)
{
    OK(vic_barrier(self->card, LONG));
}

/* All cards open the next team by the same list, and use it. */
static void all_open(const struct self *self)
{
    wait_for_all(self);
    vic_team_t *team;
    int status = vic_team_open(self->card, next.card, next.n, &team, LONG);
    if (status != VIC_OK) {
        fprintf(stderr, "FAILED on card %u: %s\n", self->me, vic_error_detail());
        _Exit(1);
    }
    OK(vic_team_barrier(team, LONG));
    OK(vic_team_close(team));
    wait_for_all(self);
}

/* What a card with the same list wrote for the opening that failed is still there. */
static void same_list(const struct self *self)
{
    others_differ(self);
    late_opening_fails(self);
    wait_for_all(self);
    open_next(self, self->me == 1);
    all_open(self);
}

/* Card 1 still waits in the opening that failed for card 0, which has another list by now. */
static void still_waits(const struct self *self)
{
    if (self->me == 1) {
        opens(self, &first, SHORT, VIC_ETIMEDOUT);
    }
    wait_for_all(self);
    others_differ(self);
    wait_for_all(self);
    open_next(self, self->me != 1);
    wait_for_all(self);
    late_opening_fails(self);
    all_open(self);
}

/* Card 1 comes to the opening when it has failed for the others, which are in the next one. */
static void comes_late(const struct self *self)
{
    others_differ(self);
    open_next(self, self->me != 1);
    wait_for_all(self);
    late_opening_fails(self);
    wait_for_all(self);
    open_next(self, self->me != 1);
    all_open(self);
}

/* The cards that had other lists take the one that card 1 still waits with. */
static void is_corrected(const struct self *self)
{
    open_next(self, self->me == 1);
    wait_for_all(self);
    others_differ(self);
    wait_for_all(self);
    open_next(self, self->me != 1);
    all_open(self);
}

void run(const struct self *self)
{
    void (*const each[])(const struct self *) = {same_list, still_waits, comes_late, is_corrected};
    const char *only = getenv("PART");
    for (int i = 0; i < 4; i++) {
        if (only == NULL || atoi(only) == i) {
            each[i](self);
        }
    }
}
