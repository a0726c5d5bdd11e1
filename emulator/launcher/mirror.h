/* mirror.h: the part of a card in timed mode, timed/shared.h, kept alike in the memory of its own host and in that of vicrun,
 * where the coordinator is.
 *
 * Card and coordinator take turns, so what one of them has changed is sent when it hands over, and copied there: words of
 * the head of struct timed_card that are not what the other end knows, words that are new in the FIFO, and the posts, from
 * a card, or the news, to one. A message HOST_TURN is a struct turn_head and a record for each card.
 */
#ifndef VICRUN_MIRROR_H
#define VICRUN_MIRROR_H

#include "timed/shared.h"

enum {
    MIRROR_WORDS = (int)((offsetof(struct timed_card, post) - offsetof(struct timed_card, next_ps)) / sizeof(uint64_t))
};

struct turn_head {
    uint32_t gone; /* there is no coordinator any more */
    uint32_t records;
};

/* What comes behind it, in this order: `changed` struct changed, words of the FIFO, words of posts or news. */
struct turn_record {
    uint32_t card;
    uint32_t go;    /* which turn this is, or was */
    uint32_t state; /* enum card_state */
    uint32_t end;   /* enum card_end, from the host of the card */
    uint32_t changed, fifo, ring;
    uint32_t kill; /* to the host: end its program; the other fields mean nothing */
};

struct changed {
    uint64_t at, word;
};

/* What the other end knows of a card. */
struct known {
    uint64_t word[MIRROR_WORDS];
    uint32_t go, state, end;
};

/* A message that is being written, or read. */
struct turns {
    char *text; /* owned by who writes */
    size_t used, room;
    bool failed; /* no memory */
};

enum mirror_way { FROM_CARD, TO_CARD, MOVES_ONLY }; /* MOVES_ONLY: to other hosts, when it was opened and closed */

void turns_begin(struct turns *turns);
void turns_end(struct turns *turns, bool gone);
bool turns_empty(const struct turns *turns);

/* Add a record, and note that the other end knows it now. MOVES_ONLY: nothing if nothing has changed. */
void mirror_write(struct turns *turns, const struct job *job, struct turn_record record, struct known *known,
                  enum mirror_way way);

/* Add a record without words: an end, or a program to be killed. */
void turns_add(struct turns *turns, struct turn_record record);

/* The next record, whose words of struct timed_card are copied into this job; all but state, go and end, which are the
 * caller's. `known`: of all cards. NULL: there is none that is sound. */
const struct turn_record *mirror_read(struct turns *turns, const struct job *job, struct known *known,
                                      enum mirror_way way);

#endif
