/* launcher_parts.h: parts of vicrun in one process with their test, which says what calls of the system do: the
 * linker gives them to launcher_parts.c (-Wl,--wrap). */
#ifndef LAUNCHER_PARTS_H
#define LAUNCHER_PARTS_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "../../model/check.h"
#include "launcher.h"

/* What fopen finds instead of the files of this machine: NULL, or a list that ends with a path NULL. Text NULL: there
 * is no such file; "full": a device that is. Others are opened as they are. */
struct file {
    const char *path, *text;
};
extern const struct file *files;

/* What the next calls of write() do: errors one after another, 0: as it is; and memory, that malloc, calloc and realloc
 * give so many times more, -1: always. */
extern int write_errors[8];
extern int memory_left;

/* Processes as waitpid() sees them: -1: as they are, else so many that never end; nanosleep() takes no time then. */
extern int unkillable;

/* What was said on stderr since `listen`, until the next. */
void listen_to_stderr(void);
const char *heard(void);
bool was_heard(const char *text);

/* A job in memory, with its launcher: nothing runs in it. */
struct launch *a_launch(const struct job_config *config, struct options *options);
void end_launch(struct launch *launch);

/* Two ends of a line such as that between a launcher and one who joined. */
void a_line(int ends[2]);

#endif
