/* A call that has waited for long reads the rows of the other cards: are they alive, and in the same call? */
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
    vic_addr_t row = row_of(team->directory, team->member[team->me].row);
    vic_write(team->card, row + 1, &word, 1);
}

static int fail_left(uint32_t card)
{
    return fail(VIC_EPEER, "card %u has closed the team, or its card, and not made this call", card);
}

/* What the rows of all members say. */
struct seen {
    bool later;    /* a card has not sent the packets of this step yet */
    bool hidden;   /* card `card` has closed the team, and uses its row again: whether it had sent them is not known */
    uint32_t card;
};

/* Take in the row of a member. `left`: it had closed its card before its row was read. */
static int check_row(const struct vic_team *team, uint32_t card, const uint64_t word[ROW], bool left, struct seen *seen)
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
            question[count++] = (struct question){member->card, row_of(team->directory, member->row)};
        }
    }
    return directory_ask(team->directory, question, count, ROW, answer);
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
            status = check_row(team, question[at].card, &answer[ROW * at], left[at], &seen);
        }
        /* all others have sent, but packets are missing: after some time they must be those of the hidden one */
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
