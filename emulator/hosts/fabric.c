/* Connections to the agents of other hosts. A host without the key of the job is refused. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "agent.h"
#include "member.h"

enum { CONNECT_MS = 5000 };

/* What two agents send each other when they connect. */
struct greeting {
    unsigned char key[HOSTS_KEY];
    uint32_t host;
};

static const char *own_name(const struct agent *agent)
{
    return agent->hosts->host[agent->host].name;
}

static bool complain(const struct agent *agent, const char *what, int64_t status)
{
    fprintf(stderr, "vicrun: host %s: libfabric: %s: %s\n", own_name(agent), what, fi_strerror((int)-status));
    return false;
}

static struct fi_info *wanted(void)
{
    struct fi_info *hints = fi_allocinfo();
    if (hints != NULL) {
        hints->caps = FI_MSG;
        hints->ep_attr->type = FI_EP_MSG;
        hints->domain_attr->threading = FI_THREAD_SAFE;
        hints->fabric_attr->prov_name = strdup("tcp");
        hints->tx_attr->size = 2 * FRAMES;
        hints->rx_attr->size = 2 * FRAMES;
    }
    return hints;
}

/* ---- on which address an agent listens: never on all of them */

static bool as_text(const struct sockaddr *address, char text[64])
{
    socklen_t bytes = address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    return getnameinfo(address, bytes, text, 64, NULL, 0, NI_NUMERICHOST) == 0;
}

/* IPv6 only where there is no IPv4, and none that needs to say on which link. */
static bool is_usable(const struct ifaddrs *one, int family)
{
    if (one->ifa_addr == NULL || one->ifa_addr->sa_family != family || !(one->ifa_flags & IFF_UP)) {
        return false;
    }
    const struct sockaddr_in6 *six = (const void *)one->ifa_addr;
    return family == AF_INET || !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
}

static bool of_interface(const struct ifaddrs *all, const char *name, char text[64])
{
    static const int families[] = {AF_INET, AF_INET6};
    for (int i = 0; i < 2; i++) {
        for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
            if (strcmp(one->ifa_name, name) == 0 && is_usable(one, families[i])) {
                return as_text(one->ifa_addr, text);
            }
        }
    }
    return false;
}

/* Is it an address of this machine? */
static bool is_own(const struct ifaddrs *all, const char *text)
{
    for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
        char own[64];
        bool inet = one->ifa_addr != NULL && (is_usable(one, AF_INET) || is_usable(one, AF_INET6));
        if (inet && as_text(one->ifa_addr, own) && strcmp(own, text) == 0) {
            return true;
        }
    }
    return false;
}

static bool of_name(const struct ifaddrs *all, const char *host, char text[64])
{
    const char *at = strrchr(host, '@');
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    bool good = false;
    if (getaddrinfo(at != NULL ? at + 1 : host, NULL, &hints, &found) == 0) {
        for (const struct addrinfo *one = found; one != NULL && !good; one = one->ai_next) {
            good = as_text(one->ai_addr, text) && is_own(all, text);
        }
        freeaddrinfo(found);
    }
    return good;
}

/* On which address to listen, as text: that of an interface, or what the name of this host stands for. False, after saying why,
 * if there is none. */
static bool listen_address(const char *host, const char *interface, char text[64])
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0) {
        all = NULL;
    }
    bool good = interface != NULL ? of_interface(all, interface, text) : of_name(all, host, text);
    if (!good && interface == NULL) {
        fprintf(stderr, "vicrun: host %s: its name stands for no address that it has: say which one to use, --interface\n", host);
    } else if (!good) {
        fprintf(stderr, "vicrun: host %s: --interface: it has no '%s' with an address, but", host, interface);
        for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
            fprintf(stderr, "%s", is_usable(one, AF_INET) ? " " : "");
            fprintf(stderr, "%s", is_usable(one, AF_INET) ? one->ifa_name : "");
        }
        fputc('\n', stderr);
    }
    if (all != NULL) {
        freeifaddrs(all);
    }
    return good;
}

/* ---- connections */

