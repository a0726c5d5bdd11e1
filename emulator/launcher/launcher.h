/* launcher.h: the parts of vicrun. */
#ifndef VICRUN_LAUNCHER_H
#define VICRUN_LAUNCHER_H

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>

#include "coordinator.h"
#include "look.h"
#include "options.h"

/* A stream of a card's output that is prefixed line by line. */
struct stream {
    int from; /* a pipe, -1: none or at its end */
    int to;   /* 1 or 2 */
    int error; /* an errno: not all of it was written */
    size_t used;
    char line[4096];
};

struct child {
    pid_t pid; /* 0: not started */
    int pidfd; /* -1: has ended and was waited for */
    int code;  /* exit code, 128 + n for signal n */
    uint64_t started_ns, restart_ns; /* job_clock_ns; when to start it again, 0: not */
    uint32_t short_lives;            /* in a row */
    int joiner; /* the connection of the vicrun that brought the program, -1: the launcher started it itself */
    /* Who brought it was killed; pidfd is that of who brought it, then that of the program. */
    enum { NOT_LOST, JOINER_DIES, PROGRAM_DIES } lost;
    /* The process that has the card, if it is not the program itself but one that that has started, whoever its parent is */
    int owner_fd; /* its pidfd, -1: none */
    pid_t owner;
    uint64_t owner_seat;
    uint64_t doubted; /* a seat whose owner was not known at the last look: it was just taken */
    int owner_code; /* of the last one that ended without closing: its exit code, -1: not known, it may have been killed */
    uint64_t vacant_ns; /* until then it may be started again by what started it, job_clock_ns; 0: none has died */
    uint32_t vacant_opens; /* it has come back when the card was opened more often */
    bool bereft;        /* meanwhile: the program itself has ended */
    bool last; /* the vicrun that brought it does not want it to be started again */
    struct stream out, err;
};

struct launch;

enum { PENDING_MOST = 8 }; /* connections that have not asked yet */

struct launch {
    const struct options *options;
    int memory; /* of the job */
    struct job *job;
    struct child *child;
    uint32_t running; /* programs */
    uint32_t waiting; /* programs that are to be started again */
    uint32_t joiners;  /* programs that others have brought */
    bool joins;       /* vicrun --join: one program joins the job of another vicrun */
    uint32_t place;   /* which it has there; 0: of the job's own programs */
    int socket;       /* at which they ask, -1: none */
    ino_t socket_inode;
    int pending[PENDING_MOST];
    uint32_t connections; /* at the socket, ever */
    int code;         /* the first that is not 0 */
    bool signalled;   /* by one that ends programs: deaths are no news, and nothing is started again */
    bool killed;      /* what did not end by itself then */
    uint64_t kill_ns; /* then what still runs is killed, job_clock_ns; 0: no signal has asked for it */
    uint64_t kills;   /* done, as bits */
    struct coordinator *coordinator; /* in timed mode, otherwise NULL */
    int core;         /* timed mode: where all run, -1: anywhere */
    struct pmi *pmi;  /* --mpi, or NULL */
    int writers;      /* readable: one of them has room again; -1: none */
    int stats_fd;     /* -1: none */
    int owners;         /* epoll: readable when an owner of a card has ended; 0: there has been none */
    uint64_t owners_ns; /* when to look again who has opened a card, job_clock_ns */
    uint64_t stats_ns; /* when the next are due, job_clock_ns */
    uint64_t look_ns; /* when to look again whether all stand still, job_clock_ns */
    struct standstill still;
    /* vichost: where vicrun speaks, -1: nowhere; what is done then, and in each round (milliseconds until the next, or -1) */
    int boss;
    void (*hear)(struct launch *launch);
    int (*due)(struct launch *launch);
    bool held; /* other hosts keep the job, though no program runs here */
    void (*hand_over)(struct launch *launch); /* statistics and traces, instead of showing them; or NULL */
    void *member; /* hosts/member.h */
    const char *where; /* `host a: `, or NULL */
};

/* launch.c. Descriptors 0 .. 2 are open; what programs leave behind comes to this process, which may open descriptors for
 * so many cards and for others, -1, or 2 after saying for how many cards they suffice; the memory of a job and a place for each child, -1, or an exit code after saying why not; what is to be
 * said and written when all programs have ended. */
void launch_have_streams(void);
int launch_prepare(uint32_t cards, uint32_t others, const char *where);
int launch_make(struct launch *launch);
void launch_finish(struct launch *launch, int signals);

/* -1 if a job of this size fits into the machine; else says with how many bytes it does not, 2. `where`: as in
 * struct launch. */
int memory_check(const struct job_config *job, const char *where);

/* children.c. Start the programs of some cards; -1, or the exit code after saying what is wrong and ending what
 * was started. */
int children_start(struct launch *launch, uint32_t first, uint32_t cards);

/* Start, or start again, the program of a card. 0, or an errno. Why it cannot be run is written to `failed`. */
int child_start(struct launch *launch, uint32_t card, int failed);

/* Was this process started by one of the programs, or is it one? */
bool children_started(pid_t process);

/* Have the programs left processes behind that live? */
bool children_left(const struct launch *launch);

