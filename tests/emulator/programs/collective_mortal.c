/* Card 1 is killed in one step of a call that all make, or of opening the team: each other card is told, uses its memory
 * for something else at once, and gives back what it has. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>

#include "../../../emulator/src/collective/team.h"
#include "collective.h"

enum { WORDS = 600, ROW_WORDS = 300 /* two chunks of the buffers of a small card */, OPENING = 6 };

static int call(vic_team_t *team, int kind, uint64_t *in, uint64_t *out, uint64_t timeout_ns)
{
    switch (kind) {
    case 0: return vic_team_barrier(team, timeout_ns);
    case 1: return vic_broadcast(team, 2, in, WORDS, timeout_ns);
    case 2: return vic_reduce(team, 0, VIC_SUM, in, out, WORDS, timeout_ns);
    case 3: return vic_allreduce(team, VIC_XOR, in, out, WORDS, timeout_ns);
    case 4: return vic_gather(team, 0, in, ROW_WORDS, out, timeout_ns);
    default: return vic_alltoall(team, in, out, ROW_WORDS, timeout_ns);
    }
}

/* When the packets of that step have left, or those of the last step of fewer. */
static void die_in_call(vic_team_t *team, int kind, uint32_t step, uint64_t *in, uint64_t *out)
{
    int status = VIC_ETIMEDOUT;
    while (status == VIC_ETIMEDOUT && (!team->sent || team->step < step)) {
        status = call(team, kind, in, out, 0);
        vic_relax(team->card);
    }
    raise(SIGKILL);
}

/* After so many looks at the others, 0: before it begins. */
static void die_in_opening(vic_t *card, uint32_t looks)
{
    vic_team_t *team;
    for (int status = VIC_ETIMEDOUT; looks > 0 && status == VIC_ETIMEDOUT; looks--) {
        status = vic_team_open(card, NULL, 0, &team, 0);
    }
    raise(SIGKILL);
}

void run(const struct self *self)
{
    int kind = atoi(getenv("KIND"));
    uint32_t step = (uint32_t)atoi(getenv("STEP"));
    vic_team_t *team;
    if (kind == OPENING && self->me == 1) {
        die_in_opening(self->card, step);
    }
    int status = vic_team_open(self->card, NULL, 0, &team, VIC_FOREVER);
    if (status != VIC_OK) { /* card 1 may also have it, and be dead, before this one sees that all have it */
        IS(status, VIC_EPEER);
        CHECK(vic_error_detail()[0] != 0);
        return;
    }
    OK(status);
    uint64_t *in = calloc(WORDS * self->cards, sizeof *in), *out = calloc(WORDS * self->cards, sizeof *out);
    if (self->me == 1) {
        die_in_call(team, kind, step, in, out);
    }
    while (status == VIC_OK) {
        status = call(team, kind, in, out, VIC_FOREVER);
    }
    free(in);
    free(out);
    IS(status, VIC_EPEER);
    IS(vic_team_barrier(team, 0), VIC_EPEER);
    uint64_t some[WORDS] = {0};
    for (int i = 0; i < 2000; i++) { /* whatever is late comes now */
        OK(vic_read(self->card, 0, some, 1));
    }
    vic_put(self->card, self->me, 0, some, WORDS, VIC_NO_COUNTER); /* by an engine, which is none of those that read */
    OK(vic_team_close(team));
}
