/* Connecting, and what is wrong if that fails. */
#define _GNU_SOURCE
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bridge.h"
#include "link.h"

enum { FRAME_MOST = 131072, CHANNELS_MOST = 0, TABLE_MOST = 8 };
static const struct timeval answer_timeout = {10, 0}; /* for a connection, a login, an answer */

enum fault link_status(struct link *link, int status, const char *doing)
{
    if (status == AMQP_STATUS_OK) {
        return FAULT_NONE;
    }
    link->channel_only = false;
    link->code = 0;
    bool turned_away = status == AMQP_STATUS_SSL_ERROR && link->heard_ns == 0; /* before the login was done */
    bool certificate = status == AMQP_STATUS_SSL_PEER_VERIFY_FAILED ||
                       status == AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED ||
                       status == AMQP_STATUS_SSL_CONNECTION_FAILED;
    const char *hint = status == AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED ? "; see --server-name"
                       : certificate                                    ? "; see --cacert"
                       : turned_away                                    ? "; the broker may want another --cert"
                                                                        : "";
    int system = status == AMQP_STATUS_SOCKET_ERROR ? errno : 0; /* what of, if anybody knows */
    snprintf(link->why, sizeof link->why, "%s: %s: %s%s", link->url->shown, doing,
             system != 0 ? strerror(system) : amqp_error_string2(status), hint);
    return certificate || turned_away || status == AMQP_STATUS_BROKER_UNSUPPORTED_SASL_METHOD ? FAULT_REFUSED
                                                                                              : FAULT_DOWN;
}

static bool is_lasting(uint16_t code)
{
    /* access refused, not found, locked, precondition failed, not allowed (vhost), not implemented */
    static const uint16_t lasting[] = {403, 404, 405, 406, 530, 540};
    for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++) {
        if (lasting[i] == code) {
            return true;
        }
    }
    return false;
}

enum fault link_fault(struct link *link, const amqp_rpc_reply_t *reply, amqp_channel_t channel,
                      const char *doing)
{
    link->channel_only = false;
    link->code = 0;
    if (reply->reply_type == AMQP_RESPONSE_NORMAL) {
        return FAULT_NONE;
    }
    if (reply->reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) {
        return link_status(link, reply->library_error, doing);
    }
    uint16_t code = 0;
    amqp_bytes_t text = amqp_cstring_bytes("no answer");
    if (reply->reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
        reply->reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
        const amqp_connection_close_t *close = reply->reply.decoded;
        code = close->reply_code;
        text = close->reply_text;
    } else if (reply->reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
               reply->reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const amqp_channel_close_t *close = reply->reply.decoded;
        amqp_channel_close_ok_t ok = {0};
        code = close->reply_code;
        text = close->reply_text;
        link->channel_only =
            amqp_send_method(link->state, channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok) == AMQP_STATUS_OK;
    }
    link->code = code;
    snprintf(link->said, sizeof link->said, "%u %.*s", code, (int)text.len, (const char *)text.bytes);
    snprintf(link->why, sizeof link->why, "%s: %s: %s", link->url->shown, doing, link->said);
    return is_lasting(code) ? FAULT_REFUSED : FAULT_DOWN;
}

enum fault link_reply(struct link *link, amqp_channel_t channel, const char *doing)
{
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(link->state);
    return link_fault(link, &reply, channel, doing);
}

static amqp_table_entry_t capability(const char *name)
{
    amqp_table_entry_t entry = {.key = amqp_cstring_bytes(name)};
    entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
    entry.value.value.boolean = 1;
    return entry;
}

static amqp_table_entry_t property(const char *name, const char *text)
{
    amqp_table_entry_t entry = {.key = amqp_cstring_bytes(name)};
    entry.value.kind = AMQP_FIELD_KIND_UTF8;
    entry.value.value.bytes = amqp_cstring_bytes(text);
    return entry;
}

static enum fault login(struct link *link)
{
    const struct options *options = link->options;
    const struct url *url = link->url;
    amqp_table_entry_t can[] = {
        capability("publisher_confirms"),           capability("basic.nack"),
        capability("connection.blocked"),           capability("consumer_cancel_notify"),
        capability("authentication_failure_close"),
    };
    amqp_table_entry_t entries[] = {property("product", "vicbridge"),
                                    property("version", VIC_VERSION),
                                    property("connection_name", link->name),
                                    {.key = amqp_cstring_bytes("capabilities")}};
    entries[3].value.kind = AMQP_FIELD_KIND_TABLE;
    entries[3].value.value.table = (amqp_table_t){sizeof can / sizeof *can, can};
    amqp_table_t properties = {sizeof entries / sizeof *entries, entries};
    const char *user = options->user != NULL ? options->user : url->user != NULL ? url->user : "guest";
    const char *word = options->password != NULL ? options->password
                       : url->user != NULL       ? url->password
                                                 : "guest";
    amqp_rpc_reply_t reply =
        amqp_login_with_properties(link->state, url->vhost, CHANNELS_MOST, FRAME_MOST,
                                   (int)options->heartbeat_s, &properties, AMQP_SASL_METHOD_PLAIN, user, word);
    enum fault fault = link_fault(link, &reply, 0, "login");
    if (fault == FAULT_NONE) { /* link_wait does heartbeats */
        link->heartbeat_s = (uint64_t)amqp_get_heartbeat(link->state);
        int status = amqp_tune_connection(link->state, amqp_get_channel_max(link->state),
                                          amqp_get_frame_max(link->state), 0);
        fault = link_status(link, status, "login");
    }
    return fault;
}

