/* What the host knows of counters and FIFO: news of the card, seen at the next look. */
#include "host/mirror.h"

#include <stdlib.h>

void dvsim_mirror_free(dvsim_mirror *mirror)
{
    free(mirror->news);
    mirror->news = NULL;
}

static int grow(dvsim_mirror *m)
{
    const int64_t room = m->room > 0 ? 2 * m->room : 256;
    dvsim_news *longer = malloc((size_t)room * sizeof *longer);
    if (longer == NULL) {
        return 0;
    }
    for (int64_t i = m->taken; i < m->put; i++) {
        longer[i & (room - 1)] = m->news[i & (m->room - 1)];
    }
    free(m->news);
    m->news = longer;
    m->room = room;
    return 1;
}

void dvsim_mirror_observe(void *mirror, int64_t at_ps, dvsim_vic_event what, uint32_t index, uint64_t value)
{
    dvsim_mirror *m = mirror;
    if (what > DVSIM_VIC_FIFO) {
        return;
    }
    if (m->put - m->taken == m->room && !grow(m)) {
        m->failed = 1;
        return;
    }
    /* a counter that was preset to zero has counted nothing */
    const uint64_t seen = what == DVSIM_VIC_PRESET && value == 0 ? UINT64_MAX : value;
    const dvsim_news news = {at_ps, what == DVSIM_VIC_FIFO, index % DVSIM_COUNTERS, seen};
    m->news[m->put++ & (m->room - 1)] = news;
}

static int is_zero(const dvsim_news *news)
{
    return !news->is_fifo && news->value == 0;
}

int64_t dvsim_mirror_zero_ps(dvsim_mirror *m)
{
    for (; m->searched < m->put; m->searched++) {
        const dvsim_news *news = &m->news[m->searched & (m->room - 1)];
        if (is_zero(news)) {
            return news->at_ps;
        }
    }
    return INT64_MAX;
}

int dvsim_mirror_look(dvsim_mirror *m, int64_t at_ps)
{
    while (m->taken < m->put) {
        const dvsim_news *news = &m->news[m->taken & (m->room - 1)];
        if (news->at_ps > at_ps) {
            return -1;
        }
        m->taken++;
        if (m->searched < m->taken) {
            m->searched = m->taken;
        }
        if (news->is_fifo) {
            m->fifo_words++;
            m->fifo_last = news->value;
            continue;
        }
        m->counter[news->counter] = (int64_t)news->value;
        if (is_zero(news)) {
            return (int)news->counter;
        }
    }
    return -1;
}
