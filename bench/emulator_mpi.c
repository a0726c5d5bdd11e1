/* What OpenMPI reaches on the same two cores: a word put into the other's window, which polls it, there and
 * back; puts that are only flushed at the end; a message of a word. Prints ns one way, M/s, ns one way. */
#include <mpi.h>

#include "emulator_pair.h"

enum { ROUNDS = 20000, PUTS = 2000000, FLUSH_EVERY = 1024 };

static MPI_Win window;
static volatile uint64_t *words; /* of this side: [0] is polled, [1] is written many times */

static void put(uint64_t word, int to, MPI_Aint at)
{
    MPI_Put(&word, 1, MPI_UINT64_T, to, at, 1, MPI_UINT64_T, window);
}

static void await(uint64_t word)
{
    while (words[0] != word) {
        MPI_Win_sync(window);
    }
}

static double put_and_poll(int me)
{
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t start = now_ns();
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        if (me == 1) {
            await(round);
        }
        put(round, 1 - me, 0);
        MPI_Win_flush(1 - me, window);
        if (me == 0) {
            await(round);
        }
    }
    return (double)(now_ns() - start) / (2.0 * ROUNDS);
}

static double puts_counted_never(int me)
{
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t start = now_ns();
    for (uint64_t i = 1; me == 0 && i <= PUTS; i++) {
        put(i, 1, 1);
        if (i % FLUSH_EVERY == 0) {
            MPI_Win_flush(1, window);
        }
    }
    MPI_Win_flush(1 - me, window);
    return PUTS * 1e3 / (double)(now_ns() - start);
}

static double messages(int me)
{
    uint64_t word = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t start = now_ns();
    for (int round = 0; round < ROUNDS; round++) {
        if (me == 0) {
            MPI_Send(&word, 1, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(&word, 1, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&word, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&word, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
        }
    }
    return (double)(now_ns() - start) / (2.0 * ROUNDS);
}

int main(int argc, char **argv)
{
    int me;
    void *base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    take_core((unsigned)me);
    MPI_Win_allocate(4096, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    words = base;
    words[0] = words[1] = 0;
    MPI_Win_lock_all(0, window);
    double one_way = put_and_poll(me), rate = puts_counted_never(me), message = messages(me);
    if (me == 0) {
        printf("%.6g %.6g %.6g\n", one_way, rate, message);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
