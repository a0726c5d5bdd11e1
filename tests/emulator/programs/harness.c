/* Runs a program's cards as threads of one process, or as the process that it is. */
#include "harness.h"

#ifndef IN_PROCESS

int main(void)
{
    vic_t *card;
    int status = vic_open(&card);
    if (status != VIC_OK) {
        fprintf(stderr, "vic_open: %s: %s\n", vic_strerror(status), vic_open_reason());
        return 1;
    }
    struct self self = self_of(card);
    run(&self);
    OK(vic_close(card));
    return 0;
}

#else

#include <pthread.h>

#include "coordinator.h"
#include "handle.h"
#include "options.h"

static char job_text[64];

static struct job *job;
static struct coordinator *coordinator; /* timed mode, else NULL */

static void never(void *context, uint32_t card)
{
    (void)context;
    (void)card;
}

/* What the launcher does when a program has ended. */
static void end(void *what)
{
    if (coordinator != NULL) {
        atomic_store(&job->card[(uintptr_t)what].end, CARD_ENDED);
        coordinator_kick(job);
    }
}

static void *run_card(void *what)
{
    char number[16];
    vic_t *card;
    pthread_cleanup_push(end, what);
    snprintf(number, sizeof number, "%u", (unsigned)(uintptr_t)what);
    OK(open_named(job_text, number, NULL, &card));
    struct self self = self_of(card);
    run(&self);
    OK(vic_close(card));
    pthread_cleanup_pop(1);
    return NULL;
}

int main(int argc, char **argv)
{
    struct options options;
    int code = options_read(argc, argv, &options);
    if (code != -1) {
        return code;
    }
    int memory = job_create(&options.job, 42);
    CHECK(memory >= 0);
    snprintf(job_text, sizeof job_text, "%d:2a", memory);
    if (options.job.mode == 1) {
        const char *why;
        job = job_attach(memory, 42, &why);
        coordinator = coordinator_make(job, never, NULL);
        CHECK(coordinator != NULL && coordinator_start(coordinator, -1) == 0);
    }
    pthread_t *thread = calloc(options.job.cards, sizeof *thread);
    for (uintptr_t i = 0; i < options.job.cards; i++) {
        CHECK(pthread_create(&thread[i], NULL, run_card, (void *)i) == 0);
    }
    for (uint32_t i = 0; i < options.job.cards; i++) {
        pthread_join(thread[i], NULL);
    }
    free(thread);
    if (coordinator != NULL) {
        coordinator_finish(coordinator);
        coordinator_report(coordinator, stdout);
        coordinator_free(coordinator);
    }
    return 0;
}

#endif
