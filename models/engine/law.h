/* law.h: affine cost laws and linear progress, in integer picoseconds.
 *
 * Model time is int64_t picoseconds: no float drift, the same result on every machine, and a range of
 * 106 days. A cost per byte is kept in femtoseconds, because 4.4 GB/s is 227.27 ps/B and the fraction
 * matters over 128 KiB.
 */
#ifndef DVSIM_ENGINE_LAW_H
#define DVSIM_ENGINE_LAW_H

#include <stdint.h>

/* Return codes of every dvsim_* function that can fail. */
enum {
    DVSIM_OK = 0,
    DVSIM_EINVAL = -1, /* an argument outside its documented range; nothing was changed */
    DVSIM_ESTATE = -2, /* the call does not fit the present state; nothing was changed */
    DVSIM_ENOMEM = -3, /* no memory */
    DVSIM_ERANGE = -4, /* something would happen too late to be counted in picoseconds */
};

#define DVSIM_WORD_BYTES 8 /* the fabric moves 64-bit words */

/* Cost of handling a message of n bytes: fixed_ps + n * per_byte_fs / 1000. */
typedef struct {
    int64_t fixed_ps;
    int64_t per_byte_fs;
} dvsim_law;

/* Time for one message of `bytes` bytes, rounded half up to a picosecond. */
int64_t dvsim_law_ps(dvsim_law law, int64_t bytes);

/* Time for `count` messages of `bytes` bytes one after the other; rounded once, not per message. At most
 * INT64_MAX, which is 106 days. */
int64_t dvsim_law_total_ps(dvsim_law law, int64_t bytes, int64_t count);

#endif
