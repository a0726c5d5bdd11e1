/* packet.h: the header word. vic_header makes it; this takes it apart. Nobody else knows the bits:
 *
 *     0-21 address   22-27 counter   28-31 operation   32-47 destination   48-63 zero
 */
#ifndef VIC_PACKET_H
#define VIC_PACKET_H

#include "handle.h"

#define HEADER_ERANGE (UINT64_C(1) << 62) /* what vic_header makes of numbers that do not fit */

/* A word of the program, which another thread may write at any time: what is checked and what is used are the same
 * only if it is read once. */
static inline uint64_t read_once(const uint64_t *word)
{
    return *(const volatile uint64_t *)word;
}

struct packet {
    uint32_t dest, addr;
    unsigned op, counter;
};

static inline struct packet packet_of(uint64_t header)
{
    return (struct packet){(uint32_t)(header >> 32 & 0xffff), (uint32_t)(header & 0x3fffff),
                           (unsigned)(header >> 28 & 15), (unsigned)(header >> 22 & 63)};
}

/* VIC_OK, VIC_EINVAL, VIC_ERANGE. */
static inline int header_check(const struct vic *card, uint64_t header)
{
    struct packet packet = packet_of(header);
    if (header == HEADER_ERANGE) {
        return VIC_ERANGE;
    }
    if (header >> 48 != 0 || packet.op > VIC_COUNTER_ADD) {
        return VIC_EINVAL;
    }
    bool uses_addr = packet.op == VIC_WRITE || packet.op == VIC_QUERY;
    if (packet.dest >= card->cards || (uses_addr && packet.addr >= card->sram_words) ||
        !(card->counters >> packet.counter & 1)) {
        return VIC_ERANGE;
    }
    return VIC_OK;
}

/* The same for a packet, with the reply that a query asks for. */
static inline int packet_check(const struct vic *card, uint64_t header, uint64_t payload)
{
    int status = header_check(card, header);
    if (status == VIC_OK && packet_of(header).op == VIC_QUERY) {
        status = packet_of(payload).op == VIC_QUERY ? VIC_EINVAL : header_check(card, payload);
    }
    return status;
}

/* The first that is wrong. Who uses them afterwards has to look at each again. */
static inline int packets_check(const struct vic *card, const uint64_t *headers, const uint64_t *payloads,
                                size_t n)
{
    int status = VIC_OK;
    for (size_t i = 0; i < n && status == VIC_OK; i++) {
        status = packet_check(card, headers[i], payloads[i]);
    }
    return status;
}

#endif
