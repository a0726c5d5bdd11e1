/* Cards of one job in this process, see cards.h. */
#include "cards.h"

#include <sched.h>

#include "functional.h"

static struct job *job;
static int memory = -1;
static uint64_t now_ns = 1;

/* The linker gives us the calls of job_clock_ns (-Wl,--wrap). */
uint64_t __wrap_job_clock_ns(void);
uint64_t __wrap_job_clock_ns(void)
{
    return __atomic_add_fetch(&now_ns, 100, __ATOMIC_RELAXED);
}

void clock_advance(uint64_t ns)
{
    __atomic_add_fetch(&now_ns, ns, __ATOMIC_RELAXED);
}

int cards_memory(void)
{
    return memory;
}

struct job *cards_open(const struct job_config *config, vic_t **card)
{
    static struct job_shared head;
    if (job == NULL) {
        const char *why;
        CHECK(job_config_fault(config) == NULL);
        memory = job_create(config, 42);
        job = job_attach(memory, 42, &why);
        CHECK(job != NULL);
        memcpy(&head, (void *)job->shared, sizeof head);
    }
    unsigned char *begin = (unsigned char *)job->card;
    memset(begin, 0, job->bytes - (size_t)(begin - (unsigned char *)job->shared));
    memcpy((void *)job->shared, &head, sizeof head);
    job->config = *config;
    job->start_ns = 0;
    __atomic_store_n(&now_ns, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < config->cards; i++) {
        CHECK(handle_open(job, i, 0, &card[i]) == VIC_OK);
    }
    return job;
}

void cards_close(vic_t **card)
{
    for (uint32_t i = 0; i < job->config.cards; i++) {
        atomic_store(&job->card[i].end, CARD_DIED); /* nobody waits for a FIFO that is full */
    }
    for (uint32_t i = 0; i < job->config.cards; i++) {
        CHECK(vic_close(card[i]) == VIC_OK);
    }
}

void cards_settle(vic_t **card)
{
    for (bool quiet = false; !quiet;) {
        quiet = true;
        for (uint32_t i = 0; i < job->config.cards; i++) {
            uint64_t word;
            size_t n = 1;
            while (n > 0) {
                CHECK(vic_fifo_poll(card[i], &word, 1, &n) == VIC_OK);
            }
            quiet = quiet && atomic_load(&functional_of(card[i])->pending_count) == 0;
        }
        sched_yield(); /* a thread of the card may be at it */
    }
}
