/* Opening and closing messages. */
#include "message.h"

#include <stdlib.h>

#include "sized.h"

/* ---- what messages have allocated on a card. It stays when they are closed, as peers may still write there: the next
 * opening on the same card has it again */

struct region {
    struct kept kept;
    bool used;
    size_t words;
    vic_addr_t base;
    uint32_t counters;
    unsigned counter[MOST_ACTIVITY + OTHER_COUNTERS];
};

static bool forget(struct kept *kept)
{
    free(kept);
    return true;
}

static struct layer message_layer = LAYER_OF(struct vic_message, forget);

static void region_release(struct region *region)
{
    for (uint32_t i = 0; i < region->counters; i++) {
        vic_counter_free(region->kept.card, region->counter[i]);
    }
    vic_free(region->kept.card, region->base);
    free(region);
}

static int region_take(vic_t *card, size_t words, uint32_t counters, struct region **result)
{
    struct region *region = calloc(1, sizeof *region);
    if (region == NULL) {
        return VIC_ESYS;
    }
    region->kept.card = card;
    region->words = words;
    region->used = true;
    int status = vic_alloc(card, words, &region->base);
    if (status != VIC_OK) {
        free(region);
        return status;
    }
    while (status == VIC_OK && region->counters < counters) {
        status = vic_counter_alloc(card, &region->counter[region->counters]);
        region->counters += status == VIC_OK;
    }
    if (status != VIC_OK) {
        region_release(region);
        return status;
    }
    layer_keep(&message_layer, &region->kept, card);
    *result = region;
    return VIC_OK;
}

/* The region of an earlier opening of messages on this card. */
static struct region *region_find_earlier(vic_t *card, size_t words, uint32_t counters, bool *busy)
{
    struct region *region = (struct region *)layer_find(&message_layer, card);
    if (region == NULL) {
        return NULL;
    }
    *busy = region->used;
    if (!*busy && (region->words != words || region->counters != counters)) {
        layer_drop(&message_layer, &region->kept);
        region_release(region);
        return NULL;
    }
    region->used = true;
    return *busy ? NULL : region;
}

/* VIC_EBUSY: messages are open on this card. VIC_ENOSPC, VIC_ESYS. */
static int region_find(vic_t *card, size_t words, uint32_t counters, struct region **result)
{
    bool busy = false;
    pthread_mutex_lock(&message_layer.lock);
    *result = region_find_earlier(card, words, counters, &busy);
    int status = busy ? VIC_EBUSY : VIC_OK;
    if (status == VIC_OK && *result == NULL) {
        status = region_take(card, words, counters, result);
    }
    pthread_mutex_unlock(&message_layer.lock);
    return status;
}

static void region_leave(vic_t *card)
{
    pthread_mutex_lock(&message_layer.lock);
    struct region *region = (struct region *)layer_find(&message_layer, card);
    if (region != NULL) { /* the card is still open */
        region->used = false;
    }
    pthread_mutex_unlock(&message_layer.lock);
}

/* ---- opening and closing */

enum { MAX_USUAL = 16 << 20, MAX_MOST = 1 << 30, WINDOW_USUAL = 512 << 10 };

static _Atomic uint64_t openings;

static void free_memory(struct vic_message *m)
{
    if (m->in != NULL) {
        incoming_free(m);
    }
    for (uint32_t dest = 0; m->out != NULL && dest < m->cards; dest++) {
        free(m->out[dest].mirror);
    }
    free(m->in);
    free(m->out);
    free(m->bounce);
}

static uint32_t new_epoch(const struct vic_message *m)
{
    uint64_t x = dvsim_mix(vic_time_ns(m->card) + dvsim_mix(atomic_fetch_add(&openings, 1) * MAX_MOST + m->me));
    return (uint32_t)x | 2 | EPOCH_OPEN;
}

/* Rings in bytes; 0: the config makes no sense. */
static size_t window_of(const struct vic_message_config *config, const struct vic_attr *attr)
{
    size_t window = WINDOW_LEAST;
    if (config->window_bytes == 0) {
        size_t share = (size_t)attr->sram_words * 8 / 4 / attr->cards;
        while (2 * window <= share && window < WINDOW_USUAL) {
            window *= 2;
        }
        return window;
    }
    while (window < config->window_bytes && window <= WINDOW_MOST) {
        window *= 2;
    }
    return window <= WINDOW_MOST ? window : 0;
}

