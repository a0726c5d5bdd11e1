#include "wire.h"

#include <string.h>

enum { LANES = 8 };

uint64_t wire_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* For a given word another h gives another result, and the other way round: a single change is never lost. */
static inline uint64_t stir(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return h << 29 | h >> 35;
}

static inline uint64_t load(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

uint64_t wire_hash(uint64_t seed, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t h = stir(seed, bytes);
    if (bytes >= LANES * 8) { /* the multiplications of one lane wait for each other, those of several do not */
        uint64_t lane[LANES];
        for (unsigned i = 0; i < LANES; i++) {
            lane[i] = h + i;
        }
        for (; bytes >= LANES * 8; bytes -= LANES * 8, at += LANES * 8) {
            for (unsigned i = 0; i < LANES; i++) {
                lane[i] = stir(lane[i], load(at + i * 8));
            }
        }
        for (unsigned i = 0; i < LANES; i++) {
            h = stir(h, lane[i]);
        }
    }
    for (; bytes >= 8; bytes -= 8, at += 8) {
        h = stir(h, load(at));
    }
    if (bytes > 0) {
        uint64_t last = 0;
        memcpy(&last, at, bytes);
        h = stir(h, last);
    }
    return wire_mix(h);
}

uint64_t stream_key(const struct layout *layout, uint32_t from, uint32_t to, uint32_t epoch)
{
    return wire_mix(wire_mix(layout->key ^ epoch) ^ ((uint64_t)from << 32 | to));
}

static uint64_t place_key(uint64_t stream, uint32_t place)
{
    return wire_mix(stream + place * UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t hash_of(uint64_t key, const uint64_t header[HEADER], const void *data, size_t bytes)
{
    return wire_hash(stir(stir(key, header[0]), header[2]), data, bytes);
}

void frame_make(uint64_t stream, uint32_t place, struct frame *frame, const void *data, uint64_t header[HEADER])
{
    uint64_t key = place_key(stream, place);
    header[0] = (key >> 32) << 32 | (uint64_t)frame->kind << 24 | frame->bytes;
    header[2] = (uint64_t)frame->total << 32 | frame->offset;
    header[1] = frame->hash = hash_of(key, header, data, frame->bytes);
}

bool frame_read(const struct layout *layout, uint64_t stream, uint32_t place, const uint64_t header[HEADER],
                struct frame *frame)
{
    if (place_key(stream, place) >> 32 != header[0] >> 32) {
        return false;
    }
    unsigned kind = header[0] >> 24 & 0xff;
    *frame = (struct frame){(enum frame_kind)kind, (uint32_t)(header[0] & 0xffffff), (uint32_t)(header[2] >> 32),
                            (uint32_t)header[2], header[1]};
    if (kind == FRAME_SKIP) {
        return frame->bytes == 0;
    }
    bool progress = frame->bytes > 0 || frame->total == 0;
    return kind == FRAME_PIECE && progress && frame->bytes <= piece_most(layout) && frame->offset <= frame->total &&
           frame->bytes <= frame->total - frame->offset && frame_units(frame->bytes) <= rest_of(layout, place) &&
           (frame->bytes % 8 == 0 || frame->offset + frame->bytes == frame->total) && frame->offset % 8 == 0;
}

bool frame_is_whole(uint64_t stream, uint32_t place, const uint64_t header[HEADER], const struct frame *frame,
                    const void *data)
{
    return hash_of(place_key(stream, place), header, data, frame->bytes) == frame->hash;
}

static uint32_t check_of(const struct layout *layout, int purpose, uint32_t of, uint32_t to, uint32_t epoch,
                         uint64_t word)
{
    uint64_t key = stream_key(layout, of, to, epoch) + (uint64_t)purpose;
    return (uint32_t)wire_mix(stir(key, word));
}

void state_make(const struct layout *layout, int purpose, uint32_t of, uint32_t to, const struct state *state,
                uint64_t word[2])
{
    word[0] = (uint64_t)state->place << 32 | state->messages;
    word[1] = (uint64_t)state->epoch << 32 | check_of(layout, purpose, of, to, state->epoch, word[0]);
}

bool state_read(const struct layout *layout, int purpose, uint32_t of, uint32_t to, const uint64_t word[2],
                struct state *state)
{
    *state = (struct state){(uint32_t)(word[0] >> 32), (uint32_t)word[0], (uint32_t)(word[1] >> 32)};
    return (state->epoch & ~UINT32_C(EPOCH_OPEN)) != 0 &&
           (uint32_t)word[1] == check_of(layout, purpose, of, to, state->epoch, word[0]);
}
