/* The thread of a publisher: connect, publish, take confirms; after a reconnect resend what is not confirmed. */
#define _GNU_SOURCE
#include "publish.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "thread.h"

/* ---- the window: what the main thread may hand over, and what is done with */

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

static void answer(struct publisher *publisher, const struct message *message, unsigned flags, const char *reason)
{
    if (message->confirm_wanted) {
        struct answer answer = {message->session, message->id, flags, reason != NULL ? strdup(reason) : NULL};
        replies_add(&publisher->replies, message->src, &answer);
    }
}

void publisher_done(struct publisher *publisher, struct queue *messages, unsigned flags, const char *reason)
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
        answer(publisher, message, flags | (message->returned ? VIC_RETURNED : 0), reason);
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

static const uint64_t sleep_ns = 200000000, reply_retry_ns = 1000000;

enum { CHANNEL = 1, MOST_REFUSALS = 5, NOT_TAKEN_MOST = 6, UNFIT_MOST = 4 };

/* What came off the card, and what is due again, into the thread's own queue. */
static void collect(struct publisher *publisher)
{
    uint64_t now = now_ns();
    while (publisher->later.first != NULL && publisher->later.first->due_ns <= now) {
        queue_put_first(&publisher->next, queue_take(&publisher->later));
    }
    if (publisher->next.first == NULL || publisher_may_publish(publisher)) {
        pthread_mutex_lock(&publisher->lock);
        queue_join(&publisher->next, &publisher->todo);
        pthread_mutex_unlock(&publisher->lock);
    }
}

static bool is_drained(struct publisher *publisher)
{
    return atomic_load(&publisher->bridge->stopping) && publisher_backlog(publisher) == 0;
}

/* Set the state of the connection, and count it. */
static void show_state(struct publisher *publisher, bool connected)
{
    struct counters *counters = &publisher->bridge->counters;
    bool blocked = connected && publisher->link.blocked;
    if (connected != publisher->connected) {
        atomic_fetch_add(&counters->connected, connected ? 1 : UINT32_MAX);
    }
    if (blocked != publisher->blocked) {
        atomic_fetch_add(&counters->blocked, blocked ? 1 : UINT32_MAX);
    }
    publisher->connected = connected;
    publisher->blocked = blocked;
}

static enum fault wait_for_more(struct publisher *publisher)
{
    bool can =
        !publisher->link.blocked && !publisher->wants_room &&
        (publisher->partial != NULL || (publisher->next.first != NULL && publisher_may_publish(publisher)));
    uint64_t timeout_ns = sleep_ns, now = now_ns();
    pthread_mutex_lock(&publisher->lock);
    bool busy = can || publisher->todo.first != NULL;
    publisher->sleeps = !busy;
    pthread_mutex_unlock(&publisher->lock);
    if (publisher->later.first != NULL) {
        uint64_t due = publisher->later.first->due_ns;
        timeout_ns = due <= now ? 0 : due - now < timeout_ns ? due - now : timeout_ns;
    }
    timeout_ns = publisher->replies.waiting > 0 && timeout_ns > reply_retry_ns ? reply_retry_ns : timeout_ns;
    if (can ||
        (busy && publisher_may_publish(publisher) && !publisher->link.blocked && !publisher->wants_room)) {
        timeout_ns = 0;
    }
    enum fault fault = link_wait(&publisher->link, publisher->wake, publisher->wants_room, timeout_ns);
    pthread_mutex_lock(&publisher->lock);
    publisher->sleeps = false;
    pthread_mutex_unlock(&publisher->lock);
    return fault;
}

/* Resends what was sent and not confirmed, before anything else: nobody knows whether the broker has it. Returns how much
 * that is. */
static size_t resend_unconfirmed(struct publisher *publisher)
{
    struct queue again = {NULL, NULL, 0};
    outbox_forget(&publisher->outbox);
    publisher_done(publisher, &publisher->unwritten, VIC_REFUSED, "the connection broke"); /* the broker may have them */
    flight_empty(&publisher->flight, &again);
    if (publisher->partial != NULL) {
        queue_put(&again, publisher->partial);
        publisher->partial = NULL;
    }
    size_t unanswered = again.count;
    queue_join(&again, &publisher->next);
    publisher->next = again;
    publisher->return_begun = false;
    return unanswered;
}

