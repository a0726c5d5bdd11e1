/* The window of a publisher: what the main thread may hand over, and what is done with. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/eventfd.h>

#include "clock.h"
#include "publish.h"

enum { LOOK_NS = 20000000, MANY = 16 };

void publisher_kick(struct publisher *publisher)
{
    eventfd_write(publisher->wake, 1); /* it fails only if enough wake-ups are pending */
}

void publisher_nudge(struct publisher *publisher)
{
    pthread_mutex_lock(&publisher->lock);
    bool wake = publisher->sleeps && publisher->todo.first != NULL;
    publisher->sleeps = publisher->sleeps && !wake;
    pthread_mutex_unlock(&publisher->lock);
    if (wake) {
        publisher_kick(publisher);
    }
}

int publisher_state(struct publisher *publisher)
{
    pthread_mutex_lock(&publisher->lock);
    int state = (int)publisher->state;
    pthread_mutex_unlock(&publisher->lock);
    return state;
}

size_t publisher_backlog(struct publisher *publisher)
{
    pthread_mutex_lock(&publisher->lock);
    size_t held = publisher->held;
    pthread_mutex_unlock(&publisher->lock);
    return held;
}

static bool has_window(const struct publisher *publisher, size_t bytes)
{
    const struct options *options = &publisher->bridge->options;
    return publisher->held == 0 ||
           (publisher->held < options->window && publisher->held_bytes + bytes <= options->window_bytes);
}

bool publisher_put(struct publisher *publisher, struct message *message)
{
    bool good = true, wake;
    pthread_mutex_lock(&publisher->lock);
    while (!has_window(publisher, message->bytes) && good && atomic_load(&publisher->bridge->stop) == STOP_NOT) {
        struct timespec until = timespec_in(LOOK_NS);
        publisher->room_wanted = true;
        if (publisher->sleeps && publisher->todo.count > 0) {
            publisher_kick(publisher);
        }
        if (pthread_cond_timedwait(&publisher->free_slot, &publisher->lock, &until) == ETIMEDOUT) {
            pthread_mutex_unlock(&publisher->lock);
            bridge_guard(publisher->bridge);
            vic_message_flush(publisher->bridge->messages, 0); /* what was damaged on its way is sent again */
            pthread_mutex_lock(&publisher->lock);
        }
        good = !atomic_load(&publisher->bridge->abandon) && publisher->state != PUBLISHER_ENDED;
    }
    publisher->room_wanted = false;
    if (good) {
        queue_put(&publisher->todo, message);
        publisher->held++;
        publisher->held_bytes += message->bytes;
        count(&publisher->bridge->counters.in_flight, 1);
    }
    wake = good && publisher->sleeps && publisher->todo.count >= MANY;
    pthread_mutex_unlock(&publisher->lock);
    if (wake) {
        publisher_kick(publisher);
    }
    return good;
}

/* `number` messages are done with. A taker that waits is woken when there is room for many: one wake-up is
 * better. */
static void give_room(struct publisher *publisher, size_t number, size_t bytes)
{
    const struct options *options = &publisher->bridge->options;
    pthread_mutex_lock(&publisher->lock);
    publisher->held -= number;
    publisher->held_bytes -= bytes;
    bool many = publisher->held <= options->window - options->window / 8 &&
                publisher->held_bytes <= options->window_bytes - options->window_bytes / 8;
    if (publisher->room_wanted && (many || publisher->held == 0)) {
        pthread_cond_signal(&publisher->free_slot);
    }
    /* under the lock: otherwise the next messages are counted beside these, and exceed the window */
    atomic_fetch_sub_explicit(&publisher->bridge->counters.in_flight, number, memory_order_relaxed);
    pthread_mutex_unlock(&publisher->lock);
}

static void answer(struct publisher *publisher, const struct message *message, unsigned flags)
{
    if (message->confirm_wanted) {
        struct answer answer = {message->session, message->id, flags};
        replies_add(&publisher->replies, message->src, &answer);
    }
}

void publisher_done(struct publisher *publisher, struct queue *messages, unsigned flags)
{
    struct counters *counters = &publisher->bridge->counters;
    struct message *message;
    size_t number = 0, bytes = 0, returned = 0;
    uint64_t now = now_ns();
    while ((message = queue_take(messages)) != NULL) {
        number++;
        bytes += message->bytes;
        returned += message->returned;
        if (!publisher->bridge->options.at_most_once) {
            latency_note(&publisher->bridge->latency, now - message->published_ns);
        }
        answer(publisher, message, flags | (message->returned ? VIC_RETURNED : 0));
        message_free(message);
    }
    if (number == 0) {
        return;
    }
    publisher->progress = true;
    if ((flags & VIC_REFUSED) != 0) {
        count(&counters->refused, number);
    } else if (!publisher->bridge->options.at_most_once) {
        count(&counters->returned, returned);
        count(&counters->confirmed, number - returned);
    }
    give_room(publisher, number, bytes);
}
