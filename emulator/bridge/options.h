/* options.h: the command line and the environment of vicbridge. */
#ifndef BRIDGE_OPTIONS_H
#define BRIDGE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numbers.h"

enum { MOST_URLS = 16, MOST_QUEUES = 64, MOST_CONNECTIONS = 64 };
#define GIVE_UP_USUAL UINT64_MAX /* 30 s until the first connection, never after it */

struct url {
    char *text; /* what host, user, password and vhost point into */
    const char *host, *vhost, *user, *password;
    int port;
    bool tls;
    char shown[320]; /* without user and password */
};

struct queue_option {
    const char *name, *binding;
};

struct options {
    struct url url[MOST_URLS];
    size_t urls;
    char *user, *password; /* of --credentials or the environment; NULL: those of the URL */
    const char *exchange, *key;
    struct queue_option queue[MOST_QUEUES];
    size_t queues;
    bool declare, mandatory, at_most_once, persistent;
    uint64_t connections, window, window_bytes;
    const char *consume[MOST_QUEUES];
    size_t consumes;
    uint64_t prefetch;
    uint64_t heartbeat_s;
    uint64_t reconnect_least_ns, reconnect_most_ns, give_up_ns; /* 0: never; or GIVE_UP_USUAL */
    const char *cacert, *cert, *key_file, *server_name;
    const char *stats, *prometheus;
    uint64_t stats_interval_ns, piece_words;
    bool exit_with_clients;
    uint64_t clients; /* cards 0 .. clients - 1; 0: all others */
    uint64_t drain_timeout_ns;
    uint64_t max_bytes, ring_bytes; /* of vic_message, 0: as it does */
    bool check;
};

/* Read the command line and VICBRIDGE_URL, _USER, _PASSWORD, _CREDENTIALS, which are removed from the environment. -1:
 * go on; otherwise the exit code, after what is wrong was printed. */
int options_read(int argc, char **argv, struct options *options);

extern const char help_text[];

/* NULL, or what is wrong. With `open` nothing secret may stand in it: a command line can be read by all. */
const char *url_read(const char *text, bool open, struct url *url);

/* User and password from "user:password", the first line of a file that only its owner can read. NULL, or why
 * not. */
const char *credentials_read(const char *path, char **user, char **password);

#endif
