/* harness.h: a test program is one function that every card runs: as a process of its own under vicrun, or,
 * built with IN_PROCESS, as a thread of one process, so that a thread sanitizer sees all of the job. In that
 * build the program takes vicrun's own options. */
#ifndef TEST_HARNESS_H
#define TEST_HARNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vic.h"

#define CHECK(condition)                                                                                    \
    do {                                                                                                    \
        if (!(condition)) {                                                                                 \
            fprintf(stderr, "FAILED %s:%d: %s\n", __FILE__, __LINE__, #condition);                          \
            _Exit(1);                                                                                       \
        }                                                                                                   \
    } while (0)

#define IS(call, expected)                                                                                  \
    do {                                                                                                    \
        int status_ = (call), expected_ = (expected);                                                       \
        if (status_ != expected_) {                                                                         \
            fprintf(stderr, "FAILED %s:%d: %s: %s, expected %s\n", __FILE__, __LINE__, #call,               \
                    vic_strerror(status_), vic_strerror(expected_));                                        \
            _Exit(1);                                                                                       \
        }                                                                                                   \
    } while (0)

#define OK(call) IS(call, VIC_OK)

enum { SECOND = 1000 * 1000 * 1000 };
#define LONG (60 * (uint64_t)SECOND) /* a wait that should not time out, but must not hang a test */

static inline void pause_ns(long ns)
{
    nanosleep(&(struct timespec){ns / SECOND, ns % SECOND}, NULL);
}

struct self {
    vic_t *card;
    uint32_t me, cards;
    struct vic_attr attr;
};

/* What each card does. */
void run(const struct self *self);

/* A repeatable draw. */
static inline uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline struct self self_of(vic_t *card)
{
    struct self self = {.card = card};
    OK(vic_query_attr(card, &self.attr));
    self.me = self.attr.card;
    self.cards = self.attr.cards;
    return self;
}

#endif
