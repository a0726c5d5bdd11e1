/* message.h: messages whose bytes follow from who sent them to whom and which one it is. */
#ifndef TEST_MESSAGE_H
#define TEST_MESSAGE_H

#include "harness.h"
#include "vic_message.h"

/* In timed mode the clock of the others runs on while threads of a card wait for each other outside of the library.
 * What hangs is ended by who started it. */
#undef LONG
#define LONG VIC_FOREVER

static inline vic_message_t *open_messages(const struct self *self, size_t window, size_t most)
{
    struct vic_message_config config = {most, window, VIC_MESSAGE_ORDERED};
    vic_message_t *messages;
    OK(vic_message_open(self->card, &config, &messages));
    return messages;
}

static inline uint64_t name_of(uint32_t from, uint32_t to, uint32_t number)
{
    uint64_t state = (uint64_t)from << 48 | (uint64_t)to << 32 | number;
    return draw(&state);
}

static inline void fill(unsigned char *data, size_t bytes, uint64_t name)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = draw(&name);
        memcpy(data + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

static inline bool is_filled(const unsigned char *data, size_t bytes, uint64_t name)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = draw(&name);
        if (memcmp(data + i, &word, bytes - i < 8 ? bytes - i : 8) != 0) {
            return false;
        }
    }
    return true;
}

#endif
