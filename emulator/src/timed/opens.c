/* The number of openings and closings of a card, as other cards may know it: as of two crossings of PCIe before. No
 * clock in the same window has passed a time by so much, so the answer does not depend on which process ran first. */
#include "timed/timed.h"

static int64_t delay_ps(const struct timed *own)
{
    return 2 * own->pcie.crossing_ps;
}

void opens_first(struct timed *own)
{
    if (atomic_load(&own->shared->moves) == 0) { /* before time begins */
        timed_move(own->shared, -delay_ps(own));
    }
}

void opens_again(struct timed *own, int64_t at_ps)
{
    bool open = atomic_load(&own->shared->moves) % 2 == 1;
    if (!open && !own->shared->move_skipped) {
        timed_move(own->shared, at_ps);
    }
    own->shared->move_skipped = false;
}

void opens_close(struct timed *own, int64_t at_ps)
{
    timed_move_closed(own->shared, at_ps, delay_ps(own));
}

uint64_t timed_peer_opens(const struct vic *card, uint32_t peer)
{
    struct member *me = timed_enter(timed_of(card)->card, false);
    const struct timed_card *shared = timed_card_of(card->job, peer);
    if (me == NULL) { /* the call has no status: the number of this moment */
        return atomic_load(&shared->moves);
    }
    timed_look(me);
    uint32_t moves = atomic_load(&shared->moves), kept = 0;
    while (kept < MOVES_KEPT && kept < moves) {
        int64_t at_ps = atomic_load(&shared->move_ps[(moves - 1 - kept) % MOVES_KEPT]);
        if (at_ps <= me->clock_ps - delay_ps(me->own)) {
            break;
        }
        kept++;
    }
    timed_leave(me);
    return moves - kept;
}
