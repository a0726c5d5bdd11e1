/* The two phases of an opening, which each card writes into its own SRAM and the others read. In the first it has said
 * where its buffers are, to each card of the list; who has read that of all is in the second, and says so in its row. Who
 * finds all in the second has the team. So as long as a card is in the first nobody has sent it anything.
 */
#include <stdlib.h>

#include "team.h"

enum { TORN_MOST = 100 };

int team_say(struct vic_team *team, enum team_saying saying)
{
    struct meeting *meeting = team->meeting;
    const struct member *me = &team->member[team->me];
    struct record record = {.number = meeting->number, .opens = (uint32_t)meeting->opens, .cards = team->n,
                            .list = team->list, .base = me->base, .counter = {me->counter[0], me->counter[1]},
                            .row = me->row, .log_words = team->log_words, .refused = saying == TEAM_REFUSES};
    int status = VIC_OK;
    for (uint32_t i = 0; i < team->n && status == VIC_OK; i++) {
        uint64_t word[RECORD] = {0};
        uint32_t peer = team->member[i].card;
        record.met = team->member[i].number;
        if (saying != TEAM_GIVES_UP) {
            record_make(&record, me->card, peer, word);
        }
        status = vic_write(team->card, record_of(meeting, peer), word, RECORD);
    }
    return status;
}

int team_say_row(struct vic_team *team, uint64_t id)
{
    uint64_t word[ROW] = {id, 0};
    return vic_write(team->card, row_of(team->meeting, team->member[team->me].row), word, ROW);
}

void team_mark_open(struct meeting *meeting, const struct member *member)
{
    meeting->seen[member->card] = (struct seen_opening){.opens = (uint32_t)member->opens, .used = member->number};
}

/* The numbers of openings are compared modulo 2^32. */
static bool is_later(uint32_t number, uint32_t than)
{
    return (int32_t)(number - than) > 0;
}

/* True if the record belongs to an earlier opening of this card: to a team that both have opened; or, as long as its list
 * is another one, to an opening that failed here because lists differed. */
static bool is_earlier(struct vic_team *team, uint32_t peer, const struct record *record)
{
    struct seen_opening *seen = &team->meeting->seen[peer];
    if (seen->opens != record->opens) {
        *seen = (struct seen_opening){.opens = record->opens, .missed = seen->missed};
    }
    if (!is_later(record->number, seen->used)) {
        return true;
    }
    if (record->list == team->list) {
        return false;
    }
    bool failed = seen->failed != 0 && !is_later(record->number, seen->failed);
    if (!failed && seen->missed) { /* it comes late to the opening that failed */
        seen->missed = false;
        seen->failed = record->number;
        failed = true;
    }
    return failed;
}

/* Read words of all other cards, `each` of them, from where `at` says. */
static int ask_all(struct vic_team *team, vic_addr_t (*at)(const struct vic_team *, const struct member *), size_t each,
                   uint64_t *answer)
{
    struct question *question = calloc(team->n, sizeof *question);
    size_t count = 0;
    if (question == NULL) {
        return VIC_ESYS;
    }
    for (uint32_t i = 0; i < team->n; i++) {
        const struct member *member = &team->member[i];
        if (i != team->me) {
            question[count++] = (struct question){member->card, at(team, member)};
        }
    }
    int status = meeting_ask(team->meeting, question, count, each, answer);
    free(question);
    return status;
}

static vic_addr_t at_record(const struct vic_team *team, const struct member *member)
{
    (void)member;
    return record_of(team->meeting, team->member[team->me].card);
}

static vic_addr_t at_row(const struct vic_team *team, const struct member *member)
{
    return row_of(team->meeting, member->row);
}

static int differs(const struct vic_team *team, uint32_t card, const struct record *record)
{
    if (record->list == team->list) {
        return fail(VIC_EINVAL, "card %u has found that the lists of this team's cards differ", card);
    }
    if (record->cards != team->n) {
        return fail(VIC_EINVAL, "lists differ: that of card %u has %u cards, that of this card, %u, has %u", card,
                      record->cards, team->member[team->me].card, team->n);
    }
    return fail(VIC_EINVAL, "lists differ: card %u has %u other cards, or another order, than this card, %u", card,
                  record->cards, team->member[team->me].card);
}

/* *here: the member opens the same team. */
static int meet(struct vic_team *team, struct member *member, const uint64_t word[RECORD], bool *here)
{
    struct record record;
    uint64_t opens;
    *here = false;
    int status = vic_peer_opens(team->card, member->card, &opens);
    if (status != VIC_OK) {
        return status;
    }
    if (opens != 0 && opens % 2 == 0) {
        return fail(VIC_EPEER, "card %u has been closed", member->card);
    }
    bool there = record_read(word, member->card, team->member[team->me].card, &record);
    if (!there || record.opens != (uint32_t)opens || is_earlier(team, member->card, &record)) {
        return VIC_OK;
    }
    if (!record.refused && record.cards == team->n &&
        (record.log_words < LOG_LEAST || UINT64_C(1) << record.log_words < team->n)) {
        return VIC_OK; /* no card says so: there would be no room for a word of each */
    }
    if (record.list != team->list || (record.refused && record.met == team->meeting->number)) {
        return differs(team, member->card, &record);
    }
    if (record.refused) { /* an opening before this one */
        return VIC_OK;
    }
    *member = (struct member){.card = member->card, .number = record.number, .opens = opens, .base = record.base,
                              .counter = {record.counter[0], record.counter[1]}, .row = record.row,
                              .words = UINT32_C(1) << record.log_words};
    *here = true;
    return VIC_OK;
}

