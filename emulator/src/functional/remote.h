/* remote.h: packets for cards of other hosts.
 *
 * A program writes them to the ring of its card, in records; the agent of its host (hosts/agent.h) takes them from there
 * and carries them over. A word for a FIFO needs room there first: what this host knows of it, and what its programs have
 * taken of it, are fifo_head and fifo_tail of that card in the memory of this host.
 */
#ifndef VIC_REMOTE_H
#define VIC_REMOTE_H

#include "functional.h"

/* A record, in the ring and on its way: one word, kind 8 | card 24 | n 32, then what belongs to it. The card is the one
 * that sends, unless something else is said. */
enum record_kind {
    RECORD_PACKETS = 1, /* n times header and payload */
    RECORD_PUT,         /* a header for the first of n words, then these */
    RECORD_OPENS,       /* how often the card was opened or left, times 2; odd: it is about to be closed */
    RECORD_ARRIVE,      /* the card comes to the barrier of generation n; nothing more */
    RECORD_LEAVE,       /* and goes, unless all have come, for the n-th time; nothing more */
    RECORD_SENT,        /* --trace: what follows of the card was sent by its thread n, at this time of the job there */
    /* only between agents */
    RECORD_REPLIES, /* of queries: as packets, but nobody has taken room for them */
    RECORD_LEFT,    /* the answer to that, the same n; nothing more */
    RECORD_CROSSED, /* all have come: the next generation */
    RECORD_END,     /* how the program of the card ended, enum card_end */
    RECORD_POISON,  /* the card died: the job is over; nothing more */
    RECORD_ROOM,    /* of n words in the FIFO of the card, which were taken; nothing more */
    RECORD_BYE,     /* the job is over: hanging up is no death; nothing more */
    RECORD_ASK_TIME, /* at this time of who asks */
    RECORD_TIME,     /* the answer: that time, then when it came and when it went by the other clock */
    RECORD_KINDS
};

enum { RECORD_PUT_MOST = 2048 }; /* words */

static inline uint64_t record_word(unsigned kind, uint32_t card, uint32_t n)
{
    return (uint64_t)kind << 56 | (uint64_t)card << 32 | n;
}

static inline unsigned record_kind(uint64_t word)
{
    return (unsigned)(word >> 56);
}

static inline uint32_t record_card(uint64_t word)
{
    return (uint32_t)(word >> 32) & 0xffffff;
}

/* How many words follow the first. */
static inline size_t record_words(uint64_t word)
{
    uint32_t n = (uint32_t)word;
    switch (record_kind(word)) {
    case RECORD_PACKETS:
    case RECORD_REPLIES: return 2 * (size_t)n;
    case RECORD_PUT: return 1 + (size_t)n;
    case RECORD_OPENS:
    case RECORD_CROSSED:
    case RECORD_END:
    case RECORD_SENT:
    case RECORD_ASK_TIME: return 1;
    case RECORD_TIME: return 3;
    default: return 0;
    }
}

/* Send the first packets of these, which have been checked: how many, until one is for a card of this host, is not good
 * any more, or finds a FIFO full. */
size_t remote_send(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n);

void remote_put(struct vic *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n, unsigned counter);

/* How often the card was opened or left, times 2. */
void remote_opens(struct vic *card, uint64_t opens);

/* Come to the barrier of a generation. If all have come to it meanwhile, as a program was killed in it that this one
 * follows, this is that. */
void remote_arrive(struct vic *card, uint32_t generation);

/* Leave the barrier; the answer has come when this returns, or the job is over. */
void remote_leave(struct vic *card);

/* Some of what the card, or another of this host, has sent to other hosts, or what it leads to, is on its way. */
bool remote_coming(const struct vic *card);

#endif
