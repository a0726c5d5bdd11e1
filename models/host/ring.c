/* The ring of DMA buffers word by word: every word in its order, none lost. */
#include "host/ring.h"

#include <stdlib.h>

/* Picoseconds times words need more than 64 bits. */
__extension__ typedef __int128 wide;

enum { MOST_BUFFERS = 1 << 20 };
static const int64_t MOST_ROOM = INT64_C(1) << 40;

typedef struct {
    dvsim_window window;
    uint64_t *slot;
    int64_t slots;        /* in memory: as many as a burst can use */
    int64_t filled, left; /* words of this burst */
    int64_t in, out;      /* slots of the next word, and of the oldest one */
} buffer;

struct dvsim_ring {
    dvsim_ring_counts counts;
    int64_t buffers, oldest;
    uint64_t sum_in, sum_out; /* of the contents of all words */
    buffer buffer[];
};

dvsim_ring *dvsim_ring_create(int64_t buffers)
{
    if (buffers < 1 || buffers > MOST_BUFFERS) {
        return NULL;
    }
    dvsim_ring *ring = calloc(1, sizeof *ring + (size_t)buffers * sizeof *ring->buffer);
    if (ring != NULL) {
        ring->buffers = buffers;
    }
    return ring;
}

void dvsim_ring_free(dvsim_ring *ring)
{
    if (ring == NULL) {
        return;
    }
    for (int64_t i = 0; i < ring->buffers; i++) {
        free(ring->buffer[i].slot);
    }
    free(ring);
}

static buffer *open_one(dvsim_ring *ring)
{
    return &ring->buffer[(ring->oldest + ring->counts.in_use - 1) % ring->buffers];
}

int dvsim_ring_open(dvsim_ring *ring, const dvsim_window *w, int64_t words)
{
    if (ring == NULL || w == NULL || words < 1 || words > MOST_ROOM || w->room < 1 || w->room > MOST_ROOM ||
        w->drain_ps < 0 || w->unit_words < 1) {
        return DVSIM_EINVAL;
    }
    if (ring->counts.in_use == ring->buffers) {
        return DVSIM_ESTATE;
    }
    buffer *b = &ring->buffer[(ring->oldest + ring->counts.in_use) % ring->buffers];
    const int64_t slots = words < w->room ? words : w->room;
    if (slots > b->slots) {
        uint64_t *longer = realloc(b->slot, (size_t)slots * sizeof *longer);
        if (longer == NULL) {
            return DVSIM_ENOMEM;
        }
        b->slot = longer;
        b->slots = slots;
    }
    b->window = *w;
    b->filled = b->left = b->in = b->out = 0;
    ring->counts.in_use++;
    ring->counts.windows++;
    return DVSIM_OK;
}

static void take(dvsim_ring *ring, buffer *b, int64_t words)
{
    for (int64_t i = 0; i < words; i++) {
        ring->sum_out += b->slot[b->out++];
        b->out = b->out < b->slots ? b->out : 0;
    }
    b->left += words;
    ring->counts.drained += words;
    ring->counts.held -= words;
}

int dvsim_ring_put(dvsim_ring *ring, uint64_t word)
{
    buffer *b = open_one(ring);
    const int64_t holds = b->filled - b->left + 1;
    if (ring->counts.in_use == 0 || holds > b->window.room || holds > b->slots) {
        return DVSIM_ESTATE;
    }
    b->slot[b->in++] = word;
    b->in = b->in < b->slots ? b->in : 0;
    b->filled++;
    ring->sum_in += word;
    ring->counts.filled++;
    ring->counts.held++;
    if (holds > ring->counts.peak) {
        ring->counts.peak = holds;
    }
    return DVSIM_OK;
}

int64_t dvsim_ring_left(dvsim_ring *ring, int64_t at_ps)
{
    buffer *b = open_one(ring);
    if (at_ps < b->window.begin_ps) {
        return b->left;
    }
    int64_t left = b->filled;
    if (b->window.drain_ps > 0) {
        const wide paced = ((wide)at_ps - b->window.begin_ps) * b->window.unit_words / b->window.drain_ps;
        left = paced < left ? (int64_t)paced : left;
    }
    if (left > b->left) {
        take(ring, b, left - b->left);
    }
    return b->left;
}

int64_t dvsim_ring_next_ps(const dvsim_ring *ring)
{
    const buffer *b = &ring->buffer[(ring->oldest + ring->counts.in_use - 1) % ring->buffers];
    const wide unit = b->window.unit_words, whole = (wide)(b->left + 1) * b->window.drain_ps;
    const wide next = (whole + unit - 1) / unit + b->window.begin_ps;
    return next < INT64_MAX ? (int64_t)next : INT64_MAX;
}

int64_t dvsim_ring_release(dvsim_ring *ring)
{
    if (ring->counts.in_use == 0) {
        return DVSIM_ESTATE;
    }
    buffer *b = &ring->buffer[ring->oldest];
    take(ring, b, b->filled - b->left);
    ring->oldest = (ring->oldest + 1) % ring->buffers;
    ring->counts.in_use--;
    return b->filled;
}

dvsim_ring_counts dvsim_ring_counts_now(const dvsim_ring *ring)
{
    return ring->counts;
}

int dvsim_ring_check(const dvsim_ring *ring)
{
    uint64_t held_sum = 0;
    int64_t held = 0;
    for (int64_t i = 0; i < ring->counts.in_use; i++) {
        const buffer *b = &ring->buffer[(ring->oldest + i) % ring->buffers];
        for (int64_t k = 0; k < b->filled - b->left; k++, held++) {
            held_sum += b->slot[(b->out + k) % b->slots];
        }
    }
    return ring->counts.filled == ring->counts.drained + ring->counts.held && held == ring->counts.held &&
           ring->sum_in == ring->sum_out + held_sum;
}
