/* Opening and closing teams. */
#include <stdlib.h>

#include "team.h"

enum { SPINS = 64 /* looks before a wait has slices */, SLICE_NS = 100 * 1000, SLICE_PART = 8 };

#define SLICE_MOST_NS (UINT64_C(10) * 1000 * 1000) /* of functional mode */
#define WAITED_MOST_NS (UINT64_C(3600) * 1000 * 1000 * 1000)

/* In timed mode vic_peer_opens gives the number of a moment ago: wait until it is odd, which is open. */
static int learn_own_opens(struct directory *directory)
{
    int status = VIC_OK;
    while (status == VIC_OK && directory->opens % 2 == 0) {
        status = vic_peer_opens(directory->kept.card, directory->attr.card, &directory->opens);
        vic_relax(directory->kept.card);
    }
    return status;
}

static int begin(vic_t *card, struct directory *directory, const uint32_t *cards, uint32_t n)
{
    struct vic_team *team;
    int status = learn_own_opens(directory);
    if (status == VIC_OK) {
        status = team_make(card, directory, cards, n, &team);
    }
    if (status != VIC_OK) {
        return status;
    }
    directory->number++;
    directory->pending = team;
    team->phase = 1;
    team_write_row(team, 0);
    return team_write_records(team, TEAM_OPENS);
}

/* Let some time pass, more of it the longer the opening has waited. */
static int wait_slice(struct vic_team *team, uint32_t looks, uint64_t began_ns, uint64_t deadline_ns)
{
    uint64_t now = vic_time_ns(team->card), waited = now - began_ns;
    if (now >= deadline_ns) {
        return VIC_ETIMEDOUT;
    }
    if (looks < SPINS) {
        vic_relax(team->card);
        return VIC_OK;
    }
    bool timed = team->directory->attr.mode == 1;
    unsigned counter = team->member[team->me].counter[0]; /* that is not 0 before the first call */
    uint64_t slice = waited / SLICE_PART > SLICE_NS ? waited / SLICE_PART : SLICE_NS, left = deadline_ns - now;
    slice = !timed && slice > SLICE_MOST_NS ? SLICE_MOST_NS : slice;
    slice = timed && waited > WAITED_MOST_NS ? VIC_FOREVER : slice; /* so that a deadlock is recognised */
    struct wait_whole whole = {WAIT_TEAM, 0, began_ns, deadline_ns == VIC_FOREVER};
    int outermost = wait_whole_begin(&whole, now);
    int status = vic_counter_wait(team->card, counter, slice < left ? slice : left);
    wait_whole_end(outermost);
    return status == VIC_ETIMEDOUT ? VIC_OK : status;
}

static int join(struct vic_team *team, uint64_t deadline_ns)
{
    uint64_t began_ns = vic_time_ns(team->card), *answer = calloc(team->n, RECORD * sizeof *answer);
    int status = answer != NULL ? VIC_OK : VIC_ESYS;
    for (uint32_t looks = 0; status == VIC_OK && team->phase < 3; looks++) {
        bool advanced;
        status = team_phase(team, answer, &advanced);
        if (status == VIC_OK && !advanced) {
            status = wait_slice(team, looks, began_ns, deadline_ns);
            if (status != VIC_OK && status != VIC_ETIMEDOUT) {
                fail_hold(status); /* the detail of the wait stays, whatever the last look finds */
                bool is_open = team_phase(team, answer, &advanced) == VIC_OK && team->phase == 3;
                status = is_open ? VIC_OK : status; /* the others had opened the team, and have ended since */
            }
        }
    }
    free(answer);
    return status;
}

/* Give up the opening on this card. In the first phase no other card can have the team open. */
static void give_up(struct vic_team *team, enum team_intent intent)
{
    team->directory->pending = NULL;
    team_write_records(team, intent);
    /* not 0: a card that still opens an earlier team of this row has to see that the row is reused */
    team_write_row(team, team->phase == 1 ? 1 : ~team->id);
    team_free(team, team->phase == 1);
}

static int finish(struct directory *directory, uint64_t deadline_ns, vic_team_t **result)
{
    struct vic_team *team = directory->pending;
    int status = join(team, deadline_ns);
    if (status == VIC_ETIMEDOUT) {
        return fail(status, "not all cards of the list have opened the team yet");
    }
    if (status != VIC_OK) {
        give_up(team, status == VIC_EINVAL ? TEAM_REFUSES : TEAM_GIVES_UP);
        return status;
    }
    directory->pending = NULL;
    for (uint32_t i = 0; i < team->n; i++) {
        team_mark_open(directory, &team->member[i]);
    }
    directory_enter(directory);
    atomic_store(&team->gate.open, 1);
    *result = team;
    return VIC_OK;
}

/* Called by one thread at a time, with a valid list. */
static int open_list(vic_t *card, struct directory *directory, const uint32_t *cards, uint32_t n, uint64_t timeout_ns,
                     vic_team_t **result)
{
    uint64_t deadline_ns = deadline_after(card, timeout_ns);
    int status = VIC_OK;
    if (directory->pending != NULL && directory->pending->list != list_hash(cards, n)) {
        give_up(directory->pending, TEAM_GIVES_UP);
    }
    if (directory->pending == NULL) {
        status = begin(card, directory, cards, n);
    }
    if (status == VIC_ENOSPC) {
        return fail(status, "no room: a team takes 2 counters and %u words of SRAM at least, and there are %d teams",
                      n <= 1u << LOG_LEAST ? 2u << LOG_LEAST : 2 * n, ROWS);
    }
    return status == VIC_OK ? finish(directory, deadline_ns, result) : status;
}

static int open_on(vic_t *card, const struct vic_attr *attr, const uint32_t *cards, uint32_t n, uint64_t timeout_ns,
                   vic_team_t **result)
{
    struct directory *directory;
    int status = directory_find(card, attr, &directory);
    if (status != VIC_OK) {
        return fail(status, "no room, or no memory, for what cards write for each other: a counter, %zu words of SRAM",
                    2 * RECORD * (size_t)attr->cards + ROWS * ROW);
    }
    if (atomic_exchange(&directory->opening, 1) != 0) {
        status = fail(VIC_EBUSY, "another thread opens a team on this card");
    } else {
        status = open_list(card, directory, cards, n, timeout_ns, result);
        atomic_store(&directory->opening, 0);
    }
    directory_leave(directory);
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
    while (gate_in_use(&team->gate)) { /* calls of other threads wait for one of these counters */
        vic_counter_set(team->card, me->counter[0], 0);
        vic_counter_set(team->card, me->counter[1], 0);
        vic_relax(team->card);
    }
    bool clean = team->broken == VIC_OK && !team->pending; /* all that was sent to this card has come */
    team_publish(team, team->step + (team->sent ? 1 : 0), true);
    struct directory *directory = team->directory;
    team_free(team, clean);
    directory_leave(directory);
    return VIC_OK;
}

LOGGED(vic_team_close, (vic_team_t *team), (team),
       team == NULL ? NULL : team->card, "", NULL, "", NULL)
