/* The begin of the stream that a card sends here; and cards that cannot send, as their config differs. */
#include "message.h"

enum { LONG_NS = 50 * 1000 * 1000 }; /* the words of a card that was killed stay until it opens its messages again */

/* Returns whether a card has begun another stream, as it does after it was killed. Then its incomplete message and the rest
 * of its ring are dropped. */
bool incoming_restarted(struct vic_message *m, uint32_t src)
{
    struct inward *in = &m->in[src];
    uint64_t word[2];
    struct state hello;
    bool looks = in->new_hello;
    in->new_hello = false;
    if (!looks || incoming_read(m, record_at(&m->layout, src) + RECORD_HELLO, word, 2) != VIC_OK ||
        !state_read(&m->layout, RECORD_HELLO, src, m->me, word, &hello) || hello.epoch != m->epoch ||
        hello.messages == in->name || hello.messages == in->old_name) {
        return false;
    }
    incoming_forget(in);
    in->old_name = in->name;
    in->name = hello.messages;
    in->stream = stream_key(&m->layout, src, m->me, m->epoch, in->name);
    in->position = hello.position;
    in->delivered = 0;
    in->skip = in->looks = 0;
    incoming_publish(m, src, m->epoch);
    return true;
}

void config_publish(struct vic_message *m, uint32_t src, uint32_t epoch)
{
    uint64_t word[2];
    config_make(&m->peer_config, epoch, word);
    vic_write(m->card, record_at(&m->layout, src) + RECORD_CONFIG, word, 2);
}

static int differs(const struct vic_message *m, uint32_t dest, const struct peer_config *its)
{
    const struct peer_config *own = &m->peer_config;
    return fail(VIC_EINVAL,
                "card %u has messages open with max_bytes %zu, window_bytes %u, flags %u, counters from %u on; this card "
                "with %zu, %u, %u, %u",
                dest, its->max_bytes, its->window_bytes, its->flags, its->counter, own->max_bytes, own->window_bytes,
                own->flags, own->counter);
}

int config_look(struct vic_message *m, uint32_t dest)
{
    struct outward *out = &m->out[dest];
    uint64_t word[2], now = vic_time_ns(m->card);
    struct peer_config its;
    uint32_t reply = record_at(&m->layout, dest) + RECORD_CONFIG_REPLY;
    bool same = !out->unreadable || incoming_read(m, reply, word, 2) != VIC_OK || !config_read(word, &its) ||
                (its.max_bytes == m->peer_config.max_bytes && its.window_bytes == m->peer_config.window_bytes &&
                 its.flags == m->peer_config.flags && its.counter == m->peer_config.counter);
    if (out->unreadable) {
        credit_query(m, dest, RECORD_CONFIG, RECORD_CONFIG_REPLY);
    }
    if (same) {
        out->differs_ns = 0;
        return VIC_OK;
    }
    out->differs_ns = out->differs_ns != 0 ? out->differs_ns : now;
    return now - out->differs_ns >= LONG_NS ? differs(m, dest, &its) : VIC_OK;
}
