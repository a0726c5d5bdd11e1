/* Card 0's program ends after the last call that all make, without closing anything: who is slow gets the words of that
 * call all the same, and the next call says that nobody will come. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "collective.h"

void run(const struct self *self)
{
    vic_team_t *team;
    uint64_t mine = self->me, sum;
    OK(vic_team_open(self->card, NULL, 0, &team, VIC_FOREVER));
    if (self->me == 1) { /* longer than it takes until the others are looked after */
        nanosleep(&(struct timespec){0, 40 * 1000 * 1000}, NULL);
    }
    OK(vic_allreduce(team, VIC_SUM, &mine, &sum, 1, VIC_FOREVER));
    CHECK(sum == (uint64_t)self->cards * (self->cards - 1) / 2);
    if (self->me == 0) {
        OK(vic_close(self->card));
        exit(0);
    }
    int status = vic_team_barrier(team, VIC_FOREVER);
    CHECK(status == VIC_EPEER || status == VIC_ECLOSED); /* the second: the programs of all others have ended */
}
