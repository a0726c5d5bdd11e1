/* How often a card was opened or closed, as the others may know it: as of two crossings of PCIe before.
 * Nobody in the same window has passed a time by so much, so the answer does not depend on who was first on
 * the machine. */
#include "timed/timed.h"

static int64_t delay_ps(const struct timed *own)
{
    return 2 * own->pcie.crossing_ps;
}

static void move(struct timed *own, int64_t at_ps)
{
    struct timed_card *shared = own->shared;
    uint32_t moves = atomic_load(&shared->moves);
    atomic_store(&shared->move_ps[moves % MOVES_KEPT], at_ps);
    atomic_store(&shared->moves, moves + 1);
}

void opens_first(struct timed *own)
{
    if (atomic_load(&own->shared->moves) == 0) { /* before time begins */
        move(own, -delay_ps(own));
    }
}

void opens_again(struct timed *own, int64_t at_ps)
{
    bool open = atomic_load(&own->shared->moves) % 2 == 1;
    if (!open && !own->shared->move_skipped) {
        move(own, at_ps);
    }
    own->shared->move_skipped = false;
}

/* A time that somebody may still look at is not overwritten: rather nobody hears of this closing and the next
 * opening. */
void opens_close(struct timed *own, int64_t at_ps)
{
    struct timed_card *shared = own->shared;
    uint32_t moves = atomic_load(&shared->moves);
    int64_t oldest_ps = atomic_load(&shared->move_ps[(moves + 1) % MOVES_KEPT]);
    shared->move_skipped = moves + 2 > MOVES_KEPT && oldest_ps > at_ps - 2 * delay_ps(own);
    if (!shared->move_skipped) {
        move(own, at_ps);
    }
}

uint64_t timed_peer_opens(const struct vic *card, uint32_t peer)
{
    struct member *me = timed_enter(timed_of(card)->card, false);
    const struct timed_card *shared = timed_card_of(card->job, peer);
    if (me == NULL) { /* there is no status for it: as it is just now */
        return atomic_load(&shared->moves);
    }
    me->clock_ps += me->own->pcie.look_ps;
    timed_observe(me);
    me->own->shared->looks++;
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
