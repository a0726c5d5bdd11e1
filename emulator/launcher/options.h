/* options.h: what the user asked vicrun for. */
#ifndef VICRUN_OPTIONS_H
#define VICRUN_OPTIONS_H

#include "hosts.h"
#include "job.h"
#include "numbers.h"

/* What becomes of the job when a program is killed, or ends with an exit code other than 0. */
enum if_killed { IF_KILLED_END, IF_KILLED_LEAVE, IF_KILLED_RESTART };

/* What runs on cards first .. first + cards - 1. */
struct program {
    uint32_t first, cards;
    char **argument; /* as argv */
};

struct options {
    struct job_config job;
    const char *trace; /* a file to write, or NULL */
    uint64_t trace_limit; /* its bytes at most, 0: as it comes */
    bool report;          /* --stats: print them at the end */
    int stats_fd;         /* where they are written while the job runs, -1: nowhere */
    bool prefix;
    bool mpi; /* PMI-1 and libfabric for programs of MPI */
    const char *serve, *join; /* a socket to make, or to find; or NULL */
    uint32_t card;            /* that is joined, JOIN_ANY: any */
    enum if_killed if_killed;
    uint32_t short_lives; /* in a row, after which a program is not started again; 0: it always is */
    struct program *program; /* in the order of their cards */
    uint32_t programs;
    struct hosts hosts;      /* none: this machine */
    const char *launch_with; /* the command that runs another on {host} */
    const char *interface;   /* whose address agents listen on, or NULL */
    uint64_t kill_after_ns;  /* programs that do not end so long after a signal are killed; 0: never */
    uint64_t host_timeout_ns; /* a host of which nothing is heard for so long is lost */
};

extern const char vicrun_usage[];

/* Read the command line. -1: go on; otherwise the exit code, after help or what is wrong was printed. */
int options_read(int argc, char **argv, struct options *options);

/* --stats-fd: make the descriptor one of our own, as the programs must not keep the other end waiting. -1, or 2 after saying
 * that it is not open. */
int options_take_stats_fd(struct options *options);
void options_free(struct options *options);

/* programs.c: the programs of a job, from PROGRAM on. `cards`: those of the first, as -n said;
 * options->job.cards becomes those of all. The arguments are cut where a ':' stands. -1, or an exit code after
 * saying what is wrong. */
int programs_read(int argc, char **argv, uint32_t cards, struct options *options);

/* True if no program runs there, so that one may join. */
static inline bool is_free_slot(const struct program *program)
{
    return program->argument[0][0] == '-' && program->argument[0][1] == 0;
}

/* A number of cards. -1, or 2 after saying what is wrong. */
int cards_read(const char *text, uint32_t *cards);

/* The program of a card. */
const struct program *program_of(const struct options *options, uint32_t card);

/* faults.c: one --fault. NULL, or what is wrong: static until the next call. */
const char *fault_read(const char *text, struct job_config *job);

/* cardfile.c: the parameters of a card as key=value lines. NULL, or what is wrong, likewise. */
const char *card_file_read(const char *path, struct job_config *job);

/* One such line. */
const char *card_line_read(const char *text, struct job_config *job);

#endif
