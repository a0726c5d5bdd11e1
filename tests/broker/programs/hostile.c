/* Sends a bridge whatever may be wrong with envelopes, and then something sound that must be answered. */
#include <stdio.h>
#include <stdlib.h>

#include "vic_client.h"

static uint64_t seed = 42;

static uint64_t draw(void)
{
    uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* An envelope that is nearly right, or noise. */
static size_t make(unsigned char *room, size_t most, const char *queue)
{
    size_t bytes = draw() % 200;
    for (size_t i = 0; i < most; i++) {
        room[i] = (unsigned char)draw();
    }
    if (draw() % 8 == 0) {
        return bytes;
    }
    unsigned kind = (unsigned)(draw() % 12);
    uint64_t key = draw() % 4 == 0 ? draw() % 300 : strlen(queue);
    uint64_t flags = draw() % 4 == 0 ? draw() % 64 : 0, version = draw() % 16 == 0 ? draw() % 256 : 1;
    vic_envelope_put_word(room, kind | version << 8 | flags << 16 | key << 32);
    if (draw() % 2 == 0) {
        vic_envelope_put_word(room + 8, draw() % 4);
        vic_envelope_put_word(room + 16, draw() % 1000);
    }
    size_t header = kind == VIC_DELIVER ? 56 : 24;
    if (key == strlen(queue) && draw() % 2 == 0) {
        memcpy(room + header, queue, key);
    }
    if (kind == VIC_SUBSCRIBE || draw() % 2 == 0) {
        vic_envelope_put_word(room + header + key, draw() % 3);
        return header + key + 8;
    }
    return header + key + 8 * (draw() % 20);
}

int main(int argc, char **argv)
{
    vic_t *card;
    vic_message_t *messages;
    unsigned char room[4096];
    struct vic_envelope envelope = {
        .kind = VIC_SUBSCRIBE, .session = 77, .id = 1, .key = "there/is/none", .key_bytes = 13};
    unsigned char credit[8] = {1};
    uint32_t bridge = argc > 3 ? (uint32_t)atoi(argv[1]) : 0, src;
    size_t bytes;
    if (vic_open(&card) != VIC_OK || vic_message_open(card, NULL, &messages) != VIC_OK) {
        return 1;
    }
    for (int left = atoi(argv[3]); left > 0; left--) {
        bytes = make(room, sizeof room, argv[2]);
        if (vic_message_send(messages, bridge, room, bytes, VIC_FOREVER) != VIC_OK) {
            return 1;
        }
        while (vic_message_recv(messages, &src, room, sizeof room, &bytes, 0) == VIC_OK) {
        }
    }
    envelope.body = credit;
    envelope.bytes = sizeof credit;
    if (vic_envelope_pack(room, sizeof room, &envelope, &bytes) != VIC_OK ||
        vic_message_send(messages, bridge, room, bytes, VIC_FOREVER) != VIC_OK) {
        return 1;
    }
    do {
        if (vic_message_recv(messages, &src, room, sizeof room, &bytes, VIC_FOREVER) != VIC_OK) {
            return 1;
        }
    } while (vic_envelope_unpack(room, bytes, &envelope) != VIC_OK || envelope.kind != VIC_REFUSAL ||
             envelope.session != 77);
    fprintf(stderr, "hostile: done, refused: %.*s\n", (int)envelope.bytes, (const char *)envelope.body);
    return vic_message_close(messages) == VIC_OK && vic_close(card) == VIC_OK ? 0 : 1;
}
