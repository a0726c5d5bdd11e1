/* The main thread: envelopes off the card, each to the thread that it is for. */
#include <stdlib.h>

#include "bridge.h"
#include "consume.h"
#include "publish.h"

static const uint64_t slice_ns = 20000000, slice_most_ns = 100000000; /* then look whether it is time to stop */
static const uint64_t busy_ns = 1000000000;

enum { FIRST_CAPACITY = 4096, LOOK = 1024 };

struct taker {
    struct bridge *bridge;
    struct message *next;      /* for the next envelope */
    size_t expected;           /* bytes of it: as the last one had */
    unsigned *publisher_of;    /* of each card; connections: none yet */
    unsigned known;            /* cards that have published */
    uint64_t *opens, opens_ns; /* vic_peer_opens, and when that was */
};

/* The publishers and the consumer may sleep: what was handed to them is all for now. */
static void kick_all(struct bridge *bridge)
{
    for (unsigned i = 0; i < bridge->options.connections; i++) {
        publisher_nudge(&bridge->publisher[i]);
    }
    consumer_nudge(bridge->consumer);
}

void bridge_guard(struct bridge *bridge)
{
    for (unsigned i = 0; bridge->publisher != NULL && i < bridge->options.connections; i++) {
        link_guard(&bridge->publisher[i].link); /* one that was not started is not overdue */
    }
    if (bridge->consumer != NULL) {
        link_guard(&bridge->consumer->link);
    }
}

/* All cards that are clients have been open, and have left. */
static bool clients_left(const struct bridge *bridge)
{
    uint32_t last = bridge->options.clients > 0 ? (uint32_t)bridge->options.clients : bridge->cards;
    for (uint32_t card = 0; card < last; card++) {
        uint64_t opens = atomic_load(&bridge->opens[card]);
        if (card != bridge->me && (opens == 0 || opens % 2 == 1)) {
            return false;
        }
    }
    return true;
}

/* Look which cards are open. A card counts as left only when what it had sent before has been taken: nothing is left,
 * or much time has passed. */
static void look_round(struct taker *taker, bool nothing_left)
{
    struct bridge *bridge = taker->bridge;
    uint64_t now = now_ns();
    bridge_guard(bridge);
    if (taker->opens_ns != 0 && (nothing_left || now - taker->opens_ns > busy_ns)) {
        for (uint32_t card = 0; card < bridge->cards; card++) {
            atomic_store(&bridge->opens[card], taker->opens[card]);
        }
        taker->opens_ns = 0;
        if (nothing_left && bridge->options.exit_with_clients && clients_left(bridge)) {
            bridge_stop(bridge, STOP_CLIENTS);
        }
    }
    if (taker->opens_ns == 0) {
        taker->opens_ns = now;
        for (uint32_t card = 0; card < bridge->cards; card++) {
            vic_peer_opens(bridge->card, card, &taker->opens[card]);
        }
    }
}

static void count_taken(struct bridge *bridge, size_t bytes)
{
    uint64_t words = (bytes + 7) / 8, piece = bridge->options.piece_words;
    words = words == 0 ? 1 : words;
    count(&bridge->counters.messages, 1);
    count(&bridge->counters.bytes, bytes);
    count(&bridge->counters.pieces, (words + piece - 1) / piece);
}

/* A sender keeps to one connection, so that its messages keep their order. */
static struct publisher *publisher_for(struct taker *taker, uint32_t src)
{
    unsigned connections = (unsigned)taker->bridge->options.connections;
    if (taker->publisher_of[src] == connections) {
        taker->publisher_of[src] = taker->known++ % connections;
    }
    return &taker->bridge->publisher[taker->publisher_of[src]];
}

static void publish(struct taker *taker, const struct vic_envelope *envelope)
{
    struct bridge *bridge = taker->bridge;
    struct message *message = taker->next;
    const char *key = bridge->options.key;
    taker->next = NULL;
    count_taken(bridge, envelope->bytes);
    message->session = envelope->session;
    message->id = envelope->id;
    message->key = envelope->key;
    message->key_bytes = (uint32_t)envelope->key_bytes;
    if (envelope->key_bytes == 0 && key != NULL) {
        message->key = key;
        message->key_bytes = (uint32_t)strlen(key);
    }
    message->body = envelope->body;
    message->body_bytes = envelope->bytes;
    message->confirm_wanted = (envelope->flags & VIC_CONFIRM_WANTED) != 0;
    message->persistent = (envelope->flags & VIC_PERSISTENT) != 0;
    if (!publisher_put(publisher_for(taker, message->src), message)) {
        message_free(message); /* not confirmed: its sender keeps it */
    }
}

