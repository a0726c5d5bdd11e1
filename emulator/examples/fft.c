/* A one-dimensional FFT over all cards. The network transposes: every word finds its place by its header.
 *
 *     vicrun -n 4 -- ./fft [SIDE]
 *
 * N = SIDE * SIDE complex numbers, SIDE a power of two, in six steps (Bailey 1990): a vector of N is a matrix
 * of SIDE rows, each card has some of the rows; transpose, FFT of each row, twiddle factors, transpose, FFT of
 * each row, transpose. The headers of a transpose are made once and wait in SRAM: a transpose is one DMA
 * transfer out, one counter, one DMA transfer in. Checked against sums of the definition, and by going back.
 */
#include <complex.h>
#include <math.h>

#include "example.h"

typedef double complex number;

_Static_assert(sizeof(number) == 2 * sizeof(uint64_t), "a complex number is two words");

struct plan {
    vic_t *card;
    struct vic_attr attr;
    size_t side, first, rows; /* rows first .. first + rows - 1 are here */
    vic_addr_t headers, buffer;
    unsigned counter;
    number *root; /* exp(-2 pi i k / side) */
};

static size_t first_row(const struct plan *plan, uint32_t card)
{
    return plan->side * card / plan->attr.cards;
}

static void plan_open(struct plan *plan, size_t side)
{
    uint32_t cards = plan->attr.cards, owner = 0;
    plan->side = side;
    plan->first = first_row(plan, plan->attr.card);
    plan->rows = first_row(plan, plan->attr.card + 1) - plan->first;
    size_t words = 2 * plan->rows * side, most = 2 * ((side + cards - 1) / cards) * side;
    MUST(vic_alloc(plan->card, most, &plan->buffer));
    MUST(vic_alloc(plan->card, most, &plan->headers));
    MUST(vic_counter_alloc(plan->card, &plan->counter));
    uint64_t *headers = allocate(words, sizeof *headers);
    for (size_t column = 0; column < side; column++) { /* element (row, column) becomes (column, row) */
        while (column >= first_row(plan, owner + 1)) {
            owner++;
        }
        for (size_t row = 0; row < plan->rows; row++) {
            size_t to = 2 * ((column - first_row(plan, owner)) * side + plan->first + row);
            for (size_t part = 0; part < 2; part++) {
                headers[2 * (row * side + column) + part] =
                    vic_header(owner, VIC_WRITE, plan->buffer + (vic_addr_t)(to + part), plan->counter);
            }
        }
    }
    MUST(vic_write(plan->card, plan->headers, headers, words));
    free(headers);
    plan->root = allocate(side, sizeof *plan->root);
    for (size_t k = 0; k < side; k++) {
        plan->root[k] = cexp(-2 * I * acos(-1) * (double)k / (double)side);
    }
}

static void transpose(struct plan *plan, number *data)
{
    size_t words = 2 * plan->rows * plan->side;
    vic_dma_t *out;
    MUST(vic_counter_set(plan->card, plan->counter, (int64_t)words));
    MUST(vic_barrier(plan->card, VIC_FOREVER)); /* everybody has read the last one, and has preset */
    MUST(vic_dma_send(plan->card, plan->headers, (const uint64_t *)data, words, &out));
    MUST(vic_counter_wait(plan->card, plan->counter, VIC_FOREVER));
    MUST(vic_dma_wait(plan->card, &out, VIC_FOREVER));
    fetch(plan->card, (uint64_t *)data, plan->buffer, words);
}

/* In place, radix 2, decimation in time. */
static void fft_row(const struct plan *plan, number *x)
{
    size_t n = plan->side;
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n / 2;
        for (; j & bit; bit /= 2) {
            j ^= bit;
        }
        j ^= bit;
        if (i < j) {
            number swap = x[i];
            x[i] = x[j];
            x[j] = swap;
        }
    }
    for (size_t length = 2; length <= n; length *= 2) {
        for (size_t at = 0; at < n; at += length) {
            for (size_t k = 0; k < length / 2; k++) {
                number even = x[at + k], odd = x[at + k + length / 2] * plan->root[k * (n / length)];
                x[at + k] = even + odd;
                x[at + k + length / 2] = even - odd;
            }
        }
    }
}

