/* Opening and closing clients. */
#include "client.h"
#include "sized.h"

#include <stdlib.h>

#include "engine/random.h"
#include "entropy.h"
#include "layer.h"

enum {
    WINDOW_MESSAGES = 1024,
    WINDOW_MOST = 1 << 20, /* bridges keep the confirms of as many, and more */
    WINDOW_BYTES = 16 << 20,
    BUCKETS_MOST = 1 << 16,
    MAX_USUAL = 16 << 20 /* that of vic_message */
};

static struct layer layer = LAYER_OF(struct vic_client, NULL);
static _Atomic uint64_t openings;

static void free_entries(struct entry *entry)
{
    while (entry != NULL) {
        struct entry *next = entry->next;
        free(entry);
        entry = next;
    }
}

static void free_parts(struct vic_client *c)
{
    free_entries(c->spare);
    for (uint32_t to = 0; c->peers != NULL && to < c->cards; to++) {
        free_entries(c->peers[to].first);
        client_free_patterns(c->peers[to].wants);
    }
    while (c->subscriptions != NULL) {
        client_end_subscription(&c->subscriptions);
    }
    while (c->inbox != NULL) {
        struct item *item = c->inbox;
        c->inbox = item->next;
        free(item);
    }
    client_free_patterns(c->patterns);
    client_forget_late(c);
    free(c->peers);
    free(c->buckets);
    free(c->scratch);
}

/* No two openings have the same; in timed mode every run of a job has the same. */
static int draw_session(struct vic_client *c, const struct vic_attr *attr)
{
    uint64_t x;
    if (attr->mode == 0) {
        if (!entropy_draw(&x, sizeof x)) {
            return VIC_ESYS;
        }
    } else {
        x = dvsim_draw(vic_time_ns(c->card) << 16 | attr->card, atomic_fetch_add(&openings, 1) + 1);
    }
    c->session = c->count.session = x + (x == 0);
    return VIC_OK;
}

static int set_up(struct vic_client *c, const struct vic_message_config *messages,
                  const struct vic_client_config *config, const struct vic_attr *attr)
{
    c->me = attr->card;
    c->cards = attr->cards;
    c->max_bytes = messages != NULL && messages->max_bytes != 0 ? messages->max_bytes : MAX_USUAL;
    c->flags = config->flags;
    c->window_messages = config->window_messages != 0 ? config->window_messages : WINDOW_MESSAGES;
    c->window_messages = c->window_messages < WINDOW_MOST ? c->window_messages : WINDOW_MOST;
    c->window_bytes = config->window_bytes != 0 ? config->window_bytes : WINDOW_BYTES;
    c->inbox_end = &c->inbox;
    size_t buckets = 1;
    while (buckets < c->window_messages && buckets < BUCKETS_MOST) {
        buckets *= 2;
    }
    c->bucket_mask = buckets - 1;
    c->buckets = calloc(buckets, sizeof(struct entry *));
    c->peers = calloc(c->cards, sizeof *c->peers);
    c->scratch = malloc(SCRATCH);
    if (c->buckets == NULL || c->peers == NULL || c->scratch == NULL) {
        return VIC_ESYS;
    }
    return draw_session(c, attr);
}

static int vic_client_open_sized_call(size_t messages_bytes, size_t config_bytes, vic_t *card,
                                      const struct vic_message_config *rings,
                                      const struct vic_client_config *given, vic_client_t **client)
{
    struct vic_message_config own_rings, *messages = &own_rings;
    struct vic_client_config own, *config = &own;
    const unsigned known =
        VIC_CLIENT_AT_MOST_ONCE | VIC_CLIENT_PERSISTENT | VIC_CLIENT_BRIDGE | VIC_CLIENT_RETURNS;
    struct vic_attr attr;
    if (client == NULL) {
        return fail_null(0, "client != NULL");
    }
    layer_begin(&layer);
    *client = NULL;
    int status = vic_query_attr(card, &attr);
    status = status == VIC_OK ? sized_take(messages, sizeof *messages, rings, messages_bytes) : status;
    status = status == VIC_OK ? sized_take(config, sizeof *config, given, config_bytes) : status;
    if (status != VIC_OK || (config->flags & ~known) != 0) {
        return status != VIC_OK ? status : fail(VIC_EINVAL, "flags 0x%x are not all known (0x%x)", config->flags, known);
    }
    struct vic_client *c = slab_take(&layer.handles);
    if (c == NULL) {
        return fail_as(VIC_ESYS);
    }
    c->card = card;
    status = set_up(c, messages, config, &attr);
    if (status == VIC_OK) {
        status = vic_message_open(card, messages, &c->messages);
    }
    if (status == VIC_OK) {
        status = vic_counter_alloc(card, &c->wake);
        if (status != VIC_OK) {
            vic_message_close(c->messages);
        }
    }
    if (status != VIC_OK) {
        free_parts(c);
        slab_give(&layer.handles, c);
        return status;
    }
    atomic_store(&c->gate.open, 1);
    *client = c;
    client_send_all_due(c, 0);
    return VIC_OK;
}

