/* The two phases of an opening. In the first, a card writes for each card of the list where its buffers are. When it has
 * read that of all others, it is in the second phase, and writes so in its row. When it has read that all are in the
 * second phase, its team is open. So a card in the first phase has received no packet of the team yet.
 */
#include <stdlib.h>

#include "team.h"

enum { TORN_MOST = 100 };

int team_write_records(struct vic_team *team, enum team_intent intent)
{
    struct directory *directory = team->directory;
    const struct member *me = &team->member[team->me];
    struct record record = {.number = directory->number, .opens = (uint32_t)directory->opens, .cards = team->n,
                            .list = team->list, .base = me->base, .counter = {me->counter[0], me->counter[1]},
                            .row = me->row, .log_words = team->log_words, .refused = intent == TEAM_REFUSES};
    int status = VIC_OK;
    for (uint32_t i = 0; i < team->n && status == VIC_OK; i++) {
        uint64_t word[RECORD] = {0};
        uint32_t peer = team->member[i].card;
        record.met = team->member[i].number;
        if (intent != TEAM_GIVES_UP) {
            record_make(&record, me->card, peer, word);
        }
        status = vic_write(team->card, record_of(directory, peer), word, RECORD);
    }
    return status;
}

int team_write_row(struct vic_team *team, uint64_t id)
{
    uint64_t word[ROW] = {id, 0};
    return vic_write(team->card, row_of(team->directory, team->member[team->me].row), word, ROW);
}

void team_mark_open(struct directory *directory, const struct member *member)
{
    directory->seen[member->card] = (struct seen_opening){.opens = (uint32_t)member->opens, .used = member->number};
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
    struct seen_opening *seen = &team->directory->seen[peer];
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

/* Read `each` words of each other card, from the address that `at` gives. */
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
    int status = directory_ask(team->directory, question, count, each, answer);
    free(question);
    return status;
}

static vic_addr_t at_record(const struct vic_team *team, const struct member *member)
{
    (void)member;
    return record_of(team->directory, team->member[team->me].card);
}

