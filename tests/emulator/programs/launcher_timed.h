/* launcher_timed.h: the coordinator of a timed job, called as its thread would, in one process with its test; on a wall
 * clock that says what the test wants. Its source is a part of whoever includes this. */
#ifndef LAUNCHER_TIMED_H
#define LAUNCHER_TIMED_H

#define _GNU_SOURCE
#include "launcher_parts.h"

#include <unistd.h>

#include "../../../emulator/launcher/coordinator.c"

enum { ALL = 2 };

static struct launch *launch;
static uint64_t clock_ns, clock_step_ns; /* of the wall */
static int looks_left = -1;              /* after so many more card 0 has died */

uint64_t __wrap_job_clock_ns(void);
uint64_t __wrap_job_clock_ns(void)
{
    if (looks_left >= 0 && looks_left-- == 0) {
        atomic_store(&launch->job->card[0].end, CARD_DIED);
    }
    return clock_ns += clock_step_ns;
}

static inline void no_kill(void *context, uint32_t card)
{
    (void)context, (void)card;
}

static inline struct coordinator *open_all(uint32_t cards)
{
    static struct options options;
    struct job_config config = job_usual;
    config.mode = 1;
    config.cards = cards;
    config.sram_words = 64;
    config.fifo_words = 4;
    config.model.send_words = 8;
    config.trace_records = 8;
    launch = a_launch(&config, &options);
    return coordinator_make(launch->job, no_kill, NULL);
}

static inline void close_all(struct coordinator *all)
{
    coordinator_free(all);
    end_launch(launch);
}

static inline void write_post(struct side *side, struct post post, const uint64_t *words)
{
    struct timed_card *shared = side->shared;
    uint64_t head[POST_HEAD];
    memcpy(head, &post, sizeof post);
    for (uint32_t i = 0; i < POST_HEAD + post.words && i < POST_WORDS; i++) {
        shared->post[shared->post_tail++ % POST_WORDS] = i < POST_HEAD ? head[i] : words[i - POST_HEAD];
    }
}

/* How many events come of a post. */
static inline size_t events_of(struct coordinator *all, struct post post)
{
    static const uint64_t words[POST_WORDS];
    size_t before = all->events;
    write_post(&all->side[0], post, words);
    events_read_posts(&all->side[0]);
    CHECK(all->side[0].shared->post_head == 0 && all->side[0].shared->post_tail == 0);
    return all->events - before;
}

#endif
