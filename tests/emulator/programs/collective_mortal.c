/* Card 1 is killed while all make one call again and again, or opens no team: the others are told. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>

#include "collective.h"

static int call(vic_team_t *team, int kind, uint64_t *in, uint64_t *out)
{
    switch (kind) {
    case 0: return vic_team_barrier(team, VIC_FOREVER);
    case 1: return vic_broadcast(team, 1, in, 1000, VIC_FOREVER);
    case 2: return vic_reduce(team, 0, VIC_SUM, in, out, 5000, VIC_FOREVER);
    case 3: return vic_allreduce(team, VIC_XOR, in, out, 5000, VIC_FOREVER);
    case 4: return vic_gather(team, 0, in, 1000, out, VIC_FOREVER);
    default: return vic_alltoall(team, in, out, 1000, VIC_FOREVER);
    }
}

void run(const struct self *self)
{
    int kind = atoi(getenv("KIND"));
    vic_team_t *team;
    uint64_t *in = calloc(5000 * self->cards, sizeof *in), *out = calloc(5000 * self->cards, sizeof *out);
    if (kind == 6 && self->me == 1) {
        raise(SIGKILL);
    }
    int status = vic_team_open(self->card, NULL, 0, &team, VIC_FOREVER);
    if (kind == 6) {
        IS(status, VIC_EPEER);
        CHECK(vic_error_detail()[0] != 0);
    } else {
        OK(status);
        for (int round = 0; status == VIC_OK; round++) {
            if (round == 50 && self->me == 1) {
                raise(SIGKILL);
            }
            status = call(team, kind, in, out);
        }
        IS(status, VIC_EPEER);
        IS(vic_team_barrier(team, 0), VIC_EPEER);
        OK(vic_team_close(team));
    }
    free(in);
    free(out);
}
