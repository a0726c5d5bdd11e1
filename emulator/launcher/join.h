/* join.h: how a program comes into a job that runs: what the launcher (serve.c) and a vicrun that joins
 * (join.c) say to each other, over a socket of the user's own, one message a packet.
 *
 *     ask ->                    which card; which version
 *     <- answer                 with the memory of the job, or why not
 *     ended ->                  the program has, and all that it left; is it to be started again?
 *     <- again                  start it again
 *     <- signal                 pass this on
 *     <- ended                  a process that had the card ended in this way, whatever the exit code of the program is
 *
 * If the launcher hangs up that is all; if the one who joins does, it was killed. */
#ifndef VICRUN_JOIN_H
#define VICRUN_JOIN_H

#include <stdint.h>

enum join_kind { JOIN_ASK = 0x6a6f6901, JOIN_ANSWER, JOIN_ENDED, JOIN_AGAIN, JOIN_SIGNAL };

struct join {
    uint32_t kind;
    uint32_t layout;  /* ask: JOB_LAYOUT */
    char version[20]; /* ask */
    uint32_t card;    /* ask: JOIN_ANY: any that is free; answer */
    uint32_t refused; /* answer: `text` has the reason */
    uint32_t number;  /* answer: the place of the joiner (job.h); of a signal; ended: the exit code (from the launcher: instead of 0), 128 + n for signal n */
    uint32_t by_signal;
    uint32_t last;  /* ended: it was made to end, or cannot be run, so it must not be started again */
    uint64_t nonce; /* answer: of the job */
    char text[200];
};

#define JOIN_ANY UINT32_MAX

#endif