/* Let OpenSSL, which rabbitmq-c has loaded, check whom the certificate names; false if the calls are not there.
 * dlsym finds them: linking needs the development files of OpenSSL wherever vicbridge is compiled, for three calls that
 * exist since version 1.0.2, and may load a second OpenSSL beside that of rabbitmq-c. Time decides nothing: looking up all
 * three takes 4 us of a connection's beginning. */
static bool certificate_names(void *context, const char *name)
{
    void *(*param_of)(void *);
    int (*set_address)(void *, const char *), (*set_name)(void *, const char *, size_t);
    *(void **)&param_of = dlsym(RTLD_DEFAULT, "SSL_CTX_get0_param");
    *(void **)&set_address = dlsym(RTLD_DEFAULT, "X509_VERIFY_PARAM_set1_ip_asc");
    *(void **)&set_name = dlsym(RTLD_DEFAULT, "X509_VERIFY_PARAM_set1_host");
    if (param_of == NULL || set_address == NULL || set_name == NULL || context == NULL) {
        return false;
    }
    void *param = param_of(context);
    return set_address(param, name) == 1 || set_name(param, name, 0) == 1;
}

static amqp_socket_t *tls_socket(struct link *link)
{
    const struct options *options = link->options;
    amqp_socket_t *socket = amqp_ssl_socket_new(link->state);
    if (socket == NULL) {
        return NULL;
    }
    amqp_ssl_socket_set_verify_peer(socket, 1);
    const char *name = options->server_name != NULL ? options->server_name : link->url->host;
    /* rabbitmq-c knows no addresses in certificates, and no name but the one that it connects to */
    amqp_ssl_socket_set_verify_hostname(socket, !certificate_names(amqp_ssl_socket_get_context(socket), name));
    amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST);
    int status = amqp_ssl_socket_set_cacert(socket, options->cacert);
    if (status == AMQP_STATUS_OK && options->cert != NULL) {
        status = amqp_ssl_socket_set_key(socket, options->cert, options->key_file);
    }
    if (status != AMQP_STATUS_OK) {
        snprintf(link->why, sizeof link->why, "--cacert, --cert or --key-file: %s", amqp_error_string2(status));
        return NULL;
    }
    return socket;
}

/* Connect once more and return the error, 0 if there is none now: rabbitmq-c does not keep the system's. */
static int connect_error(const struct url *url)
{
    char port[16];
    snprintf(port, sizeof port, "%d", url->port);
    struct addrinfo *all = NULL, hints = {.ai_socktype = SOCK_STREAM};
    if (getaddrinfo(url->host, port, &hints, &all) != 0) {
        return 0;
    }
    int error = 0;
    for (const struct addrinfo *one = all; one != NULL; one = one->ai_next) {
        int fd = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) {
            error = errno;
            continue;
        }
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &answer_timeout, sizeof answer_timeout);
        error = connect(fd, one->ai_addr, one->ai_addrlen) == 0 ? 0 : errno;
        close(fd);
        if (error == 0) {
            break;
        }
    }
    freeaddrinfo(all);
    return error == EINPROGRESS ? ETIMEDOUT : error;
}

static enum fault open_socket(struct link *link)
{
    const struct url *url = link->url;
    snprintf(link->why, sizeof link->why, "no memory for a connection");
    amqp_socket_t *socket = url->tls ? tls_socket(link) : amqp_tcp_socket_new(link->state);
    if (socket == NULL) {
        return FAULT_REFUSED;
    }
    int status = amqp_socket_open_noblock(socket, url->host, url->port, &answer_timeout);
    if (status != AMQP_STATUS_OK) {
        errno = status == AMQP_STATUS_SOCKET_ERROR ? connect_error(url) : 0;
        return link_status(link, status, "connecting");
    }
    atomic_store(&link->fd, amqp_get_sockfd(link->state));
    return FAULT_NONE;
}

enum fault link_open(struct link *link)
{
    link->url = &link->options->url[link->turn++ % link->options->urls];
    link->state = amqp_new_connection();
    link->blocked = link->readable = link->corked = false;
    link->allowance = 0;
    link->heard_ns = 0;
    link->code = 0;
    link->channel_only = false;
    if (link->state == NULL) {
        snprintf(link->why, sizeof link->why, "no memory for a connection");
        return FAULT_DOWN;
    }
    amqp_set_handshake_timeout(link->state, &answer_timeout);
    amqp_set_rpc_timeout(link->state, &answer_timeout);
    enum fault fault = open_socket(link);
    fault = fault == FAULT_NONE ? login(link) : fault;
    link->heard_ns = link->sent_ns = now_ns();
    if (fault != FAULT_NONE) {
        link_close(link, false);
    }
    return fault;
}

bool link_close(struct link *link, bool polite)
{
    bool good = false;
    if (link->state == NULL) {
        return false;
    }
    if (polite) {
        atomic_store(&link->overdue_ns, 0); /* drain() ends a call that waits too long */
        link_cork(link, false);
        good = amqp_connection_close(link->state, AMQP_REPLY_SUCCESS).reply_type == AMQP_RESPONSE_NORMAL;
    }
    link_forget(link);
    amqp_destroy_connection(link->state);
    link->state = NULL;
    return good;
}
