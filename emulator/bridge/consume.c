/* The thread of the consumer: it serves envelopes of programs and frames of the broker alternately, and connects when a
 * program has subscribed. */
#define _GNU_SOURCE
#include "consume.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"

enum { MOST_INBOX = 4096, FRAMES = 64, MANY = 16 };

static const uint64_t sleep_ns = 50000000, retry_ns = 1000000;

static void kick(struct consumer *consumer)
{
    eventfd_write(consumer->wake, 1); /* it fails only if enough wake-ups are pending */
}

void consumer_put(struct consumer *consumer, struct message *envelope)
{
    pthread_mutex_lock(&consumer->lock);
    while (consumer->inbox.count >= MOST_INBOX && !atomic_load(&consumer->ended)) {
        kick(consumer);
        struct timespec until = timespec_in(1000000000);
        if (pthread_cond_clockwait(&consumer->free_slot, &consumer->lock, CLOCK_MONOTONIC, &until) == ETIMEDOUT) {
            bridge_guard(consumer->bridge);
        }
    }
    queue_put(&consumer->inbox, envelope);
    bool wake = consumer->inbox.count % MANY == 0;
    pthread_mutex_unlock(&consumer->lock);
    if (wake) {
        kick(consumer);
    }
}

void consumer_nudge(struct consumer *consumer)
{
    pthread_mutex_lock(&consumer->lock);
    bool wake = consumer->inbox.first != NULL && !consumer->nudged;
    consumer->nudged |= wake;
    pthread_mutex_unlock(&consumer->lock);
    if (wake) {
        kick(consumer);
    }
}

bool consumer_has_ended(struct consumer *consumer)
{
    return atomic_load(&consumer->ended);
}

static void read_inbox(struct consumer *consumer)
{
    pthread_mutex_lock(&consumer->lock);
    struct queue envelopes = consumer->inbox;
    struct message *message;
    consumer->inbox = (struct queue){NULL, NULL, 0};
    consumer->nudged = false;
    pthread_cond_signal(&consumer->free_slot);
    pthread_mutex_unlock(&consumer->lock);
    while ((message = queue_take(&envelopes)) != NULL) {
        struct vic_envelope envelope;
        vic_envelope_unpack(message->data, message->bytes, &envelope); /* it is one: intake.c has looked */
        switch (envelope.kind) {
        case VIC_SUBSCRIBE: subscribe(consumer, message->src, &envelope); break;
        case VIC_UNSUBSCRIBE: unsubscribe(consumer, message->src, &envelope); break;
        default: deliver_ack(consumer, message->src, &envelope);
        }
        message_free(message);
    }
}

static enum fault read_frames(struct consumer *consumer)
{
    amqp_frame_t frame;
    bool found = true;
    enum fault fault = FAULT_NONE;
    for (unsigned i = 0; i < FRAMES && fault == FAULT_NONE && found; i++) {
        fault = link_frame(&consumer->link, &frame, &found);
        if (fault == FAULT_NONE && found) {
            fault = deliver_frame(consumer, &frame);
        }
    }
    for (size_t i = 0; i < consumer->channels && !found; i++) {
        consumer->channel[i]->lingers = consumer->channel[i]->consuming;
    }
    return fault;
}

/* Something waits for a subscriber that has credit, but had no room. */
static bool must_retry(const struct consumer *consumer)
{
    for (size_t i = 0; i < consumer->channels; i++) {
        for (struct subscriber *each = consumer->channel[i]->subscribers; each != NULL; each = each->next) {
            if (each->retry_ns != 0 && consumer->channel[i]->first_waiting != NULL) {
                return true;
            }
        }
    }
    return false;
}

static enum fault hand_out(struct consumer *consumer)
{
    enum fault fault = FAULT_NONE;
    bool goes_on = true;
    size_t begin = consumer->turn;
    consumer->wants_room = false;
    link_cork(&consumer->link, true);
    for (size_t i = 0; i < consumer->channels && fault == FAULT_NONE; i++) {
        size_t which = (begin + i) % consumer->channels;
        struct channel *channel = consumer->channel[which];
        if (channel->is_open && channel->first != NULL) {
            fault = deliver_send_acks(consumer, channel);
            if (goes_on && !deliver_waiting(consumer, channel)) {
                goes_on = false;
                consumer->turn = which + 1; /* the others first */
            }
        }
    }
    link_cork(&consumer->link, false);
    return fault;
}

static bool stops(const struct consumer *consumer)
{
    return atomic_load(&consumer->bridge->stopping) || atomic_load(&consumer->bridge->abandon);
}

/* A connection that publishes nothing seldom hears that it is blocked; if it does, it counts like the others. */
static void show_blocked(struct consumer *consumer, bool blocked)
{
    if (blocked != consumer->blocked) {
        atomic_fetch_add(&consumer->bridge->counters.blocked, blocked ? 1 : UINT32_MAX);
    }
    consumer->blocked = blocked;
}

