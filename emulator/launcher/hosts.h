/* hosts.h: a job over several hosts, as the launcher knows it.
 *
 * vicrun starts vichost on each host by a command such as ssh, and talks with it over that command's standard input and
 * output, in messages:
 *
 *     <- here        the command has started vichost; libfabric begins after that, which takes 0.2 s of a core
 *     hello ->       who it is, and the key of the job; then: the folder, and the command line of vicrun
 *     <- address     where its agent can be found
 *     peers ->       the addresses of all
 *     <- ready       it is connected with all others
 *     start ->       run the programs
 *     <- output      of the programs, what they write to standard output
 *     <- code        an exit code other than 0: the first that it saw
 *     <- ended       all of its programs have
 *     <- goes on     but somebody has joined there since
 *     written ->     so many bytes of it are written, or soon: more than some do not wait for a reader who stalls
 *     signal ->      pass this on
 *     end ->         all programs of the job have ended
 *     look ->        how are its cards?
 *     <- looks       so they are (look.h), also without being asked when all is over
 *     <- clock       --trace: how far its clock is from the first host's
 *     <- trace       part of the trace of a card
 *
 * What is written to standard error takes the command's own. If vicrun hangs up, vichost ends what it has started.
 */
#ifndef VICRUN_HOSTS_H
#define VICRUN_HOSTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { HOSTS_KEY = 32, HOSTS_MOST = 1024, HOST_NAME = 256,
       HOSTS_SETUP_MS = 8000 /* until a host is there */, HOSTS_SLOW_MS = 18000 /* until all are ready if they are there */ };

struct host {
    char name[HOST_NAME];
    uint32_t first, cards;
};

struct hosts {
    struct host *host;
    uint32_t count, cards;
};

/* hosts_list.c. a:4,b:4; NULL, or what is wrong: static until the next call. hosts_file: lines `a 4`, likewise. */
const char *hosts_read(const char *text, struct hosts *hosts);
const char *hosts_read_file(const char *path, struct hosts *hosts);
const char *hosts_name(const struct hosts *hosts, uint32_t card); /* of the host that has it */

/* Read a file line by line: `read` returns NULL, or what is wrong with a line. The result is the same, with path and line.
 * `missing` is what to say, with the path and an error, if there is no such file, `too_long` of a line of `most` characters or
 * more, which are 1023 or fewer. */
const char *lines_read(const char *path, const char *missing, size_t most, const char *too_long,
                       const char *(*read)(char *line, void *to), void *to);

enum host_kind { HOST_HELLO = 0x68737401, HOST_ADDRESS, HOST_PEERS, HOST_READY, HOST_START, HOST_OUTPUT, HOST_CODE,
                 HOST_ENDED, HOST_SIGNAL, HOST_END, HOST_CLOCK, HOST_TRACE, HOST_GOES_ON, HOST_WRITTEN,
                 HOST_LOOK, HOST_LOOKS, HOST_HERE };

struct host_head {
    uint32_t kind, bytes; /* of what follows */
};

/* The begin stays as it is in all versions. */
struct host_hello {
    char version[20];
    uint32_t layout; /* JOB_LAYOUT */
    uint32_t host;
    unsigned char key[HOSTS_KEY];
};

struct host_ended {
    uint32_t code, lost; /* lost: it has lost another host */
};

/* The clock of the first host reads offset_ns more than that of this one, which reads at_ns then. */
struct clock_sample {
    uint64_t at_ns;
    int64_t offset_ns;
    uint64_t error_ns; /* at most; UINT64_MAX: not known */
};

struct host_clock {
    uint64_t start_ns; /* of the job, by the clock of this host */
    struct clock_sample begin, end;
};

/* HOST_LOOK. */
struct host_look {
    uint32_t patiently; /* flag, see look_cards */
};

/* Then struct card_look of each of its cards. */
struct host_looks {
    uint64_t now_ns; /* the time of the job there */
};

/* Then records, trace.h. */
struct host_trace {
    uint32_t card, stride;
};

struct host_address {
    uint32_t bytes;
    unsigned char text[60]; /* as libfabric has it */
};