/* Send a signal to all programs that run. */
void children_signal(const struct launch *launch, int number);

/* Programs, what they have left behind, and their joiners have been told to end: kill those that have not after
 * --kill-after. kill_late does it when it is due; milliseconds until then, -1: never. */
void children_asked_to_end(struct launch *launch);
int kill_late(struct launch *launch);

/* End what the programs have left behind. */
void children_end_orphans(void);

/* exits.c. A program has ended: decide what becomes of the job. program_ended: child.code has the way. */
bool child_code(struct child *child, const siginfo_t *info); /* set child.code; was it a signal? */
void note_end(struct launch *launch, uint32_t card);
void program_ended(struct launch *launch, uint32_t card, bool by_signal);
void launch_kill(void *launch, uint32_t card); /* by any thread: the program of a card */
void owner_look(struct launch *launch, uint32_t card); /* who has the card now, and does that live? */
int owners_due(struct launch *launch); /* the same of all; milliseconds as restart_due */
int restart_due(struct launch *launch); /* start again what is due; milliseconds until the next, or -1 */
void stop_restarts(struct launch *launch);

/* The program of a card has ended well, and nobody else has the card; somebody joins on it, so that what was there
 * does not count any more: false if nothing was. */
void card_has_ended(struct launch *launch, uint32_t card);
bool card_runs_again(struct launch *launch, uint32_t card);

/* serve.c. Open the socket, if one is asked for: -1, or an exit code after saying why not. Over hosts each has its own. */
int serve_open(struct launch *launch);
void serve_close(struct launch *launch);
void joiner_come(struct launch *launch); /* a vicrun connects */
void pending_hear(struct launch *launch, int *pending);
void joiner_hear(struct launch *launch, uint32_t card);
void joiner_gone(struct launch *launch, uint32_t card); /* one of the two of a place that was lost */
void joiner_send(const struct launch *launch, uint32_t card, uint32_t kind, int number);
void joiner_hang_up(struct launch *launch, uint32_t card);
void joiners_hang_up(struct launch *launch); /* nobody waits for their programs, which they end */
void joiners_signal(const struct launch *launch, int number); /* those of other process groups */

/* join.c. Bring a program into a job that runs; the exit code. */
int join_job(const struct options *options);

/* loop.c. Signals become readable; -1 after saying why not. One that came is passed on to all programs. */
int take_signals(void);
void pass_signal(struct launch *launch, int signals);

/* standstill.c: functional mode. interrupt_here: say which signal came, and who waits for what. standstill_due: look whether
 * all stand still, and say so, once for each standstill; milliseconds until the next look, or -1. */
void interrupt_here(const struct launch *launch, int number);
int standstill_due(struct launch *launch);

/* loop.c. Watch until all programs have ended; have they, and do no empty slots wait for joiners? */
void loop(struct launch *launch, int signals);
bool programs_have_ended(const struct launch *launch);
bool kill_is_due(const struct launch *launch, uint32_t card); /* by the fault `kill`, which has not been done yet */

/* writer.c. Threads that write for vicrun from writers_open on, which gives what is to be watched (then: writers_heard)
 * or -1, if vicrun has to do it itself. writers_wait: until there is room, which programs have to wait for; _finish: until
 * all is written. After a signal that ends they give up if nothing moves. */
int writers_open(void);
void writer_put(struct stream *from, const char *text, size_t n); /* in one piece; goes to from->to */
bool writer_has_room(int fd);
void writers_heard(void);
void writers_wait(struct launch *launch, int signals);
void writers_finish(struct launch *launch, int signals);
bool writers_done(void); /* the steps of _finish: no more comes; all is written */
bool writers_step(int signals, bool gives_up); /* wait until something is; true: there is a signal */

/* Read some of what is there and write whole lines; at the end all, and also what is no line. */
void stream_copy(struct stream *stream, uint32_t card, uint32_t cards);
void stream_finish(struct stream *stream, uint32_t card, uint32_t cards);
bool streams_lost(const struct child *child, uint32_t card); /* after saying why */
bool output_lost(int error, const char *whose);

/* timed.c: does nothing in functional mode. False: it failed, and printed why. timed_pin and timed_preload are for a
 * child. */
bool timed_make(struct launch *launch);
bool timed_start(struct launch *launch);
void timed_pin(const struct launch *launch);
bool timed_preload(const struct launch *launch);
void timed_finish(struct launch *launch);

/* look.c: --stats-fd. Write what the cards have done so far; how many milliseconds until it is due again,
 * after doing it if it is; -1: never. */
void stats_show(struct launch *launch);
int stats_due(struct launch *launch);

/* Where the traces of all cards are, and what the file says of their clock, in JSON. */
struct trace_source {
    const struct trace_head *(*of)(const void *from, uint32_t card);
    const void *from;
    uint32_t cards, capacity; /* records of each, at most */
    const char *clock;
};

/* look.c and perfetto.c: what is written when all is over. perfetto_write: 0, or an errno. */
int perfetto_write_from(const struct trace_source *source, const char *path);
void stats_print(const struct launch *launch);
int perfetto_write(const struct job *job, const char *path);

#endif
