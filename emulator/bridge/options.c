/* The command line of vicbridge: its help, its options, and the URL of a broker with its user. */
#define _GNU_SOURCE
#include "options.h"

#include <amqp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "vic.h"

const char help_text[] =
    "usage: vicrun -n 2 ./program : vicbridge [options]\n"
    "\n"
    "The bridge between the cards of a job and a broker that speaks AMQP 0-9-1 (RabbitMQ). What programs\n"
    "publish (vic_client.h) goes to an exchange and is confirmed when the broker confirms; queues that they\n"
    "subscribe to are consumed, and acknowledged when they acknowledge. At least once: consumers drop\n"
    "duplicates by message_id.\n"
    "\n"
    "Broker\n"
    "  --url URL           amqp[s]://HOST[:PORT][/VHOST], without a password; repeatable: tried in turn. Else\n"
    "                      VICBRIDGE_URL (with blanks between several, may have user:password@), else\n"
    "                      amqp://127.0.0.1:5672/%2f\n"
    "  --credentials FILE  one line user:password, in a file that others cannot read. Else VICBRIDGE_USER and\n"
    "                      VICBRIDGE_PASSWORD, else the file VICBRIDGE_CREDENTIALS, else guest\n"
    "  --cacert FILE       who signs brokers' certificates; needed for amqps. Certificates are always checked\n"
    "  --cert FILE --key-file FILE   ours, if the broker wants one\n"
    "  --server-name NAME  whom the broker's certificate must name, if that is not HOST\n"
    "  --heartbeat S       [10]; 0: none   --reconnect MIN:MAX  pauses between tries in s [0.1:10]\n"
    "  --give-up S         end if there was no connection for so long; 0: never [30 before the first, then 0]\n"
    "Publishing\n"
    "  --exchange NAME     [dv], declared as durable topic exchange\n"
    "  --queue NAME[=BINDING]  declare a durable queue, bind it; repeatable. BINDING: [NAME]\n"
    "  --no-declare        exchange and queues must be there already\n"
    "  --key KEY           routing key of messages that have none\n"
    "  --connections N     [1] a sender keeps to one of them\n"
    "  --window N          messages taken off the card and not confirmed, per connection [256]\n"
    "  --window-bytes B    and their bytes, one message always excepted [64MiB]\n"
    "  --persistent        the broker writes all messages to disk; else those whose sender says so\n"
    "  --no-mandatory      messages without a queue are not returned, but lost\n"
    "  --at-most-once      no confirms: messages on their way when a connection breaks are lost\n"
    "Consuming\n"
    "  --consume QUEUE     what programs may subscribe to; repeatable. None: any queue\n"
    "  --prefetch N        messages of a queue that are not acknowledged [256]\n"
    "Job\n"
    "  --exit-with-clients[=N]  end when all other cards (cards 0 .. N-1) have been open and have left\n"
    "  --drain-timeout S   after SIGTERM, SIGINT or the job's end: wait so long for confirms [30]\n"
    "  --max-message B --ring B  vic_message's max_bytes and window_bytes, as the clients have them\n"
    "Figures\n"
    "  --stats FILE.csv    a row of counts for every interval   --stats-interval T  [5.001ms]\n"
    "  --piece-words N     a message of b bytes counts as ceil(max(1, ceil(b / 8)) / N) pieces [131]\n"
    "  --prometheus FILE   counters as Prometheus text, written anew each second\n"
    "Other\n"
    "  --check             connect, declare, say that all is well, end; needs no job\n"
    "  --version, --help\n"
    "\n"
    "Exit code: 0 all that was taken is confirmed; 1 broker or job failed, or the drain timed out; 2 usage;\n"
    "3 messages were returned or refused; 128 + n after signal n with messages unconfirmed.\n";

/* ---- the URL of a broker: its address and the user */

