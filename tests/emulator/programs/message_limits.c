/* Does each call say what vic_message.h promises when something is wrong? Card 0 asks; the others open late. */
#include "message.h"

static void bad_arguments(const struct self *self)
{
    vic_message_t *messages = NULL, *again;
    unsigned char data[8];
    size_t bytes;
    uint64_t ends = 9;
    IS(vic_message_open(NULL, NULL, &messages), VIC_EINVAL);
    IS(vic_message_open(self->card, NULL, NULL), VIC_EINVAL);
    struct vic_message_config config = {.max_bytes = (size_t)1 << 31};
    IS(vic_message_open(self->card, &config, &messages), VIC_EINVAL);
    config = (struct vic_message_config){.flags = 2};
    IS(vic_message_open(self->card, &config, &messages), VIC_EINVAL);
    config = (struct vic_message_config){.window_bytes = (16 << 20) + 1};
    IS(vic_message_open(self->card, &config, &messages), VIC_EINVAL);
    config.window_bytes = 16 << 20;
    if (self->attr.sram_words < config.window_bytes / 8) {
        IS(vic_message_open(self->card, &config, &messages), VIC_ENOSPC);
    }
    unsigned counter[64], count = 0;
    while (vic_counter_alloc(self->card, &counter[count]) == VIC_OK) {
        count++;
    }
    IS(vic_message_open(self->card, NULL, &messages), VIC_ENOSPC);
    OK(vic_counter_free(self->card, counter[--count]));
    IS(vic_message_open(self->card, NULL, &messages), VIC_ENOSPC); /* one is too few, and is free again */
    OK(vic_counter_alloc(self->card, &counter[count++]));
    while (count > 0) {
        OK(vic_counter_free(self->card, counter[--count]));
    }
    CHECK(messages == NULL);
    messages = open_messages(self, 512, 1000);
    IS(vic_message_open(self->card, NULL, &again), VIC_EBUSY);
    IS(vic_message_send(NULL, 0, data, 8, 0), VIC_EINVAL);
    IS(vic_message_send(messages, 0, NULL, 8, 0), VIC_EINVAL);
    IS(vic_message_send(messages, 0, data, 1001, 0), VIC_EINVAL);
    IS(vic_message_send(messages, self->cards, data, 8, 0), VIC_ERANGE);
    IS(vic_message_recv(NULL, NULL, data, 8, &bytes, 0), VIC_EINVAL);
    IS(vic_message_recv(messages, NULL, NULL, 8, &bytes, 0), VIC_EINVAL);
    IS(vic_message_recv(messages, NULL, data, 8, NULL, 0), VIC_EINVAL);
    IS(vic_message_flush(NULL, 0), VIC_EINVAL);
    IS(vic_message_flush_to(NULL, 0, 0), VIC_EINVAL);
    IS(vic_message_flush_to(messages, self->cards, 0), VIC_ERANGE);
    IS(vic_message_ends(NULL, 0, &ends), VIC_EINVAL);
    IS(vic_message_ends(messages, 0, NULL), VIC_EINVAL);
    IS(vic_message_ends(messages, self->cards, &ends), VIC_ERANGE);
    OK(vic_message_ends(messages, self->me, &ends));
    CHECK(ends == 0);
    IS(vic_message_close(NULL), VIC_EINVAL);
    OK(vic_message_close(messages));
    IS(vic_message_ends(messages, 0, &ends), VIC_ECLOSED);
    IS(vic_message_flush_to(messages, 0, 0), VIC_ECLOSED);
    IS(vic_message_close(messages), VIC_ECLOSED);
    IS(vic_message_send(messages, 0, data, 8, 0), VIC_ECLOSED);
    IS(vic_message_recv(messages, NULL, data, 8, &bytes, 0), VIC_ECLOSED);
    IS(vic_message_flush(messages, 0), VIC_ECLOSED);
}

/* The next opening has the same place, unless the card would give another one now: then it has that. */
static void another_place(const struct self *self)
{
    enum { MORE = 4096, WINDOW = 1024 }; /* wider than before: it does not fit where the last one was */
    unsigned char data[8] = {0};
    size_t bytes;
    vic_addr_t before, after;
    OK(vic_alloc(self->card, MORE, &before));
    vic_message_t *messages = open_messages(self, WINDOW, 1000);
    OK(vic_message_close(messages));
    OK(vic_free(self->card, before));
    messages = open_messages(self, WINDOW, 1000);
    OK(vic_message_send(messages, self->me, "at home", 8, LONG));
    OK(vic_message_recv(messages, NULL, data, 8, &bytes, VIC_FOREVER - 2)); /* a deadline that no clock has */
    CHECK(bytes == 8 && strcmp((const char *)data, "at home") == 0);
    OK(vic_message_close(messages));
    OK(vic_alloc(self->card, MORE, &after)); /* nothing was kept twice */
    OK(vic_free(self->card, after));
}

