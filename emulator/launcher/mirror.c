/* Parts of cards in timed mode, from host to host. */
#include "mirror.h"

#include <string.h>

#include "grow.h"

_Static_assert(offsetof(struct timed_card, next_ps) % sizeof(uint64_t) == 0 &&
                   offsetof(struct timed_card, post) % sizeof(uint64_t) == 0 && sizeof(struct news) % sizeof(uint64_t) == 0,
               "what is copied is words");

enum {
    MOVES_FROM = (int)((offsetof(struct timed_card, moves) - offsetof(struct timed_card, next_ps)) / sizeof(uint64_t)),
    MOVES_END = (int)((offsetof(struct timed_card, move_skipped) - offsetof(struct timed_card, next_ps)) / sizeof(uint64_t)),
    NEWS_WORDS = (int)(sizeof(struct news) / sizeof(uint64_t))
};

static uint64_t *words_of(struct timed_card *card)
{
    return (uint64_t *)(void *)&card->next_ps;
}

static void *more(struct turns *turns, size_t bytes)
{
    turns->failed = turns->failed || !grow(&turns->text, &turns->room, turns->used + bytes, 1);
    turns->used += turns->failed ? 0 : bytes;
    return turns->failed ? NULL : turns->text + turns->used - bytes;
}

void turns_begin(struct turns *turns)
{
    struct turn_head *head;
    turns->used = 0;
    if ((head = more(turns, sizeof *head)) != NULL) {
        *head = (struct turn_head){0, 0};
    }
}

void turns_end(struct turns *turns, bool gone)
{
    if (turns->used >= sizeof(struct turn_head)) {
        ((struct turn_head *)(void *)turns->text)->gone = gone;
    }
}

bool turns_empty(const struct turns *turns)
{
    return turns->used <= sizeof(struct turn_head);
}

static void put_words(struct turns *turns, const uint64_t *ring, uint32_t mask, uint64_t from, uint32_t count)
{
    uint64_t *to = more(turns, count * sizeof *to);
    for (uint32_t i = 0; to != NULL && i < count; i++) {
        to[i] = ring[(from + i) & mask];
    }
}

static uint32_t least_of(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

void turns_add(struct turns *turns, struct turn_record record)
{
    struct turn_record *to = more(turns, sizeof record);
    if (to != NULL) {
        *to = record;
        ((struct turn_head *)(void *)turns->text)->records++;
    }
}

/* The view of a card as the other end has it. */
static struct view known_view(const struct known *known)
{
    struct view view;
    memcpy(&view, (const char *)known->word + offsetof(struct timed_card, view) - offsetof(struct timed_card, next_ps),
           sizeof view);
    return view;
}

void mirror_write(struct turns *turns, const struct job *job, struct turn_record record, struct known *known,
                  enum mirror_way way)
{
    struct timed_card *card = timed_card_of(job, record.card);
    const uint64_t *word = words_of(card);
    uint64_t fifo_from = known_view(known).fifo_in;
    size_t begin = turns->used;
    if (more(turns, sizeof record) == NULL) {
        return;
    }
    int from = way == MOVES_ONLY ? MOVES_FROM : 0, end = way == MOVES_ONLY ? MOVES_END : MIRROR_WORDS;
    for (int i = from; i < end; i++) {
        uint64_t now = __atomic_load_n(&word[i], __ATOMIC_RELAXED);
        struct changed *changed = now != known->word[i] ? more(turns, sizeof *changed) : NULL;
        if (changed != NULL) {
            *changed = (struct changed){(uint64_t)i, now};
            known->word[i] = now;
            record.changed++;
        }
    }
    if (way == MOVES_ONLY && record.changed == 0) {
        turns->used = begin;
        return;
    }
    if (way != MOVES_ONLY) {
        record.fifo = least_of(card->view.fifo_in - fifo_from, job->ring);
        put_words(turns, card->fifo, job->ring - 1, card->view.fifo_in - record.fifo, record.fifo);
    }
    if (way == FROM_CARD) {
        record.ring = least_of(card->post_tail - card->post_head, POST_WORDS);
        put_words(turns, card->post, POST_WORDS - 1, card->post_head, record.ring);
    } else if (way == TO_CARD) {
        uint32_t count = least_of(card->news_tail - card->news_head, NEWS_ROOM);
        struct news *to = more(turns, count * sizeof *to);
        for (uint32_t i = 0; to != NULL && i < count; i++) {
            to[i] = card->news[(card->news_head + i) % NEWS_ROOM];
        }
        record.ring = count * NEWS_WORDS;
    }
    if (!turns->failed) {
        memcpy(turns->text + begin, &record, sizeof record);
        ((struct turn_head *)(void *)turns->text)->records++;
    }
}

static const void *take(struct turns *turns, size_t bytes)
{
    if (turns->room - turns->used < bytes) {
        return NULL;
    }
    turns->used += bytes;
    return turns->text + turns->used - bytes;
}

const struct turn_record *mirror_read(struct turns *turns, const struct job *job, struct known *known,
                                      enum mirror_way way)
{
    const struct turn_record *record = take(turns, sizeof *record);
    bool sound = record != NULL && record->card < job->config.cards && record->changed <= MIRROR_WORDS &&
                 record->fifo <= job->ring && record->ring <= NEWS_ROOM * NEWS_WORDS;
    const struct changed *changed = sound ? take(turns, record->changed * sizeof *changed) : NULL;
    const uint64_t *fifo = changed != NULL ? take(turns, record->fifo * sizeof *fifo) : NULL;
    const uint64_t *ring = fifo != NULL ? take(turns, record->ring * sizeof *ring) : NULL;
    if (ring == NULL) {
        return NULL;
    }
    struct timed_card *card = timed_card_of(job, record->card);
    uint64_t *word = words_of(card);
    known += record->card;
    for (uint32_t i = 0; i < record->changed; i++) {
        uint64_t at = changed[i].at % MIRROR_WORDS;
        known->word[at] = changed[i].word;
        __atomic_store_n(&word[at], changed[i].word, __ATOMIC_RELAXED);
    }
    for (uint32_t i = 0; i < record->fifo; i++) {
        card->fifo[(card->view.fifo_in - record->fifo + i) & (job->ring - 1)] = fifo[i];
    }
    if (way == TO_CARD) {
        for (uint32_t i = 0; i < record->ring / NEWS_WORDS; i++) {
            memcpy(&card->news[(card->news_head + i) % NEWS_ROOM], &ring[(size_t)i * NEWS_WORDS], sizeof *card->news);
        }
    } else {
        for (uint32_t i = 0; i < record->ring; i++) {
            card->post[(card->post_head + i) % POST_WORDS] = ring[i];
        }
    }
    return record;
}
