/* The command line of vicbridge. */
#define _GNU_SOURCE
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vic.h"

enum value { FLAG, NO_FLAG, TEXT, COUNT, BYTES, TIME };

struct known {
    const char *name;
    enum value kind;
    size_t at; /* in struct options */
    uint64_t least, most;
};

#define AT(member) offsetof(struct options, member)
#define SECONDS UINT64_C(1000000000)

static const struct known table[] = {
    {"--exchange", TEXT, AT(exchange), 0, 0},
    {"--key", TEXT, AT(key), 0, 0},
    {"--no-declare", NO_FLAG, AT(declare), 0, 0},
    {"--no-mandatory", NO_FLAG, AT(mandatory), 0, 0},
    {"--at-most-once", FLAG, AT(at_most_once), 0, 0},
    {"--persistent", FLAG, AT(persistent), 0, 0},
    {"--connections", COUNT, AT(connections), 1, MOST_CONNECTIONS},
    {"--window", COUNT, AT(window), 1, 1000000},
    {"--window-bytes", BYTES, AT(window_bytes), 1, UINT64_C(1) << 40},
    {"--prefetch", COUNT, AT(prefetch), 1, 65535},
    {"--heartbeat", COUNT, AT(heartbeat_s), 0, 3600},
    {"--give-up", TIME, AT(give_up_ns), 0, GIVE_UP_USUAL - 1},
    {"--cacert", TEXT, AT(cacert), 0, 0},
    {"--cert", TEXT, AT(cert), 0, 0},
    {"--key-file", TEXT, AT(key_file), 0, 0},
    {"--server-name", TEXT, AT(server_name), 0, 0},
    {"--stats", TEXT, AT(stats), 0, 0},
    {"--stats-interval", TIME, AT(stats_interval_ns), 100000, 3600 * SECONDS},
    {"--piece-words", COUNT, AT(piece_words), 1, UINT64_C(1) << 27},
    {"--prometheus", TEXT, AT(prometheus), 0, 0},
    {"--drain-timeout", TIME, AT(drain_timeout_ns), 0, UINT64_MAX},
    {"--max-message", BYTES, AT(max_bytes), 64, UINT64_C(1) << 30},
    {"--ring", BYTES, AT(ring_bytes), 512, UINT64_C(1) << 24},
    {"--check", FLAG, AT(check), 0, 0},
};
enum { KNOWN = sizeof table / sizeof *table };

static const char *const special[] = {"--url",       "--credentials",       "--queue",   "--consume",
                                      "--reconnect", "--exit-with-clients", "--version", "--help"};
enum { SPECIAL = sizeof special / sizeof *special };

static int refuse(const char *option, const char *value, const char *what)
{
    fprintf(stderr, "vicbridge: %s: %s%s%s%s\n", option, value != NULL ? "'" : "", value != NULL ? value : "",
            value != NULL ? "' " : "", what);
    return 2;
}

