/* Events: posts on their way to the card, packets that are late on purpose; a binary heap. */
#include <stdlib.h>
#include <string.h>

#include "coordinator.h"
#include "grow.h"
#include "packet.h"

_Static_assert(VIC_WRITE == (int)DVSIM_OP_WRITE && VIC_FIFO == (int)DVSIM_OP_FIFO &&
                   VIC_QUERY == (int)DVSIM_OP_QUERY && VIC_COUNTER_SET == (int)DVSIM_OP_SET &&
                   VIC_COUNTER_ADD == (int)DVSIM_OP_ADD,
               "vic.h and models/card have the same operations");

static bool is_before(const struct due *a, const struct due *b)
{
    return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->rank < b->rank;
}

static void sift_up(struct coordinator *coord, size_t at)
{
    const struct due due = coord->heap[at];
    for (; at > 0 && is_before(&due, &coord->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        coord->heap[at] = coord->heap[(at - 1) / 2];
    }
    coord->heap[at] = due;
}

static void sift_down(struct coordinator *coord)
{
    const struct due due = coord->heap[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < coord->events; at = child) {
        if (child + 1 < coord->events && is_before(&coord->heap[child + 1], &coord->heap[child])) {
            child++;
        }
        if (!is_before(&coord->heap[child], &due)) {
            break;
        }
        coord->heap[at] = coord->heap[child];
    }
    coord->heap[at] = due;
}

enum { NUMBER_BITS = 47, CARD_BITS = 16 };
_Static_assert(MOST_CARDS <= 1 << CARD_BITS && NUMBER_BITS + CARD_BITS < 64, "an order, a card and a number are a rank");

void events_add(struct coordinator *coord, int64_t at_ps, struct event *event)
{
    if (!grow(&coord->heap, &coord->heap_capacity, coord->events + 1, sizeof *coord->heap)) {
        coord->failed = true;
        free(event->staged);
        free(event);
        return;
    }
    uint64_t rank = ((uint64_t)event->order << CARD_BITS | event->card) << NUMBER_BITS | coord->numbers++;
    coord->heap[coord->events++] = (struct due){at_ps, rank, event};
    sift_up(coord, coord->events - 1);
}

int64_t events_next_ps(const struct coordinator *coord)
{
    return coord->events > 0 ? coord->heap[0].at_ps : NEVER;
}

static void drop_first(struct coordinator *coord)
{
    struct event *event = coord->heap[0].event;
    coord->heap[0] = coord->heap[--coord->events];
    if (coord->events > 0) {
        sift_down(coord);
    }
    free(event->staged);
    free(event);
}

static void answer(struct side *side, int status)
{
    side->shared->answer = status;
    side->shared->answers++;
    side->wake = side->coord->pause = true;
}

static int check(const struct side *side, const struct event *event)
{
    const struct job *job = side->coord->job;
    struct vic shape = {.cards = job->config.cards, .sram_words = job->config.sram_words,
                        .counters = job_counters(&job->config)};
    int status = VIC_OK;
    for (uint64_t i = 0; i < event->post.count && status == VIC_OK; i++) {
        uint64_t at = event->post.a + i;
        uint64_t header = at < shape.sram_words ? sram_of(side->coord, side->number)[at] : ~UINT64_C(0);
        status = packet_check(&shape, header, event->staged[i]);
    }
    return status;
}

static void start_engine(const struct side *side, int64_t at_ps, const struct event *event)
{
    const struct post *p = &event->post;
    uint32_t words = (uint32_t)p->count;
    int status;
    if (p->kind == POST_ENGINE_SEND) {
        status = dvsim_vic_engine_send(side->vic, at_ps, p->b, p->a, event->staged, words);
    } else if (p->kind == POST_ENGINE_PUT) {
        status = dvsim_vic_engine_put(side->vic, at_ps, p->b, event->word[0], event->staged, words);
    } else {
        status = dvsim_vic_engine_read(side->vic, at_ps, p->b, p->a, words);
    }
    side->coord->failed |= status == DVSIM_ENOMEM;
}

/* Do the next item of a post. Returns how many items the post has. */
static uint64_t do_item(struct side *side, int64_t at_ps, const struct event *event)
{
    const struct post *p = &event->post;
    uint32_t i = event->done;
    dvsim_vic *vic = side->vic;
    int64_t shift = side->coord->pcie.crossing_ps;
    switch (p->kind) {
    case POST_STORE: dvsim_vic_store(vic, p->a + i, event->word[i]); return p->words;
    case POST_SEND:
        dvsim_vic_send(vic, at_ps, event->word[2 * i], event->word[2 * i + 1]);
        return p->words / 2;
    case POST_CACHED: dvsim_vic_send_cached(vic, at_ps, p->a + i, event->word[i]); return p->words;
    case POST_LOAD: dvsim_vic_load(vic, at_ps, p->a + i, p->b); return p->count;
    case POST_PRESET: dvsim_vic_preset(vic, at_ps, p->a, (int64_t)event->word[0]); return 1;
    case POST_POPPED: dvsim_vic_popped(vic, (uint32_t)p->count); return 1;
    case POST_CHECK: answer(side, check(side, event)); return 1;
    case POST_BARRIER: barrier_enter(side, at_ps - shift, p->b); return 1;
    case POST_BARRIER_LEFT: answer(side, barrier_leave(side) ? VIC_OK : VIC_EBUSY); return 1;
    default: start_engine(side, at_ps, event); return 1;
    }
}

void events_do(struct coordinator *coord)
{
    struct event *event = coord->heap[0].event;
    const int64_t at_ps = coord->last_ps = coord->heap[0].at_ps;
    if (event->order == ORDER_ARRIVAL) {
        fabric_arrive(coord, at_ps, event->card, &event->packet);
        drop_first(coord);
        return;
    }
    uint64_t items = do_item(&coord->side[event->card], at_ps, event);
    if (++event->done < items) {
        coord->heap[0].at_ps += event->post.step_ps;
        sift_down(coord);
    } else {
        drop_first(coord);
    }
}

static void stage(struct side *side, const uint64_t *ring, uint32_t from, uint32_t words)
{
    if (!grow(&side->staged, &side->staged_capacity, side->staged_words + words, sizeof *side->staged)) {
        side->coord->failed = true;
        return;
    }
    for (uint32_t i = 0; i < words; i++) {
        side->staged[side->staged_words++] = ring[(from + i) % POST_WORDS];
    }
}

/* Programs can write anything into a post. Its words must be there, and its times so small that at_ps and 2^22 steps
 * are less than NEVER. */
#define STEP_MOST INT64_C(1000000000000) /* 1 s, of which a card's parameters are at most */

static bool is_sound(const struct side *side, const struct post *p)
{
    bool staged = p->kind == POST_ENGINE_SEND || p->kind == POST_ENGINE_PUT || p->kind == POST_CHECK;
    bool has = p->kind == POST_STORE || p->kind == POST_SEND || p->kind == POST_CACHED ||
               p->kind == POST_PRESET || p->kind == POST_ENGINE_PUT;
    return p->kind < POST_KINDS && p->at_ps >= 0 && p->step_ps >= 0 && p->at_ps < NEVER / 2 &&
           p->step_ps <= STEP_MOST && p->count <= MOST_SRAM && (!staged || p->count == side->staged_words) &&
           (!has || p->words >= (p->kind == POST_SEND ? 2u : 1u)) && (p->kind != POST_LOAD || p->count > 0);
}

static void read_post(struct side *side, const struct post *p, const uint64_t *ring, uint32_t from)
{
    if (p->kind == POST_STAGE) {
        stage(side, ring, from, p->words);
        return;
    }
    struct event *event = is_sound(side, p) ? malloc(sizeof *event + p->words * sizeof(uint64_t)) : NULL;
    if (event == NULL) {
        side->coord->failed |= is_sound(side, p);
        return;
    }
    int64_t now = side->coord->sim_ps;
    side->coord->late += p->at_ps < now;
    *event = (struct event){.order = ORDER_POST, .card = side->number, .post = *p};
    for (uint32_t i = 0; i < p->words; i++) {
        event->word[i] = ring[(from + i) % POST_WORDS];
    }
    if (p->kind == POST_ENGINE_SEND || p->kind == POST_ENGINE_PUT || p->kind == POST_CHECK) {
        event->staged = side->staged;
        side->staged = NULL;
        side->staged_words = side->staged_capacity = 0;
    }
    events_add(side->coord, p->at_ps < now ? now : p->at_ps, event);
}

void events_read_posts(struct side *side)
{
    struct timed_card *shared = side->shared;
    uint32_t at = shared->post_head, end = shared->post_tail;
    while (end - at >= POST_HEAD && end - at <= POST_WORDS) {
        struct post post;
        uint64_t head[POST_HEAD];
        for (uint32_t i = 0; i < POST_HEAD; i++) {
            head[i] = shared->post[(at + i) % POST_WORDS];
        }
        memcpy(&post, head, sizeof post);
        at += POST_HEAD;
        if (post.words > end - at) {
            break;
        }
        read_post(side, &post, shared->post, at);
        at += post.words;
    }
    shared->post_head = shared->post_tail = 0;
}

/* ---- news for the cards, kept in the order of time */

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