const char *url_read(const char *text, bool open, struct url *url)
{
    struct amqp_connection_info info;
    if (strncmp(text, "amqp://", 7) != 0 && strncmp(text, "amqps://", 8) != 0) {
        return "is not amqp://HOST[:PORT][/VHOST] or amqps://...";
    }
    const char *host = strstr(text, "://") + 3, *at = memchr(host, '@', strcspn(host, "/"));
    if (open && at != NULL && memchr(host, ':', (size_t)(at - host)) != NULL) {
        return "has a password, which everybody on this machine could read; use --credentials FILE";
    }
    if (strchr(host, '?') != NULL) {
        return "has parameters (?...); they are options here, see --help";
    }
    url->text = strdup(text);
    if (url->text == NULL || amqp_parse_url(url->text, &info) != AMQP_STATUS_OK || *info.host == 0) {
        free(url->text);
        url->text = NULL;
        return "cannot be read: amqp[s]://HOST[:PORT][/VHOST], a vhost's / is %2f";
    }
    url->host = info.host;
    url->vhost = *info.vhost == 0 ? "/" : info.vhost;
    url->user = at != NULL ? info.user : NULL;
    url->password = at != NULL ? info.password : NULL;
    url->port = info.port;
    url->tls = info.ssl != 0;
    bool v6 = strchr(info.host, ':') != NULL;
    snprintf(url->shown, sizeof url->shown, "amqp%s://%s%s%s:%d, vhost %s", url->tls ? "s" : "", v6 ? "[" : "",
             info.host, v6 ? "]" : "", info.port, url->vhost);
    return NULL;
}

const char *credentials_read(const char *path, char **user, char **password)
{
    char line[1024] = "";
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0) {
        const char *why = strerror(errno);
        if (file >= 0) {
            close(file);
        }
        return why;
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        close(file);
        return "others can read it; chmod 600 first";
    }
    ssize_t bytes = read(file, line, sizeof line - 1);
    close(file);
    line[bytes > 0 ? bytes : 0] = 0;
    if (strcspn(line, "\r\n") == sizeof line - 1) {
        return "has a first line of 1023 characters or more";
    }
    line[strcspn(line, "\r\n")] = 0;
    char *colon = strchr(line, ':');
    if (colon == NULL || colon == line) {
        return "has no user:password in its first line";
    }
    *user = strndup(line, (size_t)(colon - line));
    *password = strdup(colon + 1);
    explicit_bzero(line, sizeof line);
    return *user == NULL || *password == NULL ? "no memory" : NULL;
}

static option_read read_open_url, read_queue, read_consume, read_reconnect, read_credentials, read_exit;

#define AT(member) offsetof(struct options, member)
#define SECONDS UINT64_C(1000000000)

static const struct command_option known[] = {
    {"--url", OPTION_READ, 0, 0, 0, read_open_url},
    {"--credentials", OPTION_READ, 0, 0, 0, read_credentials},
    {"--exchange", OPTION_TEXT, AT(exchange), 0, 0, NULL},
    {"--key", OPTION_TEXT, AT(key), 0, 0, NULL},
    {"--queue", OPTION_READ, 0, 0, 0, read_queue},
    {"--consume", OPTION_READ, 0, 0, 0, read_consume},
    {"--no-declare", OPTION_NO_FLAG, AT(declare), 0, 0, NULL},
    {"--no-mandatory", OPTION_NO_FLAG, AT(mandatory), 0, 0, NULL},
    {"--at-most-once", OPTION_FLAG, AT(at_most_once), 0, 0, NULL},
    {"--persistent", OPTION_FLAG, AT(persistent), 0, 0, NULL},
    {"--connections", OPTION_COUNT, AT(connections), 1, MOST_CONNECTIONS, NULL},
    {"--window", OPTION_COUNT, AT(window), 1, 1000000, NULL},
    {"--window-bytes", OPTION_BYTES, AT(window_bytes), 1, UINT64_C(1) << 40, NULL},
    {"--prefetch", OPTION_COUNT, AT(prefetch), 1, 65535, NULL},
    {"--heartbeat", OPTION_COUNT, AT(heartbeat_s), 0, 3600, NULL},
    {"--reconnect", OPTION_READ, 0, 0, 0, read_reconnect},
    {"--give-up", OPTION_TIME, AT(give_up_ns), 0, GIVE_UP_USUAL - 1, NULL},
    {"--cacert", OPTION_TEXT, AT(cacert), 0, 0, NULL},
    {"--cert", OPTION_TEXT, AT(cert), 0, 0, NULL},
    {"--key-file", OPTION_TEXT, AT(key_file), 0, 0, NULL},
    {"--server-name", OPTION_TEXT, AT(server_name), 0, 0, NULL},
    {"--stats", OPTION_TEXT, AT(stats), 0, 0, NULL},
    {"--stats-interval", OPTION_TIME, AT(stats_interval_ns), 100000, 3600 * SECONDS, NULL},
    {"--piece-words", OPTION_COUNT, AT(piece_words), 1, UINT64_C(1) << 27, NULL},
    {"--prometheus", OPTION_TEXT, AT(prometheus), 0, 0, NULL},
    {"--exit-with-clients", OPTION_EITHER, 0, 0, 0, read_exit},
    {"--drain-timeout", OPTION_TIME, AT(drain_timeout_ns), 0, UINT64_MAX, NULL},
    {"--max-message", OPTION_BYTES, AT(max_bytes), 64, UINT64_C(1) << 30, NULL},
    {"--ring", OPTION_BYTES, AT(ring_bytes), 512, UINT64_C(1) << 24, NULL},
    {"--check", OPTION_FLAG, AT(check), 0, 0, NULL},
};

