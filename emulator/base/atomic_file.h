/* Files that nobody sees half: they are written under another name in the same folder, which nobody else has, and
 * get their own name when they are whole. */
#ifndef ATOMIC_FILE_H
#define ATOMIC_FILE_H

#include <stdio.h>

/* Begin a file that is to become `path`. NULL: errno. *made is for atomic_file_end. */
FILE *atomic_file_begin(const char *path, char **made);

/* All is written. 0, or an errno: then nothing is left of it. */
int atomic_file_end(FILE *file, char *made, const char *path);

#endif
