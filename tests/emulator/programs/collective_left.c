/* Card 0's program ends well after the last call that all make: it has closed its card, has not, ends without what a
 * program does at its end, or has never opened the card. Who is slow gets the words of that call all the same, and the next
 * call says that nobody will come. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>
#include <unistd.h>

#include "collective.h"

static const struct timespec slow = {0, 40 * 1000 * 1000}; /* longer than it takes until the others are looked after */

/* VIC_ECLOSED: the programs of all others have ended. */
static void nobody_comes(int status)
{
    CHECK(status == VIC_EPEER || status == VIC_ECLOSED);
}

static void leave(vic_t *card, const char *how)
{
    if (strcmp(how, "closed") == 0) {
        OK(vic_close(card));
    }
    if (strcmp(how, "quits") == 0) {
        _exit(0);
    }
    exit(0);
}

int main(void)
{
    const char *how = getenv("HOW");
    vic_t *card;
    vic_team_t *team;
    if (strcmp(how, "never") == 0 && atoi(getenv("VIC_CARD")) == 0) {
        return 0;
    }
    OK(vic_open(&card));
    struct self self = self_of(card);
    uint64_t mine = self.me, sum;
    int status = vic_team_open(card, NULL, 0, &team, VIC_FOREVER);
    if (strcmp(how, "never") == 0) {
        nobody_comes(status);
        return 0;
    }
    OK(status);
    if (self.me == 1) {
        nanosleep(&slow, NULL);
    }
    OK(vic_allreduce(team, VIC_SUM, &mine, &sum, 1, VIC_FOREVER));
    CHECK(sum == (uint64_t)self.cards * (self.cards - 1) / 2);
    if (self.me == 0) {
        leave(card, how);
    }
    nobody_comes(vic_team_barrier(team, VIC_FOREVER));
    return 0;
}
