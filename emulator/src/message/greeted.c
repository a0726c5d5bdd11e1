/* Where a stream of messages to us begins. */
#include "message.h"

/* Has the card begun another stream? One that was killed does when it comes back: what it had not sent
 * completely is forgotten, and so is what stands in its ring. */
bool incoming_greeted(struct vic_message *m, uint32_t src)
{
    struct inward *in = &m->in[src];
    uint64_t word[2];
    struct state hello;
    bool looks = in->greeted;
    in->greeted = false;
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
    in->patience = in->looks = 0;
    incoming_publish(m, src, m->epoch);
    return true;
}
