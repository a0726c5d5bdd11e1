/* Files that nobody sees half: they are written under another name in the same folder, which nobody else has, and
 * get their own name when they are whole. */
#ifndef WHOLE_H
#define WHOLE_H

#include <stdio.h>

/* Begin a file that is to become `path`. NULL: errno. *made is for whole_end. */
FILE *whole_begin(const char *path, char **made);

/* All is written. 0, or an errno: then nothing is left of it. */
int whole_end(FILE *file, char *made, const char *path);

#endif
