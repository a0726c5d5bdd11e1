/* What the machine can do, for bench/roofline.py: `limits` prints the first two, `limits BYTES` the third.
 *
 *   instructions  per ns: a loop of additions and reads that do not wait for one another
 *   branch        ns that a branch costs which was predicted wrong
 *   BYTES         bytes per ns, read and written: a copy within so many bytes
 */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURNS = 1 << 22, CHOICES = 1 << 16, TIMES = 7 };

/* The compiler must neither drop nor join what goes on with a value. */
#define KEEP(value) __asm__ volatile("" : "+r"(value))

/* The processor's time of this program, as in counted.h. */
static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Eight additions, four reads of the innermost cache, a count and a jump: what goes to different units at a time. */
static double instructions_per_ns(void)
{
    static volatile uint64_t word[8];
    double best = 1e18;
    for (int k = 0; k < TIMES; k++) {
        uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
        const double started = now_ns();
        for (uint64_t i = TURNS; i > 0; i--) {
            a += 1, b += 1, c += 1, d += 1, e += 1, f += 1, g += 1, h += 1;
            __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
            (void)word[0], (void)word[1], (void)word[2], (void)word[3];
        }
        const double took = now_ns() - started;
        best = took < best ? took : best;
    }
    return 14.0 * TURNS / best;
}

/* The time to walk through choices that branches follow. */
static double walk_ns(const uint8_t *choices)
{
    double best = 1e18;
    for (int k = 0; k < TIMES; k++) {
        uint64_t ones = 0;
        const double started = now_ns();
        for (int i = 0; i < CHOICES; i++) {
            if (choices[i])
                KEEP(ones);
            else
                ones++;
        }
        KEEP(ones);
        const double took = now_ns() - started;
        best = took < best ? took : best;
    }
    return best;
}

/* Half of the choices by chance are predicted wrong, of equal ones none. */
static double branch_ns(void)
{
    static uint8_t equal[CHOICES], chance[CHOICES];
    uint64_t x = 1;
    for (int i = 0; i < CHOICES; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        chance[i] = (uint8_t)(x >> 63);
    }
    return (walk_ns(chance) - walk_ns(equal)) / (CHOICES / 2);
}

static double bytes_per_ns(size_t bytes)
{
    const size_t half = bytes / 2;
    char *from = malloc(half), *to = malloc(half);
    if (from == NULL || to == NULL)
        exit(2);
    memset(from, 1, half);
    memset(to, 2, half);
    double best = 1e18;
    const size_t repeats = 1 + ((size_t)1 << 26) / half;
    for (int k = 0; k < TIMES; k++) {
        const double started = now_ns();
        for (size_t i = 0; i < repeats; i++) {
            memcpy(to, from, half);
            KEEP(to);
        }
        const double took = now_ns() - started;
        best = took < best ? took : best;
    }
    free(from);
    free(to);
    return 2.0 * (double)(half * repeats) / best;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strtoull(argv[1], NULL, 10) >= 1024)
        printf("%.3f\n", bytes_per_ns(strtoull(argv[1], NULL, 10)));
    else if (argc == 1)
        printf("%.3f %.3f\n", instructions_per_ns(), branch_ns());
    else
        return 2;
    return 0;
}
