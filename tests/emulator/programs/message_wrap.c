/* A stream of messages that is longer than its positions count, 2^32 of 32 bytes or 137 GB: what is damaged there is sent
 * again, as anywhere. Both ends are set to a position just before that where the stream began, instead of sending so much. */
#include "harness.h"
#include "message/message.h"

enum { BYTES = 40, MESSAGES = 6, BEFORE = 3 };

int main(void)
{
    vic_t *card;
    vic_message_t *m;
    unsigned char sent[BYTES], got[BYTES];
    size_t n;
    OK(vic_open(&card));
    OK(vic_message_open(card, NULL, &m));
    OK(vic_message_send(m, 0, sent, 0, LONG));
    OK(vic_message_recv(m, NULL, got, 0, &n, LONG));
    OK(vic_message_flush(m, LONG));
    struct outward *out = &m->out[0];
    uint32_t position = out->hello.position - BEFORE;
    out->sent = out->taken = m->in[0].position = position;
    for (unsigned char i = 0; i < MESSAGES; i++) {
        memset(sent, i, sizeof sent);
        OK(vic_message_send(m, 0, sent, sizeof sent, LONG));
    }
    CHECK(out->sent - position > BEFORE); /* past the begin of the stream */
    uint64_t none = 0;
    OK(vic_write(card, ring_at(&m->layout, 0, position) + 1, &none, 1)); /* the first is damaged */
    for (unsigned char i = 0; i < MESSAGES; i++) {
        memset(sent, i, sizeof sent);
        OK(vic_message_recv(m, NULL, got, sizeof got, &n, LONG));
        CHECK(n == sizeof got && memcmp(got, sent, sizeof got) == 0);
    }
    OK(vic_message_flush(m, LONG));
    OK(vic_message_close(m));
    OK(vic_close(card));
    return 0;
}
