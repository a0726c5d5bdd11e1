/* fuzz.h: what the targets have in common. A target is one function, LLVMFuzzerTestOneInput, that may be given
 * any bytes: it aborts if what it looks at does what it must not. clang's libFuzzer calls it (run.py); replay.c
 * calls it with kept inputs, built by any compiler (test_replay.py). */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define CHECK(condition)                                                                                    \
    do {                                                                                                    \
        if (!(condition)) {                                                                                 \
            dprintf(2, "FAILED %s:%d: %s\n", __FILE__, __LINE__, #condition); /* stderr may be quiet */    \
            abort();                                                                                        \
        }                                                                                                   \
    } while (0)

/* What is left of an input; behind its end there are zeros. */
struct input {
    const uint8_t *at, *end;
};

static inline struct input input_of(const uint8_t *data, size_t bytes)
{
    return (struct input){data, data + bytes};
}

static inline bool input_left(const struct input *in)
{
    return in->at < in->end;
}

/* `bytes` of them as a number. */
static inline uint64_t take(struct input *in, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes && in->at < in->end; i++) {
        value |= (uint64_t)*in->at++ << 8 * i;
    }
    return value;
}

static inline uint8_t take_byte(struct input *in)
{
    return (uint8_t)take(in, 1);
}

/* 0 .. below - 1 */
static inline uint32_t take_below(struct input *in, uint32_t below)
{
    return (uint32_t)take(in, below > 256 ? 2 : 1) % below;
}

/* A word: small, at an edge, or any. */
static inline uint64_t take_word(struct input *in)
{
    static const uint64_t edges[] = {
        0, 1, UINT64_MAX, INT64_MAX, UINT64_C(1) << 63, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(0xffffff0000000000),
    };
    unsigned kind = take_byte(in);
    return kind < 128 ? kind : kind < 192 ? edges[kind % 8] : take(in, 8);
}

/* What programs say to their users goes nowhere; sanitizers are heard all the same. */
static inline void quiet(bool on)
{
    static FILE *out, *err, *nothing;
    if (nothing == NULL) {
        out = stdout;
        err = stderr;
        nothing = fopen("/dev/null", "w");
        CHECK(nothing != NULL);
    }
    stdout = on ? nothing : out;
    stderr = on ? nothing : err;
}

/* Another word there: any, or nearly the one that was. */
static inline void scribble(struct input *in, void *memory, size_t bytes)
{
    size_t at = (size_t)take(in, 2) * 4 % (bytes - 7);
    unsigned how = take_byte(in);
    uint64_t word, change = take_word(in);
    memcpy(&word, (unsigned char *)memory + at, sizeof word);
    word = how < 64 ? word + change : how < 128 ? word ^ change << how % 48 : change;
    memcpy((unsigned char *)memory + at, &word, how % 2 == 0 ? 8 : 4);
}

#endif
