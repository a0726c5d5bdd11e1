/* collective.h: words that follow from who has them, and teams of any cards of a job. */
#ifndef TEST_COLLECTIVE_H
#define TEST_COLLECTIVE_H

#include "harness.h"
#include "vic_collective.h"

enum { CARDS_MOST = 64 };

/* Some cards of the job, in some order. */
struct list {
    uint32_t n, card[CARDS_MOST];
};

static inline bool in_list(const struct list *list, uint32_t card)
{
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->card[i] == card) {
            return true;
        }
    }
    return false;
}

static inline uint32_t index_of(const struct list *list, uint32_t card)
{
    uint32_t i = 0;
    while (list->card[i] != card) {
        i++;
    }
    return i;
}

static inline vic_team_t *open_team(const struct self *self, const struct list *list)
{
    vic_team_t *team;
    int status = vic_team_open(self->card, list->card, list->n, &team, VIC_FOREVER);
    if (status != VIC_OK) {
        fprintf(stderr, "FAILED vic_team_open: %s\n", vic_error_detail());
        _Exit(1);
    }
    return team;
}

/* Word i that a card has in a round. */
static inline uint64_t word_of(uint64_t round, uint32_t card, size_t i)
{
    uint64_t state = round << 40 ^ (uint64_t)card << 32 ^ i;
    return draw(&state);
}

static inline uint64_t reduced(enum vic_reduction op, uint64_t a, uint64_t b)
{
    const uint64_t all[] = {a + b, a < b ? a : b, a < b ? b : a, a & b, a | b, a ^ b};
    return all[op];
}

#endif