/* HOST_OUTPUT that a host sends before it waits for HOST_WRITTEN, and that vicrun has before it says so. */
enum { HOST_OUTPUT_MOST = 64 << 10, HOST_OUTPUT_TOLD = 16 << 10 };

enum { HOST_MESSAGE_MOST = 64 << 20 };

/* host_messages.c. Send one, and wait for room; false: nobody is there. Read what is there (one read): 1 it may go on, 0 at
 * its end. A message that is complete is in `text`, its head first; message_next drops it. */
bool message_send(int fd, uint32_t kind, const void *what, size_t bytes);

/* What vicrun says to a host. Nobody waits for a host that does not read: what has no room in the pipe
 * waits in memory. line_say returns false if nobody is there. As long as line_waits returns true, line_go_on is to be called
 * when the pipe has room; false: the line is to be closed, nobody is there or there was no memory. */
struct line_to_host {
    int fd; /* -1: closed */
    char *text;
    size_t at, end, room; /* text[at] to text[end] waits */
    bool broken;          /* no memory: the rest of a message is missing */
};

void line_open(struct line_to_host *line, int fd);
bool line_say(struct line_to_host *line, uint32_t kind, const void *what, size_t bytes);
bool line_waits(struct line_to_host *line);
bool line_go_on(struct line_to_host *line);
void line_close(struct line_to_host *line);

struct message_in {
    char *text;
    size_t used, room;
};

int message_read(int fd, struct message_in *in);
const struct host_head *message_there(const struct message_in *in); /* NULL: none yet */
void message_next(struct message_in *in);

struct options;

typedef bool host_say(void *team, uint32_t host, uint32_t kind, const void *what, size_t bytes); /* to one host */

/* hosts_trace.c. The traces of all hosts, which come when all programs have ended. _hear: how many records of the message
 * were taken; a host has no more than its cards' traces have room for. _write: on one clock; the exit code. */
struct far_traces;
struct far_traces *traces_make(const struct options *options); /* NULL: no memory */
uint64_t traces_hear(struct far_traces *traces, uint32_t host, uint32_t kind, const void *what, size_t bytes);
int traces_write(struct far_traces *traces, int code);

/* hosts_looks.c. The cards of all hosts are looked at again and again: standstills, --stats-fd. _hear:
 * HOST_LOOKS. _due: ask if it is time; when it is again, job_clock_ns, 0: never. _signal: a signal is passed on to all
 * hosts, after a report if it asks for one. _give_up: a host has not answered in 10 s after a signal that ends programs; it
 * says so once. _finish: what is shown when all is over. */
struct far_looks;
struct far_looks *looks_make(const struct options *options, host_say *say, void *team); /* NULL: no memory */
void looks_start(struct far_looks *looks);
void looks_hear(struct far_looks *looks, uint32_t host, const void *what, size_t bytes);
uint64_t looks_due(struct far_looks *looks);
void looks_signal(struct far_looks *looks, uint32_t number);
bool looks_give_up(struct far_looks *looks, uint32_t host);
void looks_stop(struct far_looks *looks); /* a host is lost, or all programs have ended */
void looks_finish(struct far_looks *looks, bool started);

/* hosts.c. Run a job over several hosts; the exit code. argv: as it was given. */
int hosts_run(const struct options *options, char **argv);

/* hosts_start.c. The path of vichost, beside vicrun; false, after saying so, if it is not there. */
bool host_program(char path[4096], const char *option);

/* Start vichost on a host by the command of --launch-with. Returns its process, and in `in` and `out` its standard input,
 * as an open line, and output; -1: errno says why, E2BIG that the command has more than 64 words. */
pid_t host_start(const char *launch_with, const char *vichost, const struct host *host, struct line_to_host *in,
                 int *out);

/* Kill that command with all that it has started, but for what has left its process group. */
void host_kill(pid_t pid);

/* The exit code of that command, which has ended or was killed. */
int host_code(pid_t pid);

/* Say hello to it, the host of this number. False: errno says why; not if it has gone. */
bool host_greet(struct line_to_host *in, const struct options *options, uint32_t host,
                const unsigned char key[HOSTS_KEY], char **argv);

#endif
