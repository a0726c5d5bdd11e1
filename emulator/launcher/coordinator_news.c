/* News for the cards, kept in the order of time. */
#include "coordinator.h"

static bool is_open(const struct side *side)
{
    uint32_t state = atomic_load(&side->shared->state);
    return state != CARD_ABSENT && state != CARD_CLOSED && side->end_ps == NEVER;
}

static bool is_watched(const struct side *side, uint32_t what, uint32_t index, uint64_t value)
{
    const struct timed_card *shared = side->shared;
    uint32_t watches = *(const volatile uint32_t *)&shared->watches; /* once: a program may write there */
    if (watches > WATCHED_MOST) {
        return true;
    }
    for (uint32_t i = 0; i < watches; i++) {
        const struct watched *w = &shared->watched[i];
        bool counter = what == DVSIM_VIC_COUNTER || what == DVSIM_VIC_PRESET;
        bool enough = counter ? value == 0 : what >= DVSIM_VIC_LOADED || value >= w->least;
        if (enough && w->index == index && (w->what == what || (counter && w->what == DVSIM_VIC_COUNTER))) {
            return true;
        }
    }
    return false;
}

static void insert(struct timed_card *shared, struct news news)
{
    uint32_t at = shared->news_tail++;
    while (at != shared->news_head && shared->news[(at - 1) % NEWS_ROOM].at_ps > news.at_ps) {
        shared->news[at % NEWS_ROOM] = shared->news[(at - 1) % NEWS_ROOM];
        at--;
    }
    shared->news[at % NEWS_ROOM] = news;
}

void news_add(struct side *side, int64_t at_ps, uint32_t what, uint32_t index, uint64_t value)
{
    struct timed_card *shared = side->shared;
    struct coordinator *coord = side->coord;
    struct news news = {at_ps, what, index, value};
    uint32_t used = shared->news_tail - shared->news_head;
    side->fifo_words += what == DVSIM_VIC_FIFO;
    if (!is_open(side) || used >= NEWS_ROOM) {
        view_apply(&shared->view, shared->fifo, coord->job->ring, &news);
        return;
    }
    insert(shared, news);
    if (used + 1 > NEWS_ROOM / 2) {
        coord->pause = side->wake = true;
    }
    uint64_t watched = what == DVSIM_VIC_FIFO ? side->fifo_words : value;
    if (is_watched(side, what, index, watched) && at_ps < side->next_ps) {
        int64_t bound = at_ps + coord->ahead_ps;
        side->next_ps = at_ps;
        coord->bound_ps = bound < coord->bound_ps ? bound : coord->bound_ps;
    }
}

void news_observe(void *context, int64_t at_ps, dvsim_vic_event what, uint32_t index, uint64_t value)
{
    news_add(context, at_ps, what, index, value);
}

void news_apply_all(struct side *side)
{
    struct timed_card *shared = side->shared;
    uint32_t used = shared->news_tail - shared->news_head;
    for (uint32_t i = 0; i < used && i < NEWS_ROOM; i++) {
        const struct news *news = &shared->news[shared->news_head++ % NEWS_ROOM];
        view_apply(&shared->view, shared->fifo, side->coord->job->ring, news);
    }
    shared->news_head = shared->news_tail = 0;
}
