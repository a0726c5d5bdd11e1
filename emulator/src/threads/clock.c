/* libvic-threads.so: what an MPI program measures is model time. libvic-fi.so sets the clock when it has opened the card. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>

#include "threads/hooks.h"
#include "threads/real.h"

EXPORT uint64_t (*vic_program_clock)(void);

EXPORT double MPI_Wtime(void);
EXPORT double PMPI_Wtime(void);

EXPORT double MPI_Wtime(void)
{
    REAL(double, MPI_Wtime, void)
    return vic_program_clock != NULL ? 1e-9 * (double)vic_program_clock() : real_MPI_Wtime();
}

EXPORT double PMPI_Wtime(void)
{
    REAL(double, PMPI_Wtime, void)
    return vic_program_clock != NULL ? 1e-9 * (double)vic_program_clock() : real_PMPI_Wtime();
}

EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    REAL(int, gettimeofday, struct timeval *restrict, void *restrict)
    if (vic_program_clock == NULL) {
        return real_gettimeofday(time, zone);
    }
    uint64_t us = vic_program_clock() / 1000;
    *time = (struct timeval){(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
    return 0;
}
