/* meeting.h: where cards find out about each other's teams: some words of SRAM on each card, at the same address,
 * which the card itself writes and others read by queries, which do no harm if something else is there.
 */
#ifndef COLLECTIVE_MEETING_H
#define COLLECTIVE_MEETING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "engine/random.h"
#include "layer.h"
#include "vic.h"

enum {
    RECORD = 4, /* words for each card: what this one opens with that one */
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

struct meeting {
    struct kept kept; /* for its card */
    struct vic_attr attr;
    uint64_t opens; /* vic_peer_opens of this card */
    vic_addr_t base;
    unsigned counter; /* of answers */
    uint64_t mark;    /* what stands where an answer has not come yet */
    uint64_t rows;    /* in use, a bit each */
    unsigned next_row;
    uint32_t users;   /* open teams, and threads that open one: changed with the list's lock */
    _Atomic uint32_t opening, asking; /* a thread is at it */
    int failed;       /* an answer was not waited for: no more questions */
    uint32_t number;  /* of openings of teams on this card */
    struct seen_opening *seen; /* of each card */
    struct vic_team *pending; /* an opening that timed out */
};

/* What a card says to another one while it opens a team with it. */
struct record {
    uint32_t number, opens, cards; /* openings so far; low half of its opens; in the list */
    uint64_t list;
    vic_addr_t base;
    unsigned counter[2], row, log_words;
    bool refused; /* it found that lists differ: instead of the line above there is */
    uint32_t met; /* the number of that one's opening that it had seen here, or 0 */
};

struct question {
    uint32_t card;
    vic_addr_t addr;
};

/* That of a card, made at its first call. VIC_ENOSPC, VIC_ESYS. meeting_leave when done. */
int meeting_find(vic_t *card, const struct vic_attr *attr, struct meeting **result);
void meeting_leave(struct meeting *meeting);
void meeting_enter(struct meeting *meeting);

/* A row for a team, or ROWS if there is none. */
unsigned meeting_row(struct meeting *meeting);
void meeting_free_row(struct meeting *meeting, unsigned row);

/* Read `each` words of each of n other cards; their hosts take no part. Ends when the answers are there, or with
 * why they will not be. */
int meeting_ask(struct meeting *meeting, const struct question *question, size_t n, size_t each, uint64_t *answer);

/* Words of this card's SRAM into host memory. */
int fetch_words(vic_t *card, vic_addr_t addr, uint64_t *to, size_t n);

/* The same without to[own] .. to[own_end - 1]. */
int fetch_round(vic_t *card, vic_addr_t addr, uint64_t *to, size_t n, size_t own, size_t own_end);

static inline vic_addr_t record_of(const struct meeting *meeting, uint32_t peer)
{
    return meeting->base + peer * RECORD;
}

static inline vic_addr_t row_of(const struct meeting *meeting, unsigned row)
{
    return meeting->base + 2 * RECORD * meeting->attr.cards + row * ROW;
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
