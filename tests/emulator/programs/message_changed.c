/* Bytes that another thread changes while they are sent: nobody can say which ones arrive, but the message does, and
 * those behind it do. */
#include <pthread.h>
#include <stdatomic.h>

#include "message.h"

enum { MESSAGES = 200 * 1000, PASSES = 1000, MOST = 3000 };

static _Atomic unsigned char data[MOST];
static _Atomic unsigned passes;
static _Atomic int over;

static void *change(void *nothing)
{
    for (; !over; passes++) {
        for (size_t i = 0; i < MOST; i++) {
            atomic_store_explicit(&data[i], (unsigned char)passes, memory_order_relaxed);
        }
    }
    return nothing;
}

int main(void)
{
    static const struct vic_message_config config = {MOST, 0, 0};
    static const size_t sizes[] = {7, 40, 500, 1024, 2000, MOST};
    static unsigned char came[MOST];
    vic_t *card;
    vic_message_t *messages;
    pthread_t thread;
    OK(vic_open(&card));
    OK(vic_message_open(card, &config, &messages));
    CHECK(pthread_create(&thread, NULL, change, NULL) == 0);
    for (int i = 0; i < MESSAGES || passes < PASSES; i++) {
        size_t bytes;
        OK(vic_message_send(messages, 0, (const void *)data, sizes[i % 6], LONG));
        OK(vic_message_recv(messages, NULL, came, MOST, &bytes, LONG));
        CHECK(bytes == sizes[i % 6]);
    }
    over = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    OK(vic_message_close(messages));
    OK(vic_close(card));
    return 0;
}
