/* Opening and closing. */
#include <stdlib.h>

#include "team.h"

enum { QUICK = 64 /* looks before a wait has slices */, SLICE_NS = 100 * 1000, SLICE_PART = 8 };

#define SLICE_MOST_NS (UINT64_C(10) * 1000 * 1000) /* of functional mode */
#define WAITED_MOST_NS (UINT64_C(3600) * 1000 * 1000 * 1000)

/* In timed mode the number is of a moment ago: it becomes odd. */
static int learn_own_opens(struct meeting *meeting)
{
    int status = VIC_OK;
    while (status == VIC_OK && meeting->opens % 2 == 0) {
        status = vic_peer_opens(meeting->kept.card, meeting->attr.card, &meeting->opens);
        vic_relax(meeting->kept.card);
    }
    return status;
}

static int begin(vic_t *card, struct meeting *meeting, const uint32_t *cards, uint32_t n)
{
    struct vic_team *team;
    int status = learn_own_opens(meeting);
    if (status == VIC_OK) {
        status = team_make(card, meeting, cards, n, &team);
    }
    if (status != VIC_OK) {
        return status;
    }
    meeting->number++;
    meeting->pending = team;
    team->phase = 1;
    team_say_row(team, 0);
    return team_say(team, TEAM_OPENS);
}

/* Let time pass: the longer we have waited, the more. */
static int wait_some(struct vic_team *team, uint32_t turn, uint64_t began_ns, uint64_t deadline_ns)
{
    uint64_t now = vic_time_ns(team->card), waited = now - began_ns;
    if (now >= deadline_ns) {
        return VIC_ETIMEDOUT;
    }
    if (turn < QUICK) {
        vic_relax(team->card);
        return VIC_OK;
    }
    bool timed = team->meeting->attr.mode == 1;
    unsigned counter = team->member[team->me].counter[0]; /* that is not 0 before the first call */
    uint64_t slice = waited / SLICE_PART > SLICE_NS ? waited / SLICE_PART : SLICE_NS, left = deadline_ns - now;
    slice = !timed && slice > SLICE_MOST_NS ? SLICE_MOST_NS : slice;
    slice = timed && waited > WAITED_MOST_NS ? VIC_FOREVER : slice; /* for good: a deadlock can be seen */
    struct wait_whole whole = {WAIT_TEAM, 0, began_ns};
    int outermost = wait_whole_begin(&whole, now);
    int status = vic_counter_wait(team->card, counter, slice < left ? slice : left);
    wait_whole_end(outermost);
    return status == VIC_ETIMEDOUT ? VIC_OK : status;
}

static int join(struct vic_team *team, uint64_t deadline_ns)
{
    uint64_t began_ns = vic_time_ns(team->card), *answer = calloc(team->n, RECORD * sizeof *answer);
    int status = answer != NULL ? VIC_OK : VIC_ESYS;
    for (uint32_t turn = 0; status == VIC_OK && team->phase < 3; turn++) {
        bool all;
        status = team_phase(team, answer, &all);
        if (status == VIC_OK && !all) {
            status = wait_some(team, turn, began_ns, deadline_ns);
            if (status != VIC_OK && status != VIC_ETIMEDOUT) {
                fail_hold(status); /* it says why, whatever the last look finds */
                bool there = team_phase(team, answer, &all) == VIC_OK && team->phase == 3;
                status = there ? VIC_OK : status; /* the others have it, and are gone by now */
            }
        }
    }
    free(answer);
    return status;
}

/* The opening on this card comes to nothing. In the first phase nobody can have it open. */
static void give_up(struct vic_team *team, enum team_saying saying)
{
    team->meeting->pending = NULL;
    team_say(team, saying);
    team_say_row(team, team->phase == 1 ? 1 : ~team->id); /* not 0: who still opens what had this row before sees that it is over */
    team_free(team, team->phase == 1);
}

static int finish(struct meeting *meeting, uint64_t deadline_ns, vic_team_t **result)
{
    struct vic_team *team = meeting->pending;
    int status = join(team, deadline_ns);
    if (status == VIC_ETIMEDOUT) {
        return fail(status, "not all cards of the list have opened the team yet");
    }
    if (status != VIC_OK) {
        give_up(team, status == VIC_EINVAL ? TEAM_REFUSES : TEAM_GIVES_UP);
        return status;
    }
    meeting->pending = NULL;
    for (uint32_t i = 0; i < team->n; i++) {
        team_mark_open(meeting, &team->member[i]);
    }
    meeting_enter(meeting);
    atomic_store(&team->gate.open, 1);
    *result = team;
    return VIC_OK;
}

