/* The thread of a publisher: connect, publish, take confirms, begin again. */
#define _GNU_SOURCE
#include "publish.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "thread.h"

static const uint64_t sleep_ns = 200000000, reply_retry_ns = 1000000;

enum { CHANNEL = 1, MOST_REFUSALS = 5 };

/* What came off the card, and what is due again, into the thread's own queue. */
static void collect(struct publisher *publisher)
{
    uint64_t now = now_ns();
    while (publisher->later.first != NULL && publisher->later.first->due_ns <= now) {
        queue_put_first(&publisher->next, queue_take(&publisher->later));
    }
    if (publisher->next.first == NULL || !flight_is_full(&publisher->flight)) {
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
        (publisher->partial != NULL || (publisher->next.first != NULL && !flight_is_full(&publisher->flight)));
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
        (busy && !flight_is_full(&publisher->flight) && !publisher->link.blocked && !publisher->wants_room)) {
        timeout_ns = 0;
    }
    enum fault fault = link_wait(&publisher->link, publisher->wake, publisher->wants_room, timeout_ns);
    pthread_mutex_lock(&publisher->lock);
    publisher->sleeps = false;
    pthread_mutex_unlock(&publisher->lock);
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
        show_state(publisher, true);
        bool more_come = publisher->next.first != NULL || !flight_is_empty(&publisher->flight);
        replies_send(&publisher->replies, more_come);
        if (fault == FAULT_NONE && !is_drained(publisher)) {
            fault = wait_for_more(publisher);
        }
    }
    return fault;
}

/* Nothing that was sent and not confirmed can be relied on: publish it again, first of all. */
static void start_again(struct publisher *publisher)
{
    struct queue again = {NULL, NULL, 0};
    publisher->outbox.used = 0;
    publisher_done(publisher, &publisher->unwritten, VIC_REFUSED); /* the broker may have them */
    flight_empty(&publisher->flight, &again);
    if (publisher->partial != NULL) {
        queue_put(&again, publisher->partial);
        publisher->partial = NULL;
    }
    queue_join(&again, &publisher->next);
    publisher->next = again;
    publisher->return_begun = false;
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
    if (fault == FAULT_NONE && !publisher->bridge->options.at_most_once) {
        amqp_confirm_select(link->state, CHANNEL);
        fault = link_reply(link, CHANNEL, "publisher confirms");
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
    while (attempt_all(&attempt)) {
        uint64_t begin = now_ns();
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
        start_again(publisher);
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

static void free_all(struct queue *queue)
{
    struct message *message;
    while ((message = queue_take(queue)) != NULL) {
        message_free(message);
    }
}

void publisher_close(struct publisher *publisher)
{
    struct queue left = {NULL, NULL, 0};
    if (publisher->flight.ring != NULL) {
        flight_empty(&publisher->flight, &left);
    }
    message_free(publisher->partial);
    free_all(&left);
    free_all(&publisher->next);
    free_all(&publisher->later);
    free_all(&publisher->unwritten);
    free_all(&publisher->todo);
    flight_close(&publisher->flight);
    outbox_close(&publisher->outbox);
    replies_close(&publisher->replies);
    close(publisher->wake);
}