/* Serve the link until it is down, or no program is subscribed. */
static enum fault serve(struct consumer *consumer)
{
    enum fault fault = FAULT_NONE;
    consumer->link.readable = true;
    while (fault == FAULT_NONE && !stops(consumer)) {
        read_inbox(consumer);
        subscribers_look(consumer);
        fault = channels_attend(consumer);
        if (fault == FAULT_NONE && consumer->link.readable) {
            fault = read_frames(consumer);
            show_blocked(consumer, consumer->link.blocked);
        }
        if (fault == FAULT_NONE) {
            fault = hand_out(consumer);
        }
        if (fault == FAULT_NONE && !stops(consumer)) {
            uint64_t timeout_ns = consumer->link.readable ? 0 : must_retry(consumer) ? retry_ns : sleep_ns;
            fault = link_wait(&consumer->link, consumer->wake, consumer->wants_room, timeout_ns);
        }
    }
    if (fault == FAULT_NONE) { /* acknowledgements that came before the end count */
        read_inbox(consumer);
        fault = hand_out(consumer);
    }
    return fault;
}

static void forget_all(struct consumer *consumer)
{
    for (size_t i = 0; i < consumer->channels; i++) {
        struct channel *channel = consumer->channel[i];
        channel->is_open = channel->consuming = channel->lingers = false;
        deliver_forget(consumer, channel);
    }
}

static enum fault prepare(void *self)
{
    (void)self;
    return FAULT_NONE; /* channels are opened as they are needed */
}

static bool needed(void *self)
{
    const struct consumer *consumer = self;
    return !stops(consumer) && subscribers_any(consumer);
}

static void tend(void *self)
{
    read_inbox(self);
    subscribers_look(self);
}

static void *run(void *self)
{
    struct consumer *consumer = self;
    struct attempt attempt = {.bridge = consumer->bridge,
                              .link = &consumer->link,
                              .wake = consumer->wake,
                              .self = consumer,
                              .prepare = prepare,
                              .needed = needed,
                              .tend = tend};
    while (!stops(consumer)) {
        struct pollfd look = {consumer->wake, POLLIN, 0};
        uint64_t kicks;
        if (!subscribers_any(consumer)) {
            poll(&look, 1, 100);
            eventfd_read(consumer->wake, &kicks);
        }
        tend(consumer);
        atomic_store(&consumer->connects, true);
        if (!subscribers_any(consumer) || !attempt_all(&attempt)) {
            continue;
        }
        atomic_store(&consumer->connects, false);
        count(&consumer->bridge->counters.reconnects, attempt.before);
        attempt.before = true;
        enum fault fault = serve(consumer);
        show_blocked(consumer, false);
        if (fault != FAULT_NONE) {
            log_warning("%s", consumer->link.why);
        }
        forget_all(consumer); /* the broker gives again what was not acknowledged */
        link_close(&consumer->link, fault == FAULT_NONE);
        attempt.fruitless = fault == FAULT_NONE ? 0 : 1;
    }
    atomic_store(&consumer->ended, true);
    pthread_mutex_lock(&consumer->lock);
    pthread_cond_signal(&consumer->free_slot);
    pthread_mutex_unlock(&consumer->lock);
    return NULL;
}

struct consumer *consumer_start(struct bridge *bridge)
{
    struct consumer *consumer = calloc(1, sizeof *consumer);
    if (consumer == NULL) {
        return NULL;
    }
    consumer->bridge = bridge;
    consumer->link.options = &bridge->options;
    atomic_store(&consumer->link.fd, -1);
    snprintf(consumer->link.name, sizeof consumer->link.name, "vicbridge card %u, consumer", bridge->me);
    pthread_mutex_init(&consumer->lock, NULL);
    pthread_cond_init(&consumer->free_slot, NULL);
    consumer->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (consumer->wake < 0 || pthread_create(&consumer->thread, NULL, run, consumer) != 0) {
        close(consumer->wake);
        free(consumer);
        return NULL;
    }
    return consumer;
}

void consumer_close(struct consumer *consumer)
{
    if (consumer == NULL) {
        return;
    }
    pthread_join(consumer->thread, NULL);
    for (size_t i = 0; i < consumer->channels; i++) {
        struct channel *channel = consumer->channel[i];
        while (channel->first != NULL) {
            delivery_drop(consumer, channel, channel->first);
        }
        while (channel->subscribers != NULL) {
            struct subscriber *next = channel->subscribers->next;
            free(channel->subscribers);
            channel->subscribers = next;
        }
        free(channel);
    }
    queue_free(&consumer->inbox);
    refusals_forget(consumer);
    close(consumer->wake);
    free(consumer);
}
