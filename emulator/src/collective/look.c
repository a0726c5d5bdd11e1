/* Are the others still there, and in the same call? Asked by who has waited for long, by queries. */
#include <stdlib.h>

#include "team.h"

enum { DOUBTS = 2 /* looks */ };

static uint32_t call_hash(const struct call *call)
{
    return (uint32_t)mix(call->n ^ mix((uint64_t)call->kind << 40 | (uint64_t)call->op << 32 | call->root)) >> 1;
}

void team_publish(struct vic_team *team, uint32_t steps, bool closed)
{
    uint64_t word = (uint64_t)steps << 32 | (uint64_t)call_hash(&team->call) << 1 | closed;
    vic_addr_t row = row_of(team->meeting, team->member[team->me].row);
    vic_write(team->card, row + 1, &word, 1);
}

static int fail_left(uint32_t card)
{
    return fail(VIC_EPEER, "card %u has closed the team, or its card, and not made this call", card);
}

/* What was seen of all members. */
struct seen {
    bool later;    /* one has not sent its part yet */
    bool hidden;   /* this one has closed the team, and something else is in its row: has it sent its part? */
    uint32_t card;
};

/* What the words of a member's row mean for the step that we wait for. `left`: it was gone before they were read. */
static int judge(const struct vic_team *team, uint32_t card, const uint64_t word[ROW], bool left, struct seen *seen)
{
    uint32_t mine = team->step + 1, theirs = (uint32_t)(word[1] >> 32);
    if (word[0] != team->id) {
        seen->hidden = true;
        seen->card = card;
        return VIC_OK;
    }
    if ((int32_t)(theirs - mine) < 0) {
        seen->later = true;
        return (word[1] & 1) != 0 || left ? fail_left(card) : VIC_OK;
    }
    bool same = ((uint32_t)word[1] >> 1) == call_hash(&team->call);
    return theirs != mine || same ? VIC_OK
                                  : fail(VIC_EINVAL, "card %u makes another call on this team, or with another root, "
                                                     "reduction or n", card);
}

static int ask_rows(struct vic_team *team, struct question *question, uint64_t *answer, bool *left)
{
    size_t count = 0;
    for (uint32_t i = 0; i < team->n; i++) {
        const struct member *member = &team->member[i];
        uint64_t opens;
        if (i != team->me) {
            int status = vic_peer_opens(team->card, member->card, &opens);
            if (status != VIC_OK) {
                return status;
            }
            left[count] = opens != member->opens;
            question[count++] = (struct question){member->card, row_of(team->meeting, member->row)};
        }
    }
    return meeting_ask(team->meeting, question, count, ROW, answer);
}

int team_look(struct vic_team *team)
{
    struct question *question = calloc(team->n, sizeof *question);
    uint64_t *answer = calloc(team->n, ROW * sizeof *answer);
    bool *left = calloc(team->n, sizeof *left);
    struct seen seen = {false, false, 0};
    int status = VIC_OK; /* without memory look another time */
    if (question != NULL && answer != NULL && left != NULL) {
        status = ask_rows(team, question, answer, left);
        for (uint32_t at = 0; at + 1 < team->n && status == VIC_OK; at++) {
            status = judge(team, question[at].card, &answer[ROW * at], left[at], &seen);
        }
        /* all others have sent their parts, and ours is not complete: some time later it is the hidden one's that lacks */
        team->doubts = seen.hidden && !seen.later ? team->doubts + 1 : 0;
        if (status == VIC_OK && team->doubts > DOUBTS) {
            status = fail_left(seen.card);
        }
    }
    free(question);
    free(answer);
    free(left);
    return status;
}
