/* Two cards that make different calls on a team, and one that closes it: the status, and what vic_error_detail says of it. */
#include "collective.h"

#define SAYS(call, expected, text)                                                                          \
    do {                                                                                                    \
        IS(call, expected);                                                                                 \
        if (strcmp(vic_error_detail(), text) != 0) {                                                        \
            fprintf(stderr, "FAILED %s:%d: %s: '%s', expected '%s'\n", __FILE__, __LINE__, #call,           \
                    vic_error_detail(), text);                                                              \
            _Exit(1);                                                                                       \
        }                                                                                                   \
    } while (0)

void run(const struct self *self)
{
    static const char *const other_call[] = {
        "card 1 makes another call on this team, or with another root, reduction or n",
        "card 0 makes another call on this team, or with another root, reduction or n",
    };
    vic_team_t *team, *next;
    uint64_t in[4] = {0}, out[4];
    OK(vic_team_open(self->card, NULL, 0, &team, LONG));
    OK(vic_team_open(self->card, NULL, 0, &next, LONG));
    SAYS(vic_counter_wait(self->card, VIC_NO_COUNTER, 0), VIC_EINVAL, /* is not said again of something else */
         "counter 63 is the scratch counter, for which nothing waits");
    if (self->me == 1) {
        pause_ns(60 * 1000 * 1000);
    }
    OK(vic_team_barrier(team, LONG)); /* card 0 looks many times in vain; but this call does not fail */
    CHECK(strcmp(vic_error_detail(), "counter 63 is the scratch counter, for which nothing waits") == 0);
    SAYS(vic_reduce(team, self->me, VIC_SUM, in, out, 2, LONG), VIC_EINVAL, other_call[self->me]);
    SAYS(vic_team_barrier(team, LONG), VIC_EINVAL, "an earlier call of this team ended so: it is of no use any more");
    if (self->me == 0) {
        SAYS(vic_team_barrier(next, LONG), VIC_EPEER, "card 1 has closed the team, or its card, and not made this call");
    }
    OK(vic_team_close(next));
    OK(vic_team_close(team));
    OK(vic_barrier(self->card, LONG));
}
