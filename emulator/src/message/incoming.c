/* Taking frames out of the rings of this card, and putting messages together. */
#include <stdlib.h>
#include <string.h>

#include "message.h"

/* ---- reading words of a ring into host memory */

enum {
    BLOCK = 4096, /* words of a transfer: they are still in the cache when they are looked at */
    AHEAD = 36 /* words that are fetched at once at least: the frame of 256 B */
};

int incoming_read(struct vic_message *m, uint32_t addr, uint64_t *to, size_t n)
{
    int status = VIC_OK;
    for (size_t i = 0; i < n && status == VIC_OK; i += BLOCK) {
        size_t count = n - i < BLOCK ? n - i : BLOCK;
        vic_dma_t *dma = NULL;
        status = VIC_ENOSPC;
        if (count > m->read_most) {
            status = vic_dma_read(m->card, to + i, (vic_addr_t)(addr + i), count, &dma);
        }
        if (status == VIC_ENOSPC) { /* or the program uses all of the table */
            status = vic_read(m->card, (vic_addr_t)(addr + i), to + i, count);
        } else if (status == VIC_OK) {
            status = vic_dma_wait(m->card, &dma, VIC_FOREVER);
        }
    }
    return status;
}

/* Read the bytes of a frame into `to` if words can be stored there, else into `bounce`. The address of the bytes, or NULL.
 * Needs in_lock. */
static unsigned char *fetch_bytes(struct vic_message *m, uint32_t addr, size_t bytes, unsigned char *to)
{
    bool straight = to != NULL && (uintptr_t)to % sizeof(uint64_t) == 0;
    uint64_t *words = straight ? (uint64_t *)(void *)to : m->bounce, last;
    if (incoming_read(m, addr, words, bytes / 8) != VIC_OK) {
        return NULL;
    }
    if (bytes % 8 != 0) {
        if (incoming_read(m, addr + (uint32_t)(bytes / 8), &last, 1) != VIC_OK) {
            return NULL;
        }
        memcpy(words + bytes / 8, &last, bytes % 8);
    }
    return (unsigned char *)words;
}

enum {
    SKIP_MOST = 15, /* looks that are left out at a large frame that is not whole */
    REFRESH = 16,        /* scans; nobody is served more often while others are not looked at */
    SUSPECT_NS = 10 * 1000 * 1000 /* looks at all rings, as a program may have written over the counters */
};

void incoming_forget(struct inward *in)
{
    if (in->taker != NULL) {
        in->taker->from = NULL;
    }
    free(in->own);
    in->own = NULL;
    in->taker = NULL;
    in->total = in->got = 0;
}

static struct stored *new_stored(uint32_t src, uint32_t name, size_t bytes)
{
    struct stored *message = malloc(sizeof *message + bytes);
    if (message != NULL) {
        message->next = NULL;
        message->src = src;
        message->name = name;
        message->bytes = bytes;
    }
    return message;
}

static void store(struct vic_message *m, struct stored *message)
{
    *m->last = message;
    m->last = &message->next;
    m->stored_bytes += sizeof *message + message->bytes;
}

static void finish(struct vic_message *m, uint32_t src, struct inward *in)
{
    m->wakes = true;
    if (in->taker != NULL) {
        in->taker->done = true;
        in->taker->src = src;
        in->taker->bytes = in->total;
        in->taker->from = NULL;
        in->delivered++;
        free(in->own);
    } else {
        store(m, in->own);
    }
    in->own = NULL;
    in->taker = NULL;
    in->total = in->got = 0;
}

enum pulled { NOTHING, SOME, FULL, FAILED };

/* Room for a whole message, at its first piece. A taker may return before the last piece has come, so the memory for that
 * case is allocated before anything is taken. */
static enum pulled begin(uint32_t src, struct inward *in, const struct frame *frame, struct taker *taker)
{
    struct stored *own = NULL;
    if (taker == NULL || frame->bytes < frame->total) {
        own = new_stored(src, in->name, frame->total);
        if (own == NULL) {
            return FAILED;
        }
    }
    incoming_forget(in); /* its sender gave up the one before */
    in->own = own;
    in->taker = taker;
    in->total = frame->total;
    if (taker != NULL) {
        taker->from = in;
    }
    return SOME;
}

static unsigned char *data_of(const struct inward *in)
{
    return in->taker != NULL ? in->taker->data : in->own != NULL ? in->own->data : NULL;
}

/* Take in a complete frame. */
static enum pulled accept(struct vic_message *m, uint32_t src, struct inward *in, const struct frame *frame,
                          const unsigned char *data, struct taker *taker)
{
    if (frame->offset == 0) {
        enum pulled status = begin(src, in, frame, taker);
        if (status != SOME) {
            return status;
        }
    } else if (data_of(in) == NULL || in->total != frame->total || in->got != frame->offset) {
        return SOME; /* no sender of ours makes these */
    }
    unsigned char *to = data_of(in) + frame->offset;
    if (frame->bytes > 0 && to != data) {
        memcpy(to, data, frame->bytes);
    }
    in->got = frame->offset + frame->bytes;
    if (in->got == in->total) {
        finish(m, src, in);
    }
    return SOME;
}

