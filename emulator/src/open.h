/* open.h: from the environment to an open card. */
#ifndef VIC_OPEN_H
#define VIC_OPEN_H

#include "vic.h"

/* vic_open with these values for VIC_JOB, VIC_CARD and VIC_CARDS; cards NULL: not set. For programs that hold several
 * cards in one process, as the tests do. */
int open_named(const char *job, const char *card, const char *cards, vic_t **handle);

#endif
