/* What if the card is closed under its messages, and opened again? Alone, or one of several cards. */
#include "message.h"

static void exchange(vic_message_t *messages, uint32_t me)
{
    unsigned char data[3000];
    size_t bytes;
    for (uint32_t i = 0; i < 50; i++) {
        fill(data, sizeof data, i);
        OK(vic_message_send(messages, me, data, sizeof data, LONG));
        memset(data, 0, sizeof data);
        OK(vic_message_recv(messages, NULL, data, sizeof data, &bytes, LONG));
        CHECK(bytes == sizeof data && is_filled(data, bytes, i));
    }
}

int main(void)
{
    unsigned char data[8] = {0};
    size_t bytes;
    for (int times = 0; times < 80; times++) { /* more than closed handles are kept */
        vic_t *card;
        vic_message_t *messages, *again;
        struct vic_attr attr;
        OK(vic_open(&card));
        OK(vic_query_attr(card, &attr));
        OK(vic_message_open(card, NULL, &messages));
        exchange(messages, attr.card);
        if (times % 3 == 0) {
            OK(vic_message_close(messages));
            OK(vic_message_open(card, NULL, &again));
            exchange(again, attr.card);
            IS(vic_message_flush(messages, 0), VIC_ECLOSED);
            messages = again;
        }
        if (times % 2 == 0) {
            OK(vic_message_close(messages));
            OK(vic_close(card));
        } else {
            OK(vic_close(card));
            IS(vic_message_send(messages, 0, data, 8, LONG), VIC_ECLOSED);
            IS(vic_message_recv(messages, NULL, data, 8, &bytes, LONG), VIC_ECLOSED);
            IS(vic_message_recv(messages, NULL, data, 8, &bytes, 0), VIC_ECLOSED);
            IS(vic_message_flush(messages, LONG), VIC_ECLOSED);
            OK(vic_message_close(messages));
        }
        IS(vic_message_open(card, NULL, &messages), VIC_ECLOSED);
    }
    return 0;
}
