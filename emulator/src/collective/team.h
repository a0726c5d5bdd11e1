/* team.h: an open team, as its parts see it. Only vic.h is under it, layer.h for its handles, debug.h and
 * cancel.h.
 *
 * Everything is made of steps. In a step every card sends to every other card of the team what it has for it, words
 * into a buffer there or a packet without any, and waits for the packets of all others. There are two buffers and
 * two counters, used in turn: who is in step k + 2 has heard of everybody's step k + 1, so that all have taken what
 * step k brought. docs/emulator-collectives.md has the rest.
 */
#ifndef COLLECTIVE_TEAM_H
#define COLLECTIVE_TEAM_H

#include <stdatomic.h>
#include <stdbool.h>

#include "deadline.h"
#include "debug.h"
#include "layer.h"
#include "meeting.h"
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

/* What the team knows of one of its cards. */
struct member {
    uint32_t card, number; /* of its openings of teams */
    uint64_t opens;        /* vic_peer_opens while it has the team open */
    vic_addr_t base;       /* of its buffers, */
    uint32_t words;        /* of each of them */
    unsigned counter[2], row;
    bool row_reused; /* in the second phase: its row has had something of a later team */
};

struct vic_team {
    struct gate gate;
    vic_t *card;
    struct meeting *meeting;
    _Atomic uint32_t busy;        /* a thread is in a call */
    uint32_t me, n;
    struct member *member;
    uint64_t *bounce;            /* words that were fetched and have to be looked at */
    uint64_t *header, *payload;  /* packets without words */
    uint32_t words, log_words;   /* of a buffer; log_words: of our own, words may be fewer */
    uint64_t list, id;           /* hash of the list; of this opening of it on all cards */
    uint32_t phase;              /* of the opening: see phases.c; 3: open */

    bool pending;      /* a call timed out and has not been finished: */
    struct call call;  /* this one, */
    size_t at;         /* words of it done before this chunk, */
    unsigned half;     /* of the chunk, if it takes two steps, */
    bool sent;         /* the packets of the step have left */
    uint32_t step;     /* steps that are finished, modulo 2^32 */
    uint64_t look_ns, interval_ns; /* when to look after the others, after how much time again */
    uint32_t doubts;   /* looks in a row that found all parts sent but perhaps one */
    int broken;        /* VIC_OK, or what all calls say */
};

/* ---- step.c */

/* Finish the call that is in team->call: VIC_OK, or the status it ends with. */
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

/* Words from one card to another, the first of them, and where they go in the buffer there. */
size_t step_words(const struct vic_team *team, const struct step *step, uint32_t from, uint32_t to);
const uint64_t *step_source(const struct vic_team *team, const struct step *step, uint32_t to);
size_t step_place(const struct vic_team *team, const struct step *step, uint32_t from, uint32_t to);

/* A chunk is cut into one share for each card: where that of a card begins. */
size_t share_at(const struct vic_team *team, const struct step *step, uint32_t index);

/* ---- receive.c: what a step brought goes where it belongs */
int step_receive(struct vic_team *team, const struct step *step);

/* ---- look.c: are the others still there, and in the same call? Else the status that this ends with. */
int team_look(struct vic_team *team);

/* What this card says to those who look: it has sent so many steps; whether it has closed the team. */
void team_publish(struct vic_team *team, uint32_t steps, bool closed);

/* ---- phases.c: an opening as the others see it, and they as we do */
enum team_saying { TEAM_OPENS, TEAM_REFUSES /* lists differ */, TEAM_GIVES_UP };
int team_say(struct vic_team *team, enum team_saying saying);

/* The id of the team is in this card's row in the second phase, 0 before; ~id of an opening given up there, 1 before. */
int team_say_row(struct vic_team *team, uint64_t id);

/* Look once; *all: that has brought us a phase further. `answer`: RECORD words for each card of the team. */
int team_phase(struct vic_team *team, uint64_t *answer, bool *all);

/* The member's opening has led to an open team: no later opening of this card is meant by it. */
void team_mark_open(struct meeting *meeting, const struct member *member);

/* ---- list.c: the cards of a list */
int list_check(const struct vic_attr *attr, const uint32_t *cards, uint32_t n, uint32_t *me);
uint64_t list_hash(const uint32_t *cards, uint32_t n);

/* ---- parts.c: memory, SRAM, counters of a team */
extern struct layer team_layer;

/* VIC_ENOSPC, VIC_ESYS. */
int team_make(vic_t *card, struct meeting *meeting, const uint32_t *cards, uint32_t n, struct vic_team **result);

/* Give all back; SRAM and counters only if `clean`: nobody can write there any more. */
void team_free(struct vic_team *team, bool clean);

#endif
