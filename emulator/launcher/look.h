/* look.h: how a card is at one moment: what its threads wait for, what has come and what it has done. vicrun takes it from
 * the memory of the job; in a job over several hosts each vichost takes it of its cards and says it (HOST_LOOKS).
 */
#ifndef VICRUN_LOOK_H
#define VICRUN_LOOK_H

#include <stdio.h>

#include "job.h"

/* Why a card does not take part. */
enum card_away { AWAY_NOT, AWAY_ENDED, AWAY_RESTARTS, AWAY_NONE, AWAY_UNOPENED, AWAY_CLOSED, AWAYS };

struct look_wait {
    uint32_t kind, dest; /* waits.h */
    uint64_t counters, words, since_ns;
};

/* Times are those of the job. */
struct card_look {
    uint32_t away, end, opens;
    uint32_t free;       /* flag: a program may join on it */
    uint32_t in_barrier; /* flag */
    uint32_t sends;      /* flag: some of what it has sent to other hosts is on its way */
    uint64_t slept_ns, fifo_head, fifo_tail, barrier;
    uint64_t fifo; /* words in it */
    uint64_t stat[STATS];
    int64_t counter[COUNTERS];
    struct look_wait wait[WAITS];
};

/* What a call waits for, with a place for the card `dest`; NULL: what counters and barriers say is not in one text. */
static inline const char *wait_text(uint32_t kind)
{
    static const char *const texts[WAIT_KINDS] = {
        [WAIT_ROOM] = "room in the FIFO of card %u (a send)",
        [WAIT_HELD] = "packets that --reorder holds back",
        [WAIT_LEAVE] = "room for its packets (a send)",
        [WAIT_READ] = "a read of SRAM (vic_read)",
        [WAIT_THREAD] = "another thread (a join, a lock, a condition)",
        [WAIT_TRANSFER] = "a transfer (vic_dma_wait)",
        [WAIT_MESSAGE] = "a message (vic_message_recv)",
        [WAIT_OPEN] = "card %u to open its messages, with the same config (vic_message_send)",
        [WAIT_RING] = "card %u to receive, its ring is full (vic_message_send, vic_client_topic)",
        [WAIT_FLUSH] = "card %u to receive what was sent (vic_message_flush)",
        [WAIT_RECV] = "something to receive (vic_client_recv)",
        [WAIT_PUBLISH] = "card %u, the bridge, to confirm or to take messages: the window is full, or the bridge is not there "
                         "(vic_client_publish)",
        [WAIT_CONFIRM] = "bridges to confirm what was published (vic_client_flush)",
        [WAIT_ACK] = "card %u to take an acknowledgement (vic_client_ack)",
        [WAIT_TEAM] = "the others of its team (a collective)",
    };
    return kind < WAIT_KINDS ? texts[kind] : NULL;
}

struct launch;
struct options;

/* look.c. Looks at some cards. look_again: at those that wait for nothing, for 40 ms at most, as a wait may come in slices.
 * patiently: with that. */
void look_cards(const struct launch *launch, uint32_t first, uint32_t cards, bool patiently, struct card_look *look);
void look_again(const struct launch *launch, uint32_t first, uint32_t cards, struct card_look *look);

/* The same of all of them, in memory of their own; NULL: there is none. */
struct card_look *looks_new(const struct launch *launch, uint32_t first, uint32_t cards, bool patiently);

/* The longest wait, or NULL. */
const struct look_wait *look_longest(const struct card_look *look);

/* standstill.c, of looks at all cards. report_interrupt: say which signal came, and who waits for what, or that nobody does.
 * standstill_judge: do all stand still? Then `before` says for how long, once for each standstill. Milliseconds until the
 * next look. */
struct standstill {
    uint64_t quiet_ns, told_ns, print;
};

enum { STANDSTILL_TEXT = 96 };
int standstill_judge(struct standstill *still, const struct card_look *look, uint32_t cards, uint64_t now_ns,
                     char before[STANDSTILL_TEXT]);
void report_waits(const struct card_look *look, uint32_t cards, uint64_t now_ns, const char *before);
void report_interrupt(const struct card_look *look, uint32_t cards, uint64_t now_ns, int signal);

/* A line of JSON for a card. False: there was no room for it, or nobody reads any more; then the descriptor is
 * closed, and -1. */
bool stats_write(int *fd, const struct card_look *look, uint32_t card, uint32_t cards, uint64_t now_ns);

/* A table of some cards. */
void stats_table(const struct options *options, const struct card_look *look, uint32_t first, uint32_t cards);

#endif
