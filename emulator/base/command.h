/* command.h: the command lines of vicrun, vicload and vicbridge: a table of options, each of which fills a member of a
 * struct or has a function of its own.
 *
 * An option is followed by its value, or has it behind '=': --window 3, --window=3; -n 3, -n3. --version, --help and -h
 * are known everywhere. What is wrong is said in one line on stderr: PROGRAM: --option: 'value' is not ...
 */
#ifndef BASE_COMMAND_H
#define BASE_COMMAND_H

#include "numbers.h"

enum option_kind {
    OPTION_FLAG,    /* bool = true; no value */
    OPTION_NO_FLAG, /* bool = false; no value */
    OPTION_FLAG32,  /* uint32_t = 1; no value */
    OPTION_TEXT,    /* const char *, of at most `most` bytes unless that is 0 */
    OPTION_COUNT,   /* uint64_t from least to most */
    OPTION_COUNT32, /* uint32_t likewise */
    OPTION_BYTES,   /* uint64_t likewise, with a unit or without: 64KiB */
    OPTION_TIME,    /* uint64_t in ns, likewise: 5ms; a number alone is seconds */
    OPTION_READ,    /* a value for `read` */
    OPTION_EITHER   /* a value behind '=' for `read`, or NULL */
};

/* -1: go on; otherwise the exit code, after what is wrong was printed. */
typedef int option_read(const char *name, const char *value, void *options);

struct command_option {
    const char *name; /* with its dashes */
    enum option_kind kind;
    size_t at; /* of the member */
    uint64_t least, most;
    option_read *read;
};

struct command {
    const char *program, *version, *help;
    const struct command_option *option;
    size_t options;
};

/* Read the option at argv[*at], which begins with a dash or is none, and go behind it and its value. -1 to go on, else
 * the exit code. *used, unless that is NULL: which it was. */
int command_read(const struct command *command, char **argv, int *at, void *options, const struct command_option **used);

/* Say what is wrong with an option, or with its value unless that is NULL. 2, the exit code. */
int command_refuse(const struct command *command, const char *name, const char *value, const char *what);

/* A time as OPTION_TIME has it. */
bool read_time(const char *text, uint64_t *ns);

#endif
