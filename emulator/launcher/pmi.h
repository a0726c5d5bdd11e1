/* pmi.h: --mpi. Ranks of an MPI program find each other by PMI-1: a descriptor (PMI_FD) on which each asks with lines
 * cmd=… key=value …, and a barrier after which all values are there. A thread of vicrun answers. */
#ifndef VICRUN_PMI_H
#define VICRUN_PMI_H

#include <stdbool.h>
#include <stdint.h>

struct pmi;
struct launch;

/* False: it failed, and printed why. Without --mpi nothing is done. */
bool pmi_make(struct launch *launch);
bool pmi_start(struct launch *launch);

/* In the child of a card: its descriptor, and the variables that keep messages on the card. False: no memory. */
bool pmi_environment(const struct launch *launch, uint32_t card);

/* All programs have ended. Says who of them was no MPI program of ours; the code of MPI_Abort counts. */
void pmi_finish(struct launch *launch);

#endif
