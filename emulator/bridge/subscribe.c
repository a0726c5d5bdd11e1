/* The subscribers of queues. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consume.h"

enum { REFUSALS_OF_CARD = 1024 }; /* that are kept: as many as a client has subscriptions; others send what no client sends */

static const uint64_t look_every_ns = 50000000;

static bool is_told(struct consumer *consumer, const struct refusal *refusal)
{
    uint64_t opens = 0;
    vic_peer_opens(consumer->bridge->card, refusal->card, &opens);
    return opens != refusal->opens || vic_message_send(consumer->bridge->messages, refusal->card,
                                                       refusal->envelope, refusal->bytes, 0) == VIC_OK;
}

/* A program that does not get a refusal waits for ever: a refusal is kept until there is room for it, the program has
 * left, or it has ended the subscription. */
static void keep_refusal(struct consumer *consumer, uint32_t card, const struct vic_envelope *e, const unsigned char *envelope,
                         size_t bytes)
{
    size_t of_card = 0;
    for (const struct refusal *other = consumer->refusals; other != NULL; other = other->next) {
        of_card += other->card == card;
    }
    if (of_card == REFUSALS_OF_CARD) {
        return;
    }
    struct refusal *refusal = malloc(sizeof *refusal + bytes);
    if (refusal == NULL) {
        log_error("no memory for refusals");
        bridge_stop(consumer->bridge, STOP_FAILED);
        return;
    }
    *refusal = (struct refusal){
        .next = consumer->refusals, .card = card, .session = e->session, .number = e->id, .bytes = bytes};
    vic_peer_opens(consumer->bridge->card, card, &refusal->opens);
    memcpy(refusal->envelope, envelope, bytes);
    consumer->refusals = refusal;
}

/* Drop those of a card that nobody waits for any more: of other sessions, or of one subscription. */
static void drop_refusals(struct consumer *consumer, uint32_t card, uint64_t session, uint64_t number, bool others)
{
    for (struct refusal **at = &consumer->refusals; *at != NULL;) {
        struct refusal *refusal = *at;
        bool drops = others ? refusal->session != session : refusal->session == session && refusal->number == number;
        if (refusal->card == card && drops) {
            *at = refusal->next;
            free(refusal);
        } else {
            at = &refusal->next;
        }
    }
}

static void send_refusals(struct consumer *consumer)
{
    for (struct refusal **at = &consumer->refusals; *at != NULL;) {
        struct refusal *refusal = *at;
        if (is_told(consumer, refusal)) {
            *at = refusal->next;
            free(refusal);
        } else {
            at = &refusal->next;
        }
    }
}

void refusals_forget(struct consumer *consumer)
{
    while (consumer->refusals != NULL) {
        struct refusal *next = consumer->refusals->next;
        free(consumer->refusals);
        consumer->refusals = next;
    }
}

static void refuse(struct consumer *consumer, uint32_t card, uint64_t session, uint64_t number,
                   const char *queue, size_t queue_bytes, const char *why)
{
    unsigned char packed[2048]; /* no text is longer */
    size_t bytes = 0;
    struct vic_envelope envelope = {.kind = VIC_REFUSAL,
                                    .session = session,
                                    .id = number,
                                    .key = queue,
                                    .key_bytes = queue_bytes,
                                    .body = why,
                                    .bytes = strlen(why)};
    log_warning("card %u cannot consume queue '%.*s': %s", card, (int)queue_bytes, queue, why);
    vic_envelope_pack(packed, sizeof packed, &envelope, &bytes);
    if (vic_message_send(consumer->bridge->messages, card, packed, bytes, 0) != VIC_OK) {
        keep_refusal(consumer, card, &envelope, packed, bytes);
    }
}

static struct channel *find_channel(struct consumer *consumer, const char *queue, size_t bytes)
{
    for (size_t i = 0; i < consumer->channels; i++) {
        struct channel *channel = consumer->channel[i];
        if (channel->name_bytes == bytes && memcmp(channel->name, queue, bytes) == 0) {
            return channel;
        }
    }
    return NULL;
}

/* A channel whose queue has no subscriber, and on which nothing more can come; NULL if there is none. */
static struct channel *free_channel(struct consumer *consumer)
{
    for (size_t i = 0; i < consumer->channels; i++) {
        struct channel *channel = consumer->channel[i];
        if (channel->subscribers == NULL && !channel->consuming && !channel->lingers && channel->first == NULL) {
            return channel;
        }
    }
    return NULL;
}

static struct channel *new_channel(struct consumer *consumer)
{
    struct channel *channel = calloc(1, sizeof *channel);
    if (channel != NULL) {
        consumer->channel[consumer->channels++] = channel;
        channel->number = (amqp_channel_t)consumer->channels;
    }
    return channel;
}

