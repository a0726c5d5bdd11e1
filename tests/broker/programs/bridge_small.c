/* Do the small parts of vicbridge keep to their headers: ids, URLs, messages in flight, answers, figures? */
#define _GNU_SOURCE
#include "bridge_parts.h"

#include "consume.h"

#include <fcntl.h>
#include <unistd.h>

static struct bridge bridge = {.cards = 3, .options = {.window = 8, .window_bytes = 1 << 20}};

static void an_id_is_read_back_and_nothing_else_is(void)
{
    char text[ID_BYTES + 1] = "";
    uint64_t session, id;
    id_write(text, UINT64_C(0x123456789abcdef0), 42);
    CHECK(strcmp(text, "123456789abcdef0-000000000000002a") == 0);
    CHECK(id_read(text, ID_BYTES, &session, &id) && session == UINT64_C(0x123456789abcdef0) && id == 42);
    CHECK(!id_read(text, ID_BYTES - 1, &session, &id));
    static const struct { int at; char is; } wrong[] = {{16, '0'}, {3, 'A'}, {3, 'g'}, {3, '/'}, {3, ':'}, {20, '`'}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char other[ID_BYTES + 1];
        memcpy(other, text, sizeof other);
        other[wrong[i].at] = wrong[i].is;
        CHECK(!id_read(other, ID_BYTES, &session, &id));
    }
}

static void a_url_says_who_and_where(void)
{
    struct url url;
    CHECK(url_read("amqp://10.0.0.1", true, &url) == NULL && url.port == 5672 && !url.tls);
    CHECK(strcmp(url.vhost, "/") == 0 && url.user == NULL && url.password == NULL);
    free(url.text);
    CHECK(url_read("amqps://me@[::1]:9/v", true, &url) == NULL && url.port == 9 && url.tls);
    CHECK(strcmp(url.user, "me") == 0 && strcmp(url.shown, "amqps://[::1]:9, vhost v") == 0);
    free(url.text);
    CHECK(url_read("amqp://me:pass-w@h", false, &url) == NULL && strcmp(url.password, "pass-w") == 0);
    CHECK(strstr(url.shown, "pass-w") == NULL);
    free(url.text);
    CHECK(url_read("amqp://h/", true, &url) == NULL && strcmp(url.vhost, "/") == 0);
    free(url.text);
    CHECK(url_read("amqp:///v", true, &url) == NULL && strcmp(url.host, "localhost") == 0);
    free(url.text);
    CHECK(strstr(url_read("amqp://h:port", true, &url), "cannot be read") != NULL);
}

static const char *read_credentials(const char *text, char **user, char **password)
{
    char path[] = "/tmp/bridge-parts-XXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    const char *what = credentials_read(path, user, password);
    unlink(path);
    return what;
}

static void credentials_are_the_first_line(void)
{
    char *user, *password;
    CHECK(read_credentials("me:a:b\nmore:x\n", &user, &password) == NULL);
    CHECK(strcmp(user, "me") == 0 && strcmp(password, "a:b") == 0);
    free(user);
    free(password);
    CHECK(strcmp(read_credentials("me\n", &user, &password), "has no user:password in its first line") == 0);
    CHECK(strcmp(read_credentials(":b\n", &user, &password), "has no user:password in its first line") == 0);
    CHECK(read_credentials("", &user, &password) != NULL);
    char longest[1100] = "me:";
    memset(longest + 3, 'x', sizeof longest - 4);
    const char *what = read_credentials(longest, &user, &password); /* not with a part of the password */
    CHECK(what != NULL && strcmp(what, "has a first line of 1023 characters or more") == 0);
}

static size_t freed(struct queue *queue)
{
    struct message *message;
    size_t number = 0;
    for (; (message = queue_take(queue)) != NULL; number++) {
        message_free(message);
    }
    return number;
}

static void a_confirm_takes_what_it_names(void)
{
    struct flight flight;
    struct queue out = {NULL, NULL, 0};
    CHECK(flight_open(&flight, 4) && flight_is_empty(&flight));
    CHECK(!flight_answered(&flight, 1, false, &out) && !flight_answered(&flight, 0, false, &out));
    for (uint64_t id = 1; id <= 4; id++) {
        CHECK(!flight_is_full(&flight));
        flight_add(&flight, a_message(id, "x"));
    }
    CHECK(flight_is_full(&flight) && !flight_answered(&flight, 5, true, &out) && out.count == 0);
    CHECK(flight_find(&flight, 7, 3)->id == 3 && flight_find(&flight, 8, 3) == NULL);
    flight_find(&flight, 7, 3)->returned = true;
    CHECK(flight_find(&flight, 7, 3) == NULL && flight_find(&flight, 7, 9) == NULL);
    CHECK(flight_answered(&flight, 2, false, &out) && out.count == 1 && out.first->id == 2 && flight.oldest == 1);
    CHECK(flight_answered(&flight, 2, false, &out) && out.count == 1); /* once more: nothing new */
    CHECK(flight_answered(&flight, 1, false, &out) && out.count == 2 && flight.oldest == 3);
    CHECK(flight_answered(&flight, 1, false, &out) && out.count == 2); /* older than all */
    CHECK(flight_answered(&flight, 0, true, &out) && out.count == 4 && flight_is_empty(&flight)); /* 0: all */
    CHECK(freed(&out) == 4);
    flight_close(&flight);
}