static const struct command command = {"vicbridge", VIC_VERSION, help_text, known, sizeof known / sizeof *known};

static int refuse(const char *name, const char *value, const char *what)
{
    return command_refuse(&command, name, value, what);
}

static int read_url(const char *text, bool open, struct options *options)
{
    if (options->urls == MOST_URLS) {
        return refuse("--url", NULL, "16 at most");
    }
    const char *what = url_read(text, open, &options->url[options->urls]);
    if (what != NULL) { /* with a password in it even the refusal must not show it */
        return refuse(open ? "--url" : "VICBRIDGE_URL", strchr(text, '@') != NULL ? NULL : text, what);
    }
    options->urls++;
    return -1;
}

static int read_open_url(const char *name, const char *value, void *options)
{
    (void)name;
    return read_url(value, true, options);
}

static int read_queue(const char *name, const char *value, void *to)
{
    struct options *options = to;
    if (options->queues == MOST_QUEUES) {
        return refuse(name, NULL, "64 at most");
    }
    const char *equals = strchr(value, '=');
    size_t bytes = equals != NULL ? (size_t)(equals - value) : strlen(value);
    const char *binding = equals != NULL ? equals + 1 : value;
    char *queue = strndup(value, bytes); /* kept as long as the program runs */
    if (queue == NULL || bytes == 0 || bytes > 255 || strlen(binding) > 255) {
        free(queue);
        return refuse(name, value, "is not NAME or NAME=BINDING, each of 255 bytes at most");
    }
    options->queue[options->queues++] = (struct queue_option){queue, binding};
    return -1;
}

static int read_consume(const char *name, const char *value, void *to)
{
    struct options *options = to;
    if (strlen(value) == 0 || strlen(value) > 255 || options->consumes == MOST_QUEUES) {
        return refuse(name, value, "is not the name of a queue, or is one too many: 64 at most");
    }
    options->consume[options->consumes++] = value;
    return -1;
}

static int read_reconnect(const char *name, const char *value, void *to)
{
    struct options *options = to;
    char least[32] = "";
    const char *colon = strchr(value, ':');
    if (colon != NULL && (size_t)(colon - value) < sizeof least) {
        memcpy(least, value, (size_t)(colon - value));
    }
    if (colon == NULL || !read_time(least, &options->reconnect_least_ns) ||
        !read_time(colon + 1, &options->reconnect_most_ns) || options->reconnect_least_ns < 1000000 ||
        options->reconnect_most_ns < options->reconnect_least_ns) {
        return refuse(name, value, "is not MIN:MAX in seconds, 0.001 at least, MIN not above MAX");
    }
    return -1;
}