LOGGED(vic_client_open_sized,
       (size_t messages_bytes, size_t config_bytes, vic_t *card, const struct vic_message_config *rings,
        const struct vic_client_config *given, vic_client_t **client),
       (messages_bytes, config_bytes, card, rings, given, client),
       card, "max_bytes ring_bytes window_messages window_bytes flags",
       VALUES(FIELD(rings, messages_bytes, max_bytes), FIELD(rings, messages_bytes, window_bytes),
              FIELD(given, config_bytes, window_messages), FIELD(given, config_bytes, window_bytes),
              FIELD(given, config_bytes, flags)),
       "", NULL)

int client_no_name(const struct vic_client *c, const char *name, const void *body, size_t bytes)
{
    size_t length = name != NULL ? strlen(name) : 0;
    if (name == NULL || (body == NULL && bytes > 0)) {
        return fail(VIC_EINVAL, name == NULL ? "the key, queue, topic or pattern is NULL"
                                             : "body is NULL, and bytes is not 0");
    }
    if (length > VIC_KEY_MOST) {
        return fail(VIC_EINVAL, "a key, queue, topic or pattern of %zu bytes is longer than %d", length, VIC_KEY_MOST);
    }
    return fail(VIC_EINVAL, "%zu bytes, a key of %zu and a header of %zu are more than max_bytes, %zu", bytes, length,
                vic_envelope_header(VIC_PUBLISH), c->max_bytes);
}

/* The function of 0.1, for programs that do not use the macro of vic_client.h: its configs have the sizes of 0.1. */
int(vic_client_open)(vic_t *card, const struct vic_message_config *messages, const struct vic_client_config *config,
                     vic_client_t **client)
{
    struct config_0_1 {
        size_t numbers[2];
        unsigned flags;
    };
    return vic_client_open_sized(sizeof(struct config_0_1), sizeof(struct config_0_1), card, messages, config, client);
}

static int vic_client_counts_call(vic_client_t *c, struct vic_client_count *counts)
{
    if (counts == NULL) {
        return fail_null(0, "counts != NULL");
    }
    lock_take(c->card, &c->lock);
    *counts = c->count;
    lock_give(&c->lock);
    return VIC_OK;
}

GATED(vic_client_counts, c, true, (vic_client_t *c, struct vic_client_count *counts), (c, counts), "", NULL, "", NULL)

/* Tell bridges and cards, as far as they have room now, that subscriptions and patterns of this client end. */
static void send_closing(struct vic_client *c)
{
    for (const struct subscription *s = c->subscriptions; s != NULL; s = s->next) {
        struct vic_envelope e = {.kind = VIC_UNSUBSCRIBE, .session = c->session, .id = s->number};
        client_send_short(c, s->bridge, &e, 0);
    }
    for (uint32_t to = 0; to < c->cards; to++) {
        for (const struct pattern *p = c->patterns; p != NULL && c->peers[to].asked; p = p->next) {
            struct vic_envelope e = {.kind = VIC_UNBIND, .session = c->session};
            e.key = p->text;
            e.key_bytes = p->bytes;
            if (p->stamp <= c->peers[to].sent_stamp) {
                client_send_short(c, to, &e, 0);
            }
        }
    }
}

static int vic_client_close_call(vic_client_t *c)
{
    if (c == NULL) {
        return fail_null(1, "");
    }
    if (!gate_close(&c->gate)) {
        return fail_as(VIC_ECLOSED);
    }
    while (gate_in_use(&c->gate)) { /* they look at `open` after each slice of a wait */
        vic_counter_set(c->card, c->wake, 0);
        vic_relax(c->card);
    }
    bool lost = c->count.unconfirmed > 0;
    cancel_layers++;
    send_closing(c);
    int status = vic_message_close(c->messages);
    cancel_layers--;
    lost = lost || (status == VIC_EPEER && (c->flags & VIC_CLIENT_AT_MOST_ONCE) != 0);
    vic_counter_free(c->card, c->wake);
    free_parts(c);
    slab_give(&layer.handles, c);
    return lost ? fail(VIC_EPEER, "not all that was published is confirmed") : VIC_OK;
}

LOGGED(vic_client_close, (vic_client_t *c), (c),
       c == NULL ? NULL : c->card, "", NULL, "", NULL)
