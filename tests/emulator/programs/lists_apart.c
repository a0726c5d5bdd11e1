/* Cards of hosts that are far apart open a team by lists that differ: each is told so, though what it asks the others after
 * it has seen that is answered late. */
#include "collective.h"

void run(const struct self *self)
{
    struct list list = {.n = self->cards};
    for (uint32_t i = 0; i < list.n; i++) {
        list.card[self->me == 0 ? i : list.n - 1 - i] = i;
    }
    vic_team_t *team;
    IS(vic_team_open(self->card, list.card, list.n, &team, LONG), VIC_EINVAL);
    if (strstr(vic_error_detail(), "differ") == NULL) {
        fprintf(stderr, "FAILED: '%s' does not have 'differ'\n", vic_error_detail());
        _Exit(1);
    }
    OK(vic_barrier(self->card, LONG));
}
