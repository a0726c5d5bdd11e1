/* options.h: what the user asked vicrun for. */
#ifndef VICRUN_OPTIONS_H
#define VICRUN_OPTIONS_H

#include "job.h"

struct options {
    struct job_config job;
    const char *trace; /* a file to write, or NULL */
    bool prefix;
    char **program; /* as argv */
};

/* Read the command line. -1: go on; else the exit code: help was printed, or what is wrong was said. */
int options_read(int argc, char **argv, struct options *options);

/* faults.c: one --fault. NULL, or what is wrong: static until the next call. */
const char *fault_read(const char *text, struct job_config *job);

/* cardfile.c: the parameters of a card as key=value lines. NULL, or what is wrong, likewise. */
const char *card_file_read(const char *path, struct job_config *job);

/* One such line. */
const char *card_line_read(const char *text, struct job_config *job);

/* numbers.c. False: not such a number, or outside least .. most. */
bool read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value);
bool read_real(const char *text, double least, double most, double *value);
bool read_time_ns(const char *text, uint64_t *ns); /* "5ms"; ns, us, ms, s */

/* "; did you mean 'x'?" for the nearest of some names, or "" if none is near. Static until the next call. */
const char *did_you_mean(const char *text, const char *const *names, size_t count);

#endif
