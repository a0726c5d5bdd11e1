/* Frames as words, sealed by a key of stream and position. */
#include "wire.h"

enum { VERSION = 2 }; /* changes with what stands in SRAM */

void layout_set_key(struct layout *layout, size_t max_bytes, unsigned flags, uint32_t counters, unsigned first)
{
    const uint64_t end_stream[] = {layout->base, layout->cards, layout->units, max_bytes, flags, counters, first};
    hash_prepare();
    layout->key = wire_hash(VERSION, end_stream, sizeof end_stream, NULL);
}

uint64_t stream_key(const struct layout *layout, uint32_t from, uint32_t to, uint32_t epoch, uint32_t name)
{
    return dvsim_mix(dvsim_mix(layout->key ^ epoch ^ (uint64_t)name << 32) ^ ((uint64_t)from << 32 | to));
}

static uint64_t position_key(uint64_t stream, uint32_t position)
{
    return dvsim_draw(stream, position);
}

static uint64_t seed_of(uint64_t key, const uint64_t header[HEADER])
{
    return dvsim_mix(key ^ header[0]) ^ header[2];
}

void frame_make(uint64_t stream, uint32_t position, const struct frame *frame, const void *data, uint64_t *words)
{
    uint64_t key = position_key(stream, position);
    words[0] = (key >> 32) << 32 | (uint64_t)frame->sender << 20 | (uint64_t)frame->kind << 18 | frame->bytes;
    words[2] = (uint64_t)frame->total << 32 | frame->offset;
    for (uint32_t i = HEADER; i < frame_header(frame->bytes); i++) {
        words[i] = 0;
    }
    if (frame->bytes % 8 != 0) {
        words[frame_words(frame->bytes) - 1] = 0; /* what the last word has beyond the bytes */
    }
    words[1] = wire_hash(seed_of(key, words), data, frame->bytes, words + frame_header(frame->bytes));
}

bool frame_read(const struct layout *layout, uint64_t stream, uint32_t position, const uint64_t header[HEADER],
                struct frame *frame)
{
    if (position_key(stream, position) >> 32 != header[0] >> 32) {
        return false;
    }
    unsigned kind = header[0] >> 18 & 3;
    *frame = (struct frame){(enum frame_kind)kind, (uint32_t)(header[0] & 0x3ffff), (uint32_t)(header[2] >> 32),
                            (uint32_t)header[2], header[1], (uint32_t)(header[0] >> 20 & 0xfff)};
    if (kind == FRAME_SKIP) {
        return frame->bytes == 0;
    }
    bool progress = frame->bytes > 0 || frame->total == 0;
    return kind == FRAME_PIECE && progress && frame->bytes <= piece_most(layout) && frame->offset <= frame->total &&
           frame->bytes <= frame->total - frame->offset && frame_units(frame->bytes) <= rest_of(layout, position) &&
           (frame->bytes % 8 == 0 || frame->offset + frame->bytes == frame->total) && frame->offset % 8 == 0;
}

bool frame_is_whole(uint64_t stream, uint32_t position, const uint64_t header[HEADER], const struct frame *frame,
                    const void *data)
{
    return wire_hash(seed_of(position_key(stream, position), header), data, frame->bytes, NULL) == frame->hash;
}

static uint32_t check_of(const struct layout *layout, int purpose, uint32_t of, uint32_t to, uint32_t epoch,
                         uint64_t word)
{
    uint64_t key = stream_key(layout, of, to, epoch, 0) + (uint64_t)purpose;
    return (uint32_t)dvsim_mix(dvsim_mix(key) ^ word);
}

void state_make(const struct layout *layout, int purpose, uint32_t of, uint32_t to, const struct state *state,
                uint64_t word[2])
{
    word[0] = (uint64_t)state->position << 32 | state->messages;
    word[1] = (uint64_t)state->epoch << 32 | check_of(layout, purpose, of, to, state->epoch, word[0]);
}

static uint32_t config_check(uint64_t word, uint32_t epoch)
{
    return (uint32_t)dvsim_mix(dvsim_mix(word + VERSION) ^ epoch);
}

void config_make(const struct peer_config *peer_config, uint32_t epoch, uint64_t word[2])
{
    word[0] = (uint64_t)peer_config->max_bytes << 32 | (uint64_t)(peer_config->window_bytes / 32) << 12 |
              (uint64_t)(peer_config->flags & 15) << 8 | (peer_config->counter & 63);
    word[1] = (uint64_t)epoch << 32 | config_check(word[0], epoch);
}

bool config_read(const uint64_t word[2], struct peer_config *peer_config)
{
    uint32_t epoch = (uint32_t)(word[1] >> 32);
    *peer_config = (struct peer_config){(size_t)(word[0] >> 32), (uint32_t)(word[0] >> 12 & 0xfffff) * 32,
                                  (unsigned)(word[0] >> 8 & 15), (unsigned)(word[0] & 63)};
    return (epoch & EPOCH_OPEN) != 0 && (uint32_t)word[1] == config_check(word[0], epoch);
}

bool state_read(const struct layout *layout, int purpose, uint32_t of, uint32_t to, const uint64_t word[2],
                struct state *state)
{
    *state = (struct state){(uint32_t)(word[0] >> 32), (uint32_t)word[0], (uint32_t)(word[1] >> 32)};
    return (state->epoch & ~(uint32_t)EPOCH_OPEN) != 0 &&
           (uint32_t)word[1] == check_of(layout, purpose, of, to, state->epoch, word[0]);
}
