/* The collective calls: their arguments are checked here; step.c does the rest. */

#include "team.h"

static bool is_same(const struct call *a, const struct call *b)
{
    return a->kind == b->kind && a->root == b->root && a->op == b->op && a->in == b->in && a->out == b->out &&
           a->n == b->n;
}

/* Called by one thread at a time. */
static int run(struct vic_team *team, const struct call *call, uint64_t timeout_ns)
{
    if (team->broken != VIC_OK) {
        return fail(team->broken, "an earlier call of this team ended so: it is of no use any more");
    }
    if (team->pending && !is_same(&team->call, call)) {
        return fail(VIC_EBUSY, "a call that timed out goes on first: repeat it with the same arguments");
    }
    if (!team->pending) {
        team->call = *call;
        team->at = 0;
        team->half = 0;
        team->pending = true;
    }
    int status = team_run(team, deadline_after(team->card, timeout_ns));
    team->pending = status != VIC_OK;
    team->broken = status != VIC_ETIMEDOUT ? status : VIC_OK;
    return status;
}

/* Make the call, unless `status` says that its arguments are wrong. */
static int make(struct vic_team *team, int status, const struct call *call, uint64_t timeout_ns)
{
    if (status == VIC_OK && atomic_exchange(&team->busy, 1) != 0) {
        status = fail(VIC_EBUSY, "another thread is in a call on this team");
    } else if (status == VIC_OK) {
        status = run(team, call, timeout_ns);
        atomic_store(&team->busy, 0);
    }
    return status;
}

static int check_words(const struct vic_team *team, const struct call *call, bool needs_out)
{
    if (call->root >= team->n) {
        return fail(VIC_ERANGE, "root %u is not in the team (0 .. %u)", call->root, team->n - 1);
    }
    if (call->n != 0 && (call->in == NULL || (call->out == NULL && needs_out))) {
        return fail_null(0, "words for n > 0");
    }
    if (call->n > SIZE_MAX / sizeof *call->in / team->n) {
        return fail(VIC_EINVAL, "%zu words of each of %u cards are more than memory has", call->n, team->n);
    }
    return (unsigned)call->op <= VIC_XOR ? VIC_OK : fail(VIC_EINVAL, "%d is no reduction", (int)call->op);
}

static int vic_team_barrier_call(vic_team_t *team, uint64_t timeout_ns)
{
    return make(team, VIC_OK, &(struct call){.kind = CALL_BARRIER}, timeout_ns);
}

GATED(vic_team_barrier, team, true, (vic_team_t *team, uint64_t timeout_ns), (team, timeout_ns),
      "timeout", VALUES((int64_t)timeout_ns), "", NULL)

static int vic_broadcast_call(vic_team_t *team, uint32_t root, uint64_t *words, size_t n, uint64_t timeout_ns)
{
    struct call call = {.kind = CALL_BROADCAST, .root = root, .in = words, .out = words, .n = n};
    return make(team, check_words(team, &call, true), &call, timeout_ns);
}

GATED(vic_broadcast, team, true, (vic_team_t *team, uint32_t root, uint64_t *words, size_t n, uint64_t timeout_ns),
      (team, root, words, n, timeout_ns), "root n timeout", VALUES(root, (int64_t)n, (int64_t)timeout_ns), "", NULL)

static int vic_reduce_call(vic_team_t *team, uint32_t root, enum vic_reduction op, const uint64_t *in,
                           uint64_t *out, size_t n, uint64_t timeout_ns)
{
    struct call call = {.kind = CALL_REDUCE, .root = root, .op = op, .in = in, .out = out, .n = n};
    return make(team, check_words(team, &call, root == team->me), &call, timeout_ns);
}

GATED(vic_reduce, team, true,
      (vic_team_t *team, uint32_t root, enum vic_reduction op, const uint64_t *in, uint64_t *out, size_t n,
       uint64_t timeout_ns),
      (team, root, op, in, out, n, timeout_ns),
      "root op n timeout", VALUES(root, (int64_t)op, (int64_t)n, (int64_t)timeout_ns), "", NULL)

static int vic_allreduce_call(vic_team_t *team, enum vic_reduction op, const uint64_t *in, uint64_t *out,
                              size_t n, uint64_t timeout_ns)
{
    struct call call = {.kind = CALL_ALLREDUCE, .op = op, .in = in, .out = out, .n = n};
    return make(team, check_words(team, &call, true), &call, timeout_ns);
}

GATED(vic_allreduce, team, true,
      (vic_team_t *team, enum vic_reduction op, const uint64_t *in, uint64_t *out, size_t n, uint64_t timeout_ns),
      (team, op, in, out, n, timeout_ns),
      "op n timeout", VALUES((int64_t)op, (int64_t)n, (int64_t)timeout_ns), "", NULL)

static int vic_gather_call(vic_team_t *team, uint32_t root, const uint64_t *in, size_t n, uint64_t *out,
                           uint64_t timeout_ns)
{
    struct call call = {.kind = CALL_GATHER, .root = root, .in = in, .out = out, .n = n};
    return make(team, check_words(team, &call, root == team->me), &call, timeout_ns);
}

GATED(vic_gather, team, true,
      (vic_team_t *team, uint32_t root, const uint64_t *in, size_t n, uint64_t *out, uint64_t timeout_ns),
      (team, root, in, n, out, timeout_ns), "root n timeout", VALUES(root, (int64_t)n, (int64_t)timeout_ns), "", NULL)

static int vic_alltoall_call(vic_team_t *team, const uint64_t *in, uint64_t *out, size_t n, uint64_t timeout_ns)
{
    struct call call = {.kind = CALL_ALLTOALL, .in = in, .out = out, .n = n};
    return make(team, check_words(team, &call, true), &call, timeout_ns);
}

GATED(vic_alltoall, team, true, (vic_team_t *team, const uint64_t *in, uint64_t *out, size_t n, uint64_t timeout_ns),
      (team, in, out, n, timeout_ns), "n timeout", VALUES((int64_t)n, (int64_t)timeout_ns), "", NULL)
