/* md5.h: the MD5 of bytes (RFC 1321), to tell if they are the same; it keeps no secrets. */
#ifndef LOAD_MD5_H
#define LOAD_MD5_H

#include <stddef.h>
#include <stdint.h>

void md5(const void *data, size_t bytes, unsigned char digest[16]);

/* The sum, modulo 2^128, of digests taken as numbers whose highest byte is the first: the same for messages in
 * any order. */
struct md5_sum {
    uint64_t high, low;
};

void md5_add(struct md5_sum *sum, const void *data, size_t bytes);

#endif