static struct channel *channel_for(struct consumer *consumer, const struct vic_envelope *envelope)
{
    struct channel *channel = find_channel(consumer, envelope->key, envelope->key_bytes);
    if (channel != NULL) {
        return channel;
    }
    channel = consumer->channels < MOST_QUEUES ? new_channel(consumer) : free_channel(consumer);
    if (channel != NULL) {
        memcpy(channel->name, envelope->key, envelope->key_bytes); /* VIC_KEY_MOST is 255 */
        channel->name[envelope->key_bytes] = 0;
        channel->name_bytes = envelope->key_bytes;
    }
    return channel;
}

/* As RabbitMQ looks at it, which hangs up on a name that is not. */
static bool is_utf8(const char *text, size_t bytes)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    for (size_t i = 0; i < bytes;) {
        uint32_t point = (unsigned char)text[i++];
        size_t more = point < 0x80 ? 0 : point >> 5 == 6 ? 1 : point >> 4 == 14 ? 2 : point >> 3 == 30 ? 3 : bytes;
        if (more > bytes - i) {
            return false;
        }
        point &= more > 0 ? 0x3fu >> more : 0x7f;
        for (size_t end = i + more; i < end; i++) {
            if ((text[i] & 0xc0) != 0x80) {
                return false;
            }
            point = point << 6 | (text[i] & 0x3f);
        }
        if (point < least[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
            return false;
        }
    }
    return true;
}

/* NULL, or why this queue is none for programs. */
static const char *not_served(const struct options *options, const struct vic_envelope *envelope)
{
    for (size_t i = 0; i < options->consumes; i++) {
        if (strlen(options->consume[i]) == envelope->key_bytes &&
            memcmp(options->consume[i], envelope->key, envelope->key_bytes) == 0) {
            return NULL;
        }
    }
    if (envelope->key_bytes == 0 || memchr(envelope->key, 0, envelope->key_bytes) != NULL ||
        !is_utf8(envelope->key, envelope->key_bytes)) {
        return "this is no name of a queue";
    }
    return options->consumes == 0 ? NULL : "this bridge does not serve it (--consume)";
}

/* Take a subscriber out: what it has not acknowledged goes back to the queue. */
static void leave(struct consumer *consumer, struct channel *channel, struct subscriber **at)
{
    struct subscriber *subscriber = *at;
    deliver_requeue(consumer, channel, subscriber);
    *at = subscriber->next;
    channel->turn = NULL;
    free(subscriber);
}

static bool program_has_left(const struct consumer *consumer, const struct subscriber *subscriber)
{
    return atomic_load(&consumer->bridge->opens[subscriber->card]) > subscriber->opens;
}

void subscribers_look(struct consumer *consumer)
{
    uint64_t now = now_ns();
    if (now < consumer->look_ns) {
        return;
    }
    consumer->look_ns = now + look_every_ns;
    send_refusals(consumer);
    for (size_t i = 0; i < consumer->channels; i++) {
        for (struct subscriber **at = &consumer->channel[i]->subscribers; *at != NULL;) {
            if (program_has_left(consumer, *at)) {
                log_info("card %u left: what it had of queue '%s' and did not acknowledge goes back",
                         (*at)->card, consumer->channel[i]->name);
                leave(consumer, consumer->channel[i], at);
            } else {
                at = &(*at)->next;
            }
        }
    }
}

bool subscribers_any(const struct consumer *consumer)
{
    for (size_t i = 0; i < consumer->channels; i++) {
        if (consumer->channel[i]->subscribers != NULL) {
            return true;
        }
    }
    return false;
}

/* What an earlier program of this card wanted. */
static void forget_others(struct consumer *consumer, uint32_t card, uint64_t session)
{
    drop_refusals(consumer, card, session, 0, true);
    for (size_t i = 0; i < consumer->channels; i++) {
        for (struct subscriber **at = &consumer->channel[i]->subscribers; *at != NULL;) {
            if ((*at)->card == card && (*at)->session != session) {
                leave(consumer, consumer->channel[i], at);
            } else {
                at = &(*at)->next;
            }
        }
    }
}

static struct subscriber **find(struct channel *channel, uint32_t card, const struct vic_envelope *envelope)
{
    struct subscriber **at = &channel->subscribers;
    while (*at != NULL &&
           ((*at)->card != card || (*at)->session != envelope->session || (*at)->number != envelope->id)) {
        at = &(*at)->next;
    }
    return at;
}

