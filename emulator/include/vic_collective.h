/* vic_collective.h: calls that many cards make together, on the calls of vic.h and nothing else.
 *
 *     vic_team_t *team;
 *     if (vic_team_open(card, NULL, 0, &team, VIC_FOREVER) != VIC_OK) ...    // all cards of the job
 *     vic_allreduce(team, VIC_SUM, &mine, &sum, 1, VIC_FOREVER);             // sum is the same on all cards
 *     vic_team_close(team);
 *
 * A team is a list of different cards, this one among them; a card's index in the list is its number in the team. All
 * cards of a team make the same calls on it in the same order, with the same root, reduction and n. A team of one
 * card works. Teams may overlap, and threads may be at work with several of them at the same time.
 *
 * Words are uint64_t, and sums are modulo 2^64. n may be 0, and more than fits the SRAM. Every call is a barrier, too:
 * no card returns from it before all have called it. When a call returns, its buffers may be used
 * again. `in` and `out` are the same array or do not overlap; vic_gather's `in` may be its row of `out`.
 *
 * What the cards make of a call is steps. In one step each card sends to all others directly: words for them, or a
 * packet without, so that nobody is a step behind by more than one; there are two buffers and two counters, used in
 * turn. docs/emulator-collectives.md says which steps each call takes, why, and what they cost in model time.
 *
 * Conventions are those of vic.h: statuses, threads, forks, timeouts. What is different or more:
 *   VIC_ETIMEDOUT  The call is not finished, and goes on when it is repeated with the same arguments: nothing is
 *                  lost. Until then `in` has to stay as it is, `out` is in use, and another call on the team says
 *                  VIC_EBUSY. Who does not want to go on closes the team.
 *   VIC_EBUSY      that, or another thread is in a call on this team.
 *   VIC_EPEER      a card died (see vic.h); or a card of the team closed the team or its card, and this call needs
 *                  it. The second is noticed 10 ms after the call began to wait, or after as long again as it waited.
 *   VIC_EINVAL     also: a card of the team makes another call, or one with other arguments. Noticed likewise, so only
 *                  if the call waits: what the cards then get is undefined if they send as many words.
 *   VIC_ECLOSED    the team, or the card, was closed, at once for threads that wait in a call.
 * After VIC_EPEER, VIC_EINVAL for the second reason, VIC_ECLOSED and VIC_ESYS out of a call that has begun, all calls on the
 * team say the same: it can be closed only.
 */
#ifndef VIC_COLLECTIVE_H
#define VIC_COLLECTIVE_H

#include "vic.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vic_team vic_team_t;

enum vic_reduction { VIC_SUM, VIC_MIN, VIC_MAX, VIC_AND, VIC_OR, VIC_XOR };

/* Open a team of n cards, together with all of them: cards[i] is card i of the team. cards NULL: all cards of the job, in
 * order; n is not looked at. A card opens one team at a time, and cards that have several in common open them in the
 * same order. At the first opening on a card everything that vic_alloc has given it is as on the other cards: there
 * the cards look for each other; later each allocates what it likes.
 * Allocates 2 counters and two buffers: each 1/64 of the SRAM, at most 64 Ki words, at least 16 and one for each card; less than
 * 1/64 if there is no such gap. The first time on a card also one counter and 8 words for each card of the job, and
 * 128: these stay until the card is closed.
 * VIC_ETIMEDOUT: not all cards are there yet. This card goes on to be seen as opening the team: repeat the call with
 * the same list. If the next one has another list, this opening is given up; the others wait, or get VIC_EPEER.
 * VIC_EINVAL: no list; a card twice; not this card; or a card of the list opens a team with this one by another
 * list (all of them get it that still wait). VIC_ERANGE: a card that does not exist. VIC_EPEER: a card of the list has closed
 * its card, or gave up. VIC_EBUSY: another thread opens a team on this card. VIC_ENOSPC: SRAM, counters, or 64 teams.
 * vic_error_detail says which: "lists differ: that of card 3 has 4 cards, that of this card, 1, has 5".
 * cost: 5 queries to each card of the team at least. */
VIC_API int vic_team_open(vic_t *card, const uint32_t *cards, uint32_t n, vic_team_t **team, uint64_t timeout_ns);

/* Close, without waiting for anybody. Calls of other threads on it end with VIC_ECLOSED. SRAM and counters are free
 * again; but if a call has not been finished, or the team is of no use any more, they stay allocated until the card is closed, as
 * packets may still come there. The same happens to who closes before others have made their last call: those
 * get VIC_EPEER, but what they sent may overwrite what the SRAM is used for by then. cost: 8 B at pio_rate. */
VIC_API int vic_team_close(vic_team_t *team);

/* In the costs n is the words, k the cards of the team, and a step (k - 1) x 16 B at pio_rate for those that get no
 * words, 40 B for oneself, vic_put for the others, the fabric, and vic_dma_read of what came (vic_read of one word). */

/* Wait until all cards of the team have called. cost: a step without words. */
VIC_API int vic_team_barrier(vic_team_t *team, uint64_t timeout_ns);

/* The words of card root of the team, on all. VIC_ERANGE: no such root. cost: a step, root sends (k - 1) n words; if
 * that is faster two steps, in which it sends 2 n (k - 1) / k. */
VIC_API int vic_broadcast(vic_team_t *team, uint32_t root, uint64_t *words, size_t n, uint64_t timeout_ns);

/* out[i] of card root is in[i] of all, reduced; on others out may be NULL. cost: a step, root takes (k - 1) n words in; if
 * that is faster two steps: every card reduces its share, 2 n (k - 1) / k words in and out. */
VIC_API int vic_reduce(vic_team_t *team, uint32_t root, enum vic_reduction op, const uint64_t *in, uint64_t *out,
                       size_t n, uint64_t timeout_ns);

/* The same on all cards. cost: a step, every card sends and takes (k - 1) n words; or two steps as in vic_reduce. */
VIC_API int vic_allreduce(vic_team_t *team, enum vic_reduction op, const uint64_t *in, uint64_t *out, size_t n,
                          uint64_t timeout_ns);

/* n words of each card into out of card root: those of card i of the team from out[i * n] on. On others out may be
 * NULL. cost: a step, root takes (k - 1) n words in. */
VIC_API int vic_gather(vic_team_t *team, uint32_t root, const uint64_t *in, size_t n, uint64_t *out,
                       uint64_t timeout_ns);

/* in[i * n] .. in[i * n + n - 1] go to card i of the team; out[i * n] ... are from it. cost: a step, every card sends and
 * takes (k - 1) n words. */
VIC_API int vic_alltoall(vic_team_t *team, const uint64_t *in, uint64_t *out, size_t n, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
