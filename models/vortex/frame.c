/* The frame in which the contents of cylinders stand still while packets turn. */
#include "vortex/frame.h"

#include <stddef.h>

#define UNSEEN UINT32_MAX

static int find_cycles(const uint32_t *next, uint32_t values, dvsim_cycle *cycles)
{
    for (uint32_t value = 0; value < values; value++) {
        cycles[value].place = UNSEEN;
    }
    uint32_t place = 0;
    for (uint32_t first = 0; first < values; first++) {
        uint32_t start = place, value = first;
        for (; cycles[value].place == UNSEEN; value = next[value]) {
            if (next[value] >= values || ((next[value] ^ value) & 1) == 0) {
                return 0;
            }
            cycles[value].place = place;
            cycles[place].value = value;
            cycles[place].start = start;
            place++;
        }
        if (place > start && value != first) { /* it runs into another cycle */
            return 0;
        }
        for (uint32_t i = start; i < place; i++) {
            cycles[i].length = place - start;
        }
    }
    return 1;
}

int dvsim_frame_init(dvsim_frame *frame, int32_t crossing, int n, const uint32_t *next,
                     dvsim_cycle *storage)
{
    *frame = (dvsim_frame){.crossing = crossing, .n = n, .cycles = storage};
    if (crossing != 2) {
        return 1;
    }
    if (next == NULL || storage == NULL) {
        return 0;
    }
    for (int c = 0; c < n; c++) {
        int64_t offset = dvsim_frame_entries(n) - dvsim_frame_entries(n - c);
        if (!find_cycles(next + offset, UINT32_C(1) << (n - c), storage + offset)) {
            return 0;
        }
    }
    return 1;
}

/* One loop for each crossing, without a branch inside, so that compilers make vectors of them. */
void dvsim_frame_values(const dvsim_frame *f, int c, int64_t t, int64_t *values)
{
    const int64_t rows = INT64_C(1) << (f->n - c);
    if (f->crossing == 0) {
        for (int64_t row = 0; row < rows; row++) {
            values[row] = (row + t) & (rows - 1);
        }
    } else {
        for (int64_t row = 0; row < rows; row++) {
            values[row] = dvsim_frame_value(f, c, row, t);
    }
    }
}

void dvsim_frame_descents(const dvsim_frame *f, int c, int64_t t, int64_t *into)
{
    const int64_t rows = INT64_C(1) << (f->n - c);
    for (int64_t row = 0; row < rows; row++) {
        into[row] = dvsim_frame_descent(f, c, row, t);
    }
}
