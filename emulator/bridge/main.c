/* vicbridge: the start, the end, and the exit code. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bridge.h"
#include "consume.h"
#include "publish.h"

static struct bridge bridge;
static unsigned publishers; /* that were started */

static void on_signal(int number)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&bridge.signal, &none, number)) {
        _exit(128 + number); /* the second time */
    }
    bridge_stop(&bridge, STOP_SIGNAL);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

static int open_card(void)
{
    struct vic_attr attr;
    if (vic_open(&bridge.card) != VIC_OK || vic_query_attr(bridge.card, &attr) != VIC_OK) {
        log_error("the card cannot be opened: %s", vic_open_reason());
        return EXIT_FAILED;
    }
    log_card(attr.card);
    bridge.me = attr.card;
    bridge.cards = attr.cards;
    if (attr.mode != 0) {
        log_error("this job runs in timed mode, a broker does not: use --mode functional");
        return EXIT_USAGE;
    }
    if (attr.cards == 1) {
        log_error("the job has no other card: start it as  vicrun -n 1 PROGRAM : vicbridge ...");
        return EXIT_USAGE;
    }
    if (bridge.options.clients > attr.cards) {
        log_error("--exit-with-clients=%llu: the job has %u cards", (unsigned long long)bridge.options.clients,
                  attr.cards);
        return EXIT_USAGE;
    }
    return -1;
}

static void nap(void)
{
    bridge_guard(&bridge);
    nanosleep(&(struct timespec){0, 2000000}, NULL);
}

/* Start publisher 0 and wait until it works or never will; nothing is taken off the card before. */
static bool open_broker(void)
{
    uint64_t number = bridge.options.connections;
    bridge.publisher = calloc(number, sizeof *bridge.publisher);
    if (bridge.publisher == NULL || !publisher_start(&bridge.publisher[0], &bridge, 0)) {
        log_error("no memory for publishers");
        bridge_stop(&bridge, STOP_FAILED);
        return false;
    }
    publishers = 1;
    while (publisher_state(&bridge.publisher[0]) == PUBLISHER_TRIES && atomic_load(&bridge.stop) == STOP_NOT) {
        nap();
    }
    return publisher_state(&bridge.publisher[0]) == PUBLISHER_WORKS;
}

static bool open_rest(void)
{
    for (; publishers < bridge.options.connections; publishers++) {
        if (!publisher_start(&bridge.publisher[publishers], &bridge, publishers)) {
            log_error("no memory for %llu connections", (unsigned long long)bridge.options.connections);
            return false;
        }
    }
    bridge.opens = calloc(bridge.cards, sizeof *bridge.opens);
    bridge.consumer = bridge.opens == NULL ? NULL : consumer_start(&bridge);
    struct vic_message_config config = {.max_bytes = bridge.options.max_bytes,
                                        .window_bytes = bridge.options.ring_bytes};
    int status = bridge.consumer == NULL ? VIC_ESYS : vic_message_open(bridge.card, &config, &bridge.messages);
    if (status != VIC_OK) {
        log_error("messages cannot be opened: %s", vic_strerror(status));
    }
    return status == VIC_OK;
}

static bool all_ended(void)
{
    for (unsigned i = 0; i < publishers; i++) {
        if (publisher_state(&bridge.publisher[i]) != PUBLISHER_ENDED) {
            return false;
        }
    }
    return bridge.consumer == NULL || consumer_has_ended(bridge.consumer);
}

/* Those that have not ended try to connect, for nothing: a broker may be slow to answer. */
static bool all_idle(void)
{
    for (unsigned i = 0; i < publishers; i++) {
        struct publisher *one = &bridge.publisher[i];
        if (publisher_state(one) != PUBLISHER_ENDED && (!atomic_load(&one->connects) || publisher_backlog(one) > 0)) {
            return false;
        }
    }
    return bridge.consumer == NULL || consumer_has_ended(bridge.consumer) || atomic_load(&bridge.consumer->connects);
}

static void wait_for_end(bool (*ended)(void), uint64_t timeout_ns)
{
    for (uint64_t begin = now_ns(); !ended() && now_ns() - begin < timeout_ns;) {
        nap();
    }
}

