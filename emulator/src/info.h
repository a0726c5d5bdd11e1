/* info.h: VIC_INFO=1, every setting in force. */
#ifndef VIC_INFO_H
#define VIC_INFO_H

#include "handle.h"

void info_print(const struct vic *card); /* to stderr, one line per setting */

#endif
