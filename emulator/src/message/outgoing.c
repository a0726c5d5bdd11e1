/* vic_message_send: it writes pieces into the ring of a peer, as far as that has room. */
#include "message.h"

enum {
    SHORT = 8,         /* words that go in one call with the packet that rings */
    LOOKS_FOR_MUCH_ROOM = 20 /* after which any room will do: one wake-up for many frames is better */
};

enum { PEER_CHANGED = 1 }; /* a status of this file: the peer closed, begin again with the next one */

int outgoing_transmit(struct vic_message *m, uint32_t dest, uint32_t position, const uint64_t *words, size_t n)
{
    uint32_t at = ring_at(&m->layout, m->me, position);
    uint64_t header[SHORT + 1], payload[SHORT + 1];
    unsigned counter = activity_of(m, m->me);
    size_t count = 0;
    size_t first = n > SHORT ? n - 1 : 0;
    if (first > 0) {
        int status = vic_put(m->card, dest, at, words, first, counter);
        if (status != VIC_OK) {
            return status;
        }
    }
    for (size_t i = first; i < n; i++, count++) {
        header[count] = vic_header(dest, VIC_WRITE, at + (uint32_t)i, i + 1 < n ? counter : m->frames);
        payload[count] = words[i];
    }
    header[count] = vic_header(dest, VIC_COUNTER_SET, 0, m->bell);
    payload[count] = 0;
    return vic_send(m->card, header, payload, count + 1);
}

static int put_frame(struct vic_message *m, uint32_t dest, const struct frame *frame, const void *data)
{
    struct outward *out = &m->out[dest];
    uint64_t *words = out->mirror + (out->sent & (m->layout.units - 1)) * UNIT;
    frame_make(out->stream, out->sent, frame, data, words);
    int status = outgoing_transmit(m, dest, out->sent, words, frame_words(frame->bytes));
    if (status == VIC_OK) {
        bool skip = frame->kind == FRAME_SKIP;
        out->sent += skip ? rest_of(&m->layout, out->sent) : frame_units(frame->bytes);
    }
    return status;
}

/* Wait until the peer is known to be open. */
static int connect(struct vic_message *m, uint32_t dest, uint64_t deadline_ns)
{
    struct backoff backoff = {.whole = {WAIT_OPEN, dest, 0, deadline_ns == VIC_FOREVER}};
    while (!credit_is_sure(m, dest)) {
        if (credit_look(m, dest) && m->out[dest].epoch != 0) {
            continue; /* if that was the answer to an earlier query, ask again */
        }
        incoming_serve(m);
        credit_tend_all(m);
        int status = config_look(m, dest);
        status = status == VIC_OK ? backoff_wait(m, &backoff, deadline_ns) : status;
        if (status != VIC_OK) {
            return status;
        }
    }
    return VIC_OK;
}

static int wait_room(struct vic_message *m, uint32_t dest, uint32_t units, uint64_t deadline_ns)
{
    struct outward *out = &m->out[dest];
    uint32_t epoch = out->epoch, many = m->layout.units / 4;
    struct backoff backoff = {.whole = {WAIT_RING, dest, 0, deadline_ns == VIC_FOREVER}};
    for (uint32_t look = 0;; look++) {
        uint32_t enough = look == 0 || look > LOOKS_FOR_MUCH_ROOM || units > many ? units : many;
        if (m->layout.units - (out->sent - out->taken) >= enough) {
            return VIC_OK;
        }
        if (credit_look(m, dest)) {
            if (out->epoch != epoch) {
                return PEER_CHANGED;
            }
            credit_tend(m, dest);
            if (m->layout.units - (out->sent - out->taken) >= (look == 0 ? units : enough)) {
                return VIC_OK;
            }
        }
        incoming_serve(m);
        credit_tend_all(m);
        int status = backoff_wait(m, &backoff, deadline_ns);
        if (status != VIC_OK) {
            return m->layout.units - (out->sent - out->taken) >= units ? VIC_OK : status;
        }
    }
}