/* The broker has closed the channel, or the connection with a reason: one of the messages that it has not answered is to
 * blame. From now on these go one by one, and one that was alone is refused: at once if the code speaks of the message
 * (access refused, precondition failed), otherwise after some tries. */
static void find_to_blame(struct publisher *publisher)
{
    struct link *link = &publisher->link;
    bool channel_only = link->channel_only;
    size_t unanswered = resend_unconfirmed(publisher);
    if (unanswered == 1) {
        struct queue one = {NULL, NULL, 0};
        bool sure = channel_only && link->code != AMQP_NOT_FOUND && !publisher->bridge->options.at_most_once;
        queue_put(&one, queue_take(&publisher->next));
        publisher_not_taken(publisher, &one, sure ? NOT_TAKEN_MOST : channel_only ? 1 : 2, link->said);
        publisher->suspects -= publisher->suspects > 0;
    } else {
        log_warning("%s%s", link->why, unanswered > 0 ? "; what is unanswered goes one by one" : "");
        publisher->suspects = unanswered > 0 ? unanswered : publisher->suspects;
    }
    link->channel_only = false;
    link->code = 0;
}

static bool blames_a_message(const struct link *link)
{
    return link->code != 0 && link->code != AMQP_CONNECTION_FORCED;
}

static enum fault prepare(void *self)
{
    struct publisher *publisher = self;
    struct link *link = &publisher->link;
    amqp_channel_open(link->state, CHANNEL);
    enum fault fault = link_reply(link, CHANNEL, "channel");
    if (fault == FAULT_NONE) {
        fault = topology_declare(link, CHANNEL);
    }
    publisher->unfit = fault == FAULT_NONE ? 0 : publisher->unfit + 1;
    uint64_t most = link->options->urls < UNFIT_MOST ? link->options->urls : UNFIT_MOST; /* another broker may have it */
    if (fault != FAULT_NONE && link->channel_only && publisher->worked && publisher->unfit >= most) {
        log_warning("%s; messages may go all the same", link->why); /* what may not is refused, each by itself */
        amqp_channel_open(link->state, CHANNEL);
        fault = link_reply(link, CHANNEL, "channel");
    }
    if (fault == FAULT_NONE && !publisher->bridge->options.at_most_once) {
        amqp_confirm_select(link->state, CHANNEL);
        fault = link_reply(link, CHANNEL, "publisher confirms");
    }
    publisher->worked |= fault == FAULT_NONE;
    return fault;
}

static enum fault serve(struct publisher *publisher)
{
    enum fault fault = FAULT_NONE;
    publisher->link.readable = true;
    while (fault == FAULT_NONE && !is_drained(publisher) && !atomic_load(&publisher->bridge->abandon)) {
        collect(publisher);
        fault = publisher_publish(publisher);
        if (publisher->link.readable) {
            enum fault read = publisher_read(publisher); /* also when sending failed: why may be there */
            fault = read != FAULT_NONE ? read : fault;
        }
        if (fault != FAULT_NONE && publisher->link.channel_only) {
            publisher->link.readable = true;
            find_to_blame(publisher);
            publisher->unfit = UNFIT_MOST; /* it is this broker that takes messages */
            fault = prepare(publisher);
        }
        show_state(publisher, true);
        bool more_come = publisher->next.first != NULL || !flight_is_empty(&publisher->flight);
        replies_send(&publisher->replies, more_come);
        if (fault == FAULT_NONE && !is_drained(publisher)) {
            fault = wait_for_more(publisher);
        }
    }
    return fault;
}

static bool needed(void *self)
{
    struct publisher *publisher = self;
    int stop = atomic_load(&publisher->bridge->stop);
    return stop == STOP_NOT || (stop != STOP_FAILED && publisher_backlog(publisher) > 0);
}

static void tend(void *self)
{
    struct publisher *publisher = self;
    replies_send(&publisher->replies, false);
}

static void set_state(struct publisher *publisher, int state)
{
    pthread_mutex_lock(&publisher->lock);
    publisher->state = state;
    pthread_cond_broadcast(&publisher->free_slot);
    pthread_mutex_unlock(&publisher->lock);
}