static void an_answer_waits_for_a_client_that_does_not_read(void)
{
    enum { MANY = 1 << 21 }; /* twice what a vic_client has unconfirmed: none of its own is given up */
    struct replies replies;
    struct answer answer = {7, 0, 0, NULL};
    CHECK(replies_open(&replies, &bridge));
    card_status = VIC_ETIMEDOUT;
    for (answer.id = 1; answer.id <= MANY; answer.id++) {
        replies_add(&replies, 1, &answer);
    }
    replies_send(&replies, false);
    CHECK(replies.waiting == MANY && bridge.counters.unanswered == 0);
    replies_add(&replies, 1, &answer); /* one more than are kept: the older half is given up */
    CHECK(replies.waiting == MANY / 2 + 1 && bridge.counters.unanswered == MANY / 2);
    card_status = VIC_OK;
    replies_send(&replies, false);
    CHECK(replies.waiting == 0 && card_to == 1 && card_last.kind == VIC_CONFIRM);
    CHECK(card_envelopes == (MANY / 2 + 1 + 512) / 513); /* 513 a time */
    CHECK(vic_envelope_id(&card_last, vic_envelope_ids(&card_last) - 1) == MANY + 1);
    card_status = VIC_ETIMEDOUT;
    replies_add(&replies, 2, &answer);
    replies_send(&replies, false);
    CHECK(replies.waiting == 1);
    card_opens = 2; /* its program has left: nobody waits for that */
    replies_send(&replies, false);
    CHECK(replies.waiting == 0);
    card_opens = 1;
    card_status = VIC_OK;
    replies_close(&replies);
    replies_close(&replies);
}

static void answers_of_one_kind_share_an_envelope(void)
{
    struct replies replies;
    CHECK(replies_open(&replies, &bridge));
    card_envelopes = 0;
    const struct answer all[] = {{7, 1, 0, NULL}, {7, 2, 0, NULL}, {8, 3, 0, NULL}, {8, 4, VIC_RETURNED, NULL}};
    for (int i = 0; i < 4; i++) {
        replies_add(&replies, 0, &all[i]);
    }
    replies_send(&replies, true); /* two are many enough of a window of 8 */
    CHECK(card_envelopes == 3 && card_last.session == 8 && card_last.id == 4 && card_last.flags == VIC_RETURNED);
    replies_close(&replies);
}

static void figures_that_cannot_be_written_are_said_at_the_start(void)
{
    bool failed = true;
    bridge.options.stats = bridge.options.prometheus = NULL;
    CHECK(stats_start(&bridge, &failed) == NULL && !failed);
    bridge.options.stats = "/nowhere/at/all";
    CHECK(stats_start(&bridge, &failed) == NULL && failed);
    bridge.options.stats = "/dev/null";
    bridge.options.prometheus = "/nowhere/at/all";
    CHECK(stats_start(&bridge, &failed) == NULL && failed);
    char long_path[4200];
    memset(long_path, 'x', sizeof long_path);
    long_path[sizeof long_path - 1] = 0;
    CHECK(!prometheus_write(&bridge, long_path) && !prometheus_write(&bridge, "/"));
    bridge.options.prometheus = NULL;
    bridge.options.stats = "/dev/full";
    bridge.options.stats_interval_ns = 1000000;
    struct stats *stats = stats_start(&bridge, &failed);
    CHECK(stats != NULL && !failed);
    stats_stop(stats); /* what is lost is said on stderr, once */
    stats_stop(NULL);
}

static void a_long_line_stays_one_line(void)
{
    int ends[2], before = dup(2);
    char text[2048], *line = text;
    memset(text, 'y', sizeof text);
    text[10] = '\n';
    text[sizeof text - 1] = 0;
    CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
    log_warning("%s", line);
    CHECK(dup2(before, 2) == 2);
    ssize_t bytes = read(ends[0], text, sizeof text);
    CHECK(bytes == 1023 && text[bytes - 1] == '\n' && memchr(text, '\n', (size_t)bytes) == text + bytes - 1);
    CHECK(strstr(text, "warning: yyyyyyyyyy?y") != NULL);
    close(2);
    log_info("nobody hears this");
    CHECK(dup2(before, 2) == 2);
}

