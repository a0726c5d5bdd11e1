/* News: what the host can see of its card, in the order of the times from which on it can. */
#include "card/vic.h"
#include "timed/timed.h"

_Static_assert(DVSIM_VIC_COUNTER == 0 && DVSIM_VIC_PRESET == 1 && DVSIM_VIC_FIFO == 2 &&
                   DVSIM_VIC_TAKEN == 3,
               "view_apply knows these");

/* The number of news, bounded, as a peer that is broken or hostile may have written anything. */
static uint32_t count(const struct timed *own)
{
    uint32_t news = own->shared->news_tail - own->shared->news_head;
    return news <= NEWS_ROOM ? news : 0;
}

static struct news *first(const struct timed *own)
{
    struct timed_card *shared = own->shared;
    return count(own) > 0 ? &shared->news[shared->news_head % NEWS_ROOM] : NULL;
}

struct move *news_move(struct timed *own, uint32_t tag)
{
    uint32_t number = tag & (TAG_OWN - 1);
    bool is_mine = tag >> 21 == (own->shared->epoch & 0x7ff) && (tag & TAG_OWN) == 0;
    return is_mine && number < own->card->job->config.dma_entries ? &own->moves[number] : NULL;
}

/* Words of a transfer come in order. When the card is closed or the coordinator is gone, waits for a transfer end before it
 * does: then the memory is the program's again. */
static void apply_move(struct timed *own, const struct news *news)
{
    struct move *move = news_move(own, news->index);
    if (move == NULL || move->transfer == NULL || own->closing || own->orphaned) {
        return;
    }
    if (news->what == DVSIM_VIC_MOVED && move->words > 0) {
        *move->host++ = news->value;
        move->words--;
    } else if (news->what == DVSIM_VIC_DONE) {
        atomic_store(&move->transfer->left, 0);
        move->transfer = NULL;
    }
}

static void hint(struct timed *own, const struct news *news, int64_t at_ps, uint64_t fifo_in)
{
    uint64_t value = news->what == DVSIM_VIC_FIFO ? fifo_in : news->value;
    bool always = news->what >= DVSIM_VIC_LOADED; /* known by its tag alone */
    timed_hint(own, news->what, news->index, always ? UINT64_MAX : value, at_ps);
}

void news_hint(struct timed *own)
{
    const struct timed_card *shared = own->shared;
    uint64_t fifo_in = shared->view.fifo_in;
    int64_t at_ps = 0; /* none is applied before those in front of it */
    for (uint32_t i = 0, news_count = count(own); i < news_count; i++) {
        const struct news *news = &shared->news[(shared->news_head + i) % NEWS_ROOM];
        fifo_in += news->what == DVSIM_VIC_FIFO;
        at_ps = news->at_ps > at_ps ? news->at_ps : at_ps;
        hint(own, news, at_ps, fifo_in);
    }
}

/* A load, a put or a barrier that a thread waits for. */
static void record(struct timed *own, const struct news *news)
{
    for (struct member *m = own->members; m != NULL; m = m->next) {
        if (m->state == MEMBER_PARKED && m->watched.what == news->what && m->watched.index == news->index) {
            m->events_seen++;
            m->event_value = (int32_t)news->value;
            if (m->into_words > 0) {
                *m->into++ = news->value;
                m->into_words--;
            }
        }
    }
}

bool news_until(struct timed *own, int64_t at_ps)
{
    struct timed_card *shared = own->shared;
    bool applied = false;
    for (const struct news *news; (news = first(own)) != NULL && news->at_ps <= at_ps &&
                                  news->at_ps < shared->until_ps; shared->news_head++) {
        view_apply(&shared->view, shared->fifo, own->card->job->ring, news);
        if (news->what == DVSIM_VIC_MOVED || news->what == DVSIM_VIC_DONE) {
            apply_move(own, news);
        }
        if (news->what >= DVSIM_VIC_LOADED) {
            record(own, news);
        }
        own->applied_ps = news->at_ps > own->applied_ps ? news->at_ps : own->applied_ps;
        applied = true;
    }
    return applied;
}

bool timed_overlooks(const struct member *me)
{
    struct timed *own = me->own;
    double probability = own->card->job->config.extra_polls;
    return probability > 0 && fault_chance(own->card, own->draws++, probability) && !own->closing && !own->orphaned &&
           own->shared->stop_ps > me->clock_ps;
}