static vic_addr_t at_row(const struct vic_team *team, const struct member *member)
{
    return row_of(team->directory, member->row);
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

/* Take in the record of a card. *accepted: it opens the same team. */
static int accept_member(struct vic_team *team, struct member *member, const uint64_t word[RECORD], bool *accepted)
{
    struct record record;
    uint64_t opens;
    *accepted = false;
    int status = vic_peer_opens(team->card, member->card, &opens);
    if (status != VIC_OK) {
        return status;
    }
    if (opens != 0 && opens % 2 == 0) {
        return fail(VIC_EPEER, "card %u has been closed", member->card);
    }
    bool valid = record_read(word, member->card, team->member[team->me].card, &record);
    if (!valid || record.opens != (uint32_t)opens || is_earlier(team, member->card, &record)) {
        return VIC_OK;
    }
    if (!record.refused && record.cards == team->n &&
        (record.log_words < LOG_LEAST || UINT64_C(1) << record.log_words < team->n)) {
        return VIC_OK; /* no card writes that: its buffers would have no room for a word of each card */
    }
    if (record.list != team->list || (record.refused && record.met == team->directory->number)) {
        return differs(team, member->card, &record);
    }
    if (record.refused) { /* an opening before this one */
        return VIC_OK;
    }
    *member = (struct member){.card = member->card, .number = record.number, .opens = opens, .base = record.base,
                              .counter = {record.counter[0], record.counter[1]}, .row = record.row,
                              .words = UINT32_C(1) << record.log_words};
    *accepted = true;
    return VIC_OK;
}

/* The records of all members have been read. */
static int enter_second(struct vic_team *team)
{
    struct directory *directory = team->directory;
    struct member *me = &team->member[team->me];
    me->number = directory->number;
    me->opens = directory->opens;
    me->words = UINT32_C(1) << team->log_words;
    team->words = me->words;
    team->id = team->list;
    for (uint32_t i = 0; i < team->n; i++) {
        const struct member *member = &team->member[i];
        team->words = member->words < team->words ? member->words : team->words;
        team->id = mix(team->id ^ mix((uint64_t)member->number << 32 | (uint32_t)member->opens));
    }
    team->phase = 2;
    return team_write_row(team, team->id);
}

/* Remember which openings of the other cards belong to this one, which fails as lists differ: what they wrote for it
 * stays there, and a later opening must not take it for their part in that. `answer` has their records; a card that was
 * just writing its own is asked again. */
static void mark_failed(struct vic_team *team, uint64_t *answer)
{
    struct directory *directory = team->directory;
    int status = VIC_OK;
    bool torn = true;
    for (uint32_t i = 0; i < team->n; i++) {
        directory->seen[team->member[i].card].missed = true;
    }
    for (int times = 0; times < TORN_MOST && torn && status == VIC_OK; times++) {
        torn = false;
        for (uint32_t i = 0, at = 0; i < team->n; i++) {
            uint32_t peer = team->member[i].card;
            struct seen_opening *seen = &directory->seen[peer];
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

/* *advanced: all cards are in the first phase. */
static int look_first(struct vic_team *team, uint64_t *answer, bool *advanced)
{
    int status = ask_all(team, at_record, RECORD, answer);
    *advanced = true;
    for (uint32_t i = 0, at = 0; i < team->n && status == VIC_OK; i++) {
        if (i != team->me) {
            bool accepted;
            status = accept_member(team, &team->member[i], &answer[RECORD * at++], &accepted);
            *advanced = *advanced && accepted;
        }
    }
    if (status == VIC_EINVAL) {
        mark_failed(team, answer);
    }
    return status == VIC_OK && *advanced ? enter_second(team) : status;
}

/* Go back to the first phase, as a card has given up in that: so no card's team is open. */
static int go_back(struct vic_team *team)
{
    team->phase = 1;
    return team_write_row(team, 0);
}

/* True if the member has given up, refused or finished this opening since it was accepted. `word` is the first of its
 * record. */
static bool has_left(const struct vic_team *team, const struct member *member, uint64_t word)
{
    uint64_t opens;
    bool same = vic_peer_opens(team->card, member->card, &opens) == VIC_OK && opens == member->opens;
    return !same || word != record_begin(member->number, member->opens);
}

/* True if a member is in the second phase, or was. `left` was read before its row. A card that gives up or refuses changes
 * the first word of its record before it writes its row. So if the row is reused, and that word still stands at the next
 * look, the member has had this team open, and closed it. */
static bool is_in_second(const struct vic_team *team, struct member *member, uint64_t row, bool left)
{
    bool is = row == team->id || (member->row_reused && !left);
    member->row_reused |= row != 0 && row != team->id && row != ~team->id;
    return is;
}

/* *advanced: all cards are in the second phase. A card that has left this opening, and is not in the second phase when its
 * row is read after that, has given the opening up. */
static int look_second(struct vic_team *team, uint64_t *answer, bool *advanced)
{
    uint64_t *row = answer + team->n, *left = row + team->n;
    int status = ask_all(team, at_record, 1, answer);
    for (uint32_t i = 0, at = 0; i < team->n && status == VIC_OK; i++) {
        if (i != team->me) {
            left[at] = has_left(team, &team->member[i], answer[at]);
            at++;
        }
    }
    if (status == VIC_OK) {
        status = ask_all(team, at_row, 1, row);
    }
    bool back = false;
    *advanced = true;
    for (uint32_t i = 0, at = 0; i < team->n && status == VIC_OK; i++) {
        if (i != team->me) {
            bool is = is_in_second(team, &team->member[i], row[at], left[at] != 0);
            *advanced = *advanced && is;
            back |= !is && left[at] != 0;
            if (row[at] == ~team->id) {
                status = fail(VIC_EPEER, "card %u has given up opening this team", team->member[i].card);
            }
            at++;
        }
    }
    if (status == VIC_OK && back) {
        return go_back(team);
    }
    team->phase += status == VIC_OK && *advanced;
    return status;
}

int team_phase(struct vic_team *team, uint64_t *answer, bool *advanced)
{
    return team->phase == 1 ? look_first(team, answer, advanced) : look_second(team, answer, advanced);
}
