/* Memory, SRAM and counters of a team. */
#include <stdlib.h>

#include "team.h"

/* ---- the list of its cards */

uint64_t list_hash(const uint32_t *cards, uint32_t n)
{
    uint64_t hash = mix(n);
    for (uint32_t i = 0; i < n; i++) {
        hash = mix(hash ^ cards[i]);
    }
    return hash;
}

/* Set `place` of each card to 1 + its index in the list. `place` has a word for each card of the job, all 0. */
static int find_places(const struct vic_attr *attr, const uint32_t *cards, uint32_t n, uint32_t *place)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t card = cards[i];
        if (card >= attr->cards) {
            return fail(VIC_ERANGE, "place %u of the list has card %u; this job has cards 0 .. %u", i, card,
                          attr->cards - 1);
        }
        if (place[card] != 0) {
            return fail(VIC_EINVAL, "places %u and %u of the list both have card %u", place[card] - 1, i, card);
        }
        place[card] = i + 1;
    }
    if (place[attr->card] == 0) {
        return fail(VIC_EINVAL, "the list of %u cards has not this card, %u", n, attr->card);
    }
    return VIC_OK;
}

int list_check(const struct vic_attr *attr, const uint32_t *cards, uint32_t n, uint32_t *me)
{
    if (n == 0) {
        return fail(VIC_EINVAL, "the list has no cards; a team has this one, %u, at least", attr->card);
    }
    uint32_t *place = calloc(attr->cards, sizeof *place);
    if (place == NULL) {
        return fail(VIC_ESYS, "no memory");
    }
    int status = find_places(attr, cards, n, place);
    *me = place[attr->card] - 1;
    free(place);
    return status;
}

enum { SHARE = 64 /* a buffer is this part of the SRAM, */, LOG_MOST = 16 /* of so many words at most */ };

/* Two buffers: of the usual size, or if there is no such gap of half of it, and so on. */
static int take_buffers(struct vic_team *team, struct member *me)
{
    uint32_t least = LOG_LEAST, most = LOG_LEAST;
    while ((UINT32_C(1) << least) < team->n) {
        least++; /* a word for each card */
    }
    while (most < LOG_MOST && (UINT32_C(2) << most) <= team->directory->attr.sram_words / SHARE) {
        most++;
    }
    int status = VIC_ENOSPC;
    for (team->log_words = most > least ? most : least; status == VIC_ENOSPC; team->log_words--) {
        status = vic_alloc(team->card, (size_t)2 << team->log_words, &me->base);
        if (status != VIC_ENOSPC || team->log_words == least) {
            break;
        }
    }
    return status;
}

static int take_counters(struct vic_team *team, struct member *me)
{
    int status = vic_counter_alloc(team->card, &me->counter[0]);
    if (status == VIC_OK) {
        status = vic_counter_alloc(team->card, &me->counter[1]);
        if (status != VIC_OK) {
            vic_counter_free(team->card, me->counter[0]);
        }
    }
    return status;
}

static int take_region(struct vic_team *team)
{
    struct member *me = &team->member[team->me];
    me->row = directory_take_row(team->directory);
    if (me->row == ROWS) {
        return VIC_ENOSPC;
    }
    int status = take_buffers(team, me);
    if (status == VIC_OK) {
        status = take_counters(team, me);
        if (status != VIC_OK) {
            vic_free(team->card, me->base);
        }
    }
    if (status != VIC_OK) {
        directory_free_row(team->directory, me->row);
        return status;
    }
    team->bounce = malloc(sizeof *team->bounce << team->log_words);
    if (team->bounce == NULL) {
        vic_free(team->card, me->base);
        vic_counter_free(team->card, me->counter[0]);
        vic_counter_free(team->card, me->counter[1]);
        directory_free_row(team->directory, me->row);
        return VIC_ESYS;
    }
    for (int turn = 0; turn < 2; turn++) {
        vic_counter_set(team->card, me->counter[turn], INT64_C(1) << 62);
    }
    return VIC_OK;
}

static void free_memory(struct vic_team *team)
{
    free(team->member);
    free(team->bounce);
    free(team->header);
    free(team->payload);
    slab_give(&team_layer.handles, team);
}

int team_make(vic_t *card, struct directory *directory, const uint32_t *cards, uint32_t n, struct vic_team **result)
{
    struct vic_team *team = slab_take(&team_layer.handles);
    if (team == NULL) {
        return VIC_ESYS;
    }
    team->card = card;
    team->directory = directory;
    team->n = n;
    team->list = list_hash(cards, n);
    team->member = calloc(n, sizeof *team->member);
    team->header = calloc(n, sizeof *team->header);
    team->payload = calloc(n, sizeof *team->payload);
    int status = team->member != NULL && team->header != NULL && team->payload != NULL ? VIC_OK : VIC_ESYS;
    for (uint32_t i = 0; i < n && status == VIC_OK; i++) {
        team->member[i].card = cards[i];
        team->me = cards[i] == directory->attr.card ? i : team->me;
    }
    if (status == VIC_OK) {
        status = take_region(team);
    }
    if (status != VIC_OK) {
        free_memory(team);
        return status;
    }
    *result = team;
    return VIC_OK;
}

void team_free(struct vic_team *team, bool clean)
{
    const struct member *me = &team->member[team->me];
    if (clean) {
        vic_free(team->card, me->base);
        vic_counter_free(team->card, me->counter[0]);
        vic_counter_free(team->card, me->counter[1]);
    }
    if (team->directory != NULL) {
        directory_free_row(team->directory, me->row);
    }
    free_memory(team);
}