/* Close the connection. The broker answers when it has taken all that was published, which may take long: drain() ends
 * what takes too long. Without confirms, only that answer shows that it has what was published last. */
static void end_link(struct publisher *publisher)
{
    struct link *link = &publisher->link;
    if (link->state == NULL) {
        return;
    }
    bool drained = is_drained(publisher);
    if (drained) { /* the channel first: a broker gives up channels of a closed connection that take more than 3 s */
        amqp_set_rpc_timeout(link->state, NULL);
        amqp_channel_close(link->state, CHANNEL, AMQP_REPLY_SUCCESS);
    }
    if (link_close(link, drained)) {
        return;
    }
    if (drained && publisher->bridge->options.at_most_once) {
        log_error("%s: the broker has not said in time that it has everything: what was published last may be lost",
                  link->name);
        atomic_store(&publisher->bridge->unsure, true);
    } else {
        log_warning("%s: not closed in order", link->name);
    }
}

static void *run(void *self)
{
    struct publisher *publisher = self;
    struct bridge *bridge = publisher->bridge;
    struct attempt attempt = {.bridge = bridge,
                              .link = &publisher->link,
                              .wake = publisher->wake,
                              .self = publisher,
                              .prepare = prepare,
                              .needed = needed,
                              .tend = tend};
    unsigned refusals = 0; /* in a row, of what was published */
    for (atomic_store(&publisher->connects, true); attempt_all(&attempt); atomic_store(&publisher->connects, true)) {
        uint64_t begin = now_ns();
        atomic_store(&publisher->connects, false);
        count(&bridge->counters.reconnects, attempt.before);
        attempt.before = true;
        set_state(publisher, PUBLISHER_WORKS);
        show_state(publisher, true);
        enum fault fault = serve(publisher);
        show_state(publisher, false);
        if (fault == FAULT_NONE) {
            break;
        }
        log_warning("%s", publisher->link.why);
        link_close(&publisher->link, false);
        if (blames_a_message(&publisher->link)) {
            find_to_blame(publisher);
        } else {
            resend_unconfirmed(publisher);
        }
        bool worked = publisher->progress || now_ns() - begin > bridge->options.reconnect_most_ns;
        attempt.fruitless = worked ? 0 : attempt.fruitless + 1; /* one that was idle for long worked */
        refusals = (publisher->progress ? 0 : refusals) + (fault == FAULT_REFUSED);
        publisher->progress = false;
        if (refusals == MOST_REFUSALS) {
            log_error("%s", publisher->link.why);
            bridge_stop(bridge, STOP_FAILED);
        }
    }
    end_link(publisher);
    replies_send(&publisher->replies, false);
    set_state(publisher, PUBLISHER_ENDED);
    return NULL;
}

bool publisher_start(struct publisher *publisher, struct bridge *bridge, unsigned number)
{
    *publisher = (struct publisher){.bridge = bridge, .number = number, .link = {.options = &bridge->options}};
    condition_make(&publisher->free_slot);
    pthread_mutex_init(&publisher->lock, NULL);
    atomic_store(&publisher->link.fd, -1);
    snprintf(publisher->link.name, sizeof publisher->link.name, "vicbridge card %u, publisher %u", bridge->me,
             number);
    publisher->link.turn = number; /* connections spread over the brokers */
    publisher->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool good = publisher->wake >= 0 && flight_open(&publisher->flight, bridge->options.window) &&
                outbox_open(&publisher->outbox) && replies_open(&publisher->replies, bridge) &&
                pthread_create(&publisher->thread, NULL, run, publisher) == 0;
    if (!good) {
        publisher_close(publisher);
    }
    return good;
}

void publisher_close(struct publisher *publisher)
{
    struct queue left = {NULL, NULL, 0};
    if (publisher->flight.ring != NULL) {
        flight_empty(&publisher->flight, &left);
    }
    message_free(publisher->partial);
    queue_free(&left);
    queue_free(&publisher->next);
    queue_free(&publisher->later);
    queue_free(&publisher->unwritten);
    queue_free(&publisher->todo);
    flight_close(&publisher->flight);
    outbox_close(&publisher->outbox);
    replies_close(&publisher->replies);
    close(publisher->wake);
}
