/* The rivals of bench/emulator.py: two processes and shared memory, nothing else, as fast as they can.
 *
 *     emulator_raw TEST COUNT      one figure on stdout
 */
#include "emulator_pair.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct line {
    _Alignas(128) _Atomic uint64_t value;
};

struct slot {
    _Atomic uint64_t ticket, word;
};

struct shared {
    struct line counter[2], ready[2], head, tail;
    struct slot fifo[FIFO];
    _Atomic uint64_t sram[2][SRAM];
};

static void fetch(struct line *line, uint64_t at_least)
{
    while (atomic_load_explicit(&line->value, memory_order_acquire) < at_least) {
        pause_core();
    }
}

/* A store and an atomic add, and the same back. ns one way. */
static double put(struct shared *all, unsigned me, uint64_t count)
{
    uint64_t start = now_ns();
    for (uint64_t i = 1; i <= count; i++) {
        for (unsigned turn = 0; turn < 2; turn++) {
            if (turn == me) {
                atomic_store_explicit(&all->sram[1 - me][0], i, memory_order_relaxed);
                atomic_fetch_add(&all->counter[1 - me].value, 1);
            } else {
                fetch(&all->counter[me], i);
                if (atomic_load_explicit(&all->sram[me][0], memory_order_relaxed) != i) {
                    abort();
                }
            }
        }
    }
    return (double)(now_ns() - start) / 2 / (double)count;
}

/* Stores to random places, counted `each` at a time. M words/s. */
static double scatter(struct shared *all, unsigned me, uint64_t count, uint64_t each)
{
    uint64_t start = now_ns();
    if (me == 0) {
        for (uint64_t i = 0; i < count; i += each) {
            for (uint64_t k = i; k < i + each; k++) {
                atomic_store_explicit(&all->sram[1][place_of(k % PLACES) % SRAM], k, memory_order_relaxed);
            }
            atomic_fetch_add(&all->counter[1].value, each);
        }
    } else {
        fetch(&all->counter[1], count);
    }
    return (double)count * 1e3 / (double)(now_ns() - start);
}

/* memcpy of a block into shared memory by one side, out of it by the other. GB/s. */
static double copy(struct shared *all, unsigned me, uint64_t count)
{
    uint64_t *mine = malloc(BLOCK * sizeof *mine), start = now_ns();
    memset(mine, 1, BLOCK * sizeof *mine);
    for (uint64_t i = 0; i < count; i++) {
        void *block = (void *)&all->sram[1][i % BLOCKS * BLOCK];
        if (me == 0) {
            fetch(&all->counter[0], i < BLOCKS ? 0 : i + 1 - BLOCKS);
            memcpy(block, mine, BLOCK * sizeof *mine);
            atomic_fetch_add(&all->counter[1].value, 1);
        } else {
            fetch(&all->counter[1], i + 1);
            memcpy(mine, block, BLOCK * sizeof *mine);
            atomic_fetch_add(&all->counter[0].value, 1);
        }
    }
    double rate = (double)count * BLOCK * 8 / (double)(now_ns() - start);
    if (mine[BLOCK - 1] != UINT64_C(0x0101010101010101)) {
        abort();
    }
    free(mine);
    return rate;
}

/* A ring whose slots are published by a ticket, `each` words at a time. M words/s. */
static double ring(struct shared *all, unsigned me, uint64_t count, uint64_t each)
{
    uint64_t start = now_ns(), sum = 0;
    for (uint64_t i = 0; i < count && me == 0; i += each) {
        while (i + each - atomic_load_explicit(&all->head.value, memory_order_acquire) > FIFO) {
            pause_core();
        }
        uint64_t at = atomic_fetch_add(&all->tail.value, each);
        for (uint64_t k = at; k < at + each; k++) {
            atomic_store_explicit(&all->fifo[k % FIFO].word, k, memory_order_relaxed);
            atomic_store_explicit(&all->fifo[k % FIFO].ticket, k + 1, memory_order_release);
        }
    }
    for (uint64_t i = 0; i < count && me == 1; i++) {
        while (atomic_load_explicit(&all->fifo[i % FIFO].ticket, memory_order_acquire) != i + 1) {
            pause_core();
        }
        sum += atomic_load_explicit(&all->fifo[i % FIFO].word, memory_order_relaxed);
        if (i % BATCH == BATCH - 1) {
            atomic_store_explicit(&all->head.value, i + 1, memory_order_release);
        }
    }
    double rate = (double)count * 1e3 / (double)(now_ns() - start);
    if (me == 1 && sum != count * (count - 1) / 2) {
        abort();
    }
    return rate;
}

static double measure(struct shared *all, unsigned me, const char *test, uint64_t count)
{
    if (strcmp(test, "put") == 0) {
        return put(all, me, count);
    }
    if (strcmp(test, "single") == 0) {
        return scatter(all, me, count, 1);
    }
    if (strcmp(test, "scatter") == 0) {
        return scatter(all, me, count / VECTOR * VECTOR, VECTOR);
    }
    if (strcmp(test, "copy") == 0) {
        return copy(all, me, count);
    }
    return ring(all, me, count / BATCH * BATCH, strcmp(test, "ring-single") == 0 ? 1 : BATCH);
}

/* A token through pipes: how fast the operating system hands over. us per hop. */
static int pipes(unsigned cards, uint64_t count)
{
    int ends[64][2];
    char token = 0;
    for (unsigned i = 0; i < cards; i++) {
        if (pipe(ends[i]) != 0) {
            return 1;
        }
    }
    for (unsigned i = 1; i < cards; i++) {
        if (fork() == 0) {
            for (uint64_t k = 0; k < count; k++) {
                if (read(ends[i - 1][0], &token, 1) != 1 || write(ends[i][1], &token, 1) != 1) {
                    _exit(1);
                }
            }
            _exit(0);
        }
    }
    uint64_t start = now_ns();
    for (uint64_t k = 0; k < count; k++) {
        if (write(ends[0][1], &token, 1) != 1 || read(ends[cards - 1][0], &token, 1) != 1) {
            return 1;
        }
    }
    printf("%.6g\n", (double)(now_ns() - start) / 1e3 / (double)count / cards);
    while (wait(NULL) > 0) {
    }
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t count = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    if (count == 0) {
        fprintf(stderr, "emulator_raw TEST COUNT\n");
        return 2;
    }
    if (strcmp(argv[1], "ring-of-8") == 0) {
        return pipes(8, count);
    }
    struct shared *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (all == MAP_FAILED) {
        perror("emulator_raw");
        return 1;
    }
    bool child = fork() == 0;
    take_core(child);
    atomic_store(&all->ready[child].value, 1);
    fetch(&all->ready[!child], 1);
    double figure = measure(all, child, argv[1], count);
    if (child) {
        printf("%.6g\n", figure); /* the side that receives has seen the end */
        return 0;
    }
    int status;
    return wait(&status) > 0 && status == 0 ? 0 : 1;
}
