/* directory.h: what a card opens, and how far it is, for the other cards of its teams: words of SRAM at the same address
 * on each card. The card itself writes them; the others read them by queries, which change nothing if a program has
 * something else there.
 */
#ifndef COLLECTIVE_DIRECTORY_H
#define COLLECTIVE_DIRECTORY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "engine/random.h"
#include "layer.h"
#include "vic.h"

enum {
    RECORD = 4, /* words for each card: the opening of a team with it */
    ROWS = 64,  /* teams that a card has open at most */
    ROW = 2,    /* words: id of the team; steps sent << 32 | hash of the call << 1 | closed */
    LOG_LEAST = 4
};

struct vic_team;

/* What this card has seen of another one's openings of teams. */
struct seen_opening {
    uint32_t opens;  /* low half of vic_peer_opens; what follows is of this opening of the card */
    uint32_t used;   /* number of its last one that led to an open team */
    uint32_t failed; /* number of its last one that belonged to an opening here that failed as lists differed, or 0 */
    bool missed;     /* such an opening has failed here before this card's part in it was seen */
};

struct directory {
    struct kept kept; /* for its card */
    struct vic_attr attr;
    uint64_t opens; /* vic_peer_opens of this card */
    vic_addr_t base;
    unsigned counter; /* that answers count */
    uint64_t mark;    /* the words of answers that have not come yet */
    uint64_t rows;    /* a bit for each row in use */
    unsigned next_row;
    uint32_t users;   /* open teams, and threads that open one: changed with the list's lock */
    _Atomic uint32_t opening, asking; /* a thread opens a team; asks */
    int failed;       /* the status of a question whose answers may still come: that of all further ones */
    uint32_t number;  /* openings of teams on this card */
    struct seen_opening *seen; /* of each card */
    struct vic_team *pending; /* an opening that timed out */
};

/* What a card writes for another one with which it opens a team. */
struct record {
    uint32_t number, opens, cards; /* its openings up to this one; low half of its vic_peer_opens; cards of the list */
    uint64_t list;
    vic_addr_t base;
    unsigned counter[2], row, log_words;
    bool refused; /* its opening failed as lists differ: then the two lines above are empty, and */
    uint32_t met; /* this is the number of the other one's opening by the same list that it had seen, or 0 */
};

struct question {
    uint32_t card;
    vic_addr_t addr;
};

/* The directory of a card, made by the first call. VIC_ENOSPC, VIC_ESYS. It counts the caller as a user, as
 * directory_enter does; directory_leave ends that. */
int directory_find(vic_t *card, const struct vic_attr *attr, struct directory **result);
void directory_leave(struct directory *directory);
void directory_enter(struct directory *directory);

/* A row for a team, or ROWS if there is none. */
unsigned directory_take_row(struct directory *directory);
void directory_free_row(struct directory *directory, unsigned row);

/* Read `each` words of each of n other cards, whose hosts take no part. Waits for the answers; a status other than VIC_OK
 * says why there are none. */
int directory_ask(struct directory *directory, const struct question *question, size_t n, size_t each, uint64_t *answer);

/* Read words of this card's SRAM. */
int fetch_words(vic_t *card, vic_addr_t addr, uint64_t *to, size_t n);

/* The same, but leave to[own] .. to[own_end - 1] as they are. */
int fetch_except(vic_t *card, vic_addr_t addr, uint64_t *to, size_t n, size_t own, size_t own_end);

static inline vic_addr_t record_of(const struct directory *directory, uint32_t peer)
{
    return directory->base + peer * RECORD;
}

static inline vic_addr_t row_of(const struct directory *directory, unsigned row)
{
    return directory->base + 2 * RECORD * directory->attr.cards + row * ROW;
}

/* A hash of a word, 0 included. */
static inline uint64_t mix(uint64_t x)
{
    return dvsim_draw(x, 1);
}

void record_make(const struct record *record, uint32_t from, uint32_t to, uint64_t word[RECORD]);

/* False if these are no such words. */
bool record_read(const uint64_t word[RECORD], uint32_t from, uint32_t to, struct record *record);

#endif