/* Each of them has a thread, and what that needs. */
static void without_memory_or_threads_nothing_is_started(void)
{
    struct publisher publisher;
    struct replies replies;
    struct answer answer = {7, 1, 0, NULL};
    char path[] = "/tmp/bridge-parts-XXXXXX";
    bool failed = false;
    for (int n = 1; n <= 3; n++) { /* what is in flight, the outbox, replies */
        memory_fails_in = n;
        CHECK(!publisher_start(&publisher, &bridge, 0) && memory_fails_in == 0);
    }
    threads_fail_in = 1;
    CHECK(!publisher_start(&publisher, &bridge, 0) && threads_fail_in == 0);
    memory_fails_in = 1;
    CHECK(consumer_start(&bridge) == NULL);
    threads_fail_in = 1;
    CHECK(consumer_start(&bridge) == NULL);
    bridge.options.stats = "/dev/null";
    memory_fails_in = 1;
    CHECK(stats_start(&bridge, &failed) == NULL && failed);
    threads_fail_in = 1;
    CHECK(stats_start(&bridge, &failed) == NULL && failed);
    bridge.options.stats = NULL;
    int file = mkstemp(path);
    bridge.options.prometheus = path;
    struct stats *stats = stats_start(&bridge, &failed); /* without rows */
    CHECK(stats != NULL && !failed);
    bridge.options.prometheus = "/nowhere/at/all";
    stats_stop(stats); /* is said */
    close(file);
    unlink(path);
    bridge.options.prometheus = NULL;
    CHECK(bridge.stop == STOP_NOT && replies_open(&replies, &bridge));
    memory_fails_in = 1;
    replies_add(&replies, 0, &answer); /* its client would wait for ever: the next bridge shall tell it */
    CHECK(replies.waiting == 0 && bridge.stop == STOP_FAILED);
    bridge.stop = STOP_NOT;
    replies_close(&replies);
    memory_fails_in = 1;
    CHECK(message_new(1 << 24) == NULL);
}

static void what_cannot_be_written_is_said_once(void)
{
    int ends[2], before = dup(2);
    char text[200] = "";
    bool failed;
    bridge.options.stats = "/dev/full";
    bridge.options.stats_interval_ns = 100000;
    CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
    struct stats *stats = stats_start(&bridge, &failed);
    CHECK(read(ends[0], text, sizeof text - 1) > 0); /* when so many rows wait that they have to go */
    stats_stop(stats);
    CHECK(dup2(before, 2) == 2 && close(ends[1]) == 0);
    CHECK(strstr(text, "/dev/full: No space left on device; figures are missing") != NULL);
    CHECK(read(ends[0], text, sizeof text) == 0); /* and nothing more */
    close(ends[0]);
    close(before);
    bridge.options.stats = NULL;
}

static void memory_is_used_again(void)
{
    struct message *small = message_new(10), *large = message_new((size_t)1 << 20);
    CHECK(small->capacity >= 10 && large->capacity >= 1 << 20 && small->bytes == 0);
    size_t capacity = large->capacity;
    message_free(large);
    CHECK(message_new((size_t)1 << 20)->capacity == capacity);
    message_free(large);
    message_free(small);
    message_free(NULL);
    struct message *huge = message_new((size_t)64 << 20); /* more than is kept */
    CHECK(huge->capacity >= (size_t)64 << 20);
    message_free(huge);
    struct queue one = {NULL, NULL, 0}, none = {NULL, NULL, 0};
    queue_put_first(&one, a_message(2, "b"));
    queue_put_first(&one, a_message(1, "a"));
    queue_join(&one, &none);
    CHECK(one.count == 2 && one.first->id == 1 && one.last->id == 2);
    queue_join(&none, &one);
    CHECK(none.count == 2 && one.count == 0 && freed(&none) == 2);
    message_free_all();
}

int main(void)
{
    an_id_is_read_back_and_nothing_else_is();
    a_url_says_who_and_where();
    credentials_are_the_first_line();
    a_confirm_takes_what_it_names();
    an_answer_waits_for_a_client_that_does_not_read();
    answers_of_one_kind_share_an_envelope();
    figures_that_cannot_be_written_are_said_at_the_start();
    a_long_line_stays_one_line();
    without_memory_or_threads_nothing_is_started();
    what_cannot_be_written_is_said_once();
    memory_is_used_again();
    puts("checks passed");
    return 0;
}
