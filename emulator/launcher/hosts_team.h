/* hosts_team.h: the hosts of a job as vicrun sees them, in hosts.c and hosts_ends.c. */
#ifndef VICRUN_HOSTS_TEAM_H
#define VICRUN_HOSTS_TEAM_H

#include "hosts.h"
#include "launcher.h"

enum { LAST_MS = 10000 };

enum stage { STARTED, IS_HERE, HAS_ADDRESS, IS_READY, RUNS, HAS_ENDED, IS_GONE };

struct member {
    const struct host *host;
    pid_t pid;
    struct line_to_host in; /* of the command */
    int out; /* if that is closed: its pidfd */
    bool closed;
    enum stage stage;
    struct message_in said;
    uint32_t untold;      /* bytes of its output that it has not been told of, see HOST_WRITTEN */
    uint64_t deadline_ns; /* job_clock_ns, by which it is to be gone; 0: none yet */
};

struct team {
    const struct options *options;
    struct member *member;
    struct host_address *address; /* of each host */
    struct pollfd *watched; /* two of each host, and two */
    uint32_t count;
    char vichost[4096];
    unsigned char key[HOSTS_KEY];
    int signals, writers, code;
    int code_of_loss; /* of programs that ended because another host was lost: the code of that one counts first */
    bool started, ends, gives_up, slow /* all hosts are there, and have more time */, signalled /* by a signal that ends */;
    struct stream output; /* of all hosts */
    struct far_looks *looks;
    struct far_traces *traces; /* NULL: none are wanted */
    uint64_t deadline_ns; /* of all of them, likewise */
};

/* How many hosts have come to this stage. */
uint32_t hosts_from(const struct team *team, enum stage stage);

/* By then all are to be there, or gone. */
void hosts_after_ms(struct team *team, int ms);
uint64_t hosts_deadline_ns(struct team *team); /* the next one; 0: none */
void hosts_look_at_deadlines(struct team *team);

/* The hosts end what they have started when nobody speaks to them any more. */
void hosts_give_up(struct team *team, int code);

/* The command that started a host has closed its output: it has a second to end. Then it has gone, or is killed. */
void host_has_closed(struct team *team, struct member *member);
void host_has_gone(struct team *team, struct member *member);
void host_end(struct team *team, struct member *member);

#endif
