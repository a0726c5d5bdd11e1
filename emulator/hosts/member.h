/* member.h: a host's end of the conversation with vicrun, and what it keeps while the job runs. */
#ifndef VICHOST_MEMBER_H
#define VICHOST_MEMBER_H

#include "agent.h"
#include "launcher.h"
#include "mirror.h"

struct member {
    int from, to;        /* vicrun */
    int output;          /* what is written to descriptor 1 */
    pthread_mutex_t lock; /* of `to`, and: */
    pthread_cond_t some;  /* of `unwritten` is written */
    size_t unwritten;     /* bytes of output that vicrun has not written yet, as far as we know */
    bool last;            /* what comes now is the last: no matter how much of it waits */
    pthread_t pump;
    struct message_in said;
    bool code_said, ended_said;
    uint64_t ended_ns;
    struct agent agent;
    struct clock_sample begin, end; /* --trace */
    enum { NOT_ASKED, ASKED, KNOWN } clock; /* at the end */
    /* timed mode, turns.c */
    pthread_t follower;
    bool follows;
    _Atomic bool stop;
    pthread_mutex_t turns_lock; /* of: */
    struct known *known;        /* per card: what vicrun knows */
    struct turns turns;
    uint32_t *turn;             /* cards that are to go on */
};

/* From now on descriptors 0 and 1 are the programs'. member_close: what was written has been passed on. */
bool member_open(struct member *member);
void member_close(struct member *member);

/* No more output than there is just now: all of it is sent, whoever reads. */
void member_last_output(struct member *member);

bool member_say(struct member *member, uint32_t kind, const void *what, size_t bytes);

/* The next message, which is dropped by message_next; NULL: vicrun has hung up, or says something else. */
const struct host_head *member_wait(struct member *member, uint32_t kind);

/* For launch.hear and launch.due. */
void member_hear(struct launch *launch);
int member_due(struct launch *launch);

/* For launch.hand_over: vicrun gets the last looks at the cards, and the traces. The agent has stopped. */
void member_results(struct launch *launch);

/* vichost.c: run the programs of this host; launch.boss, hear and due say what else is heard. The exit code. */
int host_run(struct member *member, struct launch *launch, int signals);

/* pmix.c: all of it, if a PMIx launcher has started this; the exit code. */
int pmix_run(int argc, char **argv, int signals);

/* turns.c: timed mode; they do nothing in functional mode. False: no memory, or no thread. */
bool turns_start(struct member *member);
void turns_stop(struct member *member);
void turns_hear(struct launch *launch, const struct host_head *head); /* HOST_TURN */

/* listen.c. The address to listen on: that of an interface, or what the name of this host stands for. False, after saying
 * why there is none. */
bool listen_address(const char *host, const char *interface, char text[64]);

#endif
