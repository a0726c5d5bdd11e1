/* member.h: the side of a host in its conversation with vicrun (launcher/hosts.h), and its state while the job runs. */
#ifndef VICHOST_MEMBER_H
#define VICHOST_MEMBER_H

#include "agent.h"
#include "launcher.h"

enum { HOST_DESCRIPTORS = 64 }; /* beside those of the cards */

struct member {
    int from, to;        /* vicrun */
    uint64_t start_ns;   /* job_clock_ns; vicrun gives up a job that does not begin in HOSTS_SLOW_MS */
    int output;          /* reads what is written to descriptor 1 */
    pthread_mutex_t lock; /* of `to`, and: */
    pthread_cond_t some;  /* of `unwritten` is written */
    size_t unwritten;     /* bytes of output that were sent, and of which vicrun has not said yet that they are written */
    bool last;            /* the job is over: do not wait for vicrun to write them */
    pthread_t pump;
    struct message_in said;
    bool code_said, ended_said;
    uint64_t ended_ns;
    struct agent agent;
    struct clock_sample begin, end; /* --trace */
    enum { NOT_ASKED, ASKED, KNOWN } clock; /* at the end */
};

/* member_open keeps the descriptors of vicrun, and makes 0 and 1 those of the programs. member_close returns when all that was
 * written has been sent. */
bool member_open(struct member *member);
void member_close(struct member *member);

/* Sends the rest of the output whether or not somebody reads it. */
void member_last_output(struct member *member);

bool member_say(struct member *member, uint32_t kind, const void *what, size_t bytes);

/* Waits for the next message before the programs run, and returns it; message_next drops it. NULL: vicrun has hung up or is
 * silent for longer than a job takes to begin, or it is of another kind. */
const struct host_head *member_wait(struct member *member, uint32_t kind);

/* For launch.hear and launch.due. */
void member_hear(struct launch *launch);
int member_due(struct launch *launch);

/* For launch.hand_over, after the agent has stopped: sends vicrun the last looks at the cards, and the traces. */
void member_results(struct launch *launch);

#endif