bool fabric_listen(struct agent *agent, const char *host, const char *interface, struct host_address *own)
{
    char address[64];
    if (!listen_address(host, interface, address)) {
        return false;
    }
    struct fi_info *hints = wanted();
    struct fi_eq_attr news = {.wait_obj = FI_WAIT_FD};
    struct fi_cq_attr done = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_FD};
    int status = hints == NULL ? -FI_ENOMEM : fi_getinfo(FI_VERSION(1, 9), address, NULL, FI_SOURCE, hints, &agent->info);
    if (hints != NULL) {
        fi_freeinfo(hints);
    }
    if (status != 0) {
        return complain(agent, "its provider tcp cannot be used", status);
    }
    size_t bytes = sizeof own->text;
    bool good = (status = fi_fabric(agent->info->fabric_attr, &agent->fabric, NULL)) == 0 &&
                (status = fi_eq_open(agent->fabric, &news, &agent->news, NULL)) == 0 &&
                (status = fi_domain(agent->fabric, agent->info, &agent->domain, NULL)) == 0 &&
                (status = fi_cq_open(agent->domain, &done, &agent->done, NULL)) == 0 &&
                (status = fi_passive_ep(agent->fabric, agent->info, &agent->door, NULL)) == 0 &&
                (status = fi_pep_bind(agent->door, &agent->news->fid, 0)) == 0 &&
                (status = fi_listen(agent->door)) == 0 &&
                (status = fi_getname(&agent->door->fid, own->text, &bytes)) == 0;
    own->bytes = (uint32_t)bytes;
    return good || complain(agent, address, status);
}

static int open_end(struct agent *agent, struct fi_info *info, struct peer *peer)
{
    int status = fi_endpoint(agent->domain, info, &peer->end, NULL);
    status = status != 0 ? status : fi_ep_bind(peer->end, &agent->news->fid, 0);
    status = status != 0 ? status : fi_ep_bind(peer->end, &agent->done->fid, FI_SEND | FI_RECV);
    status = status != 0 ? status : fi_enable(peer->end);
    return status != 0 ? status : stream_begin(peer) ? 0 : -FI_ENOMEM;
}

static void greet(const struct agent *agent, struct greeting *greeting)
{
    memcpy(greeting->key, agent->key, sizeof greeting->key);
    greeting->host = agent->host;
}

/* Compares two keys in a time that does not depend on where they differ. */
static bool same_key(const struct agent *agent, const unsigned char *key)
{
    unsigned char differs = 0;
    for (int i = 0; i < HOSTS_KEY; i++) {
        differs |= key[i] ^ agent->key[i];
    }
    return differs == 0;
}

static bool call(struct agent *agent, uint32_t host, const struct host_address *address)
{
    struct fi_info *info = fi_dupinfo(agent->info);
    struct greeting greeting;
    int status = info != NULL && address->bytes <= sizeof address->text ? 0 : -FI_ENOMEM;
    if (status == 0) {
        info->handle = NULL;
        info->dest_addr = malloc(address->bytes);
        info->dest_addrlen = address->bytes;
        status = info->dest_addr != NULL ? 0 : -FI_ENOMEM;
    }
    if (status == 0) {
        memcpy(info->dest_addr, address->text, address->bytes);
        ((struct sockaddr_in *)info->src_addr)->sin_port = 0; /* stands at the same place with IPv6 */
        status = open_end(agent, info, &agent->peer[host]);
    }
    greet(agent, &greeting);
    status = status != 0 ? status : fi_connect(agent->peer[host].end, address->text, &greeting, sizeof greeting);
    if (info != NULL) {
        fi_freeinfo(info);
    }
    return status == 0 || complain(agent, agent->hosts->host[host].name, status);
}

/* Accepts a host that asks for a connection, or refuses it; false if a host with the right key cannot be accepted. */
static bool answer(struct agent *agent, struct fi_info *info, const struct greeting *came, size_t bytes)
{
    struct greeting own;
    greet(agent, &own);
    bool good = bytes >= sizeof *came && same_key(agent, came->key) && came->host > agent->host &&
                came->host < agent->hosts->count && agent->peer[came->host].end == NULL;
    int status = 0;
    if (!good) {
        fprintf(stderr, "vicrun: host %s: refused a connection: it does not bring the key of this job\n", own_name(agent));
        fi_reject(agent->door, info->handle, NULL, 0);
    } else {
        status = open_end(agent, info, &agent->peer[came->host]);
        status = status != 0 ? status : fi_accept(agent->peer[came->host].end, &own, sizeof own);
    }
    fi_freeinfo(info);
    return status == 0 || complain(agent, agent->hosts->host[came->host].name, status);
}

static struct peer *peer_at(struct agent *agent, const struct fid *end)
{
    for (uint32_t i = 0; i < agent->hosts->count; i++) {
        if (agent->peer[i].end != NULL && &agent->peer[i].end->fid == end) {
            return &agent->peer[i];
        }
    }
    return NULL;
}

