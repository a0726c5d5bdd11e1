/* The traffic of a step: which card sends which words to which. It follows from the call, so all cards of the team
 * compute the same. */
#include "team.h"

/* Times of the hardware in ns, those of the card data-vortex-8. They only choose between one step and two. All cards of a
 * team must choose the same, so the choice depends on the call alone. */
static const double store_ns = 32, engine_ns = 1900, word_ns = 1.82, step_ns = 4000;

static double put_ns(double words)
{
    double stores = store_ns * words, engine = engine_ns + word_ns * words;
    return stores < engine ? stores : engine;
}

/* True if two steps are faster, one that distributes shares and one that collects them: in them the busiest card sends or
 * receives 2 n (k - 1) / k words; in a single step, which sends all words to where they are needed, (k - 1) n. */
static bool in_two_steps(const struct vic_team *team)
{
    double k = team->n, n = (double)team->call.n;
    switch (team->call.kind) {
    case CALL_BROADCAST:
    case CALL_ALLREDUCE: return (k - 1) * put_ns(n) > 2 * (k - 1) * put_ns(n / k) + step_ns;
    case CALL_REDUCE: { /* the port of the root is the busiest part */
        double port = (k - 1) * n * word_ns, one = put_ns(n) > port ? put_ns(n) : port;
        return one > k * put_ns(n / k) + step_ns;
    }
    default: return false;
    }
}

struct step step_of(const struct vic_team *team)
{
    static const int whole[] = {STEP_TOKENS, STEP_FROM_ROOT, STEP_TO_ROOT, STEP_TO_ALL, STEP_TO_ROOT, STEP_ROWS};
    static const int halves[][2] = {[CALL_BROADCAST] = {STEP_SCATTER, STEP_SHARE_TO_ALL},
                                    [CALL_REDUCE] = {STEP_SPLIT, STEP_SHARE_TO_ROOT},
                                    [CALL_ALLREDUCE] = {STEP_SPLIT, STEP_SHARE_TO_ALL}};
    struct step step = {.last_half = true};
    bool two = in_two_steps(team);
    step.kind = two ? halves[team->call.kind][team->half] : whole[team->call.kind];
    step.last_half = !two || team->half == 1;
    size_t row = team->words / team->n, most = two ? row * team->n : row;
    if (step.kind == STEP_FROM_ROOT) {
        most = team->words;
    }
    size_t left = team->call.n - team->at;
    step.words = left < most ? left : most;
    return step;
}

size_t share_at(const struct vic_team *team, const struct step *step, uint32_t index)
{
    size_t share = (step->words + team->n - 1) / team->n, at = share * index;
    return at < step->words ? at : step->words;
}

static size_t share_words(const struct vic_team *team, const struct step *step, uint32_t index)
{
    return share_at(team, step, index + 1) - share_at(team, step, index);
}

size_t step_words(const struct vic_team *team, const struct step *step, uint32_t from, uint32_t to)
{
    uint32_t root = team->call.root;
    switch (step->kind) {
    case STEP_TOKENS: return 0;
    case STEP_TO_ALL:
    case STEP_ROWS: return step->words;
    case STEP_TO_ROOT: return to == root ? step->words : 0;
    case STEP_FROM_ROOT: return from == root ? step->words : 0;
    case STEP_SCATTER: return from == root ? share_words(team, step, to) : 0;
    case STEP_SPLIT: return share_words(team, step, to);
    case STEP_SHARE_TO_ROOT: return to == root ? share_words(team, step, from) : 0;
    case STEP_SHARE_TO_ALL:
        return team->call.kind == CALL_BROADCAST && to == root ? 0 : share_words(team, step, from);
    }
    return 0;
}

const uint64_t *step_source(const struct vic_team *team, const struct step *step, uint32_t to)
{
    const struct call *call = &team->call;
    switch (step->kind) {
    case STEP_ROWS: return call->in + to * call->n + team->at;
    case STEP_SCATTER:
    case STEP_SPLIT: return call->in + team->at + share_at(team, step, to);
    case STEP_SHARE_TO_ALL: return call->out + team->at + share_at(team, step, team->me);
    case STEP_SHARE_TO_ROOT: return team->bounce + team->me * share_words(team, step, team->me);
    default: return call->in + team->at;
    }
}

size_t step_offset(const struct vic_team *team, const struct step *step, uint32_t from, uint32_t to)
{
    switch (step->kind) {
    case STEP_TO_ALL:
    case STEP_TO_ROOT:
    case STEP_ROWS: return from * step->words;
    case STEP_SPLIT: return from * share_words(team, step, to);
    case STEP_SCATTER: return share_at(team, step, to);
    case STEP_SHARE_TO_ALL:
    case STEP_SHARE_TO_ROOT: return share_at(team, step, from);
    default: return 0;
    }
}