/* One thread at a time; the list is good. */
static int open_list(vic_t *card, struct meeting *meeting, const uint32_t *cards, uint32_t n, uint64_t timeout_ns,
                     vic_team_t **result)
{
    uint64_t deadline_ns = deadline_after(card, timeout_ns);
    int status = VIC_OK;
    if (meeting->pending != NULL && meeting->pending->list != list_hash(cards, n)) {
        give_up(meeting->pending, TEAM_GIVES_UP);
    }
    if (meeting->pending == NULL) {
        status = begin(card, meeting, cards, n);
    }
    if (status == VIC_ENOSPC) {
        return fail(status, "no room: a team takes 2 counters and %u words of SRAM at least, and there are %d teams",
                      n <= 1u << LOG_LEAST ? 2u << LOG_LEAST : 2 * n, ROWS);
    }
    return status == VIC_OK ? finish(meeting, deadline_ns, result) : status;
}

static int open_on(vic_t *card, const struct vic_attr *attr, const uint32_t *cards, uint32_t n, uint64_t timeout_ns,
                   vic_team_t **result)
{
    struct meeting *meeting;
    int status = meeting_find(card, attr, &meeting);
    if (status != VIC_OK) {
        return fail(status, "no room, or no memory, for what cards say to each other: a counter, %zu words of SRAM",
                      2 * RECORD * (size_t)attr->cards + ROWS * ROW);
    }
    if (atomic_exchange(&meeting->opening, 1) != 0) {
        status = fail(VIC_EBUSY, "another thread opens a team on this card");
    } else {
        status = open_list(card, meeting, cards, n, timeout_ns, result);
        atomic_store(&meeting->opening, 0);
    }
    meeting_leave(meeting);
    return status;
}

static int vic_team_open_call(vic_t *card, const uint32_t *cards, uint32_t n, vic_team_t **team, uint64_t timeout_ns)
{
    struct vic_attr attr;
    uint32_t me, *all = NULL;
    if (team == NULL) {
        return fail(VIC_EINVAL, "team is NULL");
    }
    *team = NULL;
    int status = vic_query_attr(card, &attr);
    if (status != VIC_OK) {
        return fail(status, card == NULL ? "card is NULL" : "the card is closed");
    }
    layer_begin(&team_layer);
    if (cards == NULL) {
        n = attr.cards;
        all = calloc(n, sizeof *all);
        if (all == NULL) {
            return fail(VIC_ESYS, "no memory");
        }
        for (uint32_t i = 0; i < n; i++) {
            all[i] = i;
        }
    }
    const uint32_t *list = cards != NULL ? cards : all;
    status = list_check(&attr, list, n, &me);
    if (status == VIC_OK) {
        cancel_layers++;
        status = open_on(card, &attr, list, n, timeout_ns, team);
        cancel_layers--;
    }
    free(all);
    return status;
}

LOGGED(vic_team_open,
       (vic_t *card, const uint32_t *cards, uint32_t n, vic_team_t **team, uint64_t timeout_ns),
       (card, cards, n, team, timeout_ns),
       card, "n timeout", VALUES(n, (int64_t)timeout_ns), "", NULL)

static int vic_team_close_call(vic_team_t *team)
{
    if (team == NULL) {
        return fail_null(1, "");
    }
    if (!gate_close(&team->gate)) {
        return fail_as(VIC_ECLOSED);
    }
    const struct member *me = &team->member[team->me];
    while (gate_in_use(&team->gate)) { /* they wait for one of these */
        vic_counter_set(team->card, me->counter[0], 0);
        vic_counter_set(team->card, me->counter[1], 0);
        vic_relax(team->card);
    }
    bool clean = team->broken == VIC_OK && !team->pending; /* all that was sent to this card has come */
    team_publish(team, team->step + (team->sent ? 1 : 0), true);
    struct meeting *meeting = team->meeting;
    team_free(team, clean);
    meeting_leave(meeting);
    return VIC_OK;
}

LOGGED(vic_team_close, (vic_team_t *team), (team),
       team == NULL ? NULL : team->card, "", NULL, "", NULL)