static void say_address(const struct host_address *address, char text[80])
{
    char number[INET6_ADDRSTRLEN] = "?";
    const struct sockaddr_in *four = (const void *)address->text;
    const struct sockaddr_in6 *six = (const void *)address->text;
    bool is_four = four->sin_family == AF_INET;
    inet_ntop(four->sin_family, is_four ? (const void *)&four->sin_addr : (const void *)&six->sin6_addr, number,
              sizeof number);
    snprintf(text, 80, "%s, port %u", number, ntohs(four->sin_port));
}

/* Handles one event, if there is one; false if a host cannot be reached. */
static bool look(struct agent *agent, const struct host_address *address)
{
    union {
        struct fi_eq_cm_entry entry;
        unsigned char bytes[sizeof(struct fi_eq_cm_entry) + 256];
    } came;
    uint32_t event;
    ssize_t n = fi_eq_sread(agent->news, &event, &came, sizeof came, 20, 0);
    if (n == -FI_EAVAIL) {
        struct fi_eq_err_entry error = {0};
        char at[80];
        fi_eq_readerr(agent->news, &error, 0);
        const struct peer *peer = peer_at(agent, error.fid);
        if (peer == NULL) {
            return true; /* a host that was refused */
        }
        say_address(&address[peer->host], at);
        fprintf(stderr, "vicrun: host %s: cannot connect to host %s at %s: %s\n", own_name(agent),
                agent->hosts->host[peer->host].name, at, fi_strerror(error.err));
        return false;
    }
    if (n < (ssize_t)sizeof came.entry) {
        return true;
    }
    const struct greeting *greeting = (const void *)came.entry.data;
    size_t bytes = (size_t)n - sizeof came.entry;
    if (event == FI_CONNREQ) {
        return answer(agent, came.entry.info, greeting, bytes);
    }
    struct peer *peer = peer_at(agent, came.entry.fid);
    if (event != FI_CONNECTED || peer == NULL) {
        return true;
    }
    if (peer->host < agent->host && (bytes < sizeof *greeting || !same_key(agent, greeting->key))) {
        fprintf(stderr, "vicrun: host %s: host %s does not have the key of this job\n", own_name(agent),
                agent->hosts->host[peer->host].name);
        return false;
    }
    peer->connected = true;
    return true;
}

static const struct peer *missing(const struct agent *agent)
{
    const struct peer *peer = next_peer(agent, NULL);
    while (peer != NULL && peer->connected) {
        peer = next_peer(agent, peer);
    }
    return peer;
}

/* Returns whether the launcher has hung up, as it does when another host has failed. Before the programs run it sends nothing,
 * so whatever can be read is the end. */
static bool gave_up(int launcher)
{
    struct pollfd watched = {.fd = launcher, .events = POLLIN};
    return poll(&watched, 1, 0) > 0;
}

bool fabric_connect(struct agent *agent, const struct host_address *address, int launcher)
{
    uint64_t end_ns = job_clock_ns() + (uint64_t)CONNECT_MS * 1000000;
    for (uint32_t i = 0; i < agent->host; i++) {
        if (!call(agent, i, &address[i])) {
            return false;
        }
    }
    while (missing(agent) != NULL) {
        if (!look(agent, address) || gave_up(launcher)) {
            return false;
        }
        if (job_clock_ns() > end_ns) {
            char at[80];
            const struct peer *peer = missing(agent);
            say_address(&address[peer->host < agent->host ? peer->host : agent->host], at);
            fprintf(stderr, "vicrun: host %s: no connection with host %s in %d s, at %s%s: is there a firewall between them?\n",
                    own_name(agent), agent->hosts->host[peer->host].name, CONNECT_MS / 1000, at,
                    peer->host < agent->host ? "" : " of this one");
            return false;
        }
    }
    fi_close(&agent->door->fid); /* nobody is expected any more: who calls is refused by the kernel */
    agent->door = NULL;
    return true;
}

void fabric_close(struct agent *agent)
{
    for (uint32_t i = 0; agent->peer != NULL && i < agent->hosts->count; i++) {
        if (agent->peer[i].end != NULL) {
            fi_shutdown(agent->peer[i].end, 0);
            fi_close(&agent->peer[i].end->fid);
        }
    }
    struct fid *all[] = {(struct fid *)agent->door, (struct fid *)agent->done, (struct fid *)agent->domain,
                         (struct fid *)agent->news, (struct fid *)agent->fabric};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i] != NULL) {
            fi_close(all[i]);
        }
    }
    if (agent->info != NULL) {
        fi_freeinfo(agent->info);
    }
}
