/* A card of a timed job whose part of the memory a peer has written over: its calls end, with a status, and touch no
 * memory but what they were given.
 *
 * Built with emulator/src/job.c and config.c beside libvic, to see that memory. */
#include "card/vic.h"
#include "harness.h"
#include "timed/shared.h"

enum { OWN = 1 << 20, GUARD = 0x55, WORDS = 2, MORE = 6 };

static vic_t *card;
static struct timed_card *shared;

/* News that nobody has sent, from the beginning of time on. */
static void told(uint32_t what, uint32_t index, uint64_t value, int64_t at_ps)
{
    shared->news[shared->news_tail++ % NEWS_ROOM] = (struct news){at_ps, what, index, value};
}

static uint32_t tag(uint32_t number)
{
    return (shared->epoch & 0x7ff) << 21 | number;
}

static bool is_whole(const uint64_t *words)
{
    for (int i = WORDS; i < MORE; i++) {
        if (words[i] != GUARD) {
            return false;
        }
    }
    return true;
}

static void words_that_nobody_asked_for(void)
{
    uint64_t words[MORE] = {0, 0, GUARD, GUARD, GUARD, GUARD};
    vic_dma_t *dma;
    for (uint64_t i = 0; i < MORE; i++) {
        told(DVSIM_VIC_LOADED, tag(OWN), i, 0); /* the tag of its first read */
    }
    OK(vic_read(card, 0, words, WORDS));
    CHECK(is_whole(words) && words[1] == 1);
    OK(vic_dma_read(card, words, 0, WORDS, &dma));
    for (uint64_t i = 0; i < MORE; i++) {
        told(DVSIM_VIC_MOVED, tag(0), i, 0);
    }
    vic_relax(card);
    CHECK(is_whole(words) && words[1] == 1);
    OK(vic_dma_wait(card, &dma, LONG));
    CHECK(is_whole(words));
}

static void news_of_nothing(void)
{
    int64_t value;
    uint64_t before;
    OK(vic_counter_set(card, 5, 9));
    OK(vic_compute_ns(card, 5000));
    vic_relax(card);
    told(DVSIM_VIC_PRESET, 5, 1, 0);
    told(DVSIM_VIC_MOVED, tag(3), 1, 0);
    told(DVSIM_VIC_DONE, tag(3), 1, 0);
    told(DVSIM_VIC_DONE, tag(OWN - 1), 1, 0);
    told(DVSIM_VIC_DONE, tag(0) + (1 << 21), 1, 0);
    told(99, 5, 1, 0);
    OK(vic_counter_get(card, 5, &value));
    CHECK(value == 9);
    before = vic_time_ns(card);
    shared->news_tail += 2 * NEWS_ROOM; /* more than there can be are none */
    vic_relax(card);
    shared->news_tail -= 2 * NEWS_ROOM;
    told(DVSIM_VIC_TAKEN, 0, 0, INT64_MAX); /* and what comes behind the end of time does not */
    told(DVSIM_VIC_COUNTER, 5, 0, 0);
    IS(vic_counter_wait(card, 5, 1000), VIC_ETIMEDOUT);
    CHECK(vic_time_ns(card) - before < 2000);
    shared->news_tail -= 2;
}

static void ends_that_are_none(void)
{
    static const int64_t times[] = {0, -5};
    for (int i = 0; i < 2; i++) {
        shared->stop_ps = times[i];
        shared->stop_status = 0;
        IS(vic_counter_wait(card, 5, LONG), VIC_EPEER);
        shared->stop_ps = INT64_MAX - 1;
        IS(vic_counter_wait(card, 5, 1000), VIC_ETIMEDOUT);
        shared->stop_ps = NEVER;
    }
    told(NEWS_RELEASED, tag(OWN | 1), 77, 0); /* the tag of its second one, and no status */
    IS(vic_barrier(card, LONG), VIC_EPEER);
    told(NEWS_RELEASED, tag(OWN | 2), (uint64_t)-77, 0);
    IS(vic_barrier(card, LONG), VIC_EPEER);
}

int main(void)
{
    int fd;
    unsigned long long nonce;
    const char *why;
    OK(vic_open(&card));
    CHECK(sscanf(getenv("VIC_JOB"), "%d:%llx", &fd, &nonce) == 2);
    struct job *job = job_attach(fd, nonce, &why);
    CHECK(job != NULL);
    shared = timed_card_of(job, 0);
    words_that_nobody_asked_for();
    news_of_nothing();
    ends_that_are_none();
    OK(vic_close(card));
    return 0;
}