static int set_up(struct vic_message *m, const struct region *region, const struct vic_attr *attr, size_t window,
                  unsigned flags)
{
    m->layout = (struct layout){region->base, attr->cards, (uint32_t)(window / 8 / UNIT), 0};
    m->activities = region->counters - OTHER_COUNTERS;
    layout_set_key(&m->layout, m->max_bytes, flags, m->activities + 2, region->counter[0]);
    for (uint32_t k = 0; k < m->activities; k++) {
        m->activity[k] = region->counter[k];
    }
    m->peer_config = (struct peer_config){m->max_bytes, (uint32_t)window, flags, region->counter[0]};
    m->bell = region->counter[m->activities];
    m->news = region->counter[m->activities + 1];
    m->frames = region->counter[m->activities + 2];
    m->read_most = layer_read_most(m->card);
    m->epoch = new_epoch(m);
    m->last = &m->first;
    m->in = calloc(m->cards, sizeof *m->in);
    m->out = calloc(m->cards, sizeof *m->out);
    m->bounce = malloc(PIECE_MOST + sizeof *m->bounce);
    if (m->in == NULL || m->out == NULL || m->bounce == NULL) {
        return VIC_ESYS;
    }
    for (uint32_t src = 0; src < m->cards; src++) {
        m->in[src].stream = stream_key(&m->layout, src, m->me, m->epoch, 0);
        m->in[src].sender = UINT32_MAX;
    }
    return VIC_OK;
}

/* Read, and clear, how far an earlier opening of this card was with the rings of others. */
static void resume(struct vic_message *m)
{
    for (uint32_t dest = 0; dest < m->cards; dest++) {
        struct outward *out = &m->out[dest];
        uint64_t word[4], none[4] = {0};
        uint32_t at = record_at(&m->layout, dest) + RECORD_SENT;
        out->resumes = vic_read(m->card, at, word, 4) == VIC_OK &&
                       state_read(&m->layout, RECORD_SENT, m->me, dest, word, &out->saved) &&
                       state_read(&m->layout, RECORD_BEGUN, m->me, dest, word + 2, &out->hello) &&
                       out->saved.epoch == out->hello.epoch;
        if (out->resumes) {
            vic_write(m->card, at, none, 4);
        }
    }
}

/* Nothing here fails, unless another thread closes the card: then the next call returns that. */
static void begin(struct vic_message *m)
{
    static const int64_t many = INT64_C(1) << 62;
    for (uint32_t k = 0; k < m->activities; k++) {
        vic_counter_set(m->card, m->activity[k], many);
        m->seen[k] = many;
    }
    vic_counter_set(m->card, m->news, many);
    vic_counter_set(m->card, m->frames, many);
    m->seen_news = m->seen_frames = many;
    resume(m);
    for (uint32_t src = 0; src < m->cards; src++) {
        config_publish(m, src, m->epoch);
        incoming_publish(m, src, m->epoch); /* from now on cards may send */
    }
}

