/* launcher.h: the parts of vicrun. */
#ifndef VICRUN_LAUNCHER_H
#define VICRUN_LAUNCHER_H

#include <stdio.h>
#include <sys/types.h>

#include "coordinator.h"
#include "options.h"

/* A stream of a card's output that is prefixed line by line. */
struct stream {
    int from; /* a pipe, -1: none or at its end */
    int to;   /* 1 or 2 */
    size_t used;
    char line[4096];
};

struct child {
    pid_t pid; /* 0: not started */
    int pidfd; /* -1: has ended and was waited for */
    int code;  /* exit code, 128 + n for signal n */
    struct stream out, err;
};

struct launch {
    const struct options *options;
    int memory; /* of the job */
    struct job *job;
    struct child *child;
    uint32_t running;
    int code;         /* the first that is not 0 */
    bool signalled;   /* a signal to end was passed on: deaths are no news */
    uint64_t kills;   /* done, as bits */
    struct coordinator *coordinator; /* timed mode, else NULL */
    int core;         /* timed mode: where all run, -1: anywhere */
};

/* memory.c. -1 if a job of this size fits into the machine; else says with how many bytes it does not, 2. */
int memory_check(const struct job_config *job);

/* children.c. Start all programs; -1, or the exit code after saying what is wrong and ending what was started. */
int children_start(struct launch *launch);

/* Was this process started by one of the programs, or is it one? */
bool children_started(pid_t process);

/* Send a signal to all programs that run. */
void children_signal(const struct launch *launch, int number);

/* End what the programs have left behind. */
void children_end_orphans(void);

/* Kill the program of a card. */
void launch_kill(void *launch, uint32_t card);

/* loop.c. Watch until all programs have ended. */
void loop(struct launch *launch, int signals);

/* output.c. Read what is there and write whole lines; at the end also what is no line. */
void stream_copy(struct stream *stream, uint32_t card, uint32_t cards);
void stream_finish(struct stream *stream, uint32_t card, uint32_t cards);

/* timed.c: does nothing in functional mode. False: it was said why not. timed_pin and timed_preload are for a child. */
bool timed_make(struct launch *launch);
bool timed_start(struct launch *launch);
void timed_pin(const struct launch *launch);
void timed_preload(const struct launch *launch);
void timed_finish(struct launch *launch);

/* stats.c and perfetto.c: what is written when all is over. perfetto_write: 0, or an errno. */
void stats_print(const struct job *job);
int perfetto_write(const struct job *job, const char *path);

#endif
