/* An MPI program that knows nothing of cards: messages of all sizes, probes, collectives, windows; "abort", "kill", "exit". */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BIG = 1 << 20 };

int main(int argc, char **argv)
{
    int rank, size, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    char *out = malloc(BIG), *in = malloc(BIG);
    if (argc > 1 && rank == size - 1) {
        if (strcmp(argv[1], "abort") == 0) {
            MPI_Abort(MPI_COMM_WORLD, 7);
        }
        if (strcmp(argv[1], "kill") == 0) {
            raise(SIGKILL);
        }
        if (strcmp(argv[1], "exit") == 0) {
            exit(3);
        }
    }
    for (int bytes = 1; bytes <= BIG; bytes *= 32) {
        MPI_Request request;
        MPI_Status status;
        int count;
        memset(out, rank + bytes % 100, (size_t)bytes);
        MPI_Isend(out, bytes, MPI_CHAR, next, bytes, MPI_COMM_WORLD, &request);
        MPI_Probe(before, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        MPI_Recv(in, count, MPI_CHAR, before, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        bad |= count != bytes || in[0] != (char)(before + bytes % 100) || memcmp(in, in + 1, (size_t)count - 1) != 0;
    }
    double mine = rank + 1, sum = 0, from = MPI_Wtime();
    for (int i = 0; i < 10; i++) {
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    double took = MPI_Wtime() - from;
    bad |= sum != size * (size + 1) / 2.0;
    long *window, one = rank + 1, got = 0;
    MPI_Win win;
    MPI_Win_allocate((MPI_Aint)sizeof *window * 2, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    window[0] = window[1] = 0;
    MPI_Win_fence(0, win);
    MPI_Put(&one, 1, MPI_LONG, next, 0, 1, MPI_LONG, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
    bad |= window[0] != before + 1;
    MPI_Get(&got, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    bad |= got != size * (size + 1) / 2;
    MPI_Win_free(&win);
    if (rank == 0) {
        printf("took=%.0f\n", took * 1e9);
    }
    MPI_Finalize();
    free(out);
    free(in);
    return bad;
}
