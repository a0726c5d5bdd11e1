/* The hosts of a job: a:4,b:4, or a file of lines `a 4`. */
#include "hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "numbers.h"

static char wrong[400];

/* A name goes into a command line: what else would begin an option, or end a word, is none. */
static bool is_name(const char *text, size_t length)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@[]:%";
    return length > 0 && length < HOST_NAME && text[0] != '-' && strspn(text, good) >= length;
}

/* name:cards */
static const char *add(const char *text, size_t length, struct hosts *hosts)
{
    size_t name = length;
    uint64_t cards = 1;
    char number[24] = "";
    while (name > 0 && text[name - 1] != ':' && text[name - 1] != ']') {
        name--;
    }
    bool counted = name > 0 && text[name - 1] == ':';
    size_t digits = length - name;
    name = counted ? name - 1 : length;
    if (counted && digits < sizeof number) {
        memcpy(number, text + length - digits, digits);
    }
    if (!is_name(text, name)) {
        snprintf(wrong, sizeof wrong, "'%.*s' is not a host and its number of cards, such as a:4", (int)length, text);
        return wrong;
    }
    if (counted && !read_whole(number, 1, MOST_CARDS, &cards)) {
        snprintf(wrong, sizeof wrong, "host %.*s: '%s' is not a number of cards, 1 .. %d", (int)name, text, number, MOST_CARDS);
        return wrong;
    }
    for (uint32_t i = 0; i < hosts->count; i++) {
        if (strlen(hosts->host[i].name) == name && strncmp(hosts->host[i].name, text, name) == 0) {
            snprintf(wrong, sizeof wrong, "host %s stands there twice: say how many cards it has in all, such as %s:8",
                     hosts->host[i].name, hosts->host[i].name);
            return wrong;
        }
    }
    struct host *more = realloc(hosts->host, (hosts->count + 1) * sizeof *more);
    if (more == NULL || hosts->count == HOSTS_MOST || hosts->cards + cards > MOST_CARDS) {
        hosts->host = more != NULL ? more : hosts->host;
        return more == NULL ? "no memory" : "there are more than 1024 hosts, or 65536 cards";
    }
    hosts->host = more;
    struct host *host = &more[hosts->count++];
    *host = (struct host){.first = hosts->cards, .cards = (uint32_t)cards};
    memcpy(host->name, text, name);
    hosts->cards += (uint32_t)cards;
    return NULL;
}

const char *hosts_read(const char *text, struct hosts *hosts)
{
    const char *fault = NULL;
    *hosts = (struct hosts){0};
    for (const char *at = text; fault == NULL && at != NULL;) {
        const char *comma = strchr(at, ',');
        fault = add(at, comma != NULL ? (size_t)(comma - at) : strlen(at), hosts);
        at = comma != NULL ? comma + 1 : NULL;
    }
    return fault;
}

const char *lines_read(const char *path, const char *missing, size_t most, const char *too_long,
                       const char *(*read)(char *line, void *to), void *to)
{
    static char message[sizeof wrong + 300];
    char line[1024], name[201];
    const char *fault = NULL;
    FILE *file = fopen(path, "r");
    snprintf(name, sizeof name, "%s", path);
    if (file == NULL) {
        snprintf(message, sizeof message, missing, name, strerror(errno));
        return message;
    }
    for (unsigned number = 1; fault == NULL && fgets(line, sizeof line, file) != NULL; number++) {
        const char *what = strlen(line) < most ? read(line, to) : too_long;
        if (what != NULL) {
            snprintf(message, sizeof message, "%s:%u: %s", name, number, what);
            fault = message;
        }
    }
    if (fault == NULL && ferror(file)) {
        snprintf(message, sizeof message, "%s: cannot be read", name);
        fault = message;
    }
    fclose(file);
    return fault;
}

/* `a 4`, `a:4`, `a slots=4`; # begins a comment. */
static const char *add_line(char *line, void *hosts)
{
    char name[HOST_NAME + 32], *rest = NULL;
    line[strcspn(line, "#\n")] = 0;
    const char *first = strtok_r(line, " \t", &rest), *second = first != NULL ? strtok_r(NULL, " \t", &rest) : NULL;
    if (first == NULL) {
        return NULL;
    }
    if (second != NULL && strncmp(second, "slots=", 6) == 0) {
        second += 6;
    }
    int length = snprintf(name, sizeof name, "%s%s%s", first, second != NULL ? ":" : "", second != NULL ? second : "");
    return add(name, length < (int)sizeof name ? (size_t)length : sizeof name - 1, hosts);
}

const char *hosts_read_file(const char *path, struct hosts *hosts)
{
    static char none[300];
    *hosts = (struct hosts){0};
    const char *fault = lines_read(path, "cannot read '%s': %s", 1023, "is longer than any host", add_line, hosts);
    if (fault == NULL && hosts->count == 0) {
        snprintf(none, sizeof none, "'%.200s' names no host", path);
        fault = none;
    }
    return fault;
}

const char *hosts_name(const struct hosts *hosts, uint32_t card)
{
    uint32_t i = 0;
    while (i + 1 < hosts->count && card - hosts->host[i].first >= hosts->host[i].cards) {
        i++;
    }
    return i < hosts->count ? hosts->host[i].name : "?";
}
