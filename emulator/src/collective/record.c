/* Records of openings as words of SRAM. */
#include "directory.h"

enum { ADDR_BITS = 22, COUNTER_BITS = 6, LOG_BITS = 5, CARD_BITS = 16, NUMBER_BITS = 32 };

static uint64_t check_of(const uint64_t word[RECORD], uint32_t from, uint32_t to)
{
    return mix(word[0] ^ mix(word[1] ^ mix(word[2] ^ mix((uint64_t)from << 32 | to))));
}

static uint64_t pack(uint64_t word, unsigned bits, uint64_t value)
{
    return word << bits | (value & ((UINT64_C(1) << bits) - 1));
}

static uint64_t unpack(uint64_t *word, unsigned bits)
{
    uint64_t value = *word & ((UINT64_C(1) << bits) - 1);
    *word >>= bits;
    return value;
}

/* Where the buffers and the row are. */
static uint64_t pack_location(uint64_t word, const struct record *record)
{
    word = pack(word, LOG_BITS, record->log_words);
    word = pack(word, COUNTER_BITS, record->row);
    word = pack(word, COUNTER_BITS, record->counter[0]);
    word = pack(word, COUNTER_BITS, record->counter[1]);
    return pack(word, ADDR_BITS, record->base);
}

static void unpack_location(uint64_t *word, struct record *record)
{
    record->base = (vic_addr_t)unpack(word, ADDR_BITS);
    record->counter[1] = (unsigned)unpack(word, COUNTER_BITS);
    record->counter[0] = (unsigned)unpack(word, COUNTER_BITS);
    record->row = (unsigned)unpack(word, COUNTER_BITS);
    record->log_words = (unsigned)unpack(word, LOG_BITS);
}

void record_make(const struct record *record, uint32_t from, uint32_t to, uint64_t word[RECORD])
{
    uint64_t rest = pack(0, CARD_BITS, record->cards - 1);
    rest = record->refused ? pack(rest, NUMBER_BITS, record->met) : pack_location(rest, record);
    word[2] = pack(rest, 1, record->refused);
    word[0] = (uint64_t)record->number << 32 | record->opens;
    word[1] = record->list;
    word[3] = check_of(word, from, to);
}

bool record_read(const uint64_t word[RECORD], uint32_t from, uint32_t to, struct record *record)
{
    uint64_t rest = word[2];
    *record = (struct record){.number = (uint32_t)(word[0] >> 32), .opens = (uint32_t)word[0], .list = word[1]};
    record->refused = unpack(&rest, 1) != 0;
    if (record->refused) {
        record->met = (uint32_t)unpack(&rest, NUMBER_BITS);
    } else {
        unpack_location(&rest, record);
    }
    record->cards = (uint32_t)unpack(&rest, CARD_BITS) + 1;
    return word[3] == check_of(word, from, to);
}