static int read_credentials(const char *name, const char *value, void *to)
{
    struct options *options = to;
    const char *what = credentials_read(value, &options->user, &options->password);
    return what == NULL ? -1 : refuse(name, value, what);
}

static int read_exit(const char *name, const char *value, void *to)
{
    struct options *options = to;
    options->exit_with_clients = true;
    if (value != NULL && !read_whole(value, 1, 65535, &options->clients)) {
        return refuse(name, value, "is not a number of cards, 1 .. 65535");
    }
    return -1;
}

/* URLs with blanks between them. */
static int read_urls(const char *text, struct options *options)
{
    int code = -1;
    for (text += strspn(text, " "); *text != 0 && code == -1; text += strspn(text, " ")) {
        size_t bytes = strcspn(text, " ");
        char *one = strndup(text, bytes);
        code = one != NULL ? read_url(one, false, options) : 1;
        free(one);
        text += bytes;
    }
    return code;
}

/* Take what is needed from the environment, so that no child process sees it. */
static int read_environment(struct options *options)
{
    const char *url = getenv("VICBRIDGE_URL"), *user = getenv("VICBRIDGE_USER"),
               *word = getenv("VICBRIDGE_PASSWORD"), *file = getenv("VICBRIDGE_CREDENTIALS");
    int code = -1;
    if (options->urls == 0 && url != NULL) {
        code = read_urls(url, options);
    }
    if (code == -1 && options->urls == 0) {
        code = read_url("amqp://127.0.0.1:5672/%2f", true, options);
    }
    if (code == -1 && options->user == NULL && (user != NULL || word != NULL)) {
        const char *named = options->url[0].user;
        options->user = strdup(user != NULL ? user : named != NULL ? named : "guest");
        options->password = strdup(word != NULL ? word : "guest");
    } else if (code == -1 && options->user == NULL && file != NULL) {
        const char *what = credentials_read(file, &options->user, &options->password);
        code = what == NULL ? -1 : refuse("VICBRIDGE_CREDENTIALS", file, what);
    }
    unsetenv("VICBRIDGE_URL");
    unsetenv("VICBRIDGE_USER");
    unsetenv("VICBRIDGE_PASSWORD");
    unsetenv("VICBRIDGE_CREDENTIALS");
    return code;
}

static int check(const struct options *options)
{
    for (size_t i = 0; i < options->urls; i++) {
        if (options->url[i].tls && options->cacert == NULL) {
            return refuse("--cacert", NULL,
                          "amqps needs the file of those who may sign the broker's certificate");
        }
    }
    if ((options->cert == NULL) != (options->key_file == NULL)) {
        return refuse("--cert", NULL, "goes with --key-file");
    }
    const char *const files[] = {options->cacert, options->cert, options->key_file};
    for (size_t i = 0; i < 3; i++) {
        if (files[i] != NULL && access(files[i], R_OK) != 0) {
            return refuse(i == 0 ? "--cacert" : i == 1 ? "--cert" : "--key-file", files[i], "cannot be read");
        }
    }
    if (strlen(options->exchange) > 255 || (options->key != NULL && strlen(options->key) > 255)) {
        return refuse("--exchange", NULL, "and --key have 255 bytes at most");
    }
    return -1;
}

int options_read(int argc, char **argv, struct options *options)
{
    *options = (struct options){
        .exchange = "dv", .declare = true, .mandatory = true,
        .connections = 1, .window = 256, .window_bytes = UINT64_C(64) << 20,
        .prefetch = 256,
        .heartbeat_s = 10,
        .reconnect_least_ns = SECONDS / 10,
        .reconnect_most_ns = 10 * SECONDS,
        .give_up_ns = GIVE_UP_USUAL,
        .stats_interval_ns = 5001000,
        .piece_words = 131,
        .drain_timeout_ns = 30 * SECONDS,
    };
    for (int at = 1; at < argc;) {
        int code = command_read(&command, argv, &at, options, NULL);
        if (code != -1) {
            return code;
        }
    }
    int code = read_environment(options);
    return code != -1 ? code : check(options);
}
