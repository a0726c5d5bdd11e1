/* team.h: an open team, for the files of this folder. They use vic.h, layer.h for handles, debug.h and cancel.h.
 *
 * A call is a sequence of steps. In a step every card sends to every other card of the team either words, which go into
 * a buffer there, or one packet without words; then it waits for the packets of all others. Steps use two buffers and
 * two counters alternately. A card that begins step k + 2 has received the packets of step k + 1 from all cards, so all
 * of them have read what step k brought. docs/emulator-collectives.md has the rest.
 */
#ifndef COLLECTIVE_TEAM_H
#define COLLECTIVE_TEAM_H

#include <stdatomic.h>
#include <stdbool.h>

#include "deadline.h"
#include "debug.h"
#include "layer.h"
#include "engine/random.h"
#include "waits.h"
#include "vic_collective.h"

struct vic_team;

/* ---- directory.c: what a card opens, and how far it is, for the other cards of its teams: words of SRAM at the same address
 * on each card. The card itself writes them; the others read them by queries, which change nothing if a program has
 * something else there. */

enum {
    RECORD = 4, /* words for each card: the opening of a team with it */
    ROWS = 64,  /* teams that a card has open at most */
    ROW = 2,    /* words: id of the team; steps sent << 32 | hash of the call << 1 | closed */
    LOG_LEAST = 4
};

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

/* The first word of the record of an opening. `opens` of an open card is odd; a card that refuses the opening clears that
 * bit, so that who has read the record before sees by this word that it has left. */
static inline uint64_t record_begin(uint32_t number, uint64_t opens)
{
    return (uint64_t)number << 32 | (uint32_t)opens;
}

void record_make(const struct record *record, uint32_t from, uint32_t to, uint64_t word[RECORD]);

/* False if these are no such words. */
bool record_read(const uint64_t word[RECORD], uint32_t from, uint32_t to, struct record *record);

/* ---- teams */

enum call_kind { CALL_BARRIER, CALL_BROADCAST, CALL_REDUCE, CALL_ALLREDUCE, CALL_GATHER, CALL_ALLTOALL };

struct call {
    enum call_kind kind;
    uint32_t root;
    enum vic_reduction op;
    const uint64_t *in;
    uint64_t *out;
    size_t n;
};

/* One of the cards of a team. */
struct member {
    uint32_t card, number; /* number: its openings of teams up to this one */
    uint64_t opens;        /* vic_peer_opens while it has the team open */
    vic_addr_t base;       /* of its two buffers */
    uint32_t words;        /* of each buffer */
    unsigned counter[2], row;
    bool row_reused; /* seen in the second phase: a later team uses its row */
};

struct vic_team {
    struct gate gate;
    vic_t *card;
    struct directory *directory;
    _Atomic uint32_t busy;        /* a thread is in a call */
    uint32_t me, n;
    struct member *member;
    uint64_t *bounce;            /* words of a buffer, to be combined or distributed */
    uint64_t *header, *payload;  /* of packets without words */
    uint32_t words, log_words;   /* words used of each buffer: the least of all cards; log2 of those of this card's */
    uint64_t list, id;           /* hash of the list; hash of the openings of all its cards */
    uint32_t phase;              /* of the opening: see phases.c; 3: open */

    bool pending;      /* a call timed out and is not finished */
    struct call call;  /* the present or pending one */
    size_t at;         /* words of the call that earlier chunks have done */
    unsigned half;     /* of the chunk, if it takes two steps */
    bool sent;         /* the packets of the step have left */
    uint32_t step;     /* finished steps, modulo 2^32 */
    uint64_t look_ns, interval_ns; /* time of the next team_look; from that to the one after it */
    uint32_t doubts;   /* looks in a row that could not tell whether one card has sent its packets */
    int broken;        /* VIC_OK, or the status of all further calls */
};

/* ---- step.c */

/* Make the steps of team->call. VIC_OK: it is finished; else the status of the call. */
int team_run(struct vic_team *team, uint64_t deadline_ns);

/* ---- traffic.c: the traffic of a step */

struct step {
    enum { STEP_TOKENS, STEP_TO_ALL, STEP_TO_ROOT, STEP_FROM_ROOT, STEP_SCATTER, STEP_SHARE_TO_ALL,
           STEP_SPLIT, STEP_SHARE_TO_ROOT, STEP_ROWS } kind;
    size_t words; /* of the chunk */
    bool last_half;
};

/* The step that is next. */
struct step step_of(const struct vic_team *team);

/* Words that card `from` of the team sends to card `to`; those of this card; their offset in the buffer of card `to`. */
size_t step_words(const struct vic_team *team, const struct step *step, uint32_t from, uint32_t to);
const uint64_t *step_source(const struct vic_team *team, const struct step *step, uint32_t to);
size_t step_offset(const struct vic_team *team, const struct step *step, uint32_t from, uint32_t to);

/* A chunk is divided into one share for each card: the first word of the share of card `index`. */
size_t share_at(const struct vic_team *team, const struct step *step, uint32_t index);

/* ---- receive.c: move the words that a step brought from the buffer to the arrays of the call */
int step_receive(struct vic_team *team, const struct step *step);

/* ---- look.c: VIC_OK if the other cards are alive and in the same call; else the status of the call. */
int team_look(struct vic_team *team);

/* Write this card's row, which the team_look of other cards reads: the steps whose packets it has sent; whether it has
 * closed the team. */
void team_publish(struct vic_team *team, uint32_t steps, bool closed);

/* ---- phases.c: what this card writes of its opening for the others, and what it reads of theirs */
enum team_intent { TEAM_OPENS, TEAM_REFUSES /* lists differ */, TEAM_GIVES_UP };
int team_write_records(struct vic_team *team, enum team_intent intent);

/* Write this card's row: 0 in the first phase, the id of the team in the second; 1 or ~id if it gives the opening up in
 * the first or second phase. */
int team_write_row(struct vic_team *team, uint64_t id);

/* Read once what the others have written; *advanced: the opening has reached its next phase. `answer`: room for RECORD
 * words of each card of the team. */
int team_phase(struct vic_team *team, uint64_t *answer, bool *advanced);

/* The member's opening has led to an open team: it is no part of later openings. */
void team_mark_open(struct directory *directory, const struct member *member);

int list_check(const struct vic_attr *attr, const uint32_t *cards, uint32_t n, uint32_t *me);
uint64_t list_hash(const uint32_t *cards, uint32_t n);

/* ---- parts.c: memory, SRAM, counters of a team */
extern struct layer team_layer;

/* VIC_ENOSPC, VIC_ESYS. */
int team_make(vic_t *card, struct directory *directory, const uint32_t *cards, uint32_t n, struct vic_team **result);

/* Free everything; SRAM and counters only if `clean`: no packet for them can be on its way. */
void team_free(struct vic_team *team, bool clean);

#endif
