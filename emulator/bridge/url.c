/* The URL of a broker: its address and the user. */
#define _GNU_SOURCE
#include <amqp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"

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
