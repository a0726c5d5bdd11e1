/* Moving the words that a step brought from the buffer to the arrays of the call. */
#include <string.h>

#include "team.h"

#define EACH(expression)                                                                                    \
    for (size_t i = 0; i < n; i++) {                                                                        \
        uint64_t a = into[i], b = words[i];                                                                 \
        into[i] = (expression);                                                                             \
    }                                                                                                       \
    break

/* into[i] = into[i] op words[i] */
static void combine(enum vic_reduction op, uint64_t *into, const uint64_t *words, size_t n)
{
    switch (op) {
    case VIC_SUM: EACH(a + b);
    case VIC_MIN: EACH(a < b ? a : b);
    case VIC_MAX: EACH(a > b ? a : b);
    case VIC_AND: EACH(a & b);
    case VIC_OR: EACH(a | b);
    case VIC_XOR: EACH(a ^ b);
    }
}

enum { WORTH_A_TRANSFER = 1024 }; /* words: as long as it takes to set one up */

static vic_addr_t buffer_of(const struct vic_team *team)
{
    const struct member *me = &team->member[team->me];
    return me->base + (team->step & 1) * (UINT32_C(1) << team->log_words);
}

/* True if one transfer of all rows, this card's own unused one included, is faster than two around that. */
static bool in_one_piece(const struct vic_team *team, size_t words)
{
    return words < WORTH_A_TRANSFER && team->me != 0 && team->me != team->n - 1;
}

/* Read the rows of the other cards into `bounce`. */
static int fetch_rows(struct vic_team *team, size_t words)
{
    size_t own = team->me * words, n = team->n * words;
    if (in_one_piece(team, words)) {
        return fetch_words(team->card, buffer_of(team), team->bounce, n);
    }
    return fetch_except(team->card, buffer_of(team), team->bounce, n, own, own + words);
}

static void copy(uint64_t *to, const uint64_t *from, size_t words)
{
    if (to != from && words != 0) {
        memcpy(to, from, words * sizeof *to);
    }
}

/* Store the rows of all cards as the rows of `out`. */
static int take_rows(struct vic_team *team, const struct step *step, const uint64_t *mine)
{
    const struct call *call = &team->call;
    size_t words = step->words, own = team->me * words;
    bool direct = words == call->n && !in_one_piece(team, words); /* a row is one row there */
    int status = direct ? fetch_except(team->card, buffer_of(team), call->out, team->n * words, own, own + words)
                        : fetch_rows(team, words);
    copy(call->out + team->me * call->n + team->at, mine, words);
    for (uint32_t from = 0; from < team->n && status == VIC_OK && !direct; from++) {
        if (from != team->me) {
            copy(call->out + from * call->n + team->at, team->bounce + from * words, words);
        }
    }
    return status;
}

/* Combine the rows of all cards into one; `mine` is this card's. */
static int take_combined(struct vic_team *team, size_t words, const uint64_t *mine, uint64_t *to)
{
    int status = fetch_rows(team, words);
    copy(to, mine, words);
    for (uint32_t from = 0; from < team->n && status == VIC_OK; from++) {
        if (from != team->me) {
            combine(team->call.op, to, team->bounce + from * words, words);
        }
    }
    return status;
}

int step_receive(struct vic_team *team, const struct step *step)
{
    const struct call *call = &team->call;
    uint32_t me = team->me;
    bool root = me == call->root;
    size_t own = share_at(team, step, me), own_end = share_at(team, step, me + 1);
    const uint64_t *in = call->in != NULL ? call->in + team->at : NULL;
    uint64_t *out = call->out != NULL ? call->out + team->at : NULL; /* only the root may need it */
    switch (step->kind) {
    case STEP_TO_ROOT:
        if (!root) {
            return VIC_OK;
        }
        return call->kind == CALL_GATHER ? take_rows(team, step, in) : take_combined(team, step->words, in, out);
    case STEP_TO_ALL: return take_combined(team, step->words, in, out);
    case STEP_ROWS: return take_rows(team, step, in + me * call->n);
    case STEP_FROM_ROOT: return root ? VIC_OK : fetch_words(team->card, buffer_of(team), out, step->words);
    case STEP_SCATTER:
        return root ? VIC_OK : fetch_words(team->card, buffer_of(team) + (vic_addr_t)own, out + own, own_end - own);
    case STEP_SPLIT:
        if (call->kind == CALL_REDUCE && !root) { /* out is the root's; our row of the buffer holds the share */
            return take_combined(team, own_end - own, in + own, team->bounce + me * (own_end - own));
        }
        return take_combined(team, own_end - own, in + own, out + own);
    case STEP_SHARE_TO_ROOT:
    case STEP_SHARE_TO_ALL: {
        bool takes = step->kind == STEP_SHARE_TO_ROOT ? root : call->kind != CALL_BROADCAST || !root;
        return takes ? fetch_except(team->card, buffer_of(team), out, step->words, own, own_end) : VIC_OK;
    }
    case STEP_TOKENS: break;
    }
    return VIC_OK;
}