static int vic_message_open_sized_call(size_t config_bytes, vic_t *card,
                                       const struct vic_message_config *given, vic_message_t **messages)
{
    struct vic_message_config own, *config = &own;
    struct vic_attr attr;
    if (messages == NULL) {
        return fail_null(0, "messages != NULL");
    }
    layer_begin(&message_layer);
    *messages = NULL;
    int status = vic_query_attr(card, &attr);
    if (status != VIC_OK) {
        return status;
    }
    status = sized_take(config, sizeof *config, given, config_bytes);
    if (status != VIC_OK) {
        return status;
    }
    size_t window = window_of(config, &attr);
    if (window == 0) {
        return fail(VIC_EINVAL, "window_bytes %zu is more than %d", config->window_bytes, (int)WINDOW_MOST);
    }
    if (config->max_bytes > MAX_MOST || (config->flags & ~(unsigned)VIC_MESSAGE_ORDERED) != 0) {
        return config->max_bytes > MAX_MOST
                   ? fail(VIC_EINVAL, "max_bytes %zu is more than %zu", config->max_bytes, (size_t)MAX_MOST)
                   : fail(VIC_EINVAL, "flags 0x%x has others than VIC_MESSAGE_ORDERED", config->flags);
    }
    struct region *region;
    uint32_t activities = attr.counters < 32 ? 1 : attr.cards < MOST_ACTIVITY ? attr.cards : MOST_ACTIVITY;
    status = region_find(card, (window / 8 + RECORD) * attr.cards, activities + OTHER_COUNTERS, &region);
    if (status != VIC_OK) {
        return status == VIC_EBUSY ? fail(status, "messages are open on this card") : status;
    }
    struct vic_message *m = slab_take(&message_layer.handles);
    status = m != NULL ? VIC_OK : VIC_ESYS;
    if (status == VIC_OK) {
        m->card = card;
        m->me = attr.card;
        m->cards = attr.cards;
        m->timed = attr.mode != 0;
        m->max_bytes = config->max_bytes != 0 ? config->max_bytes : MAX_USUAL;
        status = set_up(m, region, &attr, window, config->flags);
    }
    if (status != VIC_OK) {
        if (m != NULL) {
            free_memory(m);
            slab_give(&message_layer.handles, m);
        }
        region_leave(card);
        return status;
    }
    begin(m);
    atomic_store(&m->gate.open, 1);
    *messages = m;
    return VIC_OK;
}

LOGGED(vic_message_open_sized,
       (size_t config_bytes, vic_t *card, const struct vic_message_config *given, vic_message_t **messages),
       (config_bytes, card, given, messages),
       card, "max_bytes window_bytes flags",
       VALUES(FIELD(given, config_bytes, max_bytes), FIELD(given, config_bytes, window_bytes),
              FIELD(given, config_bytes, flags)),
       "", NULL)

/* The function of 0.1, for programs that do not use the macro of vic_message.h: its config has the size of 0.1. */
int(vic_message_open)(vic_t *card, const struct vic_message_config *config, vic_message_t **messages)
{
    struct config_0_1 {
        size_t max_bytes, window_bytes;
        unsigned flags;
    };
    return vic_message_open_sized(sizeof(struct config_0_1), card, config, messages);
}

/* Write for the others that messages are closed here, and for the next opening how far this one was. */
static void publish_closing(struct vic_message *m, bool *lost)
{
    for (uint32_t peer = 0; peer < m->cards; peer++) {
        const struct outward *out = &m->out[peer];
        uint64_t word[4];
        struct state state;
        *lost |= out->lost;
        if (out->epoch != 0) {
            state = (struct state){out->sent, out->messages, out->epoch};
            state_make(&m->layout, RECORD_SENT, m->me, peer, &state, word);
            state_make(&m->layout, RECORD_BEGUN, m->me, peer, &out->hello, word + 2);
            vic_write(m->card, record_at(&m->layout, peer) + RECORD_SENT, word, 4);
        }
        incoming_publish(m, peer, m->epoch & ~(uint32_t)EPOCH_OPEN);
        config_publish(m, peer, m->epoch & ~(uint32_t)EPOCH_OPEN);
        uint32_t hello = record_at(&m->layout, peer) + RECORD_HELLO;
        if (vic_read(m->card, hello, word, 2) == VIC_OK &&
            state_read(&m->layout, RECORD_HELLO, peer, m->me, word, &state) && state.epoch == m->epoch) {
            uint64_t header = vic_header(peer, VIC_COUNTER_ADD, 0, m->news), one = 1;
            vic_send(m->card, &header, &one, 1);
        }
    }
}

static int vic_message_close_call(vic_message_t *m)
{
    bool lost = false;
    if (m == NULL) {
        return fail_null(1, "");
    }
    if (!gate_close(&m->gate)) {
        return fail_as(VIC_ECLOSED);
    }
    while (gate_in_use(&m->gate)) {
        vic_counter_set(m->card, m->bell, 0);
        vic_relax(m->card);
    }
    cancel_layers++;
    publish_closing(m, &lost);
    cancel_layers--;
    free_memory(m);
    region_leave(m->card);
    slab_give(&message_layer.handles, m);
    return lost ? message_lost() : VIC_OK;
}

LOGGED(vic_message_close, (vic_message_t *m), (m),
       m == NULL ? NULL : m->card, "", NULL, "", NULL)
