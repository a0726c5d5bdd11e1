/* Where a stream of messages to us begins; and why there may never be one. */
#include "message.h"

enum { LONG_NS = 50 * 1000 * 1000 }; /* what a card said that was killed may stand there until it is open again */

/* Has the card begun another stream? One that was killed does when it comes back: what it had not sent
 * completely is forgotten, and so is what stands in its ring. */
bool incoming_restarted(struct vic_message *m, uint32_t src)
{
    struct inward *in = &m->in[src];
    uint64_t word[2];
    struct state hello;
    bool looks = in->new_hello;
    in->new_hello = false;
    if (!looks || vic_read(m->card, record_at(&m->layout, src) + RECORD_HELLO, word, 2) != VIC_OK ||
        !state_read(&m->layout, RECORD_HELLO, src, m->me, word, &hello) || hello.epoch != m->epoch ||
        hello.messages == in->name || hello.messages == in->old_name) {
        return false;
    }
    incoming_forget(in);
    in->old_name = in->name;
    in->name = hello.messages;
    in->stream = stream_key(&m->layout, src, m->me, m->epoch, in->name);
    in->place = hello.place;
    in->delivered = 0;
    in->skip = in->looks = 0;
    incoming_publish(m, src, m->epoch);
    return true;
}

void greeting_publish(struct vic_message *m, uint32_t src, uint32_t epoch)
{
    uint64_t word[2];
    greeting_make(&m->greeting, epoch, word);
    vic_write(m->card, record_at(&m->layout, src) + RECORD_GREETING, word, 2);
}

static int differs(const struct vic_message *m, uint32_t dest, const struct greeting *its)
{
    const struct greeting *own = &m->greeting;
    return fail(VIC_EINVAL,
                "card %u has messages open with max_bytes %zu, window_bytes %u, flags %u, counters from %u on; this card "
                "with %zu, %u, %u, %u",
                dest, its->max_bytes, its->window_bytes, its->flags, its->counter, own->max_bytes, own->window_bytes,
                own->flags, own->counter);
}

int greeting_look(struct vic_message *m, uint32_t dest)
{
    struct outward *out = &m->out[dest];
    uint64_t word[2], header[2], wish[2], now = vic_time_ns(m->card);
    struct greeting its;
    uint32_t reply = record_at(&m->layout, dest) + RECORD_GREETED;
    bool same = !out->strange || vic_read(m->card, reply, word, 2) != VIC_OK || !greeting_read(word, &its) ||
                (its.max_bytes == m->greeting.max_bytes && its.window_bytes == m->greeting.window_bytes &&
                 its.flags == m->greeting.flags && its.counter == m->greeting.counter);
    if (out->strange) {
        for (uint32_t i = 0; i < 2; i++) {
            header[i] = vic_header(dest, VIC_QUERY, record_at(&m->layout, m->me) + RECORD_GREETING + i, VIC_NO_COUNTER);
            wish[i] = vic_header(m->me, VIC_WRITE, reply + i, VIC_NO_COUNTER);
        }
        vic_send(m->card, header, wish, 2);
    }
    if (same) {
        out->strange_ns = 0;
        return VIC_OK;
    }
    out->strange_ns = out->strange_ns != 0 ? out->strange_ns : now;
    return now - out->strange_ns >= LONG_NS ? differs(m, dest, &its) : VIC_OK;
}
