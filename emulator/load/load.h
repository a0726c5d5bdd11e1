/* load.h: what the parts of vicload share. */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "digest.h"
#include "vic_client.h"

struct load {
    bool publishes;
    uint32_t bridge;
    const char *key; /* or queue */
    uint64_t messages, bytes, seed, window, credit, timeout_ns;
    double rate; /* messages a second; 0: as fast as it goes */
    bool at_most_once, persistent;
    const char *report;
    /* what was done */
    uint64_t digest, done, done_bytes, duplicates, wall_ns;
    struct vic_client_count count;
};

/* Exit code, or -1 to go on. */
int load_options(int argc, char **argv, struct load *load);

/* Exit code. They say on stderr what went wrong. */
int publish_all(vic_t *card, struct load *load);
int consume_all(vic_t *card, struct load *load);

/* Write the report, if there is to be one. False: told on stderr. */
bool report_write(const struct load *load);

/* Say what failed; returns 1. */
int load_failed(const char *what, int status);

/* A set of message ids. False: no memory. */
struct seen;
struct seen *seen_new(void);
bool seen_add(struct seen *seen, uint64_t session, uint64_t id, bool *again);
void seen_free(struct seen *seen);

#endif
