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

/* The next opening is each card's, by the same list. */
static void all_open(const struct self *self)
{
    OK(vic_barrier(self->card, LONG));
    vic_team_t *team;
    int status = vic_team_open(self->card, next.card, next.n, &team, LONG);
    if (status != VIC_OK) {
        fprintf(stderr, "FAILED on card %u: %s\n", self->me, vic_error_detail());
        _Exit(1);
    }
    OK(vic_team_barrier(team, LONG));
    OK(vic_team_close(team));
    OK(vic_barrier(self->card, LONG));
}

/* What a card with the same list has said of the opening that failed is still there. */
static void same_list(const struct self *self)
{
    opens(self, self->me == 2 ? &other : &first, LONG, VIC_EINVAL);
    OK(vic_barrier(self->card, LONG));
    if (self->me == 1) {
        opens(self, &next, SHORT, VIC_ETIMEDOUT);
    }
    all_open(self);
}

/* Card 1 still waits in the opening that failed for card 0, which has another list by now. */
static void still_waits(const struct self *self)
{
    if (self->me == 1) {
        opens(self, &first, SHORT, VIC_ETIMEDOUT);
    }
    OK(vic_barrier(self->card, LONG));
    if (self->me != 1) {
        opens(self, self->me == 2 ? &other : &first, LONG, VIC_EINVAL);
    }
    OK(vic_barrier(self->card, LONG));
    if (self->me != 1) {
        opens(self, &next, SHORT, VIC_ETIMEDOUT);
    }
    OK(vic_barrier(self->card, LONG));
    if (self->me == 1) {
        opens(self, &first, LONG, VIC_EINVAL);
    }
    all_open(self);
}

/* Card 1 comes to the opening when it has failed for the others, which are in the next one. */
static void comes_late(const struct self *self)
{
    if (self->me != 1) {
        opens(self, self->me == 2 ? &other : &first, LONG, VIC_EINVAL);
        opens(self, &next, SHORT, VIC_ETIMEDOUT);
    }
    OK(vic_barrier(self->card, LONG));
    if (self->me == 1) {
        opens(self, &first, LONG, VIC_EINVAL);
    }
    OK(vic_barrier(self->card, LONG));
    if (self->me != 1) {
        opens(self, &next, SHORT, VIC_ETIMEDOUT);
    }
    all_open(self);
}

/* The cards that had other lists take the one that card 1 still waits with. */
static void is_corrected(const struct self *self)
{
    if (self->me == 1) {
        opens(self, &next, SHORT, VIC_ETIMEDOUT);
    }
    OK(vic_barrier(self->card, LONG));
    if (self->me != 1) {
        opens(self, self->me == 2 ? &other : &first, LONG, VIC_EINVAL);
    }
    OK(vic_barrier(self->card, LONG));
    if (self->me != 1) {
        opens(self, &next, SHORT, VIC_ETIMEDOUT);
    }
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
