/* header.h: the header word of a packet, as a card takes it apart:
 *
 *     0-21 address   22-27 counter   28-31 operation   32-47 destination   48-63 zero
 */
#ifndef DVSIM_CARD_HEADER_H
#define DVSIM_CARD_HEADER_H

#include <stdint.h>

enum { DVSIM_OP_WRITE, DVSIM_OP_FIFO, DVSIM_OP_QUERY, DVSIM_OP_SET, DVSIM_OP_ADD, DVSIM_OPS };

static inline uint32_t dvsim_header_dest(uint64_t header) { return (uint32_t)(header >> 32 & 0xffff); }
static inline uint32_t dvsim_header_addr(uint64_t header) { return (uint32_t)(header & 0x3fffff); }
static inline uint32_t dvsim_header_op(uint64_t header) { return (uint32_t)(header >> 28 & 15); }
static inline uint32_t dvsim_header_counter(uint64_t header) { return (uint32_t)(header >> 22 & 63); }

#endif