/* All have said where their buffers are. */
static int enter_second(struct vic_team *team)
{
    struct meeting *meeting = team->meeting;
    struct member *me = &team->member[team->me];
    me->number = meeting->number;
    me->opens = meeting->opens;
    me->words = UINT32_C(1) << team->log_words;
    team->words = me->words;
    team->id = team->list;
    for (uint32_t i = 0; i < team->n; i++) {
        const struct member *member = &team->member[i];
        team->words = member->words < team->words ? member->words : team->words;
        team->id = mix(team->id ^ mix((uint64_t)member->number << 32 | (uint32_t)member->opens));
    }
    team->phase = 2;
    return team_say_row(team, team->id);
}

/* Remember which openings of the other cards belong to this one, which fails as lists differ: what they wrote for it
 * stays there, and a later opening must not take it for their part in that. `answer` has their records; a card that was
 * just writing its own is asked again. */
static void mark_failed(struct vic_team *team, uint64_t *answer)
{
    struct meeting *meeting = team->meeting;
    int status = VIC_OK;
    bool torn = true;
    for (uint32_t i = 0; i < team->n; i++) {
        meeting->seen[team->member[i].card].missed = true;
    }
    for (int times = 0; times < TORN_MOST && torn && status == VIC_OK; times++) {
        torn = false;
        for (uint32_t i = 0, at = 0; i < team->n; i++) {
            uint32_t peer = team->member[i].card;
            struct seen_opening *seen = &meeting->seen[peer];
            struct record record;
            if (i == team->me) {
                continue;
            }
            const uint64_t *word = &answer[RECORD * at++];
            bool valid = record_read(word, peer, team->member[team->me].card, &record);
            torn |= !valid && word[0] != 0;
            if (valid && seen->missed && !is_earlier(team, peer, &record)) {
                seen->missed = false;
                seen->failed = record.number;
            }
        }
        status = torn ? ask_all(team, at_record, RECORD, answer) : VIC_OK;
    }
}

/* *all: all cards are in the first phase. */
static int look_first(struct vic_team *team, uint64_t *answer, bool *all)
{
    int status = ask_all(team, at_record, RECORD, answer);
    *all = true;
    for (uint32_t i = 0, at = 0; i < team->n && status == VIC_OK; i++) {
        if (i != team->me) {
            bool here;
            status = meet(team, &team->member[i], &answer[RECORD * at++], &here);
            *all = *all && here;
        }
    }
    if (status == VIC_EINVAL) {
        mark_failed(team, answer);
    }
    return status == VIC_OK && *all ? enter_second(team) : status;
}

/* Back to the first phase, as a card has given up before it was in the second: so nobody has got further. */
static int go_back(struct vic_team *team)
{
    team->phase = 1;
    return team_say_row(team, 0);
}

/* Has the member gone on to something else since the first phase? `word` is of its record. */
static bool went_on(const struct vic_team *team, const struct member *member, uint64_t word)
{
    uint64_t opens;
    bool same = vic_peer_opens(team->card, member->card, &opens) == VIC_OK && opens == member->opens;
    return !same || word != ((uint64_t)member->number << 32 | (uint32_t)member->opens);
}

/* Is a member in the second phase, or was it there? `gone` was read before its row. Who gives up takes its record back
 * before the row can be that of a later team: so who has lost the row, and still has the record at the next look, has had
 * this team, and closed it. */
static bool is_in_second(const struct vic_team *team, struct member *member, uint64_t row, bool gone)
{
    bool here = row == team->id || (member->row_reused && !gone);
    member->row_reused |= row != 0 && row != team->id && row != ~team->id;
    return here;
}

/* *all: all cards are in the second phase. Who went on before we looked at its row, and was not, has given up this
 * opening: so rows are asked for last. */
static int look_second(struct vic_team *team, uint64_t *answer, bool *all)
{
    uint64_t *row = answer + team->n, *gone = row + team->n;
    int status = ask_all(team, at_record, 1, answer);
    for (uint32_t i = 0, at = 0; i < team->n && status == VIC_OK; i++) {
        if (i != team->me) {
            gone[at] = went_on(team, &team->member[i], answer[at]);
            at++;
        }
    }
    if (status == VIC_OK) {
        status = ask_all(team, at_row, 1, row);
    }
    bool back = false;
    *all = true;
    for (uint32_t i = 0, at = 0; i < team->n && status == VIC_OK; i++) {
        if (i != team->me) {
            bool here = is_in_second(team, &team->member[i], row[at], gone[at] != 0);
            *all = *all && here;
            back |= !here && gone[at] != 0;
            if (row[at] == ~team->id) {
                status = fail(VIC_EPEER, "card %u has given up opening this team", team->member[i].card);
            }
            at++;
        }
    }
    if (status == VIC_OK && back) {
        return go_back(team);
    }
    team->phase += status == VIC_OK && *all;
    return status;
}

int team_phase(struct vic_team *team, uint64_t *answer, bool *all)
{
    return team->phase == 1 ? look_first(team, answer, all) : look_second(team, answer, all);
}
