/* What receivers say about our messages: how far they are, whether they are open, what they miss. */
#include <stdlib.h>

#include "message.h"

enum {
    ANSWER_NS = 50 * 1000 * 1000,    /* then somebody wrote over the answer: ask again */
    LOOK_AROUND_NS = 10 * 1000 * 1000,
    PATIENCE_NS = 50 * 1000 * 1000,  /* then a frame that was not taken is sent again, */
    PATIENCE_MOST_NS = 1000 * 1000 * 1000 /* and again after twice the time */
};

static const uint64_t no_answer = UINT64_MAX;

static bool answered(struct vic_message *m, uint32_t dest, uint64_t word[2])
{
    struct outward *out = &m->out[dest];
    uint32_t reply = record_at(&m->layout, dest) + RECORD_REPLY;
    if (!out->asked) {
        uint64_t none[2] = {no_answer, no_answer}, header[2], wish[2];
        uint32_t taken = record_at(&m->layout, m->me) + RECORD_TAKEN;
        for (uint32_t i = 0; i < 2; i++) {
            header[i] = vic_header(dest, VIC_QUERY, taken + i, VIC_NO_COUNTER);
            wish[i] = vic_header(m->me, VIC_WRITE, reply + i, VIC_NO_COUNTER);
        }
        if (vic_write(m->card, reply, none, 2) != VIC_OK || vic_send(m->card, header, wish, 2) != VIC_OK) {
            return false;
        }
        out->asked = true;
        out->asked_ns = vic_time_ns(m->card);
    }
    if (vic_read(m->card, reply, word, 2) != VIC_OK) {
        return false;
    }
    bool both = word[0] != no_answer && word[1] != no_answer;
    out->asked = !both && vic_time_ns(m->card) - out->asked_ns < ANSWER_NS;
    return both;
}

static void part(struct outward *out)
{
    out->lost |= out->received != out->messages;
    out->epoch = 0;
}

/* The peer is open, and we did not know it. */
static void meet(struct vic_message *m, uint32_t dest, const struct state *state)
{
    struct outward *out = &m->out[dest];
    if (out->mirror == NULL) {
        out->mirror = aligned_alloc(64, (size_t)m->layout.units * UNIT * sizeof *out->mirror);
    }
    if (out->mirror == NULL) {
        return; /* no credit */
    }
    out->epoch = state->epoch;
    out->stream = stream_key(&m->layout, m->me, dest, state->epoch);
    out->sent = out->taken = state->place;
    out->messages = out->received = state->messages;
    /* frames of an earlier opening of ours may still be in the ring */
    const struct state *saved = &out->saved;
    if (out->resumes && saved->epoch == state->epoch && saved->place - state->place <= m->layout.units) {
        out->sent = saved->place;
        out->messages = saved->messages;
    }
    out->resumes = false;
    out->mirror_from = out->sent;
    out->stuck = out->taken - 1;

    struct state hello = {0, 0, state->epoch};
    uint64_t word[2];
    state_make(&m->layout, RECORD_HELLO, m->me, dest, &hello, word);
    vic_put(m->card, dest, record_at(&m->layout, m->me) + RECORD_HELLO, word, 2, activity_of(m, m->me));
}

/* Numbers that the peer cannot mean are nothing new. */
static void take_in(struct outward *out, const struct state *state)
{
    if (state->place - out->taken <= out->sent - out->taken) {
        out->taken = state->place;
    }
    if (state->messages - out->received <= out->messages - out->received) {
        out->received = state->messages;
    }
}

bool credit_look(struct vic_message *m, uint32_t dest)
{
    struct outward *out = &m->out[dest];
    uint64_t word[2];
    struct state state;
    if (!answered(m, dest, word)) {
        return false;
    }
    if (!state_read(&m->layout, RECORD_TAKEN, m->me, dest, word, &state)) {
        return false; /* not open yet; or one word is older than the other; or somebody wrote over them */
    }
    bool is_open = (state.epoch & EPOCH_OPEN) != 0;
    if (out->epoch != 0) {
        bool known = (state.epoch | EPOCH_OPEN) == out->epoch;
        if (known) {
            take_in(out, &state);
        }
        if (!known || !is_open) {
            part(out);
        }
    }
    if (out->epoch == 0 && is_open) {
        meet(m, dest, &state);
    }
    return true;
}

static void send_again(struct vic_message *m, uint32_t dest)
{
    struct outward *out = &m->out[dest];
    if (out->taken - out->mirror_from >= out->sent - out->mirror_from) {
        return; /* an earlier opening of ours sent it */
    }
    const uint64_t *words = out->mirror + (out->taken & (m->layout.units - 1)) * UNIT;
    struct frame frame;
    if (frame_read(&m->layout, out->stream, out->taken, words, &frame)) {
        outgoing_transmit(m, dest, out->taken, words, frame_words(frame.bytes));
    }
}

void credit_tend(struct vic_message *m, uint32_t dest)
{
    struct outward *out = &m->out[dest];
    uint64_t now = vic_time_ns(m->card);
    if (out->epoch == 0 || out->sent == out->taken) {
        return;
    }
    if (out->stuck != out->taken) {
        out->stuck = out->taken;
        out->stuck_ns = now;
        out->patience_ns = PATIENCE_NS;
    } else if (now - out->stuck_ns > out->patience_ns) {
        send_again(m, dest);
        out->stuck_ns = now;
        out->patience_ns = out->patience_ns < PATIENCE_MOST_NS / 2 ? 2 * out->patience_ns : PATIENCE_MOST_NS;
    }
}

/* Somebody may have written over what we say: say it again. */
static void publish_all(struct vic_message *m)
{
    if (lock_try(&m->in_lock)) {
        for (uint32_t src = 0; src < m->cards; src++) {
            incoming_publish(m, src, m->epoch);
        }
        lock_give(&m->in_lock);
    }
}

void credit_tend_all(struct vic_message *m)
{
    uint64_t due = atomic_load_explicit(&m->tend_ns, memory_order_relaxed), now = vic_time_ns(m->card);
    if (now < due || !atomic_compare_exchange_strong(&m->tend_ns, &due, now + LOOK_AROUND_NS)) {
        return;
    }
    publish_all(m);
    for (uint32_t dest = 0; dest < m->cards; dest++) {
        struct outward *out = &m->out[dest];
        if (lock_try(&out->lock)) {
            if (out->epoch != 0 && out->sent != out->taken && credit_look(m, dest)) {
                credit_tend(m, dest);
            }
            lock_give(&out->lock);
        }
    }
}
