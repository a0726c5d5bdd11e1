/* packet.h: the header word. vic_header makes it, and vic.h says where its parts are; this takes it apart. Nobody else
 * knows the bits, but models/card/header.h, which knows of no emulator. */
#ifndef VIC_PACKET_H
#define VIC_PACKET_H

#include "handle.h"

#define HEADER_ADDR ((UINT64_C(1) << VIC_HEADER_COUNTER_AT) - 1)
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
    return (struct packet){(uint32_t)(header >> VIC_HEADER_DEST_AT & 0xffff), (uint32_t)(header & HEADER_ADDR),
                           (unsigned)(header >> VIC_HEADER_OP_AT & 15),
                           (unsigned)(header >> VIC_HEADER_COUNTER_AT & 63)};
}

/* The first of n packets for WATCHED; op as in enum vic_op. */
#define PACKETS "n dest op addr counter"
#define PACKETS_OF(headers, n)                                                                              \
    (int64_t)n, packet_of(n > 0 ? *headers : 0).dest, packet_of(n > 0 ? *headers : 0).op,                            \
        packet_of(n > 0 ? *headers : 0).addr, packet_of(n > 0 ? *headers : 0).counter

/* VIC_OK, VIC_EINVAL, VIC_ERANGE. */
static inline int header_check(const struct vic *card, uint64_t header)
{
    struct packet packet = packet_of(header);
    if (header == HEADER_ERANGE) {
        return VIC_ERANGE;
    }
    if (header >> VIC_HEADER_END_AT != 0 || packet.op > VIC_COUNTER_ADD) {
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

/* True if a packet differs from a good one before it by its address only, which is less than `addresses`. */
static inline bool header_continues(uint64_t first, uint64_t header, uint32_t addresses)
{
    return ((header ^ first) & ~HEADER_ADDR) == 0 && (header & HEADER_ADDR) < addresses;
}

/* The number of valid addresses, for packets whose payload needs no check; 0 for others. */
static inline uint32_t header_addresses(const struct vic *card, unsigned op)
{
    return op == VIC_WRITE ? card->sram_words : op == VIC_FIFO ? HEADER_ADDR + 1 : 0;
}

/* The status of a packet that is wrong: the `which`th of a call, or of what a call works on at a time. */
int fail_packet(const struct vic *card, int status, size_t which, uint64_t header, uint64_t payload) FAIL_COLD;

/* Returns VIC_OK, or the status of the first packet that is wrong. `first` packets of the call come before these. Another
 * thread may change the arrays, so each packet is checked again when it is used. */
FAIL_HOT static inline int packets_check(const struct vic *card, const uint64_t *headers, const uint64_t *payloads,
                                size_t n, size_t first)
{
    int status = VIC_OK;
    size_t i = 0;
    while (i < n && status == VIC_OK) {
        const uint64_t header = headers[i];
        status = packet_check(card, header, payloads[i]);
        i++;
        const uint32_t addresses = header_addresses(card, packet_of(header).op);
        while (status == VIC_OK && i < n && header_continues(header, headers[i], addresses)) {
            i++;
        }
    }
    return status == VIC_OK ? status : fail_packet(card, status, first + i - 1, headers[i - 1], payloads[i - 1]);
}

#endif