static void small_buffers(const struct self *self, vic_message_t *messages)
{
    unsigned char data[1000], back[1000];
    size_t bytes = 77;
    uint32_t src = 77;
    IS(vic_message_recv(messages, &src, back, sizeof back, &bytes, 0), VIC_ETIMEDOUT);
    IS(vic_message_recv(messages, &src, back, sizeof back, &bytes, 1000 * 1000), VIC_ETIMEDOUT);
    CHECK(src == 77 && bytes == 77);
    for (size_t size = 1; size <= sizeof data; size += 333) {
        fill(data, size, size);
        OK(vic_message_send(messages, self->me, data, size, LONG));
        IS(vic_message_flush(messages, 1000 * 1000), VIC_ETIMEDOUT); /* not received yet */
        for (int times = 0; times < 3; times++) {
            src = 77;
            IS(vic_message_recv(messages, &src, back, size - 1, &bytes, LONG), VIC_ENOSPC);
            CHECK(bytes == size && src == self->me);
        }
        IS(vic_message_recv(messages, NULL, NULL, 0, &bytes, 0), VIC_ENOSPC);
        OK(vic_message_recv(messages, NULL, back, size, &bytes, 0));
        CHECK(bytes == size && is_filled(back, size, size));
        OK(vic_message_flush(messages, LONG));
    }
    OK(vic_message_send(messages, self->me, NULL, 0, LONG));
    OK(vic_message_recv(messages, NULL, NULL, 0, &bytes, LONG));
    CHECK(bytes == 0);
}

/* Nobody receives: credit ends, and what did not fit was not sent, not even in part. */
static void no_credit(const struct self *self, vic_message_t *messages)
{
    enum { EACH = 900 };
    unsigned char data[EACH];
    size_t bytes;
    uint32_t sent = 0, came = 0;
    for (;; sent++) {
        fill(data, EACH, sent);
        int status;
        do { /* on a busy machine even the first may take long */
            status = vic_message_send(messages, self->me, data, EACH, 2 * 1000 * 1000);
        } while (status == VIC_ETIMEDOUT && sent == 0);
        if (status != VIC_OK) {
            IS(status, VIC_ETIMEDOUT);
            break;
        }
    }
    CHECK(sent > 0 && sent < 20); /* a ring of 512 B, and max_bytes of host memory */
    for (; came < sent; came++) {
        OK(vic_message_recv(messages, NULL, data, EACH, &bytes, LONG));
        CHECK(bytes == EACH && is_filled(data, EACH, came));
    }
    IS(vic_message_recv(messages, NULL, data, EACH, &bytes, 1000 * 1000), VIC_ETIMEDOUT);
    fill(data, EACH, 4711); /* and after what was given up things go on */
    OK(vic_message_send(messages, self->me, data, 0, LONG));
    OK(vic_message_recv(messages, NULL, data, EACH, &bytes, LONG));
    CHECK(bytes == 0);
}

/* Peers have closed, and said so: nothing is sent any more, but for what overtook that. */
static void closed_peers(const struct self *self, vic_message_t *messages)
{
    uint32_t sent = 0;
    for (uint32_t to = 1; to < self->cards; to++) {
        for (;;) {
            int status = vic_message_send(messages, to, "overtaken", 9, 0);
            if (status != VIC_OK) {
                IS(status, VIC_ETIMEDOUT);
                break;
            }
            CHECK(++sent < 4 * to); /* the ring has room for 8 */
            uint64_t start = vic_time_ns(self->card);
            while (vic_time_ns(self->card) - start < 1000 * 1000) {
                vic_relax(self->card);
            }
        }
    }
    IS(vic_message_flush(messages, LONG), sent > 0 ? VIC_EPEER : VIC_OK);
    OK(vic_message_flush(messages, LONG)); /* said once */
}

void run(const struct self *self)
{
    unsigned char data[8] = {0};
    size_t bytes;
    if (self->me == 0) {
        bad_arguments(self);
        another_place(self);
    }
    OK(vic_barrier(self->card, VIC_FOREVER));
    vic_message_t *messages = NULL;
    if (self->me == 0) {
        messages = open_messages(self, 512, 1000);
        small_buffers(self, messages);
        no_credit(self, messages);
        for (uint32_t to = 1; to < self->cards; to++) { /* not open */
            IS(vic_message_send(messages, to, data, 8, 0), VIC_ETIMEDOUT);
            IS(vic_message_send(messages, to, data, 8, 2 * 1000 * 1000), VIC_ETIMEDOUT);
        }
        OK(vic_message_flush(messages, LONG)); /* none of these was sent */
    }
    OK(vic_barrier(self->card, VIC_FOREVER));
    if (self->me != 0) {
        messages = open_messages(self, 512, 1000);
    }
    if (self->me == 0) {
        for (uint32_t to = 1; to < self->cards; to++) {
            OK(vic_message_send(messages, to, data, 8, LONG));
        }
        OK(vic_message_flush(messages, LONG));
    } else {
        OK(vic_message_recv(messages, NULL, data, 8, &bytes, LONG));
    }
    OK(vic_barrier(self->card, VIC_FOREVER));
    if (self->me != 0) {
        OK(vic_message_close(messages));
    }
    OK(vic_barrier(self->card, VIC_FOREVER));
    if (self->me == 0) {
        closed_peers(self, messages);
        OK(vic_message_close(messages));
    }
    OK(vic_barrier(self->card, VIC_FOREVER)); /* nobody's program has ended before */
}