/* Move an envelope that has far more memory than it needs: it may stay for long. */
static void fit(struct taker *taker, size_t bytes)
{
    struct message *large = taker->next;
    if (large->capacity <= FIRST_CAPACITY || bytes > large->capacity / 2) {
        return;
    }
    struct message *small = message_new(bytes > FIRST_CAPACITY ? bytes : FIRST_CAPACITY);
    if (small != NULL) {
        memcpy(small->data, large->data, bytes);
        message_free(large);
        taker->next = small;
    }
}

static void handle(struct taker *taker, uint32_t src, size_t bytes)
{
    struct bridge *bridge = taker->bridge;
    struct vic_envelope envelope;
    taker->expected = bytes;
    fit(taker, bytes);
    taker->next->src = src;
    taker->next->bytes = bytes;
    if (vic_envelope_unpack(taker->next->data, bytes, &envelope) != VIC_OK) {
        count(&bridge->counters.malformed, 1);
        return;
    }
    switch (envelope.kind) {
    case VIC_PUBLISH: publish(taker, &envelope); break;
    case VIC_SUBSCRIBE:
    case VIC_UNSUBSCRIBE:
    case VIC_ACK:
        consumer_put(bridge->consumer, taker->next);
        taker->next = NULL;
        break;
    case VIC_BIND: break; /* for other clients: they are sent to every card */
    case VIC_UNBIND: break;
    default: count(&bridge->counters.malformed, 1);
    }
}

static bool have_room(struct taker *taker, size_t bytes)
{
    if (taker->next == NULL || taker->next->capacity < bytes) {
        message_free(taker->next);
        taker->next = message_new(bytes > FIRST_CAPACITY ? bytes : FIRST_CAPACITY);
    }
    if (taker->next == NULL) {
        log_error("no memory for a message of %zu bytes", bytes);
        bridge_stop(taker->bridge, STOP_FAILED);
    }
    return taker->next != NULL;
}

/* The status of a receive that gave nothing. */
static void nothing(struct taker *taker, int status)
{
    struct bridge *bridge = taker->bridge;
    switch (status) {
    case VIC_ETIMEDOUT: break;
    case VIC_ECLOSED:
        log_info("the job has ended");
        bridge_stop(bridge, STOP_JOB);
        break;
    default:
        log_error("%s", status == VIC_EPEER ? "a card of the job died" : vic_strerror(status));
        bridge_stop(bridge, STOP_FAILED);
    }
}

/* Take one envelope if it comes in time. */
static int take_one(struct taker *taker, uint64_t timeout_ns)
{
    uint32_t src;
    size_t bytes = 0;
    if (!have_room(taker, taker->expected)) {
        return VIC_ESYS;
    }
    int status = vic_message_recv(taker->bridge->messages, &src, taker->next->data, taker->next->capacity,
                                  &bytes, timeout_ns);
    if (status == VIC_ENOSPC && have_room(taker, bytes)) {
        status = vic_message_recv(taker->bridge->messages, &src, taker->next->data, taker->next->capacity,
                                  &bytes, 0);
    }
    if (status == VIC_OK) {
        handle(taker, src, bytes);
    }
    return status;
}

void take_all(struct bridge *bridge)
{
    struct taker taker = {.bridge = bridge,
                          .publisher_of = calloc(bridge->cards, sizeof(unsigned)),
                          .opens = calloc(bridge->cards, sizeof(uint64_t))};
    if (taker.publisher_of == NULL || taker.opens == NULL) {
        log_error("no memory");
        bridge_stop(bridge, STOP_FAILED);
    }
    for (uint32_t card = 0; taker.publisher_of != NULL && card < bridge->cards; card++) {
        taker.publisher_of[card] = (unsigned)bridge->options.connections;
    }
    uint64_t wait_ns = slice_ns;
    for (unsigned number = 1; atomic_load(&bridge->stop) == STOP_NOT; number++) {
        int status = take_one(&taker, 0);
        if (status != VIC_OK) {
            kick_all(bridge);
            status = status == VIC_ETIMEDOUT ? take_one(&taker, wait_ns) : status;
            wait_ns = status == VIC_OK ? slice_ns : 2 * wait_ns < slice_most_ns ? 2 * wait_ns : slice_most_ns;
        }
        if (status != VIC_OK) {
            nothing(&taker, status);
        }
        if (status != VIC_OK || number % LOOK == 0) {
            look_round(&taker, status == VIC_ETIMEDOUT);
        }
    }
    kick_all(bridge);
    message_free(taker.next);
    free(taker.publisher_of);
    free(taker.opens);
}
