/* Credit: what receivers write about the messages of this card, that is how far they are, and whether they are open. */
#include <stdlib.h>

#include "message.h"

enum {
    ANSWER_NS = 50 * 1000 * 1000,    /* after that the answer was overwritten: ask again */
    LOOK_AROUND_NS = 10 * 1000 * 1000,
    RESEND_NS = 50 * 1000 * 1000,  /* then a frame that was not taken is sent again, */
    RESEND_MOST_NS = 1000 * 1000 * 1000, /* and again after twice the time */
    APART = 4                        /* rings: between two streams */
};

static const uint64_t no_answer = UINT64_MAX;

static struct hint hint_of(struct vic_message *m, uint32_t dest)
{
    struct hint hint = {0, atomic_load_explicit(&m->out[dest].openings, memory_order_relaxed)};
    vic_counter_get(m->card, m->news, &hint.news);
    return hint;
}

bool credit_is_sure(struct vic_message *m, uint32_t dest)
{
    const struct outward *out = &m->out[dest];
    struct hint hint = hint_of(m, dest);
    return out->epoch != 0 && hint.news == out->known_at.news && hint.openings == out->known_at.openings;
}

int credit_query(struct vic_message *m, uint32_t dest, int what, int reply)
{
    uint32_t there = record_at(&m->layout, m->me) + (uint32_t)what, here = record_at(&m->layout, dest) + (uint32_t)reply;
    return vic_get(m->card, dest, there, 2, here, VIC_NO_COUNTER);
}

static bool ask(struct vic_message *m, uint32_t dest)
{
    struct outward *out = &m->out[dest];
    const uint64_t none[2] = {no_answer, no_answer};
    out->asked_at = hint_of(m, dest);
    out->asked = vic_write(m->card, record_at(&m->layout, dest) + RECORD_REPLY, none, 2) == VIC_OK &&
                 credit_query(m, dest, RECORD_TAKEN, RECORD_REPLY) == VIC_OK;
    out->asked_ns = vic_time_ns(m->card);
    return out->asked;
}

static bool has_answered(struct vic_message *m, uint32_t dest, uint64_t word[2])
{
    uint32_t reply = record_at(&m->layout, dest) + RECORD_REPLY;
    return incoming_read(m, reply, word, 2) == VIC_OK && word[0] != no_answer && word[1] != no_answer;
}

static bool answered(struct vic_message *m, uint32_t dest, uint64_t word[2])
{
    struct outward *out = &m->out[dest];
    if (!out->asked && !ask(m, dest)) {
        return false;
    }
    bool both = has_answered(m, dest, word);
    out->asked = !both && vic_time_ns(m->card) - out->asked_ns < ANSWER_NS;
    return both;
}

static void end_stream(struct outward *out)
{
    out->lost |= out->counts && out->received != out->messages;
    out->epoch = 0;
    atomic_fetch_add(&out->ends, 1);
}

/* Take in how far the peer is. Numbers that are impossible, or of another stream, are ignored. */
static void apply_state(struct outward *out, const struct state *state)
{
    if (state->position - out->taken > out->sent - out->taken) {
        return;
    }
    uint32_t advance = state->position - out->taken;
    out->earlier -= advance < out->earlier ? advance : out->earlier;
    out->taken = state->position;
    if (state->messages - out->received <= out->messages - out->received) {
        out->received = state->messages;
    }
}

/* Write for the peer where the stream to it begins. */
static void send_hello(struct vic_message *m, uint32_t dest)
{
    uint64_t word[2], header = vic_header(dest, VIC_COUNTER_ADD, 0, m->news), one = 1;
    state_make(&m->layout, RECORD_HELLO, m->me, dest, &m->out[dest].hello, word);
    vic_put(m->card, dest, record_at(&m->layout, m->me) + RECORD_HELLO, word, 2, activity_of(m, m->me));
    vic_send(m->card, &header, &one, 1);
}

