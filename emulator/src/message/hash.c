/* The checksum of pieces: of 1024-byte blocks by vectors of the machine, of what is left word by word. Every
 * version gives the same result.
 *
 * A block adds up products of the two halves of each word, to which a key of its place was added (the NH
 * function of UMAC, RFC 4418): changed, lost and exchanged words change the sum but for 1 in 2^32. Sums are
 * stirred between blocks, so that the place of a block counts too.
 *
 * Vectors are worth their lines: 8 KiB are summed and copied at 8.6 GB/s without them, at 54 with AVX2, as fast as memcpy
 * copies; at 16 by XXH3 and memcpy (64 KiB: 8, 55, 14; 4 MiB: 8, 49, 12). AVX-512 made it 60 (64 KiB: 47, 4 MiB: 48), too
 * little for a version of its own.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "wire.h"

enum { LANES = 16, BLOCK_WORDS = 128, BLOCK_BYTES = 8 * BLOCK_WORDS };

#define ODD UINT32_C(0x9e3779b1)

typedef void sum_function(uint64_t sum[LANES], const unsigned char *data, size_t blocks, unsigned char *to);

static _Alignas(64) uint64_t keys[BLOCK_WORDS];

static uint64_t load(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static void sum_plain(uint64_t sum[LANES], const unsigned char *data, size_t blocks, unsigned char *to)
{
    if (to != NULL) { /* the sum is that of the copy, whatever another thread does to the data */
        memcpy(to, data, blocks * BLOCK_BYTES);
        data = to;
    }
    for (; blocks > 0; blocks--, data += BLOCK_BYTES) {
        for (unsigned at = 0; at < BLOCK_WORDS; at++) {
            uint64_t word = load(data + 8 * at) + keys[at];
            sum[at % LANES] += (word & UINT32_MAX) * (word >> 32);
        }
        for (unsigned i = 0; i < LANES; i++) {
            sum[i] = (sum[i] ^ sum[i] >> 29) * ODD;
        }
    }
}

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

enum { WIDTH = 4 }; /* words of a vector */

__attribute__((target("avx2"))) static void sum_256(uint64_t sum[LANES], const unsigned char *data, size_t blocks,
                                                    unsigned char *to)
{
    __m256i lane[LANES / WIDTH];
    const __m256i odd = _mm256_set1_epi64x((long long)ODD);
    memcpy(lane, sum, sizeof lane);
    for (; blocks > 0; blocks--, data += BLOCK_BYTES) {
        for (unsigned at = 0; at < BLOCK_WORDS; at += LANES) {
#pragma GCC unroll 4
            for (unsigned i = 0; i < LANES / WIDTH; i++) {
                __m256i word, key;
                memcpy(&word, data + 8 * (at + i * WIDTH), sizeof word);
                memcpy(&key, keys + at + i * WIDTH, sizeof key);
                if (to != NULL) {
                    memcpy(to + 8 * (at + i * WIDTH), &word, sizeof word);
                }
                word = _mm256_add_epi64(word, key);
                lane[i] = _mm256_add_epi64(lane[i], _mm256_mul_epu32(word, _mm256_srli_epi64(word, 32)));
            }
        }
#pragma GCC unroll 4
        for (unsigned i = 0; i < LANES / WIDTH; i++) {
            __m256i x = lane[i] ^ _mm256_srli_epi64(lane[i], 29);
            __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), odd);
            lane[i] = _mm256_add_epi64(_mm256_mul_epu32(x, odd), _mm256_slli_epi64(high, 32));
        }
        to = to != NULL ? to + BLOCK_BYTES : NULL;
    }
    memcpy(sum, lane, sizeof lane);
}

static sum_function *best(void)
{
    return __builtin_cpu_supports("avx2") ? sum_256 : sum_plain; /* GCOVR_EXCL_BR_LINE: a machine has one of them */
}

#else

static sum_function *best(void)
{
    return sum_plain;
}

#endif

static sum_function *_Atomic chosen;

static void prepare(void)
{
    for (uint64_t i = 0; i < BLOCK_WORDS; i++) {
        keys[i] = dvsim_mix(i + 1);
    }
    atomic_store(&chosen, best());
}

/* A child that is forked while another thread prepares does it again. */
void hash_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
}

/* For a given word another h gives another result, and the other way round: a single change is never lost. */
static inline uint64_t stir(uint64_t h, uint64_t word)
{
    h = (h ^ word) * DVSIM_DRAW_STEP;
    return h << 29 | h >> 35;
}

uint64_t wire_hash(uint64_t seed, const void *data, size_t bytes, void *to)
{
    const unsigned char *at = data;
    uint64_t h = stir(seed, bytes);
    if (bytes >= BLOCK_BYTES) {
        uint64_t sum[LANES];
        for (unsigned i = 0; i < LANES; i++) {
            sum[i] = h + i;
        }
        size_t blocks = bytes / BLOCK_BYTES;
        atomic_load_explicit(&chosen, memory_order_relaxed)(sum, at, blocks, to);
        for (unsigned i = 0; i < LANES; i++) {
            h = stir(h, sum[i]);
        }
        at += blocks * BLOCK_BYTES;
        bytes -= blocks * BLOCK_BYTES;
        to = to != NULL ? (unsigned char *)to + blocks * BLOCK_BYTES : NULL;
    }
    if (to != NULL && bytes > 0) {
        memcpy(to, at, bytes);
        at = to;
    }
    if (bytes >= 32) { /* the multiplications of one lane wait for each other, those of several do not */
        uint64_t lane[4] = {h, h + 1, h + 2, h + 3};
        for (; bytes >= 32; bytes -= 32, at += 32) {
            for (unsigned i = 0; i < 4; i++) {
                lane[i] = stir(lane[i], load(at + 8 * i));
            }
        }
        h = stir(stir(stir(stir(h, lane[0]), lane[1]), lane[2]), lane[3]);
    }
    for (; bytes >= 8; bytes -= 8, at += 8) {
        h = stir(h, load(at));
    }
    if (bytes > 0) {
        uint64_t last = 0;
        memcpy(&last, at, bytes);
        h = stir(h, last);
    }
    return dvsim_mix(h);
}
