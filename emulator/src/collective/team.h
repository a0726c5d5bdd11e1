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
#include "directory.h"
#include "waits.h"
#include "vic_collective.h"

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

/* ---- list.c: the cards of a list */
int list_check(const struct vic_attr *attr, const uint32_t *cards, uint32_t n, uint32_t *me);
uint64_t list_hash(const uint32_t *cards, uint32_t n);

/* ---- parts.c: memory, SRAM, counters of a team */
extern struct layer team_layer;

/* VIC_ENOSPC, VIC_ESYS. */
int team_make(vic_t *card, struct directory *directory, const uint32_t *cards, uint32_t n, struct vic_team **result);

/* Free everything; SRAM and counters only if `clean`: no packet for them can be on its way. */
void team_free(struct vic_team *team, bool clean);

#endif
