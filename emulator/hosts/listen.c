/* On which address an agent listens: never on all of them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "member.h"

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

bool listen_address(const char *host, const char *interface, char text[64])
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
