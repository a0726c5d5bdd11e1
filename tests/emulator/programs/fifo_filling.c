/* A sender has taken a place in a FIFO and not filled it yet: it has looked before whether somebody sleeps, and will ring no
 * bell. The reader sleeps in short slices until the word is there. Played by a second thread of the reader's card. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "claims.h"
#include "harness.h"
#include "job.h"

enum { SLEEPS = 8, TRIES = 20, SLICE_NS = 20 * 1000 * 1000 /* of a reader that a bell would wake */ };

static struct job *job;
static bool short_slices;

/* Takes the next place, waits until the reader has slept so often, and fills the place. */
static void *play_sender(void *nothing)
{
    struct card_shared *card = &job->card[0];
    uint64_t tail = atomic_load(&card->fifo_tail), start = job_clock_ns();
    int64_t until = (int64_t)atomic_load(&card->stat[STAT_SLEEPS]) + SLEEPS;
    struct fifo_slot *slot = &job->slots[tail & POSITION & (job->ring - 1)];
    (void)nothing;
    atomic_store(&card->fifo_tail, claim_by(tail + 1, 0));
    while ((int64_t)atomic_load(&card->stat[STAT_SLEEPS]) < until) {
        pause_ns(1000);
    }
    short_slices |= job_clock_ns() - start < (SLEEPS - 1) * (uint64_t)SLICE_NS;
    atomic_store(&slot->word, 7);
    atomic_store(&slot->ticket, ticket_word(tail & POSITION));
    return NULL;
}

int main(int argc, char **argv)
{
    vic_t *card;
    int fd;
    unsigned long long nonce;
    const char *why;
    OK(vic_open(&card));
    CHECK(sscanf(getenv("VIC_JOB"), "%d:%llx", &fd, &nonce) == 2);
    job = job_attach(fd, nonce, &why);
    CHECK(job != NULL);
    for (int i = 0; i < TRIES && !short_slices; i++) { /* on a crowded machine a short slice may be long */
        pthread_t sender;
        uint64_t word, ready;
        size_t n;
        CHECK(pthread_create(&sender, NULL, play_sender, NULL) == 0);
        if (argc > 1 && strcmp(argv[1], "any") == 0) {
            OK(vic_wait(card, 0, 1, &ready, LONG));
            OK(vic_fifo_poll(card, &word, 1, &n));
        } else {
            OK(vic_fifo_wait(card, &word, 1, 1, &n, LONG));
        }
        CHECK(n == 1 && word == 7);
        CHECK(pthread_join(sender, NULL) == 0);
    }
    puts(short_slices ? "short" : "long");
    return 0;
}
