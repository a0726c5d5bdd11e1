/* packet.h: a packet as one 64-bit word.
 *
 *   bit 63        present
 *   injected      slot of injection, modulo 2^injected_bits
 *   arrived       slot of arrival at the port, modulo 2^arrived_bits
 *   angle         addressed angle
 *   bits 0..n-1   addressed height, bit-reversed
 *
 * The two stamps share the 63 - n - angle_bits bits that the address leaves: 25 each at H = 1024, A = 8,
 * 15 and 16 at the largest switch. A packet that is older than that, in slots, is counted younger.
 */
#ifndef DVSIM_VORTEX_PACKET_H
#define DVSIM_VORTEX_PACKET_H

#include <stdint.h>

#include "engine/random.h"

#define DVSIM_PRESENT (UINT64_C(1) << 63)

typedef struct {
    int n;             /* bits of a height */
    int angle_bits;
    int arrived_bits, injected_bits;
} dvsim_packet_layout;

/* Bits that tell so many values apart. */
static inline int dvsim_bits(int64_t values)
{
    int bits = 0;
    while ((INT64_C(1) << bits) < values) {
        bits++;
    }
    return bits;
}

static inline uint32_t dvsim_reversed(uint32_t value, int bits)
{
    uint32_t mirror = 0;
    for (int i = 0; i < bits; i++) {
        mirror |= (value >> i & 1) << (bits - 1 - i);
    }
    return mirror;
}

static inline dvsim_packet_layout dvsim_packet_layout_of(int n, int64_t angles)
{
    const int angle_bits = dvsim_bits(angles), stamps = 63 - n - angle_bits;
    return (dvsim_packet_layout){
        .n = n,
        .angle_bits = angle_bits,
        .injected_bits = stamps / 2,
        .arrived_bits = stamps - stamps / 2,
    };
}

/* A packet without its address. */
static inline uint64_t dvsim_packet(dvsim_packet_layout l, uint64_t arrived, uint64_t injected)
{
    uint64_t stamps = (injected & ((UINT64_C(1) << l.injected_bits) - 1)) << l.arrived_bits |
                      (arrived & ((UINT64_C(1) << l.arrived_bits) - 1));
    return DVSIM_PRESENT | stamps << (l.n + l.angle_bits);
}

/* Slots since the packet was injected, and since it arrived at its port. */
static inline uint64_t dvsim_packet_hops(dvsim_packet_layout l, uint64_t packet, uint64_t now)
{
    return (now - (packet >> (l.n + l.angle_bits + l.arrived_bits))) &
           ((UINT64_C(1) << l.injected_bits) - 1);
}

static inline uint64_t dvsim_packet_latency(dvsim_packet_layout l, uint64_t packet, uint64_t now)
{
    return (now - (packet >> (l.n + l.angle_bits))) & ((UINT64_C(1) << l.arrived_bits) - 1);
}

#endif