static int unknown(const char *text)
{
    const char *names[KNOWN + SPECIAL];
    for (size_t i = 0; i < KNOWN + SPECIAL; i++) {
        names[i] = i < KNOWN ? table[i].name : special[i - KNOWN];
    }
    const char *meant = nearest(text, names, KNOWN + SPECIAL);
    fprintf(stderr, "vicbridge: no such option '%s'", text);
    fprintf(stderr, meant != NULL ? "; did you mean '%s'?\n" : "; vicbridge --help lists them\n", meant);
    return 2;
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

static int read_queue(const char *text, struct options *options)
{
    if (options->queues == MOST_QUEUES) {
        return refuse("--queue", NULL, "64 at most");
    }
    const char *equals = strchr(text, '=');
    size_t bytes = equals != NULL ? (size_t)(equals - text) : strlen(text);
    const char *binding = equals != NULL ? equals + 1 : text;
    char *name = strndup(text, bytes); /* kept as long as the program runs */
    if (name == NULL || bytes == 0 || bytes > 255 || strlen(binding) > 255) {
        free(name);
        return refuse("--queue", text, "is not NAME or NAME=BINDING, each of 255 bytes at most");
    }
    options->queue[options->queues++] = (struct queue_option){name, binding};
    return -1;
}

/* 512, 64KiB, 4MB. */
static bool read_bytes(const char *text, uint64_t *bytes)
{
    static const struct unit units[] = {{"", 1},     {"B", 1},    {"KiB", 1024},       {"MiB", 1048576},
                                        {"kB", 1e3}, {"MB", 1e6}, {"GiB", 1073741824}, {"GB", 1e9}};
    return read_unit(text, units, sizeof units / sizeof *units, bytes);
}

/* 5.001ms; a number alone is seconds. */
static bool read_time(const char *text, uint64_t *ns)
{
    static const struct unit units[] = {{"", 1e9}};
    return read_time_ns(text, ns) || read_unit(text, units, 1, ns);
}

static int read_reconnect(const char *text, struct options *options)
{
    char least[32] = "";
    const char *colon = strchr(text, ':');
    if (colon != NULL && (size_t)(colon - text) < sizeof least) {
        memcpy(least, text, (size_t)(colon - text));
    }
    if (colon == NULL || !read_time(least, &options->reconnect_least_ns) ||
        !read_time(colon + 1, &options->reconnect_most_ns) || options->reconnect_least_ns < 1000000 ||
        options->reconnect_most_ns < options->reconnect_least_ns) {
        return refuse("--reconnect", text, "is not MIN:MAX in seconds, 0.001 at least, MIN not above MAX");
    }
    return -1;
}

static int read_special(const char *name, const char *value, struct options *options)
{
    if (strcmp(name, "--url") == 0) {
        return read_url(value, true, options);
    }
    if (strcmp(name, "--queue") == 0) {
        return read_queue(value, options);
    }
    if (strcmp(name, "--reconnect") == 0) {
        return read_reconnect(value, options);
    }
    if (strcmp(name, "--credentials") == 0) {
        const char *what = credentials_read(value, &options->user, &options->password);
        return what == NULL ? -1 : refuse(name, value, what);
    }
    if (strlen(value) == 0 || strlen(value) > 255 || options->consumes == MOST_QUEUES) {
        return refuse("--consume", value, "is not the name of a queue, or is one too many: 64 at most");
    }
    options->consume[options->consumes++] = value;
    return -1;
}

static int read_known(const struct known *known, const char *value, struct options *options)
{
    unsigned char *at = (unsigned char *)options + known->at;
    uint64_t number = 0;
    char text[128];
    switch (known->kind) {
    case FLAG:
    case NO_FLAG: *(bool *)at = known->kind == FLAG; return -1;
    case TEXT: *(const char **)at = value; return -1;
    case COUNT:
        snprintf(text, sizeof text, "is not a whole number, %llu .. %llu", (unsigned long long)known->least,
                 (unsigned long long)known->most);
        if (!read_whole(value, known->least, known->most, &number)) {
            return refuse(known->name, value, text);
        }
        break;
    case BYTES:
        snprintf(text, sizeof text, "is not a number of bytes (65536, 64KiB), %llu .. %llu",
                 (unsigned long long)known->least, (unsigned long long)known->most);
        if (!read_bytes(value, &number) || number < known->least || number > known->most) {
            return refuse(known->name, value, text);
        }
        break;
    case TIME:
        snprintf(text, sizeof text, "is not a time (2.5, 10s, 5.001ms), %g s at least",
                 (double)known->least / 1e9);
        if (!read_time(value, &number) || number < known->least || number > known->most) {
            return refuse(known->name, value, text);
        }
        break;
    }
    *(uint64_t *)at = number;
    return -1;
}

static bool is_special(const char *name)
{
    for (size_t i = 0; i < SPECIAL; i++) {
        if (strcmp(special[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static int read_exit(const char *value, struct options *options)
{
    options->exit_with_clients = true;
    if (value != NULL && !read_whole(value, 1, 65535, &options->clients)) {
        return refuse("--exit-with-clients", value, "is not a number of cards, 1 .. 65535");
    }
    return -1;
}

/* One argument, and its value if that is the next one; *i is at the last one that was used. */
static int read_argument(int argc, char **argv, int *i, struct options *options)
{
    char name[32];
    const char *text = argv[*i], *equals = strchr(text, '='), *value = equals != NULL ? equals + 1 : NULL;
    snprintf(name, sizeof name, "%.*s", (int)(equals != NULL ? equals - text : 30), text);
    const struct known *known = NULL;
    for (size_t k = 0; k < KNOWN; k++) {
        known = strcmp(table[k].name, name) == 0 ? &table[k] : known;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        fputs(help_text, stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0) {
        puts("vicbridge " VIC_VERSION);
        return 0;
    }
    if (strcmp(name, "--exit-with-clients") == 0) {
        return read_exit(value, options);
    }
    if (known == NULL && !is_special(name)) {
        return unknown(text);
    }
    bool alone = known != NULL && (known->kind == FLAG || known->kind == NO_FLAG);
    if (alone && value != NULL) {
        return refuse(name, value, "is too much: it has no value");
    }
    if (!alone && value == NULL) {
        if (*i + 1 == argc) {
            return refuse(name, NULL, "needs a value");
        }
        value = argv[++*i];
    }
    return known != NULL ? read_known(known, value, options) : read_special(name, value, options);
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

/* What of the environment we need, out of the sight of whatever we start. */
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
    for (int i = 1; i < argc; i++) {
        int code = read_argument(argc, argv, &i, options);
        if (code != -1) {
            return code;
        }
    }
    int code = read_environment(options);
    return code != -1 ? code : check(options);
}
