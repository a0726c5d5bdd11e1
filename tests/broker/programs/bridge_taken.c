/* Does an envelope come off the card into memory that is large enough, and not far larger? */
#define _GNU_SOURCE
#include "bridge_parts.h"
#include "consume.h"

static _Atomic uint64_t opens[3];
static struct consumer consumer;
static struct publisher publisher;
static struct bridge bridge = {.cards = 3, .me = 2, .opens = opens, .consumer = &consumer, .publisher = &publisher,
                               .options = {.connections = 1, .window = 100, .window_bytes = 1 << 24, .piece_words = 131}};

static const size_t sizes[] = {8, 20000, 20000, 30000, 9000, 9000, 8, 100};
enum { SIZES = sizeof sizes / sizeof *sizes };
static size_t next, refused; /* which is the next; how often its memory was too small */

static unsigned char body_byte(size_t number, size_t at)
{
    return (unsigned char)(number * 31 + at * 7);
}

int vic_message_recv(vic_message_t *messages, uint32_t *src, void *data, size_t capacity, size_t *bytes, uint64_t timeout_ns)
{
    (void)messages, (void)timeout_ns;
    if (next == SIZES) {
        return VIC_ECLOSED;
    }
    static unsigned char body[30000];
    for (size_t i = 0; i < sizes[next]; i++) {
        body[i] = body_byte(next, i);
    }
    struct vic_envelope envelope = {.kind = VIC_PUBLISH, .id = next + 1, .key = "k", .key_bytes = 1, .body = body,
                                    .bytes = sizes[next]};
    *src = 0;
    *bytes = vic_envelope_header(VIC_PUBLISH) + 1 + sizes[next];
    if (capacity < *bytes) {
        refused++;
        return VIC_ENOSPC;
    }
    next++;
    return vic_envelope_pack(data, capacity, &envelope, bytes);
}

int main(void)
{
    publisher.bridge = &bridge;
    take_all(&bridge);
    CHECK(bridge.stop == STOP_JOB && publisher.todo.count == SIZES && bridge.counters.messages == SIZES);
    CHECK(refused == 2); /* the first of 20000 bytes, and the one of 30000 */
    struct message *message;
    for (size_t i = 0; (message = queue_take(&publisher.todo)) != NULL; i++) {
        CHECK(message->id == i + 1 && message->body_bytes == sizes[i] && message->key_bytes == 1 && *message->key == 'k');
        CHECK(message->capacity <= 4096 || message->capacity <= 2 * message->bytes); /* a window of them is bounded */
        for (size_t at = 0; at < sizes[i]; at++) {
            CHECK(message->body[at] == body_byte(i, at));
        }
        CHECK((uintptr_t)message->data % sizeof(uint64_t) == 0); /* words of the card need no copy on their way there */
        message_free(message);
    }
    message_free_all();
    puts("checks passed");
    return 0;
}
