/* vic_collective.h: calls that many cards make together, on the calls of vic.h and nothing else.
 *
 *     vic_team_t *team;
 *     if (vic_team_open(card, NULL, 0, &team, VIC_FOREVER) != VIC_OK) ...    // all cards of the job
 *     vic_allreduce(team, VIC_SUM, &mine, &sum, 1, VIC_FOREVER);             // sum is the same on all cards
 *     vic_team_close(team);
 *
 * A team is a list of different cards, this one among them; the index of a card in the list is its number in the
 * team. All cards of a team make the same calls on it in the same order, with the same root, reduction and n. A team
 * of one card works. Teams may overlap, and different threads may use different teams at the same time.
 *
 * Words are uint64_t, and sums are modulo 2^64. n may be 0, and may be more than fits the SRAM. Every call is a
 * barrier, too: no card returns before all cards of the team have called. When a call returns, its buffers may be
 * used again. `in` and `out` are the same array or do not overlap; `in` of vic_gather may be its row of `out`.
 *
 * A call is made of steps. In one step each card sends to every other card directly, words or a packet without words,
 * so that no card is more than one step behind. Two buffers and two counters are used in turn.
 * docs/emulator-collectives.md has the steps of each call, the reasons, and their cost in model time.
 *
 * The conventions of vic.h hold: statuses, threads, forks, timeouts. What differs, or comes in addition:
 *   VIC_ETIMEDOUT  The call is not finished. Repeat it with the same arguments and it goes on; nothing is lost. Until
 *                  then `in` must stay as it is, `out` is in use, and another call on the team returns VIC_EBUSY. To
 *                  give up, close the team.
 *   VIC_EBUSY      The same; or another thread is in a call on this team.
 *   VIC_EPEER      A card died (see vic.h); or a card that this call needs has closed the team or its card, which is
 *                  noticed 10 ms after the call began to wait, or after it has waited twice as long.
 *   VIC_EINVAL     Also: a card of the team makes another call, or the same with other arguments. This is noticed in
 *                  the same way, so only if the call waits: if the cards happen to send as many words, what they get
 *                  is undefined.
 *   VIC_ECLOSED    The team or the card was closed. Threads that wait in a call get it at once.
 * After VIC_EPEER, VIC_ECLOSED, VIC_EINVAL for the second reason, or VIC_ESYS from a call that has begun, all calls
 * on the team return the same status: it can only be closed.
 */
#ifndef VIC_COLLECTIVE_H
#define VIC_COLLECTIVE_H

#include "vic.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vic_team vic_team_t;

enum vic_reduction { VIC_SUM, VIC_MIN, VIC_MAX, VIC_AND, VIC_OR, VIC_XOR };

/* Open a team of n cards, together with all of them: cards[i] is card i of the team. cards NULL: all cards of the
 * job, in order, whatever n is. A card opens one team at a time, and cards that have several teams in common open
 * them in the same order. Before the first opening on a card, its vic_alloc calls must have been the same as on the
 * other cards, as the cards look for each other there; later each may allocate what it likes.
 * This allocates 2 counters and two buffers, each of 1/64 of the SRAM, at most 64 Ki words, at least 16 words and one
 * for each card; less than 1/64 if there is no such gap. The first time on a card also one counter, and 128 words and
 * 8 for each card of the job, which stay until the card is closed.
 * VIC_ETIMEDOUT: not all cards are there yet. The others still see this card opening the team: repeat the call with
 * the same list. If the next call has another list, this opening is given up; the others wait, or get VIC_EPEER.
 * VIC_EINVAL: the list is empty, has a card twice or lacks this card; or a card of the list opens a team with this
 * card by another list. Then this opening fails on all cards, and the next one is not affected, however late some of
 * them notice. VIC_ERANGE: a card that does not exist. VIC_EPEER: a card of the list has closed its card, or gave up.
 * VIC_EBUSY: another thread opens a team on this card. VIC_ENOSPC: SRAM, counters, or 64 teams are open.
 * vic_error_detail has the numbers: "lists differ: that of card 3 has 4 cards, that of this card, 1, has 5". cost: at
 * least 5 queries to each card of the team. */
VIC_API int vic_team_open(vic_t *card, const uint32_t *cards, uint32_t n, vic_team_t **team, uint64_t timeout_ns);

/* Close, without waiting. Calls of other threads on the team end with VIC_ECLOSED. SRAM and counters are free again,
 * except after an unfinished call or an error that made the team unusable: then they stay allocated until the card is
 * closed, as packets may still arrive there. Close only when the others have made their last call: otherwise they get
 * VIC_EPEER, and what they sent may overwrite what the SRAM is used for by then. cost: 8 B at pio_rate. */
VIC_API int vic_team_close(vic_team_t *team);

/* In the costs n is the number of words and k that of the cards of the team. A step costs (k - 1) x 16 B at pio_rate
 * for the cards that get no words, 40 B for the card itself, vic_put for the others, the fabric, and vic_dma_read of
 * what arrived (vic_read if it is one word). */

/* Wait until all cards of the team have called. cost: a step without words. */
VIC_API int vic_team_barrier(vic_team_t *team, uint64_t timeout_ns);

/* Copy the words of card root of the team to all. VIC_ERANGE: no such root. cost: one step in which root sends (k -
 * 1) n words; or, if that is faster, two steps in which it sends 2 n (k - 1) / k. */
VIC_API int vic_broadcast(vic_team_t *team, uint32_t root, uint64_t *words, size_t n, uint64_t timeout_ns);

/* Reduce: out[i] of card root becomes in[i] of all cards, reduced. On other cards out may be NULL. cost: one step in
 * which root takes (k - 1) n words; or, if that is faster, two steps in which every card reduces its share, 2 n (k -
 * 1) / k words in and out. */
VIC_API int vic_reduce(vic_team_t *team, uint32_t root, enum vic_reduction op, const uint64_t *in, uint64_t *out,
                       size_t n, uint64_t timeout_ns);

/* Reduce, with the result on all cards. cost: one step in which every card sends and takes (k - 1) n words; or two
 * steps as in vic_reduce. */
VIC_API int vic_allreduce(vic_team_t *team, enum vic_reduction op, const uint64_t *in, uint64_t *out, size_t n,
                          uint64_t timeout_ns);

/* Gather n words of each card on card root: those of card i of the team from out[i * n] on. On other cards out may be
 * NULL. cost: one step in which root takes (k - 1) n words. */
VIC_API int vic_gather(vic_team_t *team, uint32_t root, const uint64_t *in, size_t n, uint64_t *out,
                       uint64_t timeout_ns);

/* Exchange: in[i * n] .. in[i * n + n - 1] go to card i of the team, and out[i * n] .. out[i * n + n - 1] come from
 * it. cost: one step in which every card sends and takes (k - 1) n words. */
VIC_API int vic_alltoall(vic_team_t *team, const uint64_t *in, uint64_t *out, size_t n, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