/* Wait for confirms; then do without. */
static void drain(void)
{
    bool failed = atomic_load(&bridge.stop) == STOP_FAILED;
    atomic_store(&bridge.stopping, true);
    for (unsigned i = 0; i < publishers; i++) {
        publisher_kick(&bridge.publisher[i]);
    }
    wait_for_end(all_idle, failed && atomic_load(&bridge.counters.connected) == 0 ? 0 : bridge.options.drain_timeout_ns);
    if (!all_ended()) {
        atomic_store(&bridge.abandon, true);
        for (unsigned i = 0; i < publishers; i++) {
            link_shut(&bridge.publisher[i].link); /* a call that waits there ends */
            publisher_kick(&bridge.publisher[i]);
        }
        if (bridge.consumer != NULL) {
            link_shut(&bridge.consumer->link);
        }
        wait_for_end(all_ended, 500000000);
    }
}

static int exit_code(void)
{
    const struct counters *c = &bridge.counters;
    unsigned long long left = atomic_load(&c->in_flight),
                       back = atomic_load(&c->returned) + atomic_load(&c->refused);
    int number = atomic_load(&bridge.signal);
    log_info("%llu messages taken, %llu published, %llu again, %llu confirmed, %llu returned, %llu refused; "
             "%llu delivered, %llu acknowledged",
             (unsigned long long)atomic_load(&c->messages), (unsigned long long)atomic_load(&c->published),
             (unsigned long long)atomic_load(&c->republished), (unsigned long long)atomic_load(&c->confirmed),
             (unsigned long long)atomic_load(&c->returned), (unsigned long long)atomic_load(&c->refused),
             (unsigned long long)atomic_load(&c->delivered), (unsigned long long)atomic_load(&c->acked));
    if (left > 0) {
        log_error(
            "%llu messages were taken and are not confirmed; their senders have not been told that they are",
            left);
        return number != 0 ? 128 + number : EXIT_FAILED;
    }
    if (atomic_load(&bridge.stop) == STOP_FAILED || atomic_load(&bridge.unsure)) {
        return EXIT_FAILED;
    }
    if (back > 0) {
        log_warning("%llu messages had no queue or were refused", back);
        return EXIT_UNROUTED;
    }
    return EXIT_DRAINED;
}

/* Free everything, if no thread uses it any more. */
static void close_all(void)
{
    if (!all_ended()) {
        return;
    }
    for (unsigned i = 0; i < publishers; i++) {
        pthread_join(bridge.publisher[i].thread, NULL);
        publisher_close(&bridge.publisher[i]);
    }
    free(bridge.publisher);
    consumer_close(bridge.consumer);
    free(bridge.opens);
    message_free_all();
}

static int run(void)
{
    bool failed = false;
    struct stats *stats = NULL;
    if (open_broker() && !bridge.options.check) {
        stats = stats_start(&bridge, &failed);
        if (failed || !open_rest()) {
            bridge_stop(&bridge, STOP_FAILED);
        } else {
            log_info("takes messages of %u cards", bridge.cards - 1);
            take_all(&bridge);
        }
    }
    bridge_stop(&bridge, STOP_JOB); /* unless there was another reason */
    drain();
    if (bridge.options.check) {
        return atomic_load(&bridge.stop) == STOP_JOB ? EXIT_DRAINED : EXIT_FAILED;
    }
    int code = exit_code();
    if (bridge.messages != NULL) {
        vic_message_flush(bridge.messages, 1000000000); /* the last confirms */
    }
    stats_stop(stats);
    if (all_ended() && bridge.messages != NULL) {
        vic_message_close(bridge.messages);
    }
    return code;
}

int main(int argc, char **argv)
{
    mallopt(M_ARENA_MAX, 2); /* memory goes from thread to thread: arenas would only keep it */
    int code = options_read(argc, argv, &bridge.options);
    if (code != -1) {
        return code;
    }
    for (int fd; (fd = open("/dev/null", O_RDWR)) >= 0;) { /* a stream that is closed is none that a socket may become */
        if (fd > STDERR_FILENO) {
            close(fd);
            break;
        }
    }
    catch_signals();
    log_start();
    bridge.session = chance();
    code = bridge.options.check ? -1 : open_card();
    code = code == -1 ? run() : code;
    if (code != EXIT_FAILED && code != EXIT_USAGE && bridge.card != NULL) {
        vic_close(bridge.card); /* otherwise it stays open, so that the others learn of a death */
    }
    close_all();
    log_stop();
    return code;
}