static bool is_full(const struct vic_message *m, const struct frame *frame)
{
    return m->first != NULL && m->stored_bytes + frame->total > m->max_bytes;
}

/* Has another counter of news come, the card may have written a new hello; whose hello it is, its activity says. */
static void look_at_news(struct vic_message *m)
{
    int64_t news = m->seen_news;
    vic_counter_get(m->card, m->news, &news);
    if (news != m->seen_news) {
        m->seen_news = news;
        for (uint32_t src = 0; src < m->cards; src++) {
            m->in[src].new_hello = true;
        }
    }
}

/* Read the beginning of what may be a frame: its header, or where transfers are the faster way as many words as the frame
 * may have. *words: how many. Needs in_lock. */
static const uint64_t *fetch_head(struct vic_message *m, uint32_t src, uint64_t head[UNIT], size_t *words)
{
    const struct inward *in = &m->in[src];
    size_t rest = (size_t)rest_of(&m->layout, in->position) * UNIT;
    *words = in->words > AHEAD ? in->words < BLOCK ? in->words : BLOCK : AHEAD;
    *words = m->read_most >= UNIT ? UNIT : *words < rest ? *words : rest;
    uint64_t *to = *words > UNIT ? m->bounce : head;
    return incoming_read(m, ring_at(&m->layout, src, in->position), to, *words) == VIC_OK ? to : NULL;
}

/* Look for the next frame of a card, and take it. */
static enum pulled pull(struct vic_message *m, uint32_t src, struct taker *taker)
{
    struct inward *in = &m->in[src];
    uint32_t at = ring_at(&m->layout, src, in->position);
    uint64_t head[UNIT];
    size_t words;
    struct frame frame;
    if (in->looks < in->skip) {
        in->looks++;
        return NOTHING;
    }
    const uint64_t *read = fetch_head(m, src, head, &words);
    if (read == NULL || !frame_read(&m->layout, in->stream, in->position, read, &frame) || frame.total > m->max_bytes) {
        look_at_news(m);
        in->active = incoming_restarted(m, src);
        in->doubt = !in->active;
        return in->active ? SOME : NOTHING;
    }
    memcpy(head, read, sizeof head);
    bool fits = taker != NULL && taker->from == NULL && !taker->done && taker->capacity >= frame.total;
    unsigned char *to = NULL, *data = NULL;
    if (frame.kind == FRAME_PIECE && frame.offset == 0) {
        taker = fits ? taker : NULL;
        to = fits ? taker->data : NULL;
        if (!fits && is_full(m, &frame)) {
            m->wakes = true; /* somebody has to take something */
            m->quiet = false;
            return FULL;
        }
    } else if (in->got == frame.offset && in->total == frame.total && data_of(in) != NULL) {
        to = data_of(in) + frame.offset;
    }
    if (frame.bytes <= 8 * (UNIT - HEADER)) {
        data = (unsigned char *)&head[HEADER];
    } else if (frame_words(frame.bytes) <= words) {
        data = (unsigned char *)(m->bounce + frame_header(frame.bytes));
    } else {
        data = fetch_bytes(m, at + frame_header(frame.bytes), frame.bytes, to);
    }
    if (data == NULL || !frame_is_whole(in->stream, in->position, head, &frame, data)) {
        look_at_news(m);
        if (incoming_restarted(m, src)) {
            return SOME;
        }
        in->skip = frame.bytes >= LARGE && in->skip < SKIP_MOST ? 2 * in->skip + 1 : 0;
        in->looks = 0;
        return NOTHING; /* not all of it has come, or it was damaged: its sender will look after it */
    }
    if (frame.sender != in->sender) {
        in->sender = frame.sender;
        atomic_fetch_add(&m->out[src].openings, 1);
    }
    enum pulled status = SOME;
    if (frame.kind == FRAME_PIECE) {
        status = accept(m, src, in, &frame, data, taker);
    }
    if (status == SOME) {
        in->position += frame.kind == FRAME_SKIP ? rest_of(&m->layout, in->position) : frame_units(frame.bytes);
        in->skip = in->looks = 0;
        in->words = frame_words(frame.bytes);
        m->due--;
        for (uint32_t k = src % m->activities; m->timed && k < m->cards && m->due <= 0 && !m->everywhere; k += m->activities) {
            m->in[k].doubt |= m->in[k].active; /* nothing has come that was not taken, from none that count there */
            m->in[k].active = false;
        }
        m->quiet = false;
        incoming_publish(m, src, m->epoch);
    }
    return status;
}

void incoming_publish(struct vic_message *m, uint32_t src, uint32_t epoch)
{
    const struct inward *in = &m->in[src];
    struct state state = {in->position, in->delivered, epoch};
    uint64_t word[2];
    state_make(&m->layout, RECORD_TAKEN, src, m->me, &state, word);
    vic_write(m->card, record_at(&m->layout, src) + RECORD_TAKEN, word, 2);
}