/* The peer is open, which was not known. */
static void begin_stream(struct vic_message *m, uint32_t dest, const struct state *state)
{
    struct outward *out = &m->out[dest];
    if (out->mirror == NULL) {
        out->mirror = aligned_alloc(64, (size_t)m->layout.units * UNIT * sizeof *out->mirror);
    }
    if (out->mirror == NULL) {
        return; /* no credit */
    }
    out->epoch = state->epoch;
    out->begun_at = 0;
    /* A new stream begins so far from the earlier one that a position belongs to one of them only. After a clean close of
     * this card, the earlier stream is continued. */
    bool resumes = out->resumes && out->saved.epoch == state->epoch;
    out->resumes = false;
    if (!resumes) {
        uint32_t name = (uint32_t)dvsim_mix((uint64_t)m->epoch << 32 | ++out->streams) | 1;
        out->hello = (struct state){state->position + APART * m->layout.units, name, state->epoch};
    }
    out->stream = stream_key(&m->layout, m->me, dest, state->epoch, out->hello.messages);
    out->taken = out->hello.position;
    out->received = 0;
    out->sent = resumes ? out->saved.position : out->taken;
    out->messages = resumes ? out->saved.messages : 0;
    if (resumes && out->sent - out->taken > m->layout.units) {
        out->taken = out->sent - m->layout.units; /* that much was taken, as the ring had room for the rest */
    }
    apply_state(out, state);
    out->counts = out->messages != out->received;
    out->earlier = out->sent - out->taken;
    out->stuck = out->taken - 1;
    send_hello(m, dest);
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
        out->unreadable = word[1] != 0; /* else not open yet */
        return false; /* or one word is older than the other; or somebody wrote over them */
    }
    out->unreadable = false;
    bool is_open = (state.epoch & EPOCH_OPEN) != 0;
    out->known_at = out->asked_at;
    if (out->epoch != 0) {
        bool known = (state.epoch | EPOCH_OPEN) == out->epoch;
        if (known) {
            apply_state(out, &state);
        }
        if (!known || !is_open) {
            end_stream(out);
        }
    }
    if (out->epoch == 0 && is_open) {
        begin_stream(m, dest, &state);
    }
    return true;
}

bool credit_look_last(struct vic_message *m, uint32_t dest, struct backoff *backoff, uint64_t deadline_ns)
{
    uint64_t word[2];
    if (ask(m, dest)) {
        while (!has_answered(m, dest, word) && backoff_wait(m, backoff, deadline_ns) == VIC_OK) {
        }
    }
    return credit_look(m, dest);
}

static void send_again(struct vic_message *m, uint32_t dest)
{
    struct outward *out = &m->out[dest];
    if (out->taken == out->hello.position) { /* the peer may have missed the hello */
        send_hello(m, dest);
    }
    if (out->earlier != 0) {
        return;
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
        out->resend_ns = RESEND_NS;
    } else if (now - out->stuck_ns > out->resend_ns) {
        send_again(m, dest);
        out->stuck_ns = now;
        out->resend_ns = out->resend_ns < RESEND_MOST_NS / 2 ? 2 * out->resend_ns : RESEND_MOST_NS;
    }
}

static int vic_message_ends_call(vic_message_t *m, uint32_t peer, uint64_t *ends)
{
    if (peer >= m->cards) {
        return message_no_card(m, peer);
    }
    struct outward *out = &m->out[peer];
    if (lock_try(&out->lock)) {
        if (out->epoch != 0 && !credit_is_sure(m, peer)) {
            credit_look(m, peer);
        }
        lock_give(&out->lock);
    }
    *ends = atomic_load(&out->ends);
    return VIC_OK;
}

GATED(vic_message_ends, m, ends != NULL, (vic_message_t *m, uint32_t peer, uint64_t *ends), (m, peer, ends),
      "peer", VALUES(peer), "ends", VALUES((int64_t)*ends))

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
