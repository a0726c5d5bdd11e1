/* Checking the list of a team's cards. */
#include <stdlib.h>

#include "team.h"

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
