/* Which of the compiled kernels of a slot this processor can run. The inner loops are the kernel_*.inc below; slot.c,
 * slices_slot.c and pools_slot.c call them. */
#include "vortex/kernel.h"
#include "vortex/packet.h"

#include <stdlib.h>
#include <string.h>

/* clang has no push_options; it gets the portable loops. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HAVE_X86 1
#include <immintrin.h>
#endif

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define NAME(what) PASTE(what, SUFFIX)

/* A register of bits at any byte. */
#define LOAD(p) ((NAME(whole))*(const NAME(bits) *)(const void *)(p))
#define STORE(p, v) (*(NAME(bits) *)(void *)(p) = (v))

enum { YOUNG = 48, MANY = 1000 }; /* slots; packets that leave in a slot, as kernel_slices.inc counts their ages */

/* What a whole run wants, as NAME(pass) needs it: for heights whose bit is 0 and 1. */
static void want(uint64_t *zero, uint64_t *one, int words, uint64_t bit)
{
    for (int i = 0; i < words; i++) {
        zero[i] = DVSIM_PRESENT;
        one[i] = DVSIM_PRESENT | bit;
    }
}

/* Words of up to 64 blocks: those of arrivals, then those of heights and phases. */
typedef struct {
    uint64_t of[33][DVSIM_BLOCK] __attribute__((aligned(64)));
} block_words;

#define SUFFIX word
#define WIDTH 1
#include "vortex/kernel_slide.inc"
#include "vortex/kernel_numbers.inc"
#undef SUFFIX
#undef WIDTH
#define SUFFIX portable
#define WIDTH 2
#include "vortex/kernel_words_vector.inc"
#include "vortex/kernel_words.inc"
#include "vortex/kernel_slide.inc"
#include "vortex/kernel_bits.inc"
#include "vortex/kernel_slices.inc"
#include "vortex/kernel_numbers.inc"
#include "vortex/kernel_draws.inc"
#undef SUFFIX
#undef WIDTH

#ifdef HAVE_X86
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#define SUFFIX avx2
#define WIDTH 4
#include "vortex/kernel_words_vector.inc"
#include "vortex/kernel_words.inc"
#include "vortex/kernel_slide.inc"
#include "vortex/kernel_bits.inc"
#include "vortex/kernel_slices.inc"
#include "vortex/kernel_numbers.inc"
#include "vortex/kernel_draws.inc"
#undef SUFFIX
#undef WIDTH
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,bmi,bmi2,popcnt,prefer-vector-width=512")
#define SUFFIX avx512
#define WIDTH 8
#include "vortex/kernel_words_avx512.inc"
#include "vortex/kernel_words.inc"
#include "vortex/kernel_slide.inc"
#include "vortex/kernel_bits.inc"
#include "vortex/kernel_slices.inc"
#include "vortex/kernel_numbers.inc"
#include "vortex/kernel_draws.inc"
#undef SUFFIX
#undef WIDTH
#pragma GCC pop_options
#endif

static const dvsim_kernel KERNELS[] = {
#ifdef HAVE_X86
    {"avx512", descend_avx512, sweep_avx512, match_avx512, enter_avx512, 64, slide_avx512, leave_avx512, draw_avx512,
     tallies_avx512, read_avx512, write_avx512},
    {"avx2", descend_avx2, sweep_avx2, match_avx2, enter_avx2, 32, slide_avx2, leave_avx2, draw_avx2,
     tallies_avx2, read_avx2, write_avx2},
#endif
    {"portable", descend_portable, sweep_portable, match_portable, enter_portable, 16, slide_portable, leave_portable, draw_portable,
     tallies_portable, read_portable, write_portable},
};

/* For slices that are a single word. */
static const dvsim_kernel WORD = {.name = "word", .width = 8, .slide = slide_word};

static int available(const char *name)
{
#ifdef HAVE_X86
    if (strcmp(name, "avx512") == 0) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    }
    if (strcmp(name, "avx2") == 0) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("popcnt");
    }
#endif
    return strcmp(name, "portable") == 0;
}

const dvsim_kernel *dvsim_kernel_choose(void)
{
    const size_t kinds = sizeof KERNELS / sizeof *KERNELS;
    const char *forced = getenv("DVSIM_SIMD");
    for (size_t i = 0; forced != NULL && i < kinds; i++) {
        if (strcmp(KERNELS[i].name, forced) == 0 && available(forced)) {
            return &KERNELS[i];
        }
    }
    for (size_t i = 0; i < kinds; i++) {
        if (available(KERNELS[i].name)) {
            return &KERNELS[i];
        }
    }
    return &KERNELS[kinds - 1];
}

const dvsim_kernel *dvsim_kernel_narrower(const dvsim_kernel *kernel)
{
    const dvsim_kernel *last = &KERNELS[sizeof KERNELS / sizeof *KERNELS - 1];
    return kernel == &WORD ? NULL : kernel == last ? &WORD : kernel + 1;
}