static void fft_rows(struct plan *plan, number *data, bool twiddle)
{
    double side = (double)plan->side;
    for (size_t row = 0; row < plan->rows; row++) {
        number *x = data + row * plan->side;
        fft_row(plan, x);
        for (size_t k = 0; k < plan->side && twiddle; k++) {
            x[k] *= cexp(-2 * I * acos(-1) * (double)((plan->first + row) * k) / (side * side));
        }
    }
    /* the factors come from a table in a program that is in earnest: only their product is charged */
    worked(plan->card, (double)plan->rows * side * (5 * log2(side) + (twiddle ? 6 : 0)), FLOP_NS);
}

static void fft(struct plan *plan, number *data)
{
    transpose(plan, data);
    fft_rows(plan, data, true);
    transpose(plan, data);
    fft_rows(plan, data, false);
    transpose(plan, data);
}

static number input(uint64_t at)
{
    double half = 0x1p-63;
    return (double)scramble(2 * at) * half - 1 + I * ((double)scramble(2 * at + 1) * half - 1);
}

/* The first element that is here, by definition: sum of x(n) exp(-2 pi i n k / N). */
static void check_sum(const struct plan *plan, const number *data)
{
    uint64_t n = plan->side * plan->side, k = plan->first * plan->side + 1;
    number sum = 0;
    for (uint64_t i = 0; i < n && plan->rows != 0; i++) {
        sum += input(i) * cexp(-2 * I * acos(-1) * (double)(i * k % n) / (double)n);
    }
    if (plan->rows != 0 && cabs(sum - data[1]) > 1e-9 * (double)n) {
        fail("fft: element %" PRIu64 " is wrong", k);
    }
}

/* The inverse is the FFT of the conjugates, conjugated, over N: it has to give the input back. */
static void check_back(struct plan *plan, number *data)
{
    size_t count = plan->rows * plan->side;
    double n = (double)plan->side * (double)plan->side, worst = 0;
    for (size_t i = 0; i < count; i++) {
        data[i] = conj(data[i]);
    }
    fft(plan, data);
    for (size_t i = 0; i < count; i++) {
        worst = fmax(worst, cabs(conj(data[i]) / n - input(plan->first * plan->side + i)));
    }
    if (worst > 1e-12 * log2(n)) {
        fail("fft: there and back is off by %g", worst);
    }
}

int main(int argc, char **argv)
{
    struct plan plan;
    struct sum sum;
    plan.card = open_card(&plan.attr);
    size_t side = argument(argc, argv, 1, 64, 2, 4096);
    if ((side & (side - 1)) != 0) {
        fail("fft: the side is %zu; it has to be a power of two", side);
    }
    plan_open(&plan, side);
    number *data = allocate(plan.rows * side, sizeof *data);
    for (size_t i = 0; i < plan.rows * side; i++) {
        data[i] = input(plan.first * side + i);
    }
    worked(plan.card, (double)plan.rows * (double)side * 4, COPY_NS);
    sum_open(plan.card, &plan.attr, &sum);
    uint64_t start = vic_time_ns(plan.card);
    fft(&plan, data);
    MUST(vic_barrier(plan.card, VIC_FOREVER));
    double seconds = (double)(vic_time_ns(plan.card) - start) / 1e9, n = (double)side * (double)side;
    uint64_t result = 0;
    for (size_t i = 0; i < plan.rows * side; i++) {
        uint64_t bits[2];
        memcpy(bits, &data[i], sizeof bits);
        result = scramble(result ^ bits[0] ^ scramble(bits[1]));
    }
    check_sum(&plan, data);
    worked(plan.card, n, 20); /* a sine and a cosine each */
    check_back(&plan, data);
    if (plan.attr.card == 0) {
        printf("%10s %12s %12s %12s\n%10u %12.0f %12.3f %12.4f\n", "cards", "numbers", "us", "Gflop/s",
               plan.attr.cards, n, seconds * 1e6, 5 * n * log2(n) / seconds / 1e9);
    }
    free(plan.root);
    free(data);
    report(plan.card, &plan.attr, &sum, "fft", result);
    return 0;
}
