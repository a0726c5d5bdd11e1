/* The directories of this process' cards. They stay until the cards are closed, as others may read them at any time. */
#include <stdlib.h>

#include "team.h"

/* ---- records of openings as words of SRAM */

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
    word[2] = record->refused ? pack(rest, NUMBER_BITS, record->met) : pack_location(rest, record);
    word[0] = record_begin(record->number, record->opens) & ~(uint64_t)record->refused;
    word[1] = record->list;
    word[3] = check_of(word, from, to);
}

bool record_read(const uint64_t word[RECORD], uint32_t from, uint32_t to, struct record *record)
{
    uint64_t rest = word[2];
    *record = (struct record){.number = (uint32_t)(word[0] >> 32), .opens = (uint32_t)word[0] | 1, .list = word[1]};
    record->refused = (word[0] & 1) == 0;
    if (record->refused) {
        record->met = (uint32_t)unpack(&rest, NUMBER_BITS);
    } else {
        unpack_location(&rest, record);
    }
    record->cards = (uint32_t)unpack(&rest, CARD_BITS) + 1;
    return word[3] == check_of(word, from, to);
}

static bool forget(struct kept *kept)
{
    struct directory *directory = (struct directory *)kept;
    if (directory->users != 0) {
        return false;
    }
    if (directory->pending != NULL) {
        directory->pending->directory = NULL;
        team_free(directory->pending, false);
    }
    free(directory->seen);
    free(directory);
    return true;
}

struct layer team_layer = LAYER_OF(struct vic_team, forget);

static int take_region(struct directory *directory)
{
    size_t words = 2 * RECORD * (size_t)directory->attr.cards + ROWS * ROW;
    directory->seen = calloc(directory->attr.cards, sizeof *directory->seen);
    if (directory->seen == NULL) {
        return VIC_ESYS;
    }
    int status = vic_alloc(directory->kept.card, words, &directory->base);
    if (status != VIC_OK) {
        return status;
    }
    status = vic_counter_alloc(directory->kept.card, &directory->counter);
    if (status != VIC_OK) {
        vic_free(directory->kept.card, directory->base);
    }
    return status;
}

static int make(vic_t *card, const struct vic_attr *attr, struct directory **result)
{
    struct directory *directory = calloc(1, sizeof *directory);
    if (directory == NULL) {
        return VIC_ESYS;
    }
    directory->kept.card = card;
    directory->attr = *attr;
    int status = take_region(directory);
    if (status != VIC_OK) {
        free(directory->seen);
        free(directory);
        return status;
    }
    layer_keep(&team_layer, &directory->kept, card);
    *result = directory;
    return VIC_OK;
}

int directory_find(vic_t *card, const struct vic_attr *attr, struct directory **result)
{
    int status = VIC_OK;
    pthread_mutex_lock(&team_layer.lock);
    *result = (struct directory *)layer_find(&team_layer, card);
    if (*result == NULL) {
        status = make(card, attr, result);
    }
    if (status == VIC_OK) {
        (*result)->users++;
    }
    pthread_mutex_unlock(&team_layer.lock);
    return status;
}

void directory_enter(struct directory *directory)
{
    pthread_mutex_lock(&team_layer.lock);
    directory->users++;
    pthread_mutex_unlock(&team_layer.lock);
}

void directory_leave(struct directory *directory)
{
    pthread_mutex_lock(&team_layer.lock);
    directory->users--;
    pthread_mutex_unlock(&team_layer.lock);
}

unsigned directory_take_row(struct directory *directory)
{
    pthread_mutex_lock(&team_layer.lock);
    unsigned row = ROWS;
    for (unsigned i = 0; i < ROWS && row == ROWS; i++) { /* round robin: what was written last in a row stays for long */
        unsigned next = (directory->next_row + i) % ROWS;
        row = (directory->rows >> next & 1) == 0 ? next : ROWS;
    }
    if (row != ROWS) {
        directory->rows |= UINT64_C(1) << row;
        directory->next_row = row + 1;
    }
    pthread_mutex_unlock(&team_layer.lock);
    return row;
}

void directory_free_row(struct directory *directory, unsigned row)
{
    pthread_mutex_lock(&team_layer.lock);
    directory->rows &= ~(UINT64_C(1) << row);
    pthread_mutex_unlock(&team_layer.lock);
}
