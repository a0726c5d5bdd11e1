/* atomic_file.h: files that no process sees half written. They are written under another, new name in the same folder,
 * and get their own name when they are complete. */
#ifndef ATOMIC_FILE_H
#define ATOMIC_FILE_H

#include <stdio.h>

/* Begin a file that is to become `path`. NULL: errno. *made is for atomic_file_end. */
FILE *atomic_file_begin(const char *path, char **made);

/* All is written. 0, or an errno: then nothing is left of it. */
int atomic_file_end(FILE *file, char *made, const char *path);

#endif