static int send_piece(struct vic_message *m, uint32_t dest, const struct frame *frame, const void *data,
                      uint64_t deadline_ns)
{
    struct outward *out = &m->out[dest];
    uint32_t units = frame_units(frame->bytes), rest = rest_of(&m->layout, out->sent);
    uint32_t skipped = units > rest ? rest : 0;
    int status = VIC_OK;
    if (m->layout.units - (out->sent - out->taken) < units + skipped) {
        status = wait_room(m, dest, units + skipped, deadline_ns);
    }
    if (status == VIC_OK && skipped != 0) {
        struct frame skip = {.kind = FRAME_SKIP, .sender = sender_tag(m->epoch)};
        status = put_frame(m, dest, &skip, NULL);
    }
    return status == VIC_OK ? put_frame(m, dest, frame, data) : status;
}

/* Where to go on: behind what an earlier call has sent, if this is its message once more. */
static size_t begun(const struct outward *out, const unsigned char *data, size_t bytes)
{
    bool same = out->begun_at != 0 && out->begun_bytes == bytes &&
                wire_hash(out->begun_at, data, out->begun_at, NULL) == out->begun_hash;
    return same ? out->begun_at : 0;
}

static int send_message(struct vic_message *m, uint32_t dest, const unsigned char *data, size_t bytes,
                        uint64_t deadline_ns)
{
    struct outward *out = &m->out[dest];
    size_t most = piece_most(&m->layout), at = begun(out, data, bytes);
    int status;
    out->begun_at = 0;
    do {
        size_t left = bytes - at;
        struct frame frame = {.kind = FRAME_PIECE, .bytes = (uint32_t)(left < most ? left : most)};
        frame.total = (uint32_t)bytes;
        frame.offset = (uint32_t)at;
        frame.sender = sender_tag(m->epoch);
        status = send_piece(m, dest, &frame, data + at, deadline_ns);
        at += status == VIC_OK ? frame.bytes : 0;
    } while (status == VIC_OK && at < bytes);
    if (status == VIC_OK) {
        out->messages++;
    } else if (status == VIC_ETIMEDOUT && at > 0) {
        out->begun_bytes = bytes;
        out->begun_at = at;
        out->begun_hash = wire_hash(at, data, at, NULL);
    }
    return status;
}

static int send_locked(struct vic_message *m, uint32_t dest, const void *data, size_t bytes, uint64_t deadline_ns)
{
    int status;
    do {
        status = connect(m, dest, deadline_ns);
        if (status == VIC_OK) {
            status = send_message(m, dest, data, bytes, deadline_ns);
        }
    } while (status == PEER_CHANGED);
    return status;
}

static int send_or_ask(struct vic_message *m, uint32_t dest, const void *data, size_t bytes, uint64_t timeout_ns, bool counts)
{
    if (dest >= m->cards) {
        return message_no_card(m, dest);
    }
    if (bytes > m->max_bytes) {
        return fail(VIC_EINVAL, "%zu bytes are more than max_bytes, %zu", bytes, m->max_bytes);
    }
    uint64_t deadline_ns = deadline_after(m->card, timeout_ns);
    int status = lock_try(&m->out[dest].lock) ? VIC_OK : lock_take_until(m, &m->out[dest].lock, deadline_ns);
    if (status == VIC_OK) {
        status = send_locked(m, dest, bytes > 0 ? data : "", bytes, deadline_ns);
        m->out[dest].counts |= counts && status == VIC_OK;
        lock_give(&m->out[dest].lock);
    }
    return status;
}

static int vic_message_send_call(vic_message_t *m, uint32_t dest, const void *data, size_t bytes, uint64_t timeout_ns)
{
    return send_or_ask(m, dest, data, bytes, timeout_ns, true);
}

int message_ask(vic_message_t *m, uint32_t dest, const void *data, size_t bytes, uint64_t timeout_ns)
{
    int status = gate_enter(&m->gate);
    return status != VIC_OK ? status : gate_leave(&m->gate, send_or_ask(m, dest, data, bytes, timeout_ns, false));
}

GATED(vic_message_send, m, data != NULL || bytes == 0,
      (vic_message_t *m, uint32_t dest, const void *data, size_t bytes, uint64_t timeout_ns), (m, dest, data, bytes, timeout_ns),
      "dest bytes timeout", VALUES(dest, (int64_t)bytes, (int64_t)timeout_ns), "", NULL)