void subscribe(struct consumer *consumer, uint32_t card, const struct vic_envelope *envelope)
{
    uint64_t opens = 0, credit = vic_envelope_word(envelope->body);
    const char *why = not_served(&consumer->bridge->options, envelope);
    vic_peer_opens(consumer->bridge->card, card, &opens);
    if (opens % 2 == 0) {
        return; /* it has left */
    }
    forget_others(consumer, card, envelope->session);
    struct channel *channel = why == NULL ? channel_for(consumer, envelope) : NULL;
    if (channel == NULL || credit == 0) {
        why = why != NULL                          ? why
              : credit == 0                        ? "a credit of 0"
              : consumer->channels == MOST_QUEUES ? "64 queues are consumed already"
                                                   : "no memory";
        refuse(consumer, card, envelope->session, envelope->id, envelope->key, envelope->key_bytes, why);
        return;
    }
    struct subscriber **at = find(channel, card, envelope);
    if (*at == NULL) {
        *at = calloc(1, sizeof **at);
    }
    if (*at == NULL) {
        refuse(consumer, card, envelope->session, envelope->id, envelope->key, envelope->key_bytes,
               "no memory");
        return;
    }
    (*at)->channel = channel;
    (*at)->card = card;
    (*at)->session = envelope->session;
    (*at)->number = envelope->id;
    (*at)->opens = opens;
    (*at)->credit = credit;
}

void unsubscribe(struct consumer *consumer, uint32_t card, const struct vic_envelope *envelope)
{
    drop_refusals(consumer, card, envelope->session, envelope->id, false);
    for (size_t i = 0; i < consumer->channels; i++) {
        struct subscriber **at = find(consumer->channel[i], card, envelope);
        if (*at != NULL) {
            leave(consumer, consumer->channel[i], at);
        }
    }
}

void subscribers_refuse(struct consumer *consumer, struct channel *channel, const char *why)
{
    while (channel->subscribers != NULL) {
        struct subscriber *subscriber = channel->subscribers;
        refuse(consumer, subscriber->card, subscriber->session, subscriber->number, channel->name,
               channel->name_bytes, why);
        leave(consumer, channel, &channel->subscribers);
    }
}

/* The broker has refused: if it closed the channel only, refuse the subscribers of that. */
static enum fault handle_refusal(struct consumer *consumer, struct channel *channel, enum fault fault)
{
    if (fault == FAULT_NONE || !consumer->link.channel_only) {
        return fault;
    }
    channel->is_open = channel->consuming = false;
    deliver_forget(consumer, channel);
    subscribers_refuse(consumer, channel, consumer->link.why);
    return FAULT_NONE;
}

static enum fault begin(struct consumer *consumer, struct channel *channel)
{
    const struct options *options = &consumer->bridge->options;
    struct link *link = &consumer->link;
    const struct queue_option *queue = topology_queue(options, channel->name, channel->name_bytes);
    amqp_bytes_t name = bytes_of(channel->name, channel->name_bytes);
    char doing[320];
    enum fault fault = FAULT_NONE;
    snprintf(doing, sizeof doing, "queue '%s'", channel->name);
    channel->lingers = true;
    if (!channel->is_open) {
        amqp_channel_open(link->state, channel->number);
        fault = link_reply(link, channel->number, doing);
        channel->is_open = fault == FAULT_NONE;
    }
    if (fault == FAULT_NONE && queue != NULL && options->declare) {
        fault = topology_queue_declare(link, channel->number, queue);
    }
    if (fault == FAULT_NONE) {
        amqp_basic_qos(link->state, channel->number, 0, (uint16_t)options->prefetch, 0);
        fault = link_reply(link, channel->number, doing);
    }
    if (fault == FAULT_NONE) {
        amqp_basic_consume(link->state, channel->number, name, name, 0, 0, 0, amqp_empty_table);
        fault = link_reply(link, channel->number, doing);
        channel->consuming = fault == FAULT_NONE;
    }
    link->readable = true;
    return handle_refusal(consumer, channel, fault);
}

static enum fault end(struct consumer *consumer, struct channel *channel)
{
    channel->consuming = false;
    amqp_basic_cancel(consumer->link.state, channel->number, bytes_of(channel->name, channel->name_bytes));
    consumer->link.readable = true;
    enum fault fault = link_reply(&consumer->link, channel->number, "cancel");
    if (fault == FAULT_NONE) {
        deliver_requeue(consumer, channel, NULL);
    }
    return handle_refusal(consumer, channel, fault);
}

enum fault channels_attend(struct consumer *consumer)
{
    enum fault fault = FAULT_NONE;
    for (size_t i = 0; i < consumer->channels && fault == FAULT_NONE; i++) {
        struct channel *channel = consumer->channel[i];
        if ((channel->subscribers != NULL) != channel->consuming) {
            fault = channel->consuming ? end(consumer, channel) : begin(consumer, channel);
        }
    }
    return fault;
}
