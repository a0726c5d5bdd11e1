/* What bench/message.py measures: messages from card 0 to card 1.
 *
 *     vicrun -n 2 -- message_vic messages BYTES COUNT     messages per second, received
 *     vicrun -n 2 -- message_vic latency BYTES COUNT      ns one way
 */
#include "emulator_pair.h"

#include <string.h>

#include <vic_message.h>

#define MUST(call)                                                                                          \
    do {                                                                                                    \
        int status_ = (call);                                                                               \
        if (status_ != VIC_OK) {                                                                            \
            fprintf(stderr, "message_vic: %s: %s\n", #call, vic_strerror(status_));                         \
            exit(1);                                                                                        \
        }                                                                                                   \
    } while (0)

static vic_t *card;
static struct vic_attr attr;
static vic_message_t *open_messages;
static uint64_t *data;
static size_t bytes;

static void send_one(uint64_t number)
{
    data[0] = number;
    MUST(vic_message_send(open_messages, 1 - attr.card, data, bytes, VIC_FOREVER));
}

static void receive_one(uint64_t number)
{
    size_t came;
    MUST(vic_message_recv(open_messages, NULL, data, bytes, &came, VIC_FOREVER));
    if (came != bytes || data[0] != number) {
        abort();
    }
}

static void stream(uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        if (attr.card == 0) {
            send_one(i);
        } else {
            receive_one(i);
        }
    }
}

static double messages(uint64_t count)
{
    stream(0, count / 10 + 1); /* every page is there */
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = now_ns();
    stream(0, count);
    return (double)count * 1e9 / (double)(now_ns() - start);
}

static double latency(uint64_t count)
{
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t turn = 0; turn < 2; turn++) {
            if (turn == attr.card) {
                send_one(i);
            } else {
                receive_one(i);
            }
        }
    }
    return (double)(now_ns() - start) / 2 / (double)count;
}

int main(int argc, char **argv)
{
    uint64_t count = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    bytes = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
    if (count == 0 || bytes < 8 || vic_open(&card) != VIC_OK || vic_query_attr(card, &attr) != VIC_OK) {
        fprintf(stderr, "message_vic TEST BYTES COUNT, under vicrun: %s\n", vic_open_reason());
        return 2;
    }
    data = calloc(1, bytes + 8);
    if (attr.mode == 0) {
        take_core(attr.card);
    }
    MUST(vic_message_open(card, NULL, &open_messages));
    double figure = strcmp(argv[1], "latency") == 0 ? latency(count) : messages(count);
    MUST(vic_message_flush(open_messages, VIC_FOREVER));
    if (attr.card == 1) {
        printf("%.6g\n", figure);
    }
    MUST(vic_barrier(card, VIC_FOREVER));
    MUST(vic_message_close(open_messages));
    MUST(vic_close(card));
    free(data);
    return 0;
}
