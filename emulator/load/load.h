/* load.h: what the parts of vicload share. */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* The CRC-32 of ISO 3309, as zlib.crc32 of Python gives it. */
uint32_t crc32(const void *data, size_t bytes);

/* Add a message to a sum that shows if messages are the same, in any order. It keeps no secrets. */
static inline void digest_add(uint64_t *sum, const void *data, size_t bytes)
{
    *sum += crc32(data, bytes);
}

/* Exit code, or -1 to go on. */
int load_options(int argc, char **argv, struct load *load);

/* The exit code. What went wrong is printed on stderr. */
int publish_all(vic_t *card, struct load *load);
int consume_all(vic_t *card, struct load *load);

/* Write the report, if one was asked for. False: the reason was printed on stderr. */
bool report_write(const struct load *load);

/* Say what failed; returns 1. */
int load_failed(const char *what, int status);

/* A set of message ids. False: no memory. */
struct seen;
struct seen *seen_new(void);
bool seen_add(struct seen *seen, uint64_t session, uint64_t id, bool *again);
void seen_free(struct seen *seen);

#endif