/* How many more frames have come? If none has, no ring has to be looked at. */
static void look_at_frames(struct vic_message *m)
{
    int64_t now = m->seen_frames;
    vic_counter_get(m->card, m->frames, &now); /* the value also when the launcher is gone */
    m->came |= now != m->seen_frames;
    m->due = now <= m->seen_frames ? m->due + (m->seen_frames - now) : 0;
    if (now > m->seen_frames) { /* a program has written there */
        incoming_suspect(m);
    }
    m->seen_frames = now;
}

/* Mark the cards whose counters have changed: those of one counter that has, or of all. */
static void refresh(struct vic_message *m, bool all)
{
    bool changed = false;
    for (uint32_t i = 0; i < m->activities && (all || !changed); i++) {
        uint32_t k = (m->turn + i) % m->activities;
        int64_t now = m->seen[k];
        vic_counter_get(m->card, m->activity[k], &now);
        bool now_changed = now != m->seen[k];
        changed |= now_changed;
        m->seen[k] = now;
        for (uint32_t src = k; now_changed && src < m->cards; src += m->activities) {
            m->in[src].active = true;
        }
    }
}

void incoming_suspect(struct vic_message *m)
{
    m->everywhere = true;
    m->suspect_ns = vic_time_ns(m->card) + SUSPECT_NS;
    for (uint32_t src = 0; src < m->cards; src++) {
        m->in[src].active = m->in[src].new_hello = true;
        m->in[src].skip = 0;
    }
}

struct stored **incoming_stored(struct vic_message *m, const struct taker *taker)
{
    struct stored **at = &m->first;
    while (*at != NULL && taker->only != MESSAGE_ANY && (*at)->src != taker->only) {
        at = &(*at)->next;
    }
    return *at != NULL ? at : NULL;
}

static bool has_one(struct vic_message *m, const struct taker *taker)
{
    return taker != NULL && (taker->done || incoming_stored(m, taker) != NULL);
}

static int scan_active(struct vic_message *m, struct taker *taker)
{
    uint32_t begin = m->turn;
    for (uint32_t i = 0; i < m->cards; i++) {
        uint32_t src = begin + i < m->cards ? begin + i : begin + i - m->cards;
        bool wanted = taker == NULL || taker->only == MESSAGE_ANY || taker->only == src;
        enum pulled status = wanted && m->in[src].active ? SOME : NOTHING;
        while (status == SOME && !has_one(m, taker) && (m->due > 0 || m->everywhere || !m->timed)) {
            status = pull(m, src, taker);
        }
        if (status == FAILED) {
            return VIC_ESYS;
        }
        if (has_one(m, taker)) {
            uint32_t next = src + 1 < m->cards ? src + 1 : 0;
            m->turn = m->scans % REFRESH != 0 ? src : next;
            break;
        }
    }
    return VIC_OK;
}

/* All rings, whatever the counters say. Frames that were due and are not there were sent twice, or never. */
static int scan_everywhere(struct vic_message *m, struct taker *taker)
{
    int status = scan_active(m, taker);
    if (status == VIC_OK && !has_one(m, taker)) {
        m->everywhere = false;
        if (taker == NULL || taker->only == MESSAGE_ANY) {
            m->due = m->quiet ? 0 : m->due;
            m->quiet = true;
        }
    }
    return status;
}

int incoming_scan(struct vic_message *m, struct taker *taker)
{
    int status = m->everywhere ? scan_everywhere(m, taker) : VIC_OK;
    if (status != VIC_OK || has_one(m, taker)) {
        return status;
    }
    bool looks = m->due <= 0 && m->timed;
    if (looks) {
        look_at_frames(m);
    }
    if (m->due <= 0 && m->timed) {
        return VIC_OK;
    }
    if (++m->scans % REFRESH == 0) {
        refresh(m, true);
    }
    status = scan_active(m, taker);
    if (status == VIC_OK && !has_one(m, taker)) {
        if (!looks && m->timed) {
            look_at_frames(m);
        }
        refresh(m, !m->timed);
        status = scan_active(m, taker);
    }
    if (status == VIC_OK && !has_one(m, taker) && m->came) { /* its other words had come before */
        m->came = false;
        for (uint32_t src = 0; src < m->cards; src++) {
            m->in[src].active |= m->in[src].doubt;
        }
        status = scan_active(m, taker);
    }
    return status;
}

void incoming_move_out(struct taker *taker)
{
    struct inward *in = taker->from;
    if (in != NULL) {
        memcpy(in->own->data, taker->data, in->got);
        in->taker = NULL;
        taker->from = NULL;
    }
}

void incoming_wake(struct vic_message *m, uint32_t self)
{
    if (m->wakes && atomic_load(&m->takers) > self) {
        vic_counter_set(m->card, m->bell, 0);
    }
    m->wakes = false;
}

void incoming_serve(struct vic_message *m)
{
    if (lock_try(&m->in_lock)) {
        incoming_scan(m, NULL);
        incoming_wake(m, 0);
        lock_give(&m->in_lock);
    }
}

void incoming_free(struct vic_message *m)
{
    for (uint32_t src = 0; src < m->cards; src++) {
        incoming_forget(&m->in[src]);
    }
    while (m->first != NULL) {
        struct stored *next = m->first->next;
        free(m->first);
        m->first = next;
    }
}
